// SPDX-License-Identifier: Apache-2.0

package recognize

import (
	"math"
	"slices"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/sequence"
	"lathe/ir/op/sum"
)

var attentions = []Pattern{
	{"attention", "softmax(scale*q*transpose(k) + mask)*v", attention},
}

// scores is the argument of the softmax, taken apart.
type scores struct {
	product *ir.Node // the product of queries and keys
	coef    float64
	cap     float64 // of a tanh around coef*product, 0 for none
	mask    *ir.Node
	keep    bool // the mask is of truth values, and not added
	rank    int  // of the value that the mask is for
}

func attention(m *matcher, n *ir.Node) *made {
	if n.Op != sum.MatMul {
		return nil
	}
	p := m.guarded(matrices(n.Args[0]))
	if p.Op != norm.Softmax {
		return nil
	}
	rank := len(p.Type.Shape)
	if a := p.Attrs.(*column.AxisAttrs).Axis; a != rank-1 && a != -1 || rank > 4 {
		return nil
	}
	s, ok := m.scored(p.Args[0], 0)
	if !ok || s.coef <= 0 {
		return nil
	}
	return m.attend(n, p.Type.Shape, s)
}

// attend builds the operation for scores of the given shape [.., T, S].
func (m *matcher) attend(n *ir.Node, shape []int, s scores) *made {
	q, coef := m.unscaled(s.product.Args[0])
	kt, more := m.unscaled(s.product.Args[1])
	coef *= more * s.coef
	if s.cap != 0 {
		coef *= s.cap // cap*tanh(scale*product/cap)
	}
	if coef <= 0 || s.cap < 0 {
		return nil
	}
	r := &made{}
	dims := lead(shape) // [B, H, T, S]
	k, v := r.keys(kt), n.Args[1]
	if batches(k) != batches(v) || batches(q) != dims[0]*dims[1] || batches(k) != dims[0]*dims[1] {
		return nil
	}
	heads := func(x *ir.Node) *ir.Node {
		d := x.Type.Shape
		return r.reshaped(matrices(x), []int{dims[0], dims[1], d[len(d)-2], d[len(d)-1]})
	}
	k0, groups := unrepeated(k, dims[1])
	v0, same := unrepeated(v, dims[1])
	q = heads(q)
	if groups == same && groups != dims[1] {
		k = r.reshaped(k0, []int{dims[0], groups, dims[3], last(k)})
		v = r.reshaped(v0, []int{dims[0], groups, dims[3], last(v)})
	} else {
		k, v = heads(k), heads(v)
	}
	a := &sequence.AttentionAttrs{Scale: float32(coef), Softcap: float32(s.cap)}
	if math.Abs(coef*math.Sqrt(float64(last(q)))-1) < 1e-6 {
		a.Scale = 0 // 1/sqrt(D), of which exporters round roots
	}
	args := []*ir.Node{q, k, v}
	if s.mask != nil && m.causal(s, dims) {
		a.Causal = true
	} else if s.mask != nil {
		mask := r.maskFor(s, dims)
		if mask == nil {
			return nil
		}
		if mask.IsConst() && !slices.Contains(r.before, mask) && m.class[mask] == 0 && !slices.Contains(m.g.Nodes, mask) {
			r.before = append(r.before, mask) // one that was turned over
		}
		args = append(args, mask)
	}
	return r.placed(n, a, args)
}

// placed makes n the attention, or a reshape of it.
func (r *made) placed(n *ir.Node, a *sequence.AttentionAttrs, args []*ir.Node) *made {
	q, v := args[0].Type.Shape, args[2].Type.Shape
	out := []int{q[0], q[1], q[2], v[3]}
	if slices.Equal(out, n.Type.Shape) {
		r.op, r.attrs, r.args = sequence.Attention, a, args
		return r
	}
	y := &ir.Node{Name: n.Name, Op: sequence.Attention, Attrs: a, Args: args, Pos: n.Pos,
		Type: n.Type.WithShape(out)}
	if elems(out) != n.Type.Elems() {
		return nil
	}
	r.before = append(r.before, y)
	r.op, r.attrs, r.args = move.Reshape, &move.ReshapeAttrs{Shape: slices.Clone(n.Type.Shape)}, []*ir.Node{y}
	r.self = n.Name + ".shape"
	return r
}

func elems(shape []int) int { return ir.Type{Shape: shape}.Elems() }

