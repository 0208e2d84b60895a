// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
)

// indexing lists the operations that take elements by their positions.
func indexing() []row {
	return []row{
		{"embedding.default", "weight indices padding_idx scale_grad_by_freq sparse", func(c *call) {
			table := c.tensor("weight")
			c.result(c.emit("", whole.Gather, &column.AxisAttrs{}, table, c.tensor("indices")))
		}},
		{"index_select.default", "self dim index", func(c *call) {
			if x, axis, _ := c.axisOf("dim", 0); x != nil {
				c.result(c.emit("", whole.Gather, &column.AxisAttrs{Axis: axis}, x, c.tensor("index")))
			}
		}},
		{"gather.default", "self dim index sparse_grad", func(c *call) {
			if x, axis, _ := c.axisOf("dim", 0); x != nil {
				c.gathered(x, c.tensor("index"), axis)
			}
		}},
		{"index.Tensor", "self indices", convertIndex},
		{"flip.default", "self dims", convertFlip},
		{"diff.default", "self n dim prepend append", convertDiff},
	}
}

// gathered takes elements along an axis; the others of the index may be shorter than those of x.
func (c *call) gathered(x, index *ir.Node, axis int) {
	if c.err != nil {
		return
	}
	if len(index.Type.Shape) != len(x.Type.Shape) {
		c.fail(diag.OperandShapes, "gathers %s out of %s", ir.ShapeString(index.Type.Shape), ir.ShapeString(x.Type.Shape))
	}
	for i, d := range index.Type.Shape {
		if c.err == nil && i != axis {
			if d > x.Type.Shape[i] {
				c.fail(diag.OperandShapes, "gathers %s out of %s", ir.ShapeString(index.Type.Shape),
					ir.ShapeString(x.Type.Shape))
				return
			}
			x = c.slice("part", x, i, 0, d, 1)
		}
	}
	c.result(c.emit("", whole.GatherElements, &column.AxisAttrs{Axis: axis}, x, index))
}

// positions are the axes of x that the list of an index has positions for, and those. does is what the operation does
// there; truths says why it cannot by truth values.
func (c *call) positions(x *ir.Node, list []*ir.Node, does, truths string) (axes []int, index []*ir.Node) {
	for i, n := range list {
		if n == nil {
			continue
		}
		if n.Type.IsFloat() || n.Type.Format == ir.Bool {
			c.fail(diag.UnsupportedForm, "%s", truths)
			return nil, nil
		}
		axes, index = append(axes, i), append(index, c.cast(n, ir.I64))
	}
	if len(list) > len(x.Type.Shape) || len(axes) == 0 {
		c.fail(diag.OperandShapes, "%s at positions along %d axes of %s", does, len(axes), ir.ShapeString(x.Type.Shape))
	}
	return axes, index
}

// convertIndex takes elements where whole numbers point along some axes. Several of them broadcast against each other,
// and the axes are taken as one.
func convertIndex(c *call) {
	x, list := c.tensor("self"), c.tensors("indices")
	if c.err != nil {
		return
	}
	axes, index := c.positions(x, list, "takes elements",
		"takes elements by truth values: how many there are is known at run time only")
	if c.err != nil {
		return
	}
	if len(axes) == 1 {
		c.result(c.emit("", whole.Gather, &column.AxisAttrs{Axis: axes[0]}, x, index[0]))
		return
	}
	perm := slices.Clone(axes) // the axes that are indexed first
	for i := range x.Type.Shape {
		if !slices.Contains(axes, i) {
			perm = append(perm, i)
		}
	}
	dims := make([]int, len(axes))
	for i, a := range axes {
		dims[i] = x.Type.Shape[a]
	}
	x = c.turn("axes", x, perm)
	rest := c.shape(x)[min(len(axes), len(c.shape(x))):]
	x = c.reshape("joined", x, append([]int{elems(dims)}, rest...))
	at := c.position(index, dims)
	y := c.emit("", whole.Gather, &column.AxisAttrs{}, x, at)
	if c.err != nil || axes[len(axes)-1]-axes[0] != len(axes)-1 || axes[0] == 0 {
		c.result(y) // axes with others between them: the positions come first
		return
	}
	n := len(at.Type.Shape)
	back := make([]int, 0, n+len(rest))
	for i := range axes[0] {
		back = append(back, n+i)
	}
	for i := range n {
		back = append(back, i)
	}
	for i := axes[0]; i < len(rest); i++ {
		back = append(back, n+i)
	}
	c.result(c.turn("order", y, back))
}

// position is the row-major position of indices into the given dimensions; negative ones count from the end.
func (c *call) position(index []*ir.Node, dims []int) *ir.Node {
	var at *ir.Node
	for i, n := range index {
		size := c.constantOf(number{kind: 'i', i: int64(dims[i])}, ir.I64, "size")
		n = c.emit("wrap", whole.Mod, &whole.ModAttrs{Floor: true}, n, size)
		if at == nil {
			at = n
			continue
		}
		at = c.emit("row", pointwise.Add, nil, c.emit("rows", pointwise.Mul, nil, at, size), n)
	}
	return at
}

// convertFlip reverses axes.
func convertFlip(c *call) {
	x := c.tensor("self")
	for _, d := range c.ints("dims") {
		axis := c.axis(int64(d), len(c.shape(x)))
		if c.err != nil || len(x.Type.Shape) == 0 {
			return
		}
		size := x.Type.Shape[axis]
		if size > maxMade {
			c.fail(diag.ModelLimit, "reverses %d elements; the limit is %d", size, maxMade)
			return
		}
		index := make([]int64, size)
		for i := range index {
			index[i] = int64(size - 1 - i)
		}
		x = c.ordered("", x, axis, index)
	}
	c.result(x)
}

// convertDiff is the difference of neighbours along an axis, n times, with what stands before and behind.
func convertDiff(c *call) {
	x, n := c.tensor("self"), c.int("n", 1)
	axis := c.int("dim", -1)
	if c.err == nil && (n < 0 || n > 16) {
		c.fail(diag.UnsupportedForm, "takes %d differences; 0 to 16 are supported", n)
	}
	nodes := []*ir.Node{x}
	if before := c.maybe("prepend"); before != nil {
		nodes = []*ir.Node{before, x}
	}
	if behind := c.maybe("append"); behind != nil {
		nodes = append(nodes, behind)
	}
	x = c.concat("joined", nodes, axis)
	at := c.axis(axis, len(c.shape(x)))
	for range n {
		if c.err != nil || x == nil {
			return
		}
		size := c.shape(x)[at]
		x = c.emit("", pointwise.Sub, nil, c.slice("next", x, at, 1, size-1, 1), c.slice("this", x, at, 0, size-1, 1))
	}
	c.result(x)
}
