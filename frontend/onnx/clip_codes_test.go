// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"fmt"
	"math"
	"testing"

	"lathe/frontend/source"
	"lathe/ir"
	"lathe/ir/op/pointwise"
)

// TestClippedCodes reads a Clip between QuantizeLinear and DequantizeLinear as a format of fewer bits, where one has
// the range, and computes the same in any case.
func TestClippedCodes(t *testing.T) {
	for _, c := range []struct {
		lo, hi int8
		format string // "" where no width has the range
	}{
		{-8, 7, "int(4,div=f32)*0.3"}, {-7, 7, "int(4,over=sym,div=f32)*0.3"}, {0, 3, "uint(2,div=f32)*0.3"},
		{0, 6, "uint(3,over=sym,div=f32)*0.3"}, {-128, 127, "int(8,div=f32)*0.3"}, {-5, 7, ""}, {0, 4, ""},
	} {
		m := chain(13, vi("x", 1, 12), []pb{ft("s", nil, 0.3), i8("z", nil, 0), i8("lo", nil, c.lo), i8("hi", nil, c.hi)},
			nd("QuantizeLinear", "x s z", "q"), nd("Clip", "q lo hi", "k"), nd("DequantizeLinear", "k s z", "y"))
		g, err := Parse("m.onnx", m.bytes(), source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, n := range g.Nodes {
			if a, ok := n.Attrs.(*pointwise.QuantAttrs); ok {
				got = a.Format
			}
		}
		if c.format != "" && (got != c.format || len(g.Nodes) != 2) {
			t.Errorf("%d to %d: %q, want %q; %d nodes", c.lo, c.hi, got, c.format, len(g.Nodes))
		}
		x := ramp(g.In[0].Type.Elems(), 3)
		for i, y := range evaluate(t, g, x)[0].Floats {
			code := math.RoundToEven(float64(x[i] / 0.3))
			want := float32(min(max(code, float64(c.lo)), float64(c.hi))) * 0.3
			if y != want {
				t.Errorf("%d to %d: %g of %g, want %g", c.lo, c.hi, y, x[i], want)
			}
		}
	}
}

// TestClippedWeights reads weights behind a Clip as codes of its range.
func TestClippedWeights(t *testing.T) {
	for want, bounds := range map[string][2]int8{"int(3)*0.2": {-4, 3}, "int(2,over=sym)*0.2": {-1, 1},
		"int(8)*0.2": {-3, 1}} {
		w := make([]int8, 24)
		for i := range w {
			w[i] = bounds[0] + int8(i)%(bounds[1]-bounds[0]+1)
		}
		m := chain(13, vi("x", 1, 12), []pb{ft("s", nil, 0.2), i8("w", d(2, 12), w...), i8("lo", nil, bounds[0]),
			i8("hi", nil, bounds[1])}, nd("Clip", "w lo hi", "k"), nd("DequantizeLinear", "k s", "wd"),
			nd("Gemm", "x wd", "y", aInt("transB", 1)))
		g, err := Parse("m.onnx", m.bytes(), source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, n := range g.Nodes {
			if k, ok := n.Attrs.(*ir.Const); ok && k.Own.Format != nil {
				got = fmt.Sprint(k.Own.Format)
			}
		}
		if got != want {
			t.Errorf("%v: %q, want %q", bounds, got, want)
		}
	}
}