func last(n *ir.Node) int { return n.Type.Shape[len(n.Type.Shape)-1] }

// lead puts axes of one element before a shape, up to four.
func lead(shape []int) []int { return slices.Concat(slices.Repeat([]int{1}, 4-len(shape)), shape) }

// batches is the number of matrices in a value.
func batches(n *ir.Node) int { return elems(n.Type.Shape[:len(n.Type.Shape)-2]) }

// matrices looks through reshapes that only group the axes before the last two otherwise.
func matrices(n *ir.Node) *ir.Node {
	for n.Op == move.Reshape || n.Op == move.Repeat && slices.Equal(n.Type.Shape, n.Args[0].Type.Shape) {
		x := n.Args[0]
		a, b := n.Type.Shape, x.Type.Shape
		if len(a) < 2 || len(b) < 2 || !slices.Equal(a[len(a)-2:], b[len(b)-2:]) {
			return n
		}
		n = x
	}
	return n
}

// unscaled takes numbers off that multiply a value.
func (m *matcher) unscaled(n *ir.Node) (x *ir.Node, coef float64) {
	coef = 1
	for n = matrices(n); ; n = matrices(n) {
		if n.Op.Name != "mul" && n.Op.Name != "div" {
			return n, coef
		}
		c, ok := m.scalar(n.Args[1])
		x := n.Args[0]
		if !ok && n.Op.Name == "mul" {
			c, ok = m.scalar(n.Args[0])
			x = n.Args[1]
		}
		if !ok || c == 0 || !slices.Equal(x.Type.Shape, n.Type.Shape) {
			return n, coef
		}
		if n.Op.Name == "div" {
			c = 1 / c
		}
		n, coef = x, coef*c
	}
}

// hidden is a number that stands for minus infinity in masks.
const hidden = -1e9

// scored takes the argument of the softmax apart.
func (m *matcher) scored(n *ir.Node, depth int) (s scores, ok bool) {
	n = matrices(n)
	if depth > deepest || m.tired() {
		return s, false
	}
	switch n.Op.Name {
	case "matmul":
		return scores{product: n, coef: 1}, !constant(n.Args[0]) && !constant(n.Args[1])
	case "mul", "div":
		x, c := m.unscaled(n)
		if x == n {
			return s, false
		}
		s, ok = m.scored(x, depth+1)
		switch {
		case s.mask != nil:
			return s, false
		case s.cap != 0: // c*tanh(u)
			s.cap *= c
			return s, ok
		}
		s.coef *= c
		return s, ok
	case "tanh":
		s, ok = m.scored(n.Args[0], depth+1)
		if s.mask != nil || s.cap != 0 {
			return s, false
		}
		s.cap = 1
		return s, ok
	case "add":
		for i, mask := range n.Args {
			s, ok = m.scored(n.Args[1-i], depth+1)
			if ok && s.mask == nil {
				s.mask, s.rank = mask, len(n.Type.Shape)
				return s, true
			}
		}
	case "where":
		if fill, is := m.scalar(n.Args[1]); is && fill <= hidden && n.Args[0].IsConst() { // hides where the mask is true
			if s, ok = m.scored(n.Args[2], depth+1); ok && s.mask == nil {
				s.mask, s.keep, s.rank = inverted(n.Args[0]), true, len(n.Type.Shape)
				return s, s.mask != nil && m.neverEmpty(s.mask, fill)
			}
			return s, false
		}
		if fill, is := m.scalar(n.Args[2]); is && fill <= hidden {
			if s, ok = m.scored(n.Args[1], depth+1); ok && s.mask == nil {
				s.mask, s.keep, s.rank = n.Args[0], true, len(n.Type.Shape)
				return s, m.neverEmpty(n.Args[0], fill)
			}
		}
	}
	return scores{}, false
}

// inverted is a constant mask turned over.
func inverted(mask *ir.Node) *ir.Node {
	if mask.Type.Elems() > mostSame {
		return nil
	}
	t, err := mask.Value()
	if err != nil {
		return nil
	}
	codes := make([]int64, len(t.Codes))
	for i, c := range t.Codes {
		codes[i] = 1 - c
	}
	return &ir.Node{Name: mask.Name + ".not", Op: leaf.Const, Attrs: ir.Computed(ir.CodeBlob(codes), mask),
		Type: mask.Type,
		Pos:  mask.Pos}
}

