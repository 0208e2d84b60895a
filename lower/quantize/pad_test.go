// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"math"
	"testing"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/geometry"
	"lathe/ir/op/move"
	"lathe/ir/op/window"
	"lathe/lower/lowertest"
)

// padded is a convolution, a pad of v around its result, and what reads that.
func padded(t *testing.T, v float32, behind func(b *lowertest.Builder, x *ir.Node) *ir.Node) *ir.Graph {
	b := lowertest.New(t, 3)
	x := b.Conv("first", b.Input("x", 1, 2, 6, 6), 3, 3, 1, 0, 1, true)
	for axis := 2; axis < 4; axis++ {
		x = b.Add(move.Pad, []string{"above", "beside"}[axis-2], &move.PadAttrs{Axis: axis, Before: 1, After: 1, Value: v}, x)
	}
	return b.Done(behind(b, x))
}

// TestPadValues: a constant that pads is rounded like one that is joined, and widens the format where it lies beyond.
func TestPadValues(t *testing.T) {
	for _, v := range []float32{0.7, -0.3, 9.3, -17, 0} {
		g := padded(t, v, func(b *lowertest.Builder, x *ir.Node) *ir.Node { return b.Conv("last", x, 2, 3, 1, 0, 1, true) })
		q, r := mustQuantize(t, g, "", samples(g, -1, 1, 12))
		if got := r.Outputs[0].SQNR; got < 29 { // of what varies: the mean of each channel is no signal
			t.Errorf("pads of %g: %.1f dB", v, got)
		}
		n := q.Find("above")
		if n == nil {
			if v != 0 {
				t.Errorf("pads of %g are gone", v)
			}
			continue
		}
		lo, hi := n.Type.Format.Limits()
		if x := format.FromFloat32(v); x.Cmp(lo) < 0 || hi.Cmp(x) < 0 {
			t.Errorf("pads of %g in %s", v, n.Type.Format)
		}
	}
}

// TestPadNever: what pads before a maximum and is never the greatest has no code; windows see the image alone.
func TestPadNever(t *testing.T) {
	for _, v := range []float32{float32(math.Inf(-1)), -math.MaxFloat32} {
		g := padded(t, v, func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			w := geometry.Window{Kernel: []int{2, 2}, Strides: []int{2, 2}, Pads: make([]int, 4), Dilations: []int{1, 1}}
			return b.Add(window.MaxPool, "pool", &w, x)
		})
		q, r := mustQuantize(t, g, "", samples(g, -1, 1, 12))
		if got := r.Outputs[0].SQNR; got < 30 || q.Find("above") != nil || q.Find("beside") != nil {
			t.Errorf("pads of %g: %.1f dB, pad above: %v", v, got, q.Find("above"))
		}
	}
}
