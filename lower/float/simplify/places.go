// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"slices"
	"strconv"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/move"
	"lathe/ir/op/walk"
	"lathe/ir/op/whole"
)

// maxPieces bounds the pieces that a value is cut into when it is put together in another order.
const maxPieces = 64

// Places turns lookups of values at constant positions, which have no unit, into slices, stretches and concats.
func Places(g *ir.Graph) error {
	for _, n := range slices.Clone(g.Nodes) {
		x, axis, places, err := placesOf(n)
		if err != nil {
			return err
		}
		if places == nil {
			continue
		}
		r := &rearranger{g: g, n: n}
		y := r.taken(r.shaped(x), axis, places)
		switch {
		case r.err != nil:
			return r.err
		case y == nil:
		case !slices.Equal(y.Type.Shape, n.Type.Shape):
			n.Op, n.Attrs, n.Args = move.Reshape, &move.ReshapeAttrs{Shape: n.Type.Shape}, []*ir.Node{y}
		case y == x.node:
			n.Op, n.Attrs, n.Args = move.Identity, nil, []*ir.Node{y}
		default: // the last of the new nodes, which falls away
			n.Op, n.Attrs, n.Args = y.Op, y.Attrs, y.Args
		}
	}
	g.DropDead()
	return nil
}

// source is a value in the shape in which an axis of it is looked up.
type source struct {
	node  *ir.Node
	shape []int
}

// placesOf says what n looks up along which axis of what, each position from 0 on; nil where it is no lookup of a value
// at constant positions.
func placesOf(n *ir.Node) (x source, axis int, places []int, err error) {
	if len(n.Args) != 2 || n.Args[0].IsConst() || !n.Args[1].IsConst() || n.Type.Elems() == 0 {
		return x, 0, nil, nil
	}
	in, at := n.Args[0].Type.Shape, n.Args[1].Type.Shape
	var sizes []int // of the axes that a tuple of positions is for
	switch n.Op {
	case whole.Gather, whole.GatherElements:
		if axis, err = walk.Axis(n.Attrs.(*column.AxisAttrs).Axis, len(in)); err != nil {
			return x, 0, nil, err
		}
		x, sizes = source{n.Args[0], in}, in[axis:axis+1]
	case whole.GatherND:
		if n.Attrs.(*whole.GatherNDAttrs).BatchDims != 0 || len(at) == 0 {
			return x, 0, nil, nil
		}
		sizes = in[:at[len(at)-1]]
		x = source{n.Args[0], slices.Concat([]int{walk.Size(sizes)}, in[len(sizes):])}
	default:
		return x, 0, nil, nil
	}
	t, err := n.Args[1].Value()
	if err != nil {
		return x, 0, nil, err
	}
	codes := t.Codes
	if n.Op == whole.GatherElements {
		codes = line(codes, at, in, axis)
	}
	if places = positions(codes, sizes); len(places) == 0 {
		places = nil
	}
	return x, axis, places, nil
}

// line is the positions along an axis where they are the same in all lines of it, which must be all of x; else nil.
func line(codes []int64, at, x []int, axis int) []int64 {
	inner := walk.Size(at[axis+1:])
	out := make([]int64, at[axis])
	for i, c := range codes {
		k := i / inner % at[axis]
		if i/(inner*at[axis]) == 0 && i%inner == 0 {
			out[k] = c
		}
		if c != out[k] {
			return nil
		}
	}
	for i, d := range at {
		if i != axis && d != x[i] {
			return nil
		}
	}
	return out
}

// positions are tuples of positions as row-major places among sizes; nil where one lies outside.
func positions(codes []int64, sizes []int) []int {
	places := make([]int, 0, len(codes))
	for i := 0; i+len(sizes) <= len(codes) && len(sizes) > 0; i += len(sizes) {
		at := 0
		for k, size := range sizes {
			p := int(codes[i+k])
			if p < 0 {
				p += size
			}
			if p < 0 || p >= size {
				return nil
			}
			at = at*size + p
		}
		places = append(places, at)
	}
	return places
}

// rearranger makes the nodes that stand for n, in front of it; the first error sticks.
type rearranger struct {
	g     *ir.Graph
	n     *ir.Node
	count int
	err   error
}

func (r *rearranger) emit(o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	if r.err != nil {
		return nil
	}
	r.count++
	m, err := ir.NewNode(o, r.g.FreshName(r.n.Name+".part"+strconv.Itoa(r.count)), r.n.Pos, attrs, args...)
	if r.err = err; err != nil {
		return nil
	}
	r.g.InsertBefore(r.n, m)
	return m
}

func (r *rearranger) shaped(x source) *ir.Node {
	if slices.Equal(x.node.Type.Shape, x.shape) {
		return x.node
	}
	return r.emit(move.Reshape, &move.ReshapeAttrs{Shape: x.shape}, x.node)
}

// taken are the indices of an axis of x at places; nil where they fall into too many pieces.
func (r *rearranger) taken(x *ir.Node, axis int, places []int) *ir.Node {
	if r.err != nil {
		return nil
	}
	size := x.Type.Shape[axis]
	if a := move.StretchOf(axis, size, places); a != nil && len(places) > size {
		return r.emit(move.Stretch, a, x)
	}
	cuts := runs(axis, places)
	if len(cuts) > maxPieces {
		return nil
	}
	var pieces []*ir.Node
	for _, a := range cuts {
		if a.Count == size {
			pieces = append(pieces, x)
			continue
		}
		pieces = append(pieces, r.emit(move.Slice, a, x))
	}
	if len(pieces) == 1 {
		return pieces[0]
	}
	return r.emit(move.Concat, &move.ConcatAttrs{Axis: axis}, pieces...)
}

// runs are the slices that places fall into: each as long as its steps are equal and rise.
func runs(axis int, places []int) (cuts []*move.SliceAttrs) {
	for at := 0; at < len(places); {
		a := &move.SliceAttrs{Axis: axis, Start: places[at], Count: 1, Step: 1}
		for k := at + 1; k < len(places); k++ {
			step := places[k] - places[k-1]
			if step < 1 || a.Count > 1 && step != a.Step {
				break
			}
			a.Step, a.Count = step, a.Count+1
		}
		if a.Count == 2 && a.Step > 1 && at+2 < len(places) { // the second may begin a longer run
			a.Count, a.Step = 1, 1
		}
		at += a.Count
		cuts = append(cuts, a)
	}
	return cuts
}
