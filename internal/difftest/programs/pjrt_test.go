// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"fmt"
	"slices"
	"testing"

	"lathe/golden"
	"lathe/internal/diag"
	"lathe/internal/difftest"
	"lathe/ir"
)

// TestPJRT compares StableHLO on PJRT with the Eval column of every operation, code by code.
func TestPJRT(t *testing.T) {
	for _, o := range difftest.Ops() {
		if g, _ := difftest.Case(o, 0); g.Stage == ir.StageFloat {
			continue // TestFloat has it
		}
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			var graphs []*ir.Graph
			refused := 0
			for i := 0; len(graphs) < pjrtCases; i++ {
				g, _ := difftest.Case(o, i)
				if _, err := golden.Print(g, 1, false); err == nil {
					graphs = append(graphs, g)
				} else if refused++; !slices.Contains(Refused, diag.CodeOf(err)) || refused > pjrtCases {
					t.Fatalf("case %d, %d refused: %v\n%s", i, refused, err, difftest.Describe(g))
				}
			}
			t.Logf("%d graphs, %d beside them have no StableHLO form", len(graphs), refused)
			for i := 0; i < len(graphs); i += PerProgram {
				t.Run(fmt.Sprint(i/PerProgram), func(t *testing.T) {
					m := difftest.Merge(o.Name, graphs[i:min(i+PerProgram, len(graphs))])
					Compare(t, m, difftest.Rand(o.Name+" on pjrt", i), 0)
					if i == 0 {
						CompareAlone(t, m, difftest.Rand(o.Name+" alone", i), 0)
					}
				})
			}
		})
	}
}
