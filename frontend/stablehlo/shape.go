// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"slices"

	"lathe/frontend/build"
	"lathe/frontend/stablehlo/syntax"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
)

func elems(dims []int) int { return ir.Type{Shape: dims}.Elems() }

// reshaped gives a value another shape of as many elements.
func (c *call) reshaped(v value, dims []int) value {
	if v.node == nil || elems(v.dims) != elems(dims) {
		c.fail(diag.OperandTypes, "%s cannot become %s", ir.ShapeString(v.dims), ir.ShapeString(dims))
		return value{}
	}
	if v.node.Type.Elems() == 1 { // the same everywhere
		return value{c.shape(v.node, nil), dims}
	}
	return wholeValue(c.shape(c.full(v), dims))
}

// shape is a reshape, or the node itself where it has the shape.
func (c *call) shape(n *ir.Node, dims []int) *ir.Node {
	if n == nil || slices.Equal(n.Type.Shape, dims) {
		return n
	}
	return c.emit(move.Reshape, &move.ReshapeAttrs{Shape: slices.Clone(dims)}, n)
}

func convertReshape(c *call) {
	if dims := c.static(); c.err == nil {
		c.outs = append(c.outs, c.reshaped(c.args[0], dims))
	}
}

// transpose permutes the axes of a node.
func (c *call) transpose(n *ir.Node, perm []int) *ir.Node {
	if n == nil || slices.IsSorted(perm) {
		return n
	}
	return c.emit(move.Transpose, &move.TransposeAttrs{Perm: slices.Clone(perm)}, n)
}

func convertTranspose(c *call) {
	x := c.args[0]
	perm := c.axes(c.ints(len(x.dims), required, "permutation", "dims"), len(x.dims))
	if c.err != nil {
		return
	}
	if x.node.Type.Elems() == 1 {
		c.outs = append(c.outs, value{c.shape(x.node, nil), ir.TransposeShape(x.dims, perm)})
		return
	}
	c.done(c.transpose(c.full(x), perm))
}

// convertBroadcast gives axis i of the operand the place dims[i]. Nothing is repeated before an operation needs it.
func convertBroadcast(c *call) {
	x := c.args[0]
	axes := c.ints(len(x.dims), required, "broadcast_dimensions", "dims")
	dims := c.static()
	if c.err == nil {
		c.outs = append(c.outs, c.broadcast(x, c.axes(axes, len(dims)), dims))
	}
}

func (c *call) broadcast(x value, axes, dims []int) value {
	for i, a := range axes {
		if d := x.dims[i]; d != dims[a] && d != 1 {
			c.fail(diag.OperandTypes, "axis %d of %s does not become axis %d of %s", i, ir.ShapeString(x.dims), a,
				ir.ShapeString(dims))
		}
	}
	if c.err != nil {
		return value{}
	}
	n := x.node
	shape := slices.Concat(slices.Repeat([]int{1}, len(x.dims)-len(n.Type.Shape)), n.Type.Shape)
	if !slices.IsSorted(axes) {
		perm := make([]int, len(axes))
		for i := range perm {
			perm[i] = i
		}
		slices.SortFunc(perm, func(i, j int) int { return axes[i] - axes[j] })
		n = c.transpose(c.shape(n, shape), perm)
		shape, axes = ir.TransposeShape(shape, perm), slices.Sorted(slices.Values(axes))
	}
	wide := slices.Repeat([]int{1}, len(dims))
	for i, a := range axes {
		wide[a] = shape[i]
	}
	first := 0
	for first < len(wide) && wide[first] == 1 && len(wide)-first > len(shape) {
		first++
	}
	return value{c.shape(n, wide[first:]), dims}
}

// convertLeading puts new axes in front.
func convertLeading(c *call) {
	x := c.args[0]
	sizes := c.ints(-1, required, "broadcast_sizes", "sizes")
	c.outs = append(c.outs, value{x.node, slices.Concat(sizes, x.dims)})
}

// slice keeps every step-th element from start up to limit of an axis.
func (c *call) slice(n *ir.Node, axis, start, limit, step int) *ir.Node {
	if n == nil || c.err != nil {
		return nil
	}
	size := n.Type.Shape[axis]
	if step < 1 || start < 0 || limit > size || start > limit {
		c.fail(diag.BadAttribute, "%d:%d:%d does not lie within %d elements of axis %d", start, limit, step, size, axis)
		return nil
	}
	if start == 0 && limit == size && step == 1 {
		return n
	}
	count := (limit - start + step - 1) / step
	if count == 0 {
		dims := slices.Clone(n.Type.Shape)
		dims[axis] = 0
		return c.constant(intBlob(n.Type.Format, nil), dims...)
	}
	return c.emit(move.Slice, &move.SliceAttrs{Axis: axis, Start: start, Count: count, Step: step}, n)
}

