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

// TestFormulas: whatever computes elements from those of one value becomes one table, also where that value is a sum of
// two others, and nothing else is drawn into it.
func TestFormulas(t *testing.T) {
	number := func(b *lowertest.Builder, v float32) *ir.Node { return b.Const(nil, v) }
	compare := func(b *lowertest.Builder, name, rel string, x, y *ir.Node) *ir.Node {
		return b.Add(whole.Compare, name, &whole.CompareAttrs{Rel: rel}, x, y)
	}
	for _, c := range []struct {
		name  string
		build func(b *lowertest.Builder, x *ir.Node) *ir.Node
	}{
		{"leaky", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			less := b.Add(pointwise.Mul, "less", nil, x, number(b, 0.1))
			return b.Add(whole.Where, "y", nil, compare(b, "c", "ge", x, number(b, 0)), x, less)
		}},
		{"elu", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			e := b.Add(pointwise.Sub, "e", nil, b.Add(curve.Exp, "exp", nil, x), number(b, 1))
			return b.Add(whole.Where, "y", nil, compare(b, "c", "gt", x, number(b, 0)), x, e)
		}},
		{"between", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			in := b.Add(whole.And, "in", nil, compare(b, "c", "gt", x, number(b, -1)), compare(b, "d", "lt", x, number(b, 9)))
			return b.Add(whole.Where, "y", nil, in, x, number(b, -1))
		}},
		{"wave", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(pointwise.Add, "y", nil, x, b.Add(curve.Sin, "sin", nil, x))
		}},
		{"quotient", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			size := b.Add(pointwise.Add, "size", nil, b.Add(curve.Abs, "abs", nil, x), number(b, 1))
			return b.Add(whole.Div, "y", nil, x, size)
		}},
	} {
		for _, sum := range []bool{false, true} {
			b := lowertest.New(t, 5)
			x := b.Input("x", 1, 8)
			if sum { // of values which are functions of nothing in common
				x = b.Add(pointwise.Add, "sum", nil, x, b.Linear("fc", x, 8, true))
			}
			g := b.Done(c.build(b, x))
			q, r := mustQuantize(t, g, "", samples(g, -1.5, 1.5, 60))
			n := q.Find("y")
			if got := r.Outputs[0].SQNR; got < 28 || n == nil || n.Op != curve.Formula || sum != (q.Find("sum") != nil) {
				t.Errorf("%s, of a sum %v: %.1f dB, %v", c.name, sum, got, n)
			}
		}
	}
}
