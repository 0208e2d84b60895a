// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"testing"

	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/whole"
	"lathe/lower/lowertest"
)

func number(b *lowertest.Builder, v float32) *ir.Node { return b.Const(nil, v) }

func compare(b *lowertest.Builder, name, rel string, x, y *ir.Node) *ir.Node {
	return b.Add(whole.Compare, name, &whole.CompareAttrs{Rel: rel}, x, y)
}

// formulas are functions of one value as exporters write them out.
var formulas = []struct {
	name  string
	build func(b *lowertest.Builder, x *ir.Node) *ir.Node
	units bool // each operation has one of its own, and so they stay
}{
	{"leaky", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		less := b.Add(pointwise.Mul, "less", nil, x, number(b, 0.1))
		return b.Add(whole.Where, "y", nil, compare(b, "c", "ge", x, number(b, 0)), x, less)
	}, false},
	{"elu", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		e := b.Add(pointwise.Sub, "e", nil, b.Add(curve.Exp, "exp", nil, x), number(b, 1))
		return b.Add(whole.Where, "y", nil, compare(b, "c", "gt", x, number(b, 0)), x, e)
	}, false},
	{"selu", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		e := b.Add(pointwise.Sub, "e", nil, b.Add(curve.Exp, "exp", nil, x), number(b, 1))
		low := b.Add(pointwise.Mul, "low", nil, e, number(b, 1.6732632))
		either := b.Add(whole.Where, "either", nil, compare(b, "c", "gt", x, number(b, 0)), x, low)
		return b.Add(pointwise.Mul, "y", nil, either, number(b, 1.050701))
	}, false},
	{"celu", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		e := b.Add(curve.Exp, "exp", nil, b.Add(pointwise.Mul, "half", nil, x, number(b, 0.5)))
		low := b.Add(pointwise.Mul, "low", nil, b.Add(pointwise.Sub, "e", nil, e, number(b, 1)), number(b, 2))
		return b.Add(whole.Where, "y", nil, compare(b, "c", "le", x, number(b, 0)), low, x)
	}, false},
	{"log sigmoid", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		s := b.Add(curve.Softplus, "s", nil, b.Add(pointwise.Mul, "minus", nil, x, number(b, -1)))
		return b.Add(pointwise.Mul, "y", nil, s, number(b, -1))
	}, true},
	{"tanhshrink", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		return b.Add(pointwise.Sub, "y", nil, x, b.Add(curve.Tanh, "tanh", nil, x))
	}, true},
	{"softshrink", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		up := b.Add(pointwise.Add, "up", nil, x, number(b, 0.5))
		down := b.Add(pointwise.Sub, "down", nil, x, number(b, 0.5))
		low := b.Add(whole.Where, "low", nil, compare(b, "d", "lt", x, number(b, -0.5)), up, number(b, 0))
		return b.Add(whole.Where, "y", nil, compare(b, "c", "gt", x, number(b, 0.5)), down, low)
	}, false},
	{"power of two", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		e := b.Add(curve.Exp, "exp", nil, b.Add(pointwise.Mul, "turned", nil, x, number(b, 0.6931472)))
		return b.Add(pointwise.Add, "y", nil, e, x)
	}, true},
	{"between", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		in := b.Add(whole.And, "in", nil, compare(b, "c", "gt", x, number(b, -1)), compare(b, "d", "lt", x, number(b, 9)))
		return b.Add(whole.Where, "y", nil, in, x, number(b, -1))
	}, false},
	{"wave", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		return b.Add(pointwise.Add, "y", nil, x, b.Add(curve.Sin, "sin", nil, x))
	}, false},
	{"gate", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		open := b.Add(whole.Convert, "open", &whole.ConvertAttrs{To: ir.F32}, compare(b, "c", "gt", x, number(b, 0)))
		return b.Add(pointwise.Mul, "y", nil, x, open)
	}, false},
	{"cases by their number", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		count := func(name, rel string, at float32) *ir.Node {
			return b.Add(whole.Convert, name, &whole.ConvertAttrs{To: ir.I32}, compare(b, name+".c", rel, x, number(b, at)))
		}
		flat := &move.ReshapeAttrs{Shape: []int{8}}
		v := b.Add(move.Reshape, "flat", flat, x)
		at := b.Add(move.Reshape, "at", flat, b.Add(pointwise.Add, "both", nil, count("a", "gt", 0), count("b", "gt", 1)))
		one := b.Add(whole.Convert, "one", &whole.ConvertAttrs{To: ir.I32}, number(b, 1))
		first := b.Add(whole.Where, "first", nil, compare(b, "less", "lt", at, one),
			b.Add(pointwise.Mul, "half", nil, v, number(b, -0.5)), v)
		square := b.Add(pointwise.Mul, "square", nil, v, v)
		return b.Add(whole.Where, "y", nil, compare(b, "more", "gt", at, one), square, first)
	}, false},
	{"functions", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		high, low := b.Add(curve.Gelu, "gelu", nil, x), b.Add(curve.Softsign, "sign", nil, x)
		return b.Add(whole.Where, "y", nil, compare(b, "c", "gt", x, number(b, 0)), high, low)
	}, false},
	{"inverse", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		e := b.Add(curve.Exp, "exp", nil, b.Add(pointwise.Mul, "twice", nil, x, number(b, 2)))
		return b.Add(curve.Reciprocal, "y", &curve.ReciprocalAttrs{Numerator: 1}, e)
	}, false},
	{"quotient", func(b *lowertest.Builder, x *ir.Node) *ir.Node {
		size := b.Add(pointwise.Add, "size", nil, b.Add(curve.Abs, "abs", nil, x), number(b, 1))
		return b.Add(whole.Div, "y", nil, x, size)
	}, false},
}

