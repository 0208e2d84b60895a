// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"fmt"
	"testing"

	"lathe/internal/difftest"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/reduce"
)

// wholes are all formats of whole numbers.
var wholes = []format.Format{ir.Int64, ir.Int32, ir.Int16, ir.Int8, ir.Uint32, ir.Uint16, ir.Uint8, ir.Bool}

// TestWhole draws the operations of quantized graphs that take whole numbers, in float graphs of each format of those:
// the Eval column against the slow evaluator and against PJRT, code by code.
func TestWhole(t *testing.T) {
	for _, o := range difftest.Ops() {
		if !o.Traits.Whole {
			continue
		}
		t.Run(o.Name, func(t *testing.T) {
			t.Parallel()
			var graphs []*ir.Graph
			for i := range 2 * len(wholes) {
				g, r := difftest.Case(o, i)
				w := difftest.Whole(r, g, wholes[i%len(wholes)])
				graphs = append(graphs, w)
				t.Run(fmt.Sprint("slow/", i), func(t *testing.T) { difftest.CompareSlow(t, w, r, exactSamples) })
			}
			t.Run("pjrt", func(t *testing.T) {
				Compare(t, difftest.Merge(o.Name, graphs), difftest.Rand(o.Name+" on whole numbers", 0), 0)
			})
		})
	}
}

// TestWholeArgMax looks for the largest and the least of floats and of whole numbers.
func TestWholeArgMax(t *testing.T) {
	for k, f := range append([]format.Format{format.FP32, format.FP32}, wholes...) {
		t.Run(fmt.Sprint(f, " ", k), func(t *testing.T) {
			t.Parallel()
			var graphs []*ir.Graph
			for i := range 8 {
				g, r := difftest.Case(reduce.ArgMax, i)
				w := difftest.Whole(r, g, f)
				n := w.Out[0].Node
				n.Type.Format, n.Attrs.(*reduce.ArgMaxAttrs).Least = ir.Int64, i%2 == 1
				graphs = append(graphs, w)
				difftest.CompareSlow(t, w, r, exactSamples)
			}
			Compare(t, difftest.Merge("argmax", graphs), difftest.Rand("argmax of "+f.String(), k), 0)
		})
	}
}
