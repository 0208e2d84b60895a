// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/whole"
)

// indexTable lists operations that address elements by indices.
func indexTable() []opSpec {
	return []opSpec{
		{"Gather", "axis", 2, 2, convertGather, false},
		{"GatherElements", "axis", 2, 2, convertGatherElements, false},
		{"GatherND", "batch_dims", 2, 2, convertGatherND, false},
		{"ScatterElements", "axis reduction", 3, 3, convertScatterElements, false},
		{"ScatterND", "reduction", 3, 3, convertScatterND, false},
		{"CumSum", "exclusive reverse", 2, 2, convertCumSum, false},
		{"TopK", "axis k largest sorted", 1, 2, convertTopK, true},
		{"OneHot", "axis", 3, 3, convertOneHot, false},
		{"Trilu", "upper", 1, 2, convertTrilu, false},
		{"NonZero", "", 1, 1, convertNonZero, false},
	}
}

// convertGather takes slices along an axis. Few constant indices into a computed value are slices, which hardware has.
func convertGather(c *call) {
	axis := c.axis(c.int("axis", 0), len(c.shape(0)), 0)
	at, x := c.indices(1), c.arg(0)
	if c.err != nil {
		return
	}
	size := c.shape(0)[axis]
	shape := slices.Concat(c.shape(0)[:axis], at.Type.Shape, c.shape(0)[axis+1:])
	if len(shape) > maxRank {
		c.fail(diag.ModelLimit, "its result has %d dimensions, the limit is %d", len(shape), maxRank)
		return
	}
	if elems(shape) == 0 {
		c.result(c.empty(x.Type.Format, shape))
		return
	}
	index, ok := build.Ints(at)
	for i, v := range index {
		if v < int64(-size) || v >= int64(size) {
			c.fail(diag.ConstantExpression, "index %d is outside %d elements", v, size)
			return
		}
		index[i] = (v + int64(size)) % int64(size)
	}
	if !ok || x.IsConst() || len(index) > maxPieces {
		c.result(c.emit("", whole.Gather, &column.AxisAttrs{Axis: axis}, x, at))
		return
	}
	list := make([]int, len(index))
	for i, v := range index {
		list[i] = int(v)
	}
	c.result(c.reshape("", c.pick(x, axis, list), shape))
}

// indices demands that input i holds whole numbers.
func (c *call) indices(i int) *ir.Node {
	if c.err == nil && !c.whole(i) {
		c.fail(diag.BadElementType, "indices must be integers, not %s", dtypeName(c.in[i].dtype))
	}
	return c.arg(i)
}

func convertGatherElements(c *call) {
	axis := c.axis(c.int("axis", 0), len(c.shape(0)), 0)
	x := c.arg(0)
	c.result(c.emit("", whole.GatherElements, &column.AxisAttrs{Axis: axis}, x, c.indices(1)))
}

func convertGatherND(c *call) {
	batch := c.int("batch_dims", 0)
	if batch < 0 || batch > maxRank {
		c.fail(diag.BadAttribute, "batch_dims is %d", batch)
	}
	x := c.arg(0)
	c.result(c.emit("", whole.GatherND, &whole.GatherNDAttrs{BatchDims: int(batch)}, x, c.indices(1)))
}

// reduction is what becomes of an element and an update that meet, in the words of whole.ScatterAttrs.
func (c *call) reduction() string {
	mode := c.string("reduction", "none")
	if !slices.Contains([]string{"none", "add", "mul", "max", "min"}, mode) {
		c.fail(diag.BadAttribute, "reduction is %s; it may be none, add, mul, max or min", quote(mode))
	}
	if mode == "none" {
		return ""
	}
	return mode
}

func convertScatterElements(c *call) {
	a := &whole.ScatterAttrs{Axis: c.axis(c.int("axis", 0), len(c.shape(0)), 0), Reduce: c.reduction()}
	x, at := c.arg(0), c.indices(1)
	c.result(c.emit("", whole.ScatterElements, a, x, at, c.arg(2)))
}

