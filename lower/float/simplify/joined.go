// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
)

// Joined makes sums of constants that are joined to streams, such as the class token of a vision transformer: the
// streams get zeros where constants stand, and a constant is added that is zero where the streams stand.
func Joined(g *ir.Graph) error {
	for _, n := range slices.Clone(g.Nodes) {
		if n.Op != move.Concat || !n.Type.IsFloat() || !slices.ContainsFunc(n.Args, (*ir.Node).IsConst) ||
			!slices.ContainsFunc(n.Args, func(a *ir.Node) bool { return !a.IsConst() }) {
			continue
		}
		if err := joined(g, n); err != nil {
			return err
		}
	}
	g.DropDead()
	return nil
}

func joined(g *ir.Graph, n *ir.Node) error {
	axis := *n.AxisOf()
	values, err := amidZeros(n, axis)
	if err != nil {
		return err
	}
	at := func(name string, o *ir.Op, attrs any, size int, args ...*ir.Node) *ir.Node {
		shape := slices.Clone(n.Type.Shape)
		shape[axis] = size
		m := &ir.Node{Name: g.FreshName(name), Op: o, Attrs: attrs, Pos: n.Pos, Type: ir.Float(shape...), Args: args}
		g.InsertBefore(n, m)
		return m
	}
	var streams []*ir.Node
	size, pad := 0, &move.PadAttrs{Axis: axis}
	padded := func() {
		if pad.Before+pad.After > 0 && len(streams) > 0 {
			last := &streams[len(streams)-1]
			*last = at(n.Name+".pad", move.Pad, pad, pad.Before+size+pad.After, *last)
			pad = &move.PadAttrs{Axis: axis}
		}
	}
	for _, a := range n.Args {
		switch long := a.Type.Shape[axis]; {
		case !a.IsConst():
			if len(streams) > 0 {
				padded()
			}
			streams, size = append(streams, a), long
		case len(streams) == 0:
			pad.Before += long
		default:
			pad.After += long
		}
	}
	padded()
	x := streams[0]
	if len(streams) > 1 {
		x = at(n.Name+".join", move.Concat, n.Attrs, n.Type.Shape[axis], streams...)
	}
	c := newConst(g, n, n.Name+".constant", n.Pos, n.Type.Shape, values, n.Args...)
	n.Op, n.Attrs, n.Args = pointwise.Add, nil, []*ir.Node{x, c}
	return nil
}

// amidZeros are the elements of a concat whose streams are zero.
func amidZeros(n *ir.Node, axis int) ([]float32, error) {
	values := make([]float32, n.Type.Elems())
	inner := 1
	for _, d := range n.Type.Shape[axis+1:] {
		inner *= d
	}
	row, from := n.Type.Shape[axis]*inner, 0
	for _, a := range n.Args {
		run := a.Type.Shape[axis] * inner
		if a.IsConst() {
			t, err := a.Value()
			if err != nil {
				return nil, err
			}
			for i := 0; i*row < len(values); i++ {
				copy(values[i*row+from:], t.Floats[i*run:(i+1)*run])
			}
		}
		from += run
	}
	return values, nil
}
