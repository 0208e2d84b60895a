// SPDX-License-Identifier: Apache-2.0

package recognize

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
)

var rotaries = []Pattern{
	{"rotary", "x*cos + concat(-x[d/2:], x[:d/2])*sin", rotary},
	{"rotary", "concat(a*cos - b*sin, a*sin + b*cos), a and b the halves, or the even and odd elements", rotaryPairs},
}

// rotary knows the half-split form: element i is turned with element i + d/2.
func rotary(m *matcher, n *ir.Node) *made {
	if n.Op != pointwise.Add || len(n.Type.Shape) != 4 {
		return nil
	}
	for i, turned := range n.Args {
		plain := n.Args[1-i]
		if turned.Op != pointwise.Mul || plain.Op != pointwise.Mul {
			continue
		}
		for k, c := range turned.Args {
			x := m.halfTurned(c)
			if x == nil || !slices.Equal(x.Type.Shape, n.Type.Shape) {
				continue
			}
			for j, p := range plain.Args {
				if !m.same(p, x) {
					continue
				}
				r := &made{op: sequence.Rotary, attrs: &sequence.RotaryAttrs{}, args: []*ir.Node{x}}
				if m.table(r, plain.Args[1-j], x.Type.Shape) && m.table(r, turned.Args[1-k], x.Type.Shape) {
					return r
				}
			}
		}
	}
	return nil
}

// halfTurned is x where n is concat(-x[d/2:], x[:d/2]) along the last axis.
func (m *matcher) halfTurned(n *ir.Node) *ir.Node {
	rank := len(n.Type.Shape)
	a, ok := n.Attrs.(*move.ConcatAttrs)
	if !ok || len(n.Args) != 2 || a.Axis != rank-1 || n.Type.Shape[rank-1]%2 != 0 {
		return nil
	}
	half := n.Type.Shape[rank-1] / 2
	p := m.product(n.Args[0], nil)
	if len(p.factors) != 1 || p.factors[0].exp != 1 || p.coef != -1 {
		return nil
	}
	high, low := p.factors[0].n, n.Args[1]
	if !isSlice(high, rank-1, half, half) || !isSlice(low, rank-1, 0, half) || !m.same(high.Args[0], low.Args[0]) {
		return nil
	}
	return low.Args[0]
}

func isSlice(n *ir.Node, axis, start, count int) bool {
	a, ok := n.Attrs.(*move.SliceAttrs)
	return ok && a.Axis == axis && a.Start == start && a.Count == count && (a.Step == 1 || count == 1)
}

// table appends the first half of cosines or sines whose halves are equal: [T,D/2], or that for each batch.
func (m *matcher) table(r *made, c *ir.Node, x []int) bool {
	c = spread(c, 4)
	shape := slices.Concat(slices.Repeat([]int{1}, max(0, 4-len(c.Type.Shape))), c.Type.Shape)
	batch, last := shape[0], len(c.Type.Shape)-1
	if len(shape) != 4 || shape[1] != 1 || shape[2] != x[2] || shape[3] != x[3] || batch != 1 && batch != x[0] ||
		!c.Type.IsFloat() || !m.halvesEqual(c, 0) {
		return false
	}
	half := &ir.Node{Name: c.Name + ".half", Op: move.Slice, Pos: c.Pos, Args: []*ir.Node{c},
		Attrs: &move.SliceAttrs{Axis: last, Count: x[3] / 2, Step: 1}, Type: c.Type}
	half.Type.Shape = slices.Clone(c.Type.Shape)
	half.Type.Shape[last] = x[3] / 2
	r.before = append(r.before, half)
	to := []int{x[2], x[3] / 2}
	if batch != 1 {
		to = []int{batch, x[2], x[3] / 2}
	}
	r.args = append(r.args, r.reshaped(half, to))
	return true
}

// halvesEqual says that both halves of the last axis of n hold the same: by the values of a constant, or because a
// value is joined with itself and then goes through functions of single elements.
func (m *matcher) halvesEqual(n *ir.Node, depth int) bool {
	if n.IsConst() {
		if n.Type.Elems() > mostSame {
			return false
		}
		t, err := n.Value()
		if err != nil {
			return false
		}
		d := n.Type.Shape[len(n.Type.Shape)-1]
		for i := 0; i < t.Type.Elems(); i += d {
			if t.Codes != nil && !slices.Equal(t.Codes[i:i+d/2], t.Codes[i+d/2:i+d]) ||
				t.Codes == nil && !slices.Equal(t.Floats[i:i+d/2], t.Floats[i+d/2:i+d]) {
				return false
			}
		}
		return true
	}
	if a, ok := n.Attrs.(*move.ConcatAttrs); ok {
		return len(n.Args) == 2 && a.Axis == len(n.Type.Shape)-1 && m.same(n.Args[0], n.Args[1])
	}
	switch shape := n.Type.Shape; {
	case len(shape) == 0 || shape[len(shape)-1] == 1:
		return true
	case depth > deepest || len(n.Args) == 0 || m.tired():
		return false
	case n.Op == move.Reshape:
		from, to := n.Args[0].Type.Shape, n.Type.Shape
		return len(from) > 0 && from[len(from)-1] == to[len(to)-1] && m.halvesEqual(n.Args[0], depth+1)
	case !n.Op.Traits.Elementwise:
		return false
	}
	for _, a := range n.Args {
		if _, one := m.scalar(a); !one && !m.halvesEqual(a, depth+1) {
			return false
		}
	}
	return true
}
