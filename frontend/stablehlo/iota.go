// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"lathe/frontend/build"
	"lathe/frontend/stablehlo/syntax"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
)

// convertIota counts along an axis.
func convertIota(c *call) {
	t := c.result()
	dims := c.static()
	axis := c.axis(max(len(dims), 1), "iota_dimension", "dim")
	if c.err == nil {
		c.outs = append(c.outs, c.iota(syntax.Storage(t.Elem), dims, axis))
	}
}

// maxIota bounds the numbers that are written out.
const maxIota = 1 << 22

// iota is 0, 1, 2, ... along an axis.
func (c *call) iota(d ir.DType, dims []int, axis int) value {
	if axis >= len(dims) || dims[axis] > maxIota || d == "" {
		c.fail(diag.BadDimension, "counts along axis %d of %s", axis, ir.ShapeString(dims))
		return value{}
	}
	n := dims[axis]
	list := make([]int64, n)
	floats := make([]float32, n)
	for i := range list {
		list[i], floats[i] = int64(i), float32(i)
	}
	data := ir.FloatBlob(floats)
	if ir.IsWhole(ir.FormatOf(d)) {
		data = build.IntBlob(d, list)
	}
	shape := []int{n}
	for range len(dims) - 1 - axis {
		shape = append(shape, 1)
	}
	return value{c.constant(data, shape...), dims}
}

// convertReverse turns axes around.
func convertReverse(c *call) {
	x := c.node(0)
	if x == nil {
		return
	}
	rank := len(x.Type.Shape)
	for _, a := range c.axes(c.ints(-1, required, "dimensions", "dims"), rank) {
		x = c.reversed(x, a)
	}
	c.done(x)
}

// reversed turns one axis around: its elements one by one, last first.
func (c *call) reversed(x *ir.Node, axis int) *ir.Node {
	if x == nil || c.err != nil || x.Type.Shape[axis] < 2 {
		return x
	}
	size := x.Type.Shape[axis]
	if size > 1<<12 {
		c.fail(diag.ModelLimit, "reverses an axis of %d elements", size)
		return nil
	}
	parts := make([]*ir.Node, size)
	for i := range parts {
		parts[i] = c.slice(x, axis, size-1-i, size-i, 1)
	}
	return c.emit(move.Concat, &move.ConcatAttrs{Axis: axis}, parts...)
}
