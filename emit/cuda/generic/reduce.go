// SPDX-License-Identifier: Apache-2.0

package generic

import (
	"slices"
	"strings"

	"lathe/emit/cuda/index"
	"lathe/emit/cuda/kernel"
	"lathe/ir/hlo"
)

// accumulate computes an operation that runs over many elements, in ascending order.
func (g *gen) accumulate(n int, at []index.Expr) *kernel.Expr {
	switch g.c.p.Ops[n].Kind {
	case hlo.KindReduce:
		return g.reduce(n, at)
	case hlo.KindReduceWindow:
		return g.reduceWindow(n, at)
	case hlo.KindDot:
		return g.dot(n, at)
	case hlo.KindScatter:
		return g.scatter(n, at)
	case kindRank:
		return g.rank(n, at)
	case kindRanked:
		return g.ranked(n, at)
	}
	return g.convolution(n, at)
}

// reduced is one step of a reduction.
func reduced(f hlo.Reducer, acc, v *kernel.Expr) *kernel.Expr {
	switch {
	case f == hlo.ReduceLast:
		return v
	case f == hlo.ReduceAdd && v.Type.IsFloat():
		return kernel.Binary("+", acc, v)
	case f == hlo.ReduceAdd:
		return kernel.Function(v.Type, "add", acc, v)
	case f == hlo.ReduceMul && v.Type.IsFloat():
		return kernel.Binary("*", acc, v)
	case f == hlo.ReduceMul:
		return kernel.Function(v.Type, "mul", acc, v)
	}
	name := "greatest"
	if f == hlo.ReduceMin {
		name = "least"
	}
	if v.Type.IsFloat() {
		name = "float_" + name
	}
	return kernel.Function(v.Type, name, acc, v)
}

func (g *gen) reduce(n int, at []index.Expr) *kernel.Expr {
	o := &g.c.p.Ops[n]
	start := g.operand(n, 1, nil)
	if start == nil {
		return nil
	}
	from := g.c.p.Ops[o.Operands[0]].Type
	axes := slices.Clone(o.Attrs.Axes)
	slices.Sort(axes)
	counts := make([]int, len(axes))
	for i, a := range axes {
		counts[i] = from.Dims[a]
	}
	acc := g.declare("s", start)
	g.loops(counts, func(inner []index.Expr) {
		to := slices.Clone(at)
		for i, a := range axes {
			to = slices.Insert(to, a, inner[i])
		}
		if v := g.operand(n, 0, to); v != nil {
			g.set(acc, reduced(o.Attrs.Reducer, acc, v))
		}
	})
	return acc
}

func (g *gen) reduceWindow(n int, at []index.Expr) *kernel.Expr {
	o := &g.c.p.Ops[n]
	w := o.Attrs.Window
	start := g.operand(n, 1, nil)
	if start == nil {
		return nil
	}
	from := g.c.p.Ops[o.Operands[0]].Type
	acc := g.declare("s", start)
	g.loops(w.Size, func(inner []index.Expr) {
		list := make([]bound, len(at))
		for i := range at {
			list[i] = bound{g.slide(at[i], w.Stride[i], inner[i], w.Dilation[i], w.Low[i]), from.Dims[i], 1}
		}
		g.guarded(list, func(to []index.Expr) {
			if v := g.operand(n, 0, to); v != nil {
				g.set(acc, reduced(o.Attrs.Reducer, acc, v))
			}
		})
	})
	return acc
}

// slide is the position in the input of a window's element.
func (g *gen) slide(at index.Expr, stride int, inner index.Expr, dilation, low int) index.Expr {
	e := g.space.Add(g.space.Scale(at, int64(stride)), g.space.Scale(inner, int64(dilation)))
	return g.space.Add(e, index.Const(int64(-low)))
}

// guarded runs body where all bounds hold.
func (g *gen) guarded(list []bound, body func(at []index.Expr)) {
	to, cond, never := g.bounds(list)
	switch {
	case never:
	case cond == nil:
		body(to)
	default:
		g.when(cond, func() { body(to) })
	}
}

