// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"testing"

	"lathe/ir"
)

// TestFloat compares float graphs: the Eval column with the slow evaluator, and both with PJRT, whose sums run in
// float32.
func TestFloat(t *testing.T) {
	for _, o := range Ops() {
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			var graphs []*ir.Graph
			for i := range floatCases {
				g, r := Case(o, i)
				f, err := Float(r, g)
				if err != nil {
					t.Fatal(err)
				}
				graphs = append(graphs, f)
				t.Run(fmt.Sprint("slow/", i), func(t *testing.T) { compareSlow(t, f, r, exactSamples) })
			}
			for i := 0; i < len(graphs); i += perProgram {
				t.Run(fmt.Sprint("pjrt/", i/perProgram), func(t *testing.T) {
					m := Merge(o.Name, graphs[i:min(i+perProgram, len(graphs))])
					comparePJRT(t, m, Rand(o.Name+" floats", i), 1e-5)
					if i == 0 {
						compareAlone(t, m, Rand(o.Name+" floats alone", i), 1e-5)
					}
				})
			}
		})
	}
}