// TestFormulas: whatever computes elements from those of one value becomes one table, also where that value is a sum of
// two others, and nothing else is drawn into it.
func TestFormulas(t *testing.T) {
	for _, c := range formulas {
		for _, sum := range []bool{false, true} {
			b := lowertest.New(t, 5)
			x := b.Input("x", 1, 8)
			if sum { // of values which are functions of nothing in common
				x = b.Add(pointwise.Add, "sum", nil, x, b.Linear("fc", x, 8, true))
			}
			g := b.Done(c.build(b, x))
			q, r := mustQuantize(t, g, "", samples(g, -1.5, 1.5, 60))
			n := q.Find("y")
			got := r.Outputs[0].SQNR
			if got < 28 || n == nil || c.units != (n.Op != curve.Formula) || sum != (q.Find("sum") != nil) {
				t.Errorf("%s, of a sum %v: %.1f dB, %v", c.name, sum, got, n)
			}
		}
	}
}

// TestQuotients: what quotients read has as many bits as they make something of: divisors near 0, and their inverses,
// which are a factor of values that are small where they are large.
func TestQuotients(t *testing.T) {
	b := lowertest.New(t, 5)
	x := b.Input("x", 1, 4)
	r := b.Add(pointwise.Relu, "r", nil, x)
	sum := b.Add(reduce.Sum, "sum", &reduce.Attrs{Axes: []int{1}}, r)
	share := b.Add(whole.Div, "y", nil, r, b.Add(pointwise.Add, "more", nil, sum, number(b, 0.05)))
	g := b.Done(share)
	_, report := mustQuantize(t, g, "", samples(g, -2, 2, 200))
	if got := report.Outputs[0].SQNR; got < 28 {
		t.Errorf("shares of a sum keep %.1f dB", got)
	}
	_, report = mustQuantize(t, g, "[quantize]\ndata = \"fixed(8)\"\n", samples(g, -2, 2, 200))
	if got := report.Outputs[0].SQNR; got > 26 {
		t.Errorf("in 8 bits, as the plan has it, they keep %.1f dB", got)
	}
}
