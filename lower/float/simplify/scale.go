// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/recur"
	"lathe/ir/op/sum"
)

// Composites replaces the operations that are built by their parts: Op.ByParts, running sums, products of a few values,
// reductions of axes apart. The last part keeps the name. An operation stays whole where one of its parts has no
// integer form: errors then name it.
func Composites(g *ir.Graph) error {
	for _, n := range slices.Clone(g.Nodes) {
		parts, err := partsOf(n)
		if err != nil {
			return err
		}
		if parts == nil || slices.ContainsFunc(parts, floatOnly) {
			continue
		}
		Replace(g, n, parts)
	}
	g.DropDead()
	return nil
}

// Steps replaces operations with a state by what they expand to.
func Steps(g *ir.Graph) error {
	for _, n := range slices.Clone(g.Nodes) {
		if !recur.Recurs(n.Op) {
			continue
		}
		parts, err := n.Op.Expand(n)
		if err != nil {
			return err
		}
		Replace(g, n, parts)
	}
	g.DropDead()
	return nil
}

// Replace puts parts, which compute the same as n and come from its expansion, in its place. The last keeps the name.
func Replace(g *ir.Graph, n *ir.Node, parts []*ir.Node) {
	end := len(parts) - 1
	for _, p := range parts[:end] {
		p.Name = g.FreshName(p.Name)
		g.InsertBefore(n, p)
	}
	n.Op, n.Attrs, n.Args, n.Type = parts[end].Op, parts[end].Attrs, parts[end].Args, parts[end].Type
}

// floatOnly says that nothing quantized comes of n.
func floatOnly(n *ir.Node) bool { return n.Op.Traits.FloatOnly && !n.Op.ByParts() }

// toScale makes n, in place, the scale of x along axis.
func toScale(g *ir.Graph, n, x *ir.Node, axis int, mul, add []float64) {
	m := newConst(g, n, n.Name+".mul", n.Pos, []int{len(mul)}, narrow(mul), n.Args...)
	b := newConst(g, n, n.Name+".add", n.Pos, []int{len(add)}, narrow(add), n.Args...)
	n.Op, n.Attrs, n.Args = sum.Scale, &column.ScaleAttrs{Axis: axis}, []*ir.Node{x, m, b}
}

func narrow(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

// Arithmetic turns addition, subtraction and multiplication of a value and a constant into scale where the constant
// is one number or one number a channel.
func Arithmetic(g *ir.Graph) error {
	axes := channelAxes(g)
	for _, n := range slices.Clone(g.Nodes) {
		if n.Op != pointwise.Add && n.Op != pointwise.Sub && n.Op != pointwise.Mul ||
			n.Args[0].IsConst() == n.Args[1].IsConst() ||
			!n.Type.IsFloat() {
			continue
		}
		x, c, flipped := n.Args[0], n.Args[1], false
		if x.IsConst() {
			x, c, flipped = c, x, true
		}
		axis := axes[x]
		if !perChannel(c.Type.Shape, x.Type.Shape, axis) {
			continue
		}
		t, err := c.Value()
		if err != nil {
			return err
		}
		mul, add := factors(n.Op, flipped, t.Floats, x.Type.Shape[axis])
		o, own := n.Op, ownOf(c, len(mul))
		toScale(g, n, x, axis, mul, add)
		switch o {
		case pointwise.Mul:
			n.Args[1].Attrs.(*ir.Const).Own = own
		case pointwise.Add:
			n.Args[2].Attrs.(*ir.Const).Own = own
		}
	}
	g.DropDead()
	return nil
}

// factors writes x op c (flipped: c op x) as x*mul + add; c has one value or one a channel.
func factors(o *ir.Op, flipped bool, c []float32, channels int) (mul, add []float64) {
	mul, add = make([]float64, channels), make([]float64, channels)
	for i := range channels {
		v := float64(c[i%len(c)])
		switch {
		case o == pointwise.Mul:
			mul[i] = v
		case o == pointwise.Add:
			mul[i], add[i] = 1, v
		case flipped:
			mul[i], add[i] = -1, v
		default:
			mul[i], add[i] = 1, -v
		}
	}
	return mul, add
}

// perChannel says that a constant of shape c is one number, or varies along the channel axis of x and no other, and
// does not broadcast x to another shape.
func perChannel(c, x []int, axis int) bool {
	if len(c) > len(x) || len(x) == 0 {
		return false
	}
	for i, d := range c {
		if at := len(x) - len(c) + i; d != 1 && (at != axis || x[at] != d) {
			return false
		}
	}
	return true
}

// channelAxes gives the channel axis of every value: that of the operations with channels that it comes from or goes
// to, handed on, both ways, by transposes and by operations that keep the shape; the last axis where there is none.
func channelAxes(g *ir.Graph) map[*ir.Node]int {
	axes := make(map[*ir.Node]int, len(g.Nodes)) // unknown ones are missing
	set := func(n *ir.Node, axis int) {
		if _, known := axes[n]; !known && !n.IsConst() {
			axes[n] = axis
		}
	}
	for _, n := range g.Nodes {
		if axis, ok := n.ChannelAxis(); ok {
			set(n, axis)
			set(n.Args[0], axis)
		}
	}
	for _, n := range g.Nodes {
		for _, a := range n.Args {
			if axis, known := axes[a]; known && sameRank(n, a) {
				if t, ok := n.Attrs.(*move.TransposeAttrs); ok {
					set(n, slices.Index(t.Perm, axis))
				} else if keepsShape(n) {
					set(n, axis)
				}
			}
		}
	}
	for _, n := range slices.Backward(g.Nodes) {
		for _, a := range n.Args {
			if axis, known := axes[n]; known && sameRank(n, a) {
				if t, ok := n.Attrs.(*move.TransposeAttrs); ok {
					set(a, t.Perm[axis])
				} else if keepsShape(n) {
					set(a, axis)
				}
			}
		}
	}
	for _, n := range g.Nodes {
		set(n, len(n.Type.Shape)-1)
	}
	return axes
}

func sameRank(n, m *ir.Node) bool { return len(n.Type.Shape) == len(m.Type.Shape) }

// keepsShape says that an axis of argument 0 is the same axis of the result.
func keepsShape(n *ir.Node) bool {
	return n.Op.Traits.Elementwise || n.AxisOf() != nil || n.AxesOf() != nil
}
