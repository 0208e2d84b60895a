// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"testing"

	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
	"lathe/lower/lowertest"
)

// TestDivisions: quotients by a constant, of a constant and of two values become products, whoever exported them.
func TestDivisions(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(b *lowertest.Builder, x *ir.Node) *ir.Node
	}{
		{"x / 3", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(whole.Div, "y", nil, x, b.Const([]int{1, 8}, 3, 3, 3, 3, 3, 3, 3, 3))
		}},
		{"x / channels", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(whole.Div, "y", nil, x, b.Const([]int{8}, 1, 2, 3, 4, 5, 6, 7, -8))
		}},
		{"x / (1 + |x|)", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			size := b.Add(curve.Abs, "size", nil, x)
			return b.Add(whole.Div, "y", nil, x, b.Add(pointwise.Add, "more", nil, size, b.Const(nil, 1)))
		}},
		{"mean of six", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			sum := b.Add(pointwise.Add, "sum", nil, x, b.Add(pointwise.Mul, "five", nil, x, b.Const(nil, 5)))
			return b.Add(whole.Div, "y", nil, sum, b.Const(nil, 6))
		}},
		{"x / -0.125", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(whole.Div, "y", nil, x, b.Const(nil, -0.125))
		}},
		{"x / 1000, of a layer", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(whole.Div, "y", nil, b.Linear("fc", x, 8, true), b.Const(nil, 1000))
		}},
		{"x / (2 + x*x)", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			square := b.Add(pointwise.Mul, "square", nil, x, x)
			return b.Add(whole.Div, "y", nil, x, b.Add(pointwise.Add, "more", nil, square, b.Const(nil, 2)))
		}},
		{"x / (1 + exp(x))", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			e := b.Add(curve.Exp, "e", nil, x)
			return b.Add(whole.Div, "y", nil, x, b.Add(pointwise.Add, "more", nil, e, b.Const(nil, 1)))
		}},
		{"layer / layer", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			bottom := b.Add(curve.Sigmoid, "bottom", nil, b.Linear("low", x, 8, true))
			more := b.Add(pointwise.Add, "more", nil, bottom, b.Const(nil, 1))
			return b.Add(whole.Div, "y", nil, b.Linear("high", x, 8, true), more)
		}},
		{"2 / (1 + |x|)", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			size := b.Add(curve.Abs, "size", nil, x)
			return b.Add(whole.Div, "y", nil, b.Const(nil, 2), b.Add(pointwise.Add, "more", nil, size, b.Const(nil, 1)))
		}},
	} {
		b := lowertest.New(t, 5)
		g := b.Done(c.build(b, b.Input("x", 1, 8)))
		q, r := mustQuantize(t, g, "", samples(g, -3, 3, 40))
		if got := r.Outputs[0].SQNR; got < 30 || q.Find("y") == nil || q.Find("y").Op == whole.Div {
			t.Errorf("%s: %.1f dB, %v", c.name, got, q.Find("y"))
		}
	}
}
