// SPDX-License-Identifier: Apache-2.0

// Package simplify rewrites float graphs: constants are computed, operations that do nothing go, and everything that
// is a multiplication and addition per channel becomes scale, and then part of the linear operation before it.
//
// The functions change the graph in place and leave no dead nodes.
package simplify

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/geometry"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/window"
)

// Identities removes operations that return their argument: identity, reshape to the same shape, transpose that moves
// no axis, a pool whose window is one element.
func Identities(g *ir.Graph) error {
	for _, n := range g.Nodes {
		if returnsArgument(n) {
			g.Replace(n, n.Args[0])
		}
	}
	g.DropDead()
	return nil
}

func returnsArgument(n *ir.Node) bool {
	switch a := n.Attrs.(type) {
	case *move.ReshapeAttrs:
		return slices.Equal(n.Type.Shape, n.Args[0].Type.Shape)
	case *move.TransposeAttrs:
		for i, p := range a.Perm {
			if i != p {
				return false
			}
		}
		return true
	case *move.ConcatAttrs, *move.SliceAttrs, *move.PadAttrs, *move.RepeatAttrs,
		*move.StretchAttrs:
		return slices.Equal(n.Type.Shape, n.Args[0].Type.Shape)
	case *geometry.Window:
		return onePixel(a)
	case *window.AvgAttrs:
		return onePixel(&a.Window)
	}
	return n.Op == move.Identity
}

// onePixel says that every window is the element at its own place.
func onePixel(w *geometry.Window) bool {
	not := func(want int) func(int) bool { return func(v int) bool { return v != want } }
	return !slices.ContainsFunc(w.Kernel, not(1)) && !slices.ContainsFunc(w.Strides, not(1)) &&
		!slices.ContainsFunc(w.Pads, not(0))
}

// SetConst gives argument i of n the constant values of the given shape: in place where n is the only reader of that
// argument, else by a new constant node, so that other readers keep what they have. The values come from the
// argument, and from the constants among others.
func SetConst(g *ir.Graph, n *ir.Node, i int, shape []int, values []float32, others ...*ir.Node) {
	old := n.Args[i]
	readers := 0
	for _, m := range g.Nodes {
		for _, a := range m.Args {
			if a == old {
				readers++
			}
		}
	}
	if readers > 1 || g.IsOutput(old) {
		c := *old
		c.Name = g.FreshName(old.Name)
		g.InsertBefore(n, &c)
		n.Args[i] = &c
	}
	c := n.Args[i]
	c.Type, c.Stats = ir.Float(shape...), ir.Stats{}
	c.Attrs = ir.Computed(ir.FloatBlob(values), append([]*ir.Node{c}, others...)...)
}

// MoveConst is SetConst for elements that move: element i of the result is element index[i] of what was there. The
// format that the model gives to the constant stays where the elements of each channel of axis 0 stay together.
func MoveConst(g *ir.Graph, n *ir.Node, i int, shape []int, index []int) error {
	t, err := n.Args[i].Value()
	if err != nil {
		return err
	}
	old := n.Args[i].Attrs.(*ir.Const)
	exact := old.Data.Floats64()
	moved, wide := make([]float32, len(index)), make([]float64, len(index))
	for k, from := range index {
		moved[k], wide[k] = t.Floats[from], exact[from]
	}
	own, ok := moveOwn(old.Own, t.Type.Shape, shape, index)
	SetConst(g, n, i, shape, moved)
	if c := n.Args[i].Attrs.(*ir.Const); ok && own.Format != nil {
		c.Own = own
		if old.Data.DType == ir.F64 {
			c.Data = ir.DoubleBlob(wide)
		}
	}
	return nil
}

// moveOwn moves the scales of an own format with their channels.
func moveOwn(own ir.Type, from, to, index []int) (ir.Type, bool) {
	if own.Scales == nil {
		return own, true
	}
	if len(to) == 0 || len(from) == 0 || to[0] != from[0] {
		return own, false
	}
	inner := len(index) / to[0]
	scales := make([]float32, to[0])
	for k, at := range index {
		if at/inner != index[k/inner*inner]/inner {
			return own, false
		}
		scales[k/inner] = own.Scales[at/inner]
	}
	own.Scales = scales
	return own, true
}

// ownOf is the format that the model gives to a constant, as that of a vector of n elements.
func ownOf(c *ir.Node, n int) ir.Type {
	own := c.Attrs.(*ir.Const).Own
	if own.Scales != nil && (len(c.Type.Shape) != 1 || c.Type.Shape[0] != n) {
		return ir.Type{}
	}
	return own
}

// newConst adds a constant before n, computed from the constants among from.
func newConst(g *ir.Graph, before *ir.Node, name, pos string, shape []int, values []float32,
	from ...*ir.Node) *ir.Node {
	c := &ir.Node{Name: g.FreshName(name), Op: leaf.Const, Pos: pos, Type: ir.Float(shape...),
		Attrs: ir.Computed(ir.FloatBlob(values), from...)}
	g.InsertBefore(before, c)
	return c
}

// onlyReader returns the one node that reads n, or nil where there are more, none, or n is an output.
func onlyReader(users map[*ir.Node][]*ir.Node, g *ir.Graph, n *ir.Node) *ir.Node {
	if len(users[n]) != 1 || g.IsOutput(n) {
		return nil
	}
	return users[n][0]
}
