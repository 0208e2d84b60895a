// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"slices"

	"lathe/frontend/build"
	"lathe/frontend/stablehlo/syntax"
	"lathe/internal/diag"
	"lathe/ir"
)

// numbers are the elements of an operand that must be known: a shape, positions.
func (c *call) numbers(i int) []int {
	if i >= len(c.args) {
		c.fail(diag.OperandCount, "%d operands", len(c.args))
		return nil
	}
	list, ok := build.Ints(c.args[i].node)
	if !ok || len(c.args[i].dims) != 1 || c.args[i].dims[0] > 64 {
		c.fail(diag.DynamicShape, "operand %d is computed from data", i)
		return nil
	}
	if len(list) == 1 {
		list = slices.Repeat(list, c.args[i].dims[0])
	}
	return toInts(list)
}

// sizes is numbers that are a shape.
func (c *call) sizes(i int) []int {
	list := c.numbers(i)
	if c.err == nil && slices.ContainsFunc(list, func(d int) bool { return d < 0 || d > ir.MaxValue }) {
		c.fail(diag.BadDimension, "the shape %v", list)
	}
	return list
}

// convertDimension is the size of an axis.
func convertDimension(c *call) {
	axis := c.axis(max(len(c.args[0].dims), 1), "dimension", "dim")
	if c.err == nil && axis < len(c.args[0].dims) {
		c.done(c.constant(build.IntBlob(ir.I32, []int64{int64(c.args[0].dims[axis])})))
	}
}

func convertDynamicBroadcast(c *call) {
	x := c.args[0]
	axes := c.ints(len(x.dims), required, "broadcast_dimensions", "dims")
	dims := c.sizes(1)
	if axes = c.axes(axes, len(dims)); c.err == nil {
		c.outs = append(c.outs, c.broadcast(x, axes, dims))
	}
}

func convertDynamicReshape(c *call) {
	if dims := c.sizes(1); c.err == nil {
		c.outs = append(c.outs, c.reshaped(c.args[0], dims))
	}
}

func convertDynamicIota(c *call) {
	dims := c.sizes(0)
	axis := c.axis(max(len(dims), 1), "iota_dimension", "dim")
	if t := c.result(); c.err == nil {
		c.outs = append(c.outs, c.iota(syntax.Storage(t.Elem), dims, axis))
	}
}

func convertSliceByValues(c *call) {
	x := c.node(0)
	start, limit, step := c.numbers(1), c.numbers(2), c.numbers(3)
	if c.err != nil || x == nil {
		return
	}
	if n := len(x.Type.Shape); len(start) != n || len(limit) != n || len(step) != n {
		c.fail(diag.OperandCount, "ranges for other than %d axes", n)
		return
	}
	for i := range start {
		x = c.slice(x, i, start[i], limit[i], step[i])
	}
	c.done(x)
}

func convertDynamicPad(c *call) {
	low, high, inner := c.numbers(2), c.numbers(3), c.numbers(4)
	if c.err == nil {
		c.pad(low, high, inner)
	}
}
