// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"

	"lathe/frontend/build"
	"lathe/frontend/source"
	"lathe/ir"
	"lathe/ir/op"
)

// indexTable lists operations that address elements by indices.
func indexTable() []opSpec {
	return []opSpec{
		{"Gather", "axis", 2, 2, convertGather, false},
	}
}

// convertGather takes slices along an axis. Few constant indices into a computed value are slices, which hardware has.
func convertGather(c *call) {
	axis := c.axis(c.int("axis", 0), len(c.shape(0)), 0)
	if c.err == nil && !c.whole(1) {
		c.fail(source.CodeDType, "indices must be integers, not %s", dtypeName(c.in[1].dtype))
	}
	at, x := c.arg(1), c.arg(0)
	if c.err != nil {
		return
	}
	size := c.shape(0)[axis]
	shape := slices.Concat(c.shape(0)[:axis], at.Type.Shape, c.shape(0)[axis+1:])
	if len(shape) > maxRank {
		c.fail(source.CodeLimit, "its result has %d dimensions, the limit is %d", len(shape), maxRank)
		return
	}
	if elems(shape) == 0 {
		c.result(c.empty(x.Type.Format, shape))
		return
	}
	index, ok := build.Ints(at)
	for i, v := range index {
		if v < int64(-size) || v >= int64(size) {
			c.fail(source.CodeFold, "index %d is outside of %d elements", v, size)
			return
		}
		index[i] = (v + int64(size)) % int64(size)
	}
	if !ok || x.IsConst() || len(index) > maxPieces {
		c.result(c.emit("", op.Gather, &op.AxisAttrs{Axis: axis}, x, at))
		return
	}
	list := make([]int, len(index))
	for i, v := range index {
		list[i] = int(v)
	}
	c.result(c.reshape("", c.pick(x, axis, list), shape))
}

var _ = ir.Bool