// neverEmpty says that a query that sees no key makes no difference to what attention gives: the fill is infinite, and
// zeros stand for what would be no number, or every row of a constant mask keeps some key.
func (m *matcher) neverEmpty(keep *ir.Node, fill float64) bool {
	if math.IsInf(fill, -1) {
		return true
	}
	if !keep.IsConst() || keep.Type.Elems() > mostSame {
		return false
	}
	t, err := keep.Value()
	if err != nil {
		return false
	}
	width := last(keep)
	for i := 0; i < len(t.Codes); i += width {
		if !slices.ContainsFunc(t.Codes[i:i+width], func(c int64) bool { return c != 0 }) {
			return false
		}
	}
	return true
}

// guarded is s where n is where(is there no key, 0, s): attention gives zeros there by itself.
func (m *matcher) guarded(n *ir.Node) *ir.Node {
	if n.Op.Name != "where" {
		return n
	}
	v, ok := m.scalar(n.Args[1])
	s := matrices(n.Args[2])
	if !ok || v != 0 || s.Op != norm.Softmax || !m.empty(n.Args[0], s, true, 0) {
		return n
	}
	return s
}

// keys turns transposed keys [.., D, S] back.
func (r *made) keys(kt *ir.Node) *ir.Node {
	kt = matrices(kt)
	rank := len(kt.Type.Shape)
	swap := make([]int, rank)
	for i := range swap {
		swap[i] = i
	}
	swap[rank-1], swap[rank-2] = rank-2, rank-1
	if a, ok := kt.Attrs.(*move.TransposeAttrs); ok {
		perm := slices.Clone(a.Perm)
		perm[rank-1], perm[rank-2] = perm[rank-2], perm[rank-1]
		if slices.IsSorted(perm) {
			return kt.Args[0]
		}
		return r.transposed(kt.Args[0], perm)
	}
	return r.transposed(kt, swap)
}

// unrepeated is x [.., G, S, D] where n repeats each of its groups for as many heads as there are to a group.
func unrepeated(n *ir.Node, heads int) (x *ir.Node, groups int) {
	wide := n
	for wide.Op == move.Reshape {
		wide = wide.Args[0]
	}
	if wide == n || wide.Op != move.Repeat {
		return n, heads
	}
	narrow := wide.Args[0]
	a, b := wide.Type.Shape, narrow.Type.Shape // [.., G, r, S, D] and [.., G, 1, S, D]
	at := len(a) - 3
	if at < 1 || len(a) != len(b) || b[at] != 1 || a[at-1]*a[at] != heads || last(n) != last(wide) {
		return n, heads
	}
	for i := range a {
		if i != at && a[i] != b[i] {
			return n, heads
		}
	}
	return narrow, a[at-1]
}

// maskFor is the mask for scores of shape dims.
func (r *made) maskFor(s scores, dims []int) *ir.Node {
	mask := spread(s.mask, s.rank)
	shape := mask.Type.Shape
	switch {
	case len(shape) > 4 || !s.keep && !mask.Type.IsFloat() || s.keep && mask.Type.Format != ir.Bool:
		return nil
	case s.rank == 3 && len(shape) == 3 && shape[0] != 1 && dims[0] != 1: // matrices of all batches and heads
		if shape[0] != dims[0]*dims[1] {
			return nil
		}
		return r.reshaped(mask, []int{dims[0], dims[1], shape[1], shape[2]})
	case s.rank == 4 && dims[0]*dims[1] == 1, s.rank <= 4:
		return mask
	}
	return nil
}

// causal says that a constant mask hides the keys behind each query, and no others.
func (m *matcher) causal(s scores, dims []int) bool {
	mask := spread(s.mask, s.rank)
	rows, cols := dims[2], dims[3]
	shape := mask.Type.Shape
	if !mask.IsConst() || mask.Type.Elems() != rows*cols || cols < rows || rows == 1 || len(shape) < 2 ||
		!slices.Equal(shape[len(shape)-2:], []int{rows, cols}) {
		return false
	}
	t, err := mask.Value()
	if err != nil {
		return false
	}
	for i := range rows {
		for j := range cols {
			sees := j <= i+cols-rows
			switch at := i*cols + j; {
			case s.keep && sees != (t.Codes[at] != 0),
				!s.keep && sees && t.Floats[at] != 0,
				!s.keep && !sees && float64(t.Floats[at]) > hidden:
				return false
			}
		}
	}
	return true
}
