// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op"
)

const reduceAttrs = "axes keepdims noop_with_empty_axes"

// reduceTable lists the reductions.
func reduceTable() []opSpec {
	return []opSpec{
		{"ReduceMean", reduceAttrs, 1, 2, nil, convertReduce(op.ReduceMean, 18)},
		{"ReduceSum", reduceAttrs, 1, 2, nil, convertReduce(op.ReduceSum, 13)},
		{"ReduceMax", reduceAttrs, 1, 2, nil, convertReduce(op.ReduceMax, 18)},
		{"ReduceMin", reduceAttrs, 1, 2, nil, convertReduce(op.ReduceMin, 18)},
	}
}

// convertReduce: the axes are an attribute in older operator sets and input 1 since the given one. None, or an empty
// list, are all axes, unless noop_with_empty_axes asks for the value itself.
func convertReduce(o *ir.Op, input int) func(*call) {
	return func(c *call) {
		var list []int64
		switch a := c.attr("axes", kindInts); {
		case c.has(1):
			list = c.list(1, "axes")
		case a != nil && c.opset < input:
			list = a.ints
		}
		if len(list) == 0 && c.int("noop_with_empty_axes", 0) != 0 {
			c.result(c.emit("", op.Identity, nil, c.data(0)))
			return
		}
		rank := len(c.shape(0))
		var axes []int
		for _, a := range list {
			axes = append(axes, c.axis(a, rank, 0))
		}
		if len(list) == 0 {
			for i := range rank {
				axes = append(axes, i)
			}
		}
		slices.Sort(axes)
		c.reduce(o, slices.Compact(axes))
	}
}

// reduce emits a reduction over sorted axes. A mean over all spatial axes of an image is a global pool.
func (c *call) reduce(o *ir.Op, axes []int) {
	var attrs any = &op.ReduceAttrs{Axes: axes}
	shape := c.shape(0)
	if o == op.ReduceMean && (slices.Equal(axes, []int{2, 3}) && len(shape) == 4 ||
		slices.Equal(axes, []int{2}) && len(shape) == 3) {
		o, attrs = op.GlobalAvgPool, &op.GlobalAttrs{}
	}
	x := c.data(0)
	if c.int("keepdims", 1) != 0 {
		c.result(c.emit("", o, attrs, x))
		return
	}
	var left []int
	for i, d := range shape {
		if !slices.Contains(axes, i) {
			left = append(left, d)
		}
	}
	n := c.emit("pool", o, attrs, x)
	c.result(c.emit("", op.Reshape, &op.ReshapeAttrs{Shape: left}, n))
}
