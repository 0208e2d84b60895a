// SPDX-License-Identifier: Apache-2.0

package floats

import (
	"fmt"
	"testing"

	"lathe/internal/difftest"
	"lathe/internal/difftest/programs"
	"lathe/ir"
)

// TestFloat compares float graphs: the Eval column with the slow evaluator, and both with PJRT, whose sums run in
// float32; some values are floats of 16 bits.
func TestFloat(t *testing.T) {
	for _, o := range difftest.Ops() {
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			var graphs []*ir.Graph
			for i := range floatCases {
				g, r := difftest.Case(o, i)
				f, err := difftest.Float(r, g)
				if err != nil {
					t.Fatal(err)
				}
				f = difftest.Halved(r, f)
				graphs = append(graphs, f)
				t.Run(fmt.Sprint("slow/", i), func(t *testing.T) { difftest.CompareSlow(t, f, r, exactSamples) })
			}
			for i := 0; i < len(graphs); i += programs.PerProgram {
				t.Run(fmt.Sprint("pjrt/", i/programs.PerProgram), func(t *testing.T) {
					m := difftest.Merge(o.Name, graphs[i:min(i+programs.PerProgram, len(graphs))])
					programs.Compare(t, m, difftest.Rand(o.Name+" floats", i), 1e-5)
					if i == 0 {
						programs.CompareAlone(t, m, difftest.Rand(o.Name+" floats alone", i), 1e-5)
					}
				})
			}
		})
	}
}
