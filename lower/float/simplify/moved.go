// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/move"
)

// channels says where the channels of a value lie: that of an element is its place on the axis, divided by every,
// modulo count.
type channels struct{ axis, every, count int }

// weighted finds the operation whose results the scale n gets, behind any number of operations that only move them and
// that nothing else reads, and which of the factors each of its channels gets; nil where there is none.
func weighted(g *ir.Graph, users map[*ir.Node][]*ir.Node, n *ir.Node) (x *ir.Node, factors []int) {
	axis := n.Attrs.(*column.ScaleAttrs).Axis
	c := channels{axis, 1, n.Type.Shape[axis]}
	for at := n; ; at = x {
		x = at.Args[0]
		if onlyReader(users, g, x) != at {
			return nil, nil
		}
		if outputScale(x, c.axis) {
			break
		}
		if !c.before(x) {
			return nil, nil
		}
	}
	factors = make([]int, x.Type.Shape[c.axis])
	for k := range factors {
		factors[k] = k / c.every % c.count
	}
	return x, factors
}

// before turns the channels of n into those of its argument; false where n does more than move elements, or cuts or
// mixes channels.
func (c *channels) before(n *ir.Node) bool {
	switch a := n.Attrs.(type) {
	case *move.SliceAttrs:
		return a.Axis != c.axis
	case *move.StretchAttrs:
		return a.Axis != c.axis
	case *move.TransposeAttrs:
		c.axis = a.Perm[c.axis]
		return true
	case *move.ReshapeAttrs:
		stride := c.every * inner(n.Type.Shape, c.axis)
		from := n.Args[0].Type.Shape
		for axis, size := range from {
			in := inner(from, axis)
			if stride%in == 0 && in*size%(stride*c.count) == 0 {
				c.axis, c.every = axis, stride/in
				return true
			}
		}
	}
	return false
}

// inner is the number of elements between neighbours on an axis.
func inner(shape []int, axis int) int {
	count := 1
	for _, d := range shape[axis+1:] {
		count *= d
	}
	return count
}

// spread gives the scale n the factors and summands of the channels in front of what moves them.
func spread(g *ir.Graph, n *ir.Node, factors []int) error {
	for i := 1; i < 3; i++ {
		t, err := n.Args[i].Value()
		if err != nil {
			return err
		}
		values := make([]float32, len(factors))
		for k, f := range factors {
			values[k] = t.Floats[f]
		}
		n.Args[i] = newConst(g, n, n.Args[i].Name, n.Pos, []int{len(values)}, values, n.Args[i])
	}
	return nil
}