// addProduct adds x*y to acc, in the type of acc.
func (g *gen) addProduct(acc, x, y *kernel.Expr) {
	if x == nil || y == nil {
		return
	}
	t := acc.Type
	x, y = kernel.Convert(t, x), kernel.Convert(t, y)
	if t.IsFloat() {
		g.set(acc, kernel.Binary("+", acc, kernel.Binary("*", x, y)))
		return
	}
	g.set(acc, kernel.Function(t, "add", acc, kernel.Function(t, "mul", x, y)))
}

func (g *gen) dot(n int, at []index.Expr) *kernel.Expr {
	o := &g.c.p.Ops[n]
	d := o.Attrs.Dot
	x, y := g.c.p.Ops[o.Operands[0]].Type, g.c.p.Ops[o.Operands[1]].Type
	left, right := make([]index.Expr, x.Rank()), make([]index.Expr, y.Rank())
	for i := range d.LhsBatch {
		left[d.LhsBatch[i]], right[d.RhsBatch[i]] = at[i], at[i]
	}
	at = at[len(d.LhsBatch):]
	for i := range x.Rank() {
		if !slices.Contains(d.LhsBatch, i) && !slices.Contains(d.LhsContract, i) {
			left[i], at = at[0], at[1:]
		}
	}
	for i := range y.Rank() {
		if !slices.Contains(d.RhsBatch, i) && !slices.Contains(d.RhsContract, i) {
			right[i], at = at[0], at[1:]
		}
	}
	counts := make([]int, len(d.LhsContract))
	for i, a := range d.LhsContract {
		counts[i] = x.Dims[a]
	}
	acc := g.declare("s", kernel.Int(TypeOf(o.Type.DType), 0))
	g.loops(counts, func(inner []index.Expr) {
		l, r := slices.Clone(left), slices.Clone(right)
		for i, e := range inner {
			l[d.LhsContract[i]], r[d.RhsContract[i]] = e, e
		}
		g.addProduct(acc, g.operand(n, 0, l), g.operand(n, 1, r))
	})
	return acc
}

// axisOf is the place of an axis named by a letter or digit.
func axisOf(names string, axis byte) int { return strings.IndexByte(names, axis) }

func (g *gen) convolution(n int, at []index.Expr) *kernel.Expr {
	o := &g.c.p.Ops[n]
	c := o.Attrs.Conv
	x, w := g.c.p.Ops[o.Operands[0]].Type, g.c.p.Ops[o.Operands[1]].Type
	features := w.Dims[axisOf(c.Kernel, 'o')]
	inputs := w.Dims[axisOf(c.Kernel, 'i')] // of a group
	out := at[axisOf(c.Output, 'f')]
	group := index.Const(0)
	if c.Groups > 1 {
		group = g.space.Div(out, int64(features/c.Groups))
	}
	spatial := x.Rank() - 2
	counts := make([]int, 0, spatial+1)
	for i := range spatial {
		counts = append(counts, w.Dims[axisOf(c.Kernel, byte('0'+i))])
	}
	counts = append(counts, inputs)
	acc := g.declare("s", kernel.Int(TypeOf(o.Type.DType), 0))
	last := len(counts) - 1
	product := func(pixel, taps []index.Expr, k index.Expr) {
		from, by := make([]index.Expr, x.Rank()), make([]index.Expr, w.Rank())
		from[axisOf(c.Input, 'b')] = at[axisOf(c.Output, 'b')]
		from[axisOf(c.Input, 'f')] = g.space.Add(g.space.Scale(group, int64(inputs)), k)
		by[axisOf(c.Kernel, 'o')], by[axisOf(c.Kernel, 'i')] = out, k
		for i := range spatial {
			from[axisOf(c.Input, byte('0'+i))], by[axisOf(c.Kernel, byte('0'+i))] = pixel[i], taps[i]
		}
		g.addProduct(acc, g.operand(n, 0, from), g.operand(n, 1, by))
	}
	g.loops(counts[:last], func(taps []index.Expr) {
		list := make([]bound, spatial)
		for i := range spatial {
			e := g.slide(at[axisOf(c.Output, byte('0'+i))], c.Stride[i], taps[i], c.KernelDilation[i], c.Low[i])
			list[i] = bound{e, x.Dims[axisOf(c.Input, byte('0'+i))], c.InDilation[i]}
		}
		g.guarded(list, func(pixel []index.Expr) {
			g.loop(int64(counts[last]), func(k index.Expr) { product(pixel, taps, k) })
		})
	})
	return acc
}