func convertSlice(c *call) {
	x := c.node(0)
	if x == nil {
		return
	}
	rank := len(x.Type.Shape)
	start, limit, step := c.ranges(rank)
	for i := range start {
		x = c.slice(x, i, start[i], limit[i], step[i])
	}
	c.done(x)
}

// ranges reads [0:2, 0:8:2] or three attributes.
func (c *call) ranges(rank int) (start, limit, step []int) {
	i := slices.IndexFunc(c.in.Loose, func(n syntax.Node) bool { return n.Kind == syntax.Bracket })
	if i < 0 {
		return c.ints(rank, required, "start_indices"), c.ints(rank, required, "limit_indices"), c.ints(rank, 1, "strides")
	}
	part := []int{}
	flush := func() {
		if len(part) == 2 {
			part = append(part, 1)
		}
		if len(part) != 3 {
			c.fail(diag.BadAttribute, "a range of %d numbers", len(part))
			part = make([]int, 3)
		}
		start, limit, step, part = append(start, part[0]), append(limit, part[1]), append(step, part[2]), part[:0]
	}
	kids := c.in.Loose[i].Kids
	for k := range kids {
		if v, ok := kids[k].Int64(); ok {
			part = append(part, int(v))
		}
		if kids[k].Is(",") {
			flush()
		}
	}
	if len(part) > 0 {
		flush()
	}
	if len(start) != rank {
		c.fail(diag.BadAttribute, "%d ranges for %d axes", len(start), rank)
	}
	return start, limit, step
}

func convertConcat(c *call) {
	axis := c.axis(len(c.args[0].dims), "dimension", "dim")
	nodes := make([]*ir.Node, 0, len(c.args))
	for i := range c.args {
		if elems(c.args[i].dims) > 0 {
			nodes = append(nodes, c.node(i))
		}
	}
	switch len(nodes) {
	case 0:
		c.done(c.node(0))
	case 1:
		c.done(nodes[0])
	default:
		c.done(c.emit(move.Concat, &move.ConcatAttrs{Axis: axis}, nodes...))
	}
}

// convertPad pads by a constant: negative counts cut off, interior ones are put between neighbours.
func convertPad(c *call) {
	rank := len(c.args[0].dims)
	c.pad(c.ints(rank, required, "edge_padding_low", "low"), c.ints(rank, required, "edge_padding_high", "high"),
		c.ints(rank, 0, "interior_padding", "interior"))
}

func (c *call) pad(low, high, inner []int) {
	if c.err != nil {
		return
	}
	x := c.node(0)
	fill, ok := c.args[1].scalar()
	if !ok {
		c.fail(diag.DataDependent, "the padding value is computed from data")
		return
	}
	if x == nil {
		return
	}
	if n := len(x.Type.Shape); len(low) != n || len(high) != n || len(inner) != n {
		c.fail(diag.OperandCount, "padding for other than %d axes", n)
		return
	}
	for axis := range x.Type.Shape {
		x = c.padAxis(x, axis, low[axis], high[axis], inner[axis], fill)
	}
	c.done(x)
}

// padAxis pads one axis.
func (c *call) padAxis(x *ir.Node, axis, low, high, inner int, fill float64) *ir.Node {
	if x == nil || c.err != nil {
		return nil
	}
	shape := x.Type.Shape
	if size := shape[axis]; inner > 0 && size > 1 { // an axis behind, of the element and those that follow it
		rank := len(shape)
		wide := slices.Insert(slices.Clone(shape), axis+1, 1)
		x = c.padded(c.shape(x, wide), axis+1, 0, inner, fill)
		joined := slices.Clone(shape)
		joined[axis] = size * (inner + 1)
		x = c.slice(c.shape(x, joined[:rank]), axis, 0, size*(inner+1)-inner, 1)
	} else if inner < 0 {
		c.fail(diag.BadAttribute, "interior padding of %d", inner)
		return nil
	}
	if low < 0 && x != nil {
		x = c.slice(x, axis, -low, x.Type.Shape[axis], 1)
	}
	if high < 0 && x != nil {
		x = c.slice(x, axis, 0, x.Type.Shape[axis]+high, 1)
	}
	return c.padded(x, axis, max(low, 0), max(high, 0), fill)
}

func (c *call) padded(x *ir.Node, axis, before, after int, fill float64) *ir.Node {
	if before == 0 && after == 0 || x == nil {
		return x
	}
	if dims := slices.Clone(x.Type.Shape); x.Type.Elems() == 0 {
		dims[axis] += before + after
		return c.full(value{c.number(x, fill), dims})
	}
	v, ok := build.PadValue(x, fill)
	if !ok {
		c.fail(diag.UnsupportedForm, "pads whole numbers by %.0f, which float32 does not hold", fill)
	}
	return c.emit(move.Pad, &move.PadAttrs{Axis: axis, Before: before, After: after, Value: v}, x)
}
