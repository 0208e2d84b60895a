// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
)

// convertPad pads one axis after the other; negative pads cut. Pads and value are attributes up to opset 10, inputs
// from 11; axes are an input from 18.
func convertPad(c *call) {
	before, after, value := c.padding()
	mode := c.string("mode", "constant")
	if c.err == nil && !slices.Contains([]string{"constant", "edge", "reflect", "wrap"}, mode) {
		c.fail(diag.BadAttribute, "mode %s is not supported", quote(mode)).Hint = "use constant, edge, reflect or wrap"
	}
	x := c.arg(0)
	for axis := range before {
		if c.err == nil {
			x = c.padAxis(x, axis, before[axis], after[axis], mode, value)
		}
	}
	c.named(x)
}

// padding reads how many elements go before and behind each axis, and the constant.
func (c *call) padding() (before, after []int, value float64) {
	rank := len(c.shape(0))
	list, axes := c.ints("pads"), []int64(nil)
	value = float64(c.float("value", 0))
	if !c.byAttrs(11, "pads", "value") {
		if list, value = nil, 0; !c.has(1) {
			c.fail(diag.OperandCount, "has no pads")
			return nil, nil, 0
		}
		for _, v := range c.list(1, "the pads") {
			if v > maxAttr || v < -maxAttr {
				c.fail(diag.BadAttribute, "pads by %d, beyond the limit of %d", v, maxAttr)
				return nil, nil, 0
			}
			list = append(list, int(v))
		}
		if c.has(2) {
			value = c.scalar(2, "the value")
		}
		if c.has(3) {
			axes = slices.Clone(c.list(3, "the axes"))
		}
	}
	if axes == nil {
		for i := range rank {
			axes = append(axes, int64(i))
		}
	}
	if c.err == nil && len(list) != 2*len(axes) {
		c.fail(diag.BadAttribute, "%d pads for %d axes, each takes two", len(list), len(axes))
	}
	before, after = make([]int, rank), make([]int, rank)
	for i, v := range axes {
		if axis := c.axis(v, rank, 0); c.err == nil {
			before[axis], after[axis] = list[i], list[len(axes)+i]
		}
	}
	return before, after, value
}

// padAxis pads one axis.
func (c *call) padAxis(x *ir.Node, axis, before, after int, mode string, value float64) *ir.Node {
	size := x.Type.Shape[axis]
	first, last := max(-before, 0), size-max(-after, 0)
	if last <= first {
		c.fail(diag.BadDimension, "keeps nothing of axis %d of %s", axis, ir.ShapeString(x.Type.Shape))
		return nil
	}
	if last-first < size {
		x = c.emit("slice", move.Slice, &move.SliceAttrs{Axis: axis, Start: first, Count: last - first, Step: 1}, x)
		size = last - first
	}
	if before, after = max(before, 0), max(after, 0); before+after == 0 {
		return x
	}
	if mode == "constant" {
		v, ok := build.PadValue(x, value)
		if !ok {
			c.fail(diag.UnsupportedForm, "pads whole numbers by %.0f, which float32 does not hold", value)
		}
		return c.emit("pad", move.Pad, &move.PadAttrs{Axis: axis, Before: before, After: after, Value: v}, x)
	}
	edge := build.EdgeReflect
	switch mode {
	case "edge":
		edge = build.EdgeRepeat
	case "wrap":
		edge = build.EdgeWrap
	}
	index, ok := build.PadPlaces(size, before, after, edge)
	if !ok {
		c.fail(diag.BadAttribute, "pads the %d elements of axis %d by %d and %d in mode %s, which needs more elements", size,
			axis, before, after, mode)
		return nil
	}
	return c.pick(x, axis, index)
}
