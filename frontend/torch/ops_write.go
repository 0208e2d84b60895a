// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"slices"
	"strings"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/whole"
)

// writes lists the operations that put values into parts of a tensor at places that the program states.
func writes() []row {
	return []row{
		{"slice_scatter.default", "self src dim start end step", convertSliceScatter},
		{"select_scatter.default", "self src dim index", convertSelectScatter},
		{"copy.default", "self src non_blocking", func(c *call) {
			x := c.tensor("self")
			c.result(c.broadcast("", c.cast(c.tensor("src"), c.outType(x)), c.shape(x)))
		}},
		{"fill.Scalar fill.Tensor", "self value", func(c *call) {
			x := c.tensor("self")
			c.result(c.broadcast("", c.operand("value", c.outType(x)), c.shape(x)))
		}},
		{"index_copy.default", "self dim index source", convertIndexCopy},
		{"index_fill.int_Scalar index_fill.int_Tensor", "self dim index value", convertIndexCopy},
		{"zero.default", "self", fill(&number{kind: 'i'}, "", "self")},
	}
}

// maxPieces bounds the pieces that a tensor is put together from.
const maxPieces = 64

// keep stands for an element that stays, in the list of what assembled takes.
const keep = -1

// assembled is x with indices of src along an axis: from tells of each index of x which of src stands there, or keep.
func (c *call) assembled(suffix string, x, src *ir.Node, axis int, from []int) *ir.Node {
	if c.err != nil || x == nil || src == nil {
		return nil
	}
	if !slices.Equal(without(x.Type.Shape, axis), without(src.Type.Shape, axis)) {
		c.fail(diag.OperandShapes, "writes %s into axis %d of %s", ir.ShapeString(src.Type.Shape), axis,
			ir.ShapeString(x.Type.Shape))
		return nil
	}
	var pieces []*ir.Node
	for i := 0; i < len(from); {
		n, k := 1, from[i]
		for i+n < len(from) && (k == keep && from[i+n] == keep || k != keep && from[i+n] == k+n) {
			n++
		}
		if k == keep {
			pieces = append(pieces, c.slice("kept", x, axis, i, n, 1))
		} else {
			pieces = append(pieces, c.slice("written", src, axis, k, n, 1))
		}
		if i += n; len(pieces) > maxPieces {
			c.fail(diag.ModelLimit, "writes so that %s falls into more than %d pieces", ir.ShapeString(x.Type.Shape), maxPieces)
			return nil
		}
	}
	return c.concat(suffix, pieces, int64(axis))
}

// overwritten is x with src at the indices first, first+step, ... of an axis.
func (c *call) overwritten(suffix string, x, src *ir.Node, axis, first, step int) *ir.Node {
	if c.err != nil || x == nil || src == nil {
		return nil
	}
	from := slices.Repeat([]int{keep}, x.Type.Shape[axis])
	for k := range src.Type.Shape[axis] {
		from[first+k*step] = k
	}
	return c.assembled(suffix, x, src, axis, from)
}

// putAt is x with src, which lacks the axis, at one index of it.
func (c *call) putAt(suffix string, x, src *ir.Node, axis, at int) *ir.Node {
	if c.err != nil || x == nil || src == nil {
		return nil
	}
	shape := slices.Clone(x.Type.Shape)
	shape[axis] = 1
	return c.overwritten(suffix, x, c.reshape("column", src, shape), axis, at, 1)
}

// convertSliceScatter writes src where a slice reads.
func convertSliceScatter(c *call) {
	x, axis, size := c.axisOf("dim", 0)
	first, last, step := c.stretch(size)
	if c.err != nil {
		return
	}
	shape := slices.Clone(x.Type.Shape)
	if shape[axis] = (max(last-first, 0) + step - 1) / step; shape[axis] == 0 {
		c.result(x)
		return
	}
	src := c.broadcast("values", c.cast(c.tensor("src"), c.outType(x)), shape)
	c.result(c.overwritten("", x, src, axis, first, step))
}

// convertSelectScatter writes src where a select reads.
func convertSelectScatter(c *call) {
	x, axis, size := c.axisOf("dim", 0)
	at := c.element(size)
	if c.err != nil {
		return
	}
	src := c.broadcast("values", c.cast(c.tensor("src"), c.outType(x)), without(x.Type.Shape, axis))
	c.result(c.putAt("", x, src, axis, at))
}

// convertIndexCopy writes slices, or one value, at positions along an axis.
func convertIndexCopy(c *call) {
	x, axis, _ := c.axisOf("dim", 0)
	index := c.tensor("index")
	if c.err != nil {
		return
	}
	n := elems(index.Type.Shape)
	shape := slices.Clone(x.Type.Shape)
	shape[axis] = n
	var values *ir.Node
	if strings.Contains(c.n.target, "index_fill") {
		values = c.operand("value", c.outType(x))
	} else {
		values = c.cast(c.tensor("source"), c.outType(x))
	}
	if index = c.reshape("places", index, []int{n}); c.putAlong(x, values, axis, index) || c.err != nil {
		return
	}
	column := slices.Repeat([]int{1}, len(shape))
	column[axis] = n
	index = c.broadcast("column", c.reshape("at", index, column), shape)
	a := &whole.ScatterAttrs{Axis: axis}
	c.result(c.emit("", whole.ScatterElements, a, x, index, c.broadcast("values", values, shape)))
}

// putAlong is index_put at constant places along one axis, the last of equal ones last; false where it is another form.
func (c *call) putAlong(x, values *ir.Node, axis int, index *ir.Node) bool {
	places, ok := build.Ints(index)
	if c.err != nil || !ok || len(index.Type.Shape) != 1 || c.bool("accumulate", false) || index.Type.Format == ir.Bool {
		return false
	}
	size := x.Type.Shape[axis]
	from := slices.Repeat([]int{keep}, size)
	for i, p := range places {
		if p < int64(-size) || p >= int64(size) {
			c.fail(diag.ConstantExpression, "index %d is outside %d elements", p, size)
			return true
		}
		from[(p+int64(size))%int64(size)] = i
	}
	shape := slices.Clone(x.Type.Shape)
	shape[axis] = len(places)
	c.result(c.assembled("", x, c.broadcast("values", values, shape), axis, from))
	return true
}
