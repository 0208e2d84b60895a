// SPDX-License-Identifier: Apache-2.0

package generic

import (
	"slices"

	"lathe/cuda/word"
	"lathe/emit/cuda/index"
	"lathe/emit/cuda/kernel"
	"lathe/ir/hlo"
)

// A sort becomes two operations of this package: the rank of each element of a line, and the element of a given rank.
const (
	kindRank = hlo.NumKinds + iota
	kindRanked
)

// kindName is the name of a kind, of this package's too.
func kindName(k hlo.Kind) string {
	switch k {
	case kindRank:
		return "rank"
	case kindRanked:
		return "ranked"
	}
	return k.String()
}

// ranks replaces sorts: each element counts those that stand before it, and each place looks for the element that
// belongs there. That is two loops over a line instead of a program that threads must run together.
func ranks(p *Program) *Program {
	isSort := func(o hlo.Operation) bool { return o.Kind == hlo.KindSort }
	if !slices.ContainsFunc(p.Ops, isSort) {
		return p
	}
	r := retyper{p: p, at: make([]int, len(p.Ops))}
	rank := map[int]int{} // of sorts, by their old numbers
	for n, o := range p.Ops {
		old := o.Operands
		o.Operands = slices.Clone(old)
		for i, k := range old {
			o.Operands[i] = r.at[k]
		}
		switch {
		case o.Kind == hlo.KindSort:
			a := hlo.Attrs{Axes: o.Attrs.Axes}
			rank[n] = r.add(hlo.Operation{Kind: kindRank, Operands: o.Operands[:1], Type: o.Type.With(hlo.I32), Attrs: o.Attrs})
			o = hlo.Operation{Kind: kindRanked, Operands: []int{o.Operands[0], rank[n]}, Type: o.Type, Attrs: a}
		case o.Kind == hlo.KindResult && p.Ops[old[0]].Kind == hlo.KindSort: // the places
			sort := p.Ops[old[0]]
			o = hlo.Operation{Kind: kindRanked, Operands: []int{r.at[sort.Operands[1]], rank[old[0]]}, Type: o.Type,
				Attrs: hlo.Attrs{Axes: sort.Attrs.Axes}}
		}
		r.at[n] = r.add(o)
	}
	return r.program()
}

// rank counts the elements of a line that stand before one: those that belong before it, and equal ones on its left.
func (g *gen) rank(n int, at []index.Expr) *kernel.Expr {
	o := &g.c.p.Ops[n]
	axis := o.Attrs.Axes[0]
	mine := g.operand(n, 0, at)
	if mine == nil {
		return nil
	}
	here := g.code(at[axis])
	sum := g.declare("s", kernel.Int(word.I32, 0))
	g.loop(int64(o.Type.Dims[axis]), func(i index.Expr) {
		to := slices.Clone(at)
		to[axis] = i
		other := g.operand(n, 0, to)
		if other == nil {
			return
		}
		before := kernel.Either(kernel.Binary("<", g.code(i), here),
			kernel.Unary("!", precedes(o.Attrs.Dir, mine, other)), precedes(o.Attrs.Dir, other, mine))
		g.set(sum, kernel.Function(word.I32, "add", sum, kernel.Convert(word.I32, before)))
	})
	return sum
}

// precedes says that x stands before y whatever their places are. NaN is larger than all numbers.
func precedes(d hlo.Dir, x, y *kernel.Expr) *kernel.Expr {
	if d == hlo.LT { // the least first
		x, y = y, x
	}
	more := kernel.Binary(">", x, y)
	if !x.Type.IsFloat() {
		return more
	}
	return kernel.Binary("||", more, kernel.Binary("&&", kernel.Binary("!=", x, x), kernel.Binary("==", y, y)))
}

// ranked is the element of a line whose rank is its place in the result.
func (g *gen) ranked(n int, at []index.Expr) *kernel.Expr {
	o := &g.c.p.Ops[n]
	axis := o.Attrs.Axes[0]
	want := kernel.Convert(word.I32, g.code(at[axis]))
	v := g.declare("v", kernel.Int(TypeOf(o.Type.DType), 0))
	g.loop(int64(o.Type.Dims[axis]), func(i index.Expr) {
		to := slices.Clone(at)
		to[axis] = i
		rank := g.operand(n, 1, to)
		if rank == nil {
			return
		}
		g.when(kernel.Binary("==", rank, want), func() { g.assign(v, g.operand(n, 0, to)) })
	})
	return v
}

// scatter combines an element of a table with the updates of its row, in ascending order.
func (g *gen) scatter(n int, at []index.Expr) *kernel.Expr {
	o := &g.c.p.Ops[n]
	start := g.operand(n, 0, at)
	if start == nil {
		return nil
	}
	acc := g.declare("s", start)
	g.loop(int64(g.c.p.Ops[o.Operands[1]].Type.Dims[0]), func(i index.Expr) {
		row := g.operand(n, 1, []index.Expr{i})
		if row == nil {
			return
		}
		here := kernel.Binary("==", kernel.Convert(word.I64, row), kernel.Convert(word.I64, g.code(at[0])))
		g.when(here, func() {
			if v := g.operand(n, 2, append([]index.Expr{i}, at[1:]...)); v != nil {
				g.set(acc, reduced(o.Attrs.Reducer, acc, v))
			}
		})
	})
	return acc
}
