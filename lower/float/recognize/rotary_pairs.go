// SPDX-License-Identifier: Apache-2.0

package recognize

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
)

// rotaryPairs knows the two halves, or the even and the odd elements, turned by themselves and joined; elements behind
// those that are turned may follow.
func rotaryPairs(m *matcher, n *ir.Node) *made {
	rank := len(n.Type.Shape)
	if rank != 4 {
		return nil
	}
	turned := n
	if rest := joined(n, 3); rest != nil && isRest(rest[1], rest[0].Type.Shape[3]) && m.pairs(rest[0]) != nil {
		turned = rest[0]
	}
	f := m.pairs(turned)
	if f == nil {
		return nil
	}
	x, dim := f.a.Args[0], turned.Type.Shape[3]
	if turned != n && !m.same(n.Args[1].Args[0], x) || !slices.Equal(x.Type.Shape, n.Type.Shape) {
		return nil
	}
	step := 1
	start := dim / 2
	if f.interleaved {
		step, start = 2, 1
	}
	if !isEvery(f.a, 0, dim/2, step) || !isEvery(f.b, start, dim/2, step) || !m.same(f.b.Args[0], x) {
		return nil
	}
	attrs := &sequence.RotaryAttrs{Interleaved: f.interleaved}
	if turned != n {
		attrs.Dim = dim
	}
	r := &made{op: sequence.Rotary, attrs: attrs, args: []*ir.Node{x}}
	shape := x.Type.Shape
	if !r.angles(f.cos, shape, dim/2) || !r.angles(f.sin, shape, dim/2) {
		return nil
	}
	return r
}

// joined are the two arguments of a concat along an axis, nil for anything else.
func joined(n *ir.Node, axis int) []*ir.Node {
	if a, ok := n.Attrs.(*move.ConcatAttrs); ok && a.Axis == axis && len(n.Args) == 2 {
		return n.Args
	}
	return nil
}

// isRest says that n is all of the last axis from start on.
func isRest(n *ir.Node, start int) bool {
	a, ok := n.Attrs.(*move.SliceAttrs)
	return ok && a.Axis == 3 && a.Start == start && a.Start+a.Count == n.Args[0].Type.Shape[3]
}

// isEvery says that n is a slice of the last axis.
func isEvery(n *ir.Node, start, count, step int) bool {
	a, ok := n.Attrs.(*move.SliceAttrs)
	return ok && a.Axis == 3 && a.Start == start && a.Count == count && (a.Step == step || count == 1)
}

// pairs is a*cos - b*sin beside a*sin + b*cos.
type pairs struct {
	a, b, cos, sin *ir.Node
	interleaved    bool
}

// pairs sees n as one; nil if it is none.
func (m *matcher) pairs(n *ir.Node) *pairs {
	parts, interleaved := joined(n, 3), false
	if n.Op == move.Reshape && len(n.Args[0].Type.Shape) == 5 {
		interleaved = true
		parts = nil
		for _, p := range joined(n.Args[0], 4) {
			if p.Op == move.Reshape && p.Type.Shape[4] == 1 && slices.Equal(p.Type.Shape[:4], p.Args[0].Type.Shape) {
				parts = append(parts, p.Args[0])
			}
		}
	}
	if len(parts) != 2 {
		return nil
	}
	low, high := m.sum(parts[0]), m.sum(parts[1])
	if len(low.terms) != 2 || len(high.terms) != 2 || low.number != 0 || high.number != 0 {
		return nil
	}
	if low.terms[0].coef < 0 {
		slices.Reverse(low.terms)
	}
	if low.terms[0].coef != 1 || low.terms[1].coef != -1 || high.terms[0].coef != 1 || high.terms[1].coef != 1 {
		return nil
	}
	ac, bs := low.terms[0].n, low.terms[1].n
	if ac.Op != pointwise.Mul || bs.Op != pointwise.Mul {
		return nil
	}
	for i, a := range ac.Args {
		for k, b := range bs.Args {
			f := &pairs{a, b, ac.Args[1-i], bs.Args[1-k], interleaved}
			if a.Op == move.Slice && b.Op == move.Slice && (m.crossed(f, high.terms[0].n, high.terms[1].n) ||
				m.crossed(f, high.terms[1].n, high.terms[0].n)) {
				return f
			}
		}
	}
	return nil
}

// crossed says that the other half is a*sin + b*cos.
func (m *matcher) crossed(f *pairs, as, bc *ir.Node) bool {
	is := func(n, x, y *ir.Node) bool {
		return n.Op == pointwise.Mul && (m.same(n.Args[0], x) && m.same(n.Args[1], y) ||
			m.same(n.Args[0], y) && m.same(n.Args[1], x))
	}
	return is(as, f.a, f.sin) && is(bc, f.b, f.cos)
}

// angles appends cosines or sines: [T,D/2], or that for each batch.
func (r *made) angles(c *ir.Node, x []int, half int) bool {
	c = spread(c, 4)
	if len(c.Type.Shape) > 4 || !c.Type.IsFloat() {
		return false
	}
	shape := lead(c.Type.Shape)
	switch {
	case shape[1] != 1 || shape[2] != x[2] || shape[3] != half:
		return false
	case shape[0] == 1:
		r.args = append(r.args, r.reshaped(c, shape[2:]))
	case shape[0] == x[0]:
		r.args = append(r.args, r.reshaped(c, []int{shape[0], shape[2], half}))
	default:
		return false
	}
	return true
}
