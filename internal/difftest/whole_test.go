// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
)

// wholes are all formats of whole numbers.
var wholes = []format.Format{ir.Int64, ir.Int32, ir.Int16, ir.Int8, ir.Uint32, ir.Uint16, ir.Uint8, ir.Bool}

// TestWhole draws the operations of quantized graphs that take whole numbers, in float graphs of each format of those:
// the Eval column against the slow evaluator and against PJRT, code by code.
func TestWhole(t *testing.T) {
	for _, o := range Ops() {
		if !o.Traits.Whole {
			continue
		}
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			var graphs []*ir.Graph
			for i := range 2 * len(wholes) {
				g, r := Case(o, i)
				w := Whole(r, g, wholes[i%len(wholes)])
				graphs = append(graphs, w)
				t.Run(fmt.Sprint("slow/", i), func(t *testing.T) { compareSlow(t, w, r, exactSamples) })
			}
			t.Run("pjrt", func(t *testing.T) {
				comparePJRT(t, Merge(o.Name, graphs), Rand(o.Name+" on whole numbers", 0), 0)
			})
		})
	}
}