func convertScatterND(c *call) {
	a := &whole.ScatterNDAttrs{Reduce: c.reduction()}
	x, at := c.arg(0), c.indices(1)
	c.result(c.emit("", whole.ScatterND, a, x, at, c.arg(2)))
}

func convertCumSum(c *call) {
	axis := c.axis(int64(c.scalar(1, "the axis")), len(c.shape(0)), 0)
	a := &whole.CumSumAttrs{Axis: axis, Exclusive: c.int("exclusive", 0) != 0, Reverse: c.int("reverse", 0) != 0}
	c.result(c.emit("", whole.CumSum, a, c.arg(0)))
}

// convertTopK: k is an attribute up to opset 9, input 1 from 10.
func convertTopK(c *call) {
	k := c.int("k", 0)
	if c.has(1) {
		if list := c.numbers(1, "k"); len(list) == 1 {
			k = int64(list[0])
		}
	}
	axis := c.axis(c.int("axis", -1), len(c.shape(0)), 0)
	if c.err == nil && (k < 1 || k > int64(c.shape(0)[axis])) {
		c.fail(diag.BadAttribute, "takes %d of the %d elements of axis %d", k, c.shape(0)[axis], axis)
	}
	x := c.arg(0)
	a := &whole.TopKAttrs{Axis: axis, K: int(k), Largest: c.int("largest", 1) != 0}
	if c.wants(0) {
		c.result(c.emit("", whole.TopKValues, a, x))
	}
	if c.wants(1) {
		b := *a
		c.resultAt(1, c.emit("indices", whole.TopKIndices, &b, x))
	}
}

// convertOneHot: the numbers behind the depth are those for all other places and for the place itself.
func convertOneHot(c *call) {
	depth, rank := c.scalar(1, "the depth"), len(c.shape(0))
	axis := c.axis(c.int("axis", -1), rank+1, 0)
	if c.err == nil && (depth < 1 || depth > maxSmall) {
		c.fail(diag.ModelLimit, "has the depth %g; 1 to %d are supported", depth, maxSmall)
	}
	at, values := c.converted("indices", c.arg(0), ir.I64), c.arg(2)
	if c.err == nil && !slices.Equal(c.shape(2), []int{2}) {
		c.fail(diag.OperandShapes, "has values of shape %s, two are needed", ir.ShapeString(c.shape(2)))
	}
	off := c.reshape("off", c.part("off", values, 0, 0, 1), []int{})
	on := c.reshape("on", c.part("on", values, 0, 1, 1), []int{})
	if c.err != nil {
		return
	}
	n, err := c.b.OneHot(c.place(""), at, int(depth), axis, off, on)
	c.wrap(diag.OperandShapes, err)
	if c.result(n); c.err == nil {
		c.fr.values[c.n.out[0]].dtype = c.in[2].dtype
	}
}

// convertTrilu keeps the upper triangle, or the lower one, of matrices.
func convertTrilu(c *call) {
	k := 0.0
	if c.has(1) {
		k = c.scalar(1, "the diagonal")
	}
	x := c.arg(0)
	if c.err != nil {
		return
	}
	n, err := c.b.Trilu(c.place(""), x, int(min(max(k, -maxAttr), maxAttr)), c.int("upper", 1) != 0)
	c.wrap(diag.OperandShapes, err)
	c.result(n)
}

// convertNonZero lists the positions of elements that are not zero, a row an axis: lengths do not depend on data, so
// that the elements must be constant.
func convertNonZero(c *call) {
	values, shape := c.numbers(0, "the operand"), c.shape(0)
	if c.err != nil {
		return
	}
	var at []int
	for i, v := range values {
		if v != 0 {
			at = append(at, i)
		}
	}
	rows := make([]int64, 0, len(at)*len(shape))
	stride := elems(shape)
	for _, d := range shape {
		if d > 0 {
			stride /= d
		}
		for _, i := range at {
			rows = append(rows, int64(i/max(stride, 1)%max(d, 1)))
		}
	}
	c.result(c.whole64("places", []int{len(shape), len(at)}, rows...))
}
