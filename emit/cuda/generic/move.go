// SPDX-License-Identifier: Apache-2.0

package generic

import (
	"fmt"
	"slices"

	"lathe/cuda/word"
	"lathe/emit/cuda/index"
	"lathe/emit/cuda/kernel"
	"lathe/ir/hlo"
)

// move computes an operation that only chooses elements; ok is false for others.
func (g *gen) move(n int, at []index.Expr) (v *kernel.Expr, ok bool) {
	o := &g.c.p.Ops[n]
	if o.Kind == hlo.KindConcatenate {
		return g.concat(n, at), true
	}
	if len(o.Operands) == 0 {
		return nil, false
	}
	from := g.c.p.Ops[o.Operands[0]].Type
	to := make([]index.Expr, from.Rank())
	switch o.Kind {
	case hlo.KindReshape:
		to = g.space.Reshape(at, o.Type.Dims, from.Dims)
	case hlo.KindBroadcast:
		for i, a := range o.Attrs.Axes {
			if from.Dims[i] > 1 {
				to[i] = at[a]
			}
		}
	case hlo.KindTranspose:
		for i, p := range o.Attrs.Axes {
			to[p] = at[i]
		}
	case hlo.KindSlice:
		for i, e := range at {
			to[i] = g.space.Add(g.space.Scale(e, int64(o.Attrs.Stride[i])), index.Const(int64(o.Attrs.Start[i])))
		}
	case hlo.KindReverse:
		copy(to, at)
		for _, a := range o.Attrs.Axes {
			to[a] = g.space.Add(index.Const(int64(from.Dims[a]-1)), g.space.Scale(at[a], -1))
		}
	case hlo.KindPad:
		return g.pad(n, at, from), true
	case hlo.KindGather:
		return g.gather(n, at, from), true
	default:
		return nil, false
	}
	return g.operand(n, 0, to), true
}

// bound is an index that must lie inside of an axis: at = By*i for some i in 0..Extent-1.
type bound struct {
	at     index.Expr
	extent int
	by     int
}

// bounds returns i of each bound, for use where cond holds; a nil cond always holds. never: it cannot.
func (g *gen) bounds(list []bound) (at []index.Expr, cond *kernel.Expr, never bool) {
	require := func(c *kernel.Expr) {
		if cond == nil {
			cond = c
			return
		}
		cond = kernel.Binary("&&", cond, c)
	}
	for _, b := range list {
		span := int64(b.extent-1)*int64(b.by) + 1
		lo, hi := g.space.Range(b.at)
		if b.extent == 0 || hi < 0 || lo >= span {
			return nil, nil, true
		}
		e := b.at
		if lo < 0 || hi >= span {
			e = g.alias(e, span)
			require(kernel.Binary("<", g.code(e), kernel.Int(g.word, span))) // below zero is far above
		}
		if b.by > 1 {
			if rest := g.space.Mod(e, int64(b.by)); !rest.IsConst() {
				require(kernel.Binary("==", g.code(rest), kernel.Int(g.word, 0)))
			} else if rest.K != 0 {
				return nil, nil, true
			}
			e = g.space.Div(e, int64(b.by))
		}
		at = append(at, e)
	}
	return at, cond, false
}

// alias is a variable equal to e that counts as less than limit.
func (g *gen) alias(e index.Expr, limit int64) index.Expr {
	key := fmt.Sprintf("alias %d %s", limit, e.Key())
	if v := g.known(key); v != nil {
		return g.space.Var(v.Var.Name, limit)
	}
	x := g.code(e)
	i := g.variable("p", limit)
	v := g.vars[g.space.Atom(i.Terms[0].Atom).Name]
	g.top().block.Add(kernel.Let{Var: v, Value: x})
	g.top().values[key] = kernel.Of(v)
	return i
}

func (g *gen) pad(n int, at []index.Expr, from hlo.Type) *kernel.Expr {
	a := g.c.p.Ops[n].Attrs
	list := make([]bound, len(at))
	for i, e := range at {
		list[i] = bound{g.space.Add(e, index.Const(int64(-a.Low[i]))), from.Dims[i], a.Inner[i] + 1}
	}
	value := g.operand(n, 1, nil)
	to, cond, never := g.bounds(list)
	switch {
	case never:
		return value
	case cond == nil:
		return g.operand(n, 0, to)
	case value == nil:
		return nil
	}
	v := g.declare("v", value)
	g.when(cond, func() { g.assign(v, g.operand(n, 0, to)) })
	return v
}

// when runs body under a condition.
func (g *gen) when(cond *kernel.Expr, body func()) {
	then := &kernel.Block{}
	g.inside(then, body)
	g.top().block.Add(kernel.If{Cond: cond, Then: then})
}

// assign sets v, unless there was an error.
func (g *gen) assign(v, e *kernel.Expr) {
	if e != nil {
		g.set(v, e)
	}
}

// piece is an operand of a concatenation that holds positions from..to-1.
type piece struct {
	op       int
	from, to int64
}

func (g *gen) concat(n int, at []index.Expr) *kernel.Expr {
	o := &g.c.p.Ops[n]
	axis := o.Attrs.Axes[0]
	lo, hi := g.space.Range(at[axis])
	var pieces []piece
	end := int64(0)
	for _, k := range o.Operands {
		from := end
		end += int64(g.c.p.Ops[k].Type.Dims[axis])
		if end > lo && from <= hi && end > from {
			pieces = append(pieces, piece{k, from, end})
		}
	}
	pick := func(p piece, e index.Expr) *kernel.Expr {
		to := slices.Clone(at)
		to[axis] = e
		return g.eval(p.op, to)
	}
	if len(pieces) == 1 {
		return pick(pieces[0], g.space.Add(at[axis], index.Const(-pieces[0].from)))
	}
	v := g.declare("v", kernel.Int(TypeOf(o.Type.DType), 0))
	var choose func(list []piece)
	choose = func(list []piece) {
		p := list[0]
		here := func() {
			g.assign(v, pick(p, g.alias(g.space.Add(at[axis], index.Const(-p.from)), p.to-p.from)))
		}
		if len(list) == 1 {
			here()
			return
		}
		s := kernel.If{Cond: kernel.Binary("<", g.code(at[axis]), kernel.Int(g.word, p.to)), Then: &kernel.Block{},
			Else: &kernel.Block{}}
		g.inside(s.Then, here)
		g.inside(s.Else, func() { choose(list[1:]) })
		g.top().block.Add(s)
	}
	choose(pieces)
	return v
}

// gather takes row idx of a table, the nearest row for indices outside.
func (g *gen) gather(n int, at []index.Expr, table hlo.Type) *kernel.Expr {
	rank := len(at) - (table.Rank() - 1)
	idx := g.operand(n, 1, at[:rank])
	if idx == nil {
		return nil
	}
	row := index.Const(0)
	if rows := int64(table.Dims[0]); rows > 1 {
		t := idx.Type
		if !t.IsSigned() { // the table has far fewer rows than the type has values
			idx = kernel.Function(t, "least", idx, kernel.Int(t, rows-1))
		} else {
			if t == word.I8 {
				idx, t = kernel.Convert(word.I32, idx), word.I32
			}
			idx = kernel.Function(t, "least", kernel.Function(t, "greatest", idx, kernel.Int(t, 0)), kernel.Int(t, rows-1))
		}
		row = g.variable("p", rows)
		v := g.vars[g.space.Atom(row.Terms[0].Atom).Name]
		g.top().block.Add(kernel.Let{Var: v, Value: kernel.Convert(g.word, idx)})
	}
	return g.operand(n, 0, append([]index.Expr{row}, at[rank:]...))
}
