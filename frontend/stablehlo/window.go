// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"slices"

	"lathe/frontend/source"
	"lathe/ir"
	"lathe/ir/op"
)

// window is how a reduce_window moves.
type window struct {
	size, stride, base, dilate, low, high []int
}

// convertReduceWindow makes pools of images.
func convertReduceWindow(c *call) {
	values, inits := c.reduceOperands()
	if c.err != nil {
		return
	}
	x, rank := values[0], len(values[0].dims)
	w := window{size: c.ints(rank, required, "window_dimensions"), stride: c.ints(rank, 1, "window_strides"),
		base: c.ints(rank, 1, "base_dilations"), dilate: c.ints(rank, 1, "window_dilations")}
	w.low, w.high = c.pads(rank, "padding")
	if c.err == nil && slices.Min(append(slices.Concat(w.size, w.stride, w.base, w.dilate), 1)) < 1 {
		c.fail(source.CodeAttr, "windows, strides and dilations must be positive")
	}
	name := c.monoid()
	if len(values) != 1 || name == "" {
		c.fail(source.CodeForm, "windows of %d operands, joined by an operation that is not recognised", len(values))
	}
	if c.err != nil {
		return
	}
	if !neutral(name, inits[0]) {
		c.fail(source.CodeForm, "an initial value that %s does not leave as it is", name)
		return
	}
	c.outs = append(c.outs, c.pool(name, x, w))
}

// pool finds the two axes, or fewer, along which windows have a size, and makes a pool of them.
func (c *call) pool(name string, x value, w window) value {
	n := c.full(x)
	var axes []int
	for i := range w.size {
		if w.base[i] > 1 {
			c.fail(source.CodeForm, "dilated images are not supported")
		}
		if w.size[i] > 1 || w.stride[i] > 1 || w.low[i] != 0 || w.high[i] != 0 {
			axes = append(axes, i)
		}
	}
	if c.err != nil || n == nil {
		return value{}
	}
	if !n.Type.IsFloat() || len(axes) > 2 {
		c.fail(source.CodeForm, "windows over %d axes of %s", len(axes), typeText(x))
		return value{}
	}
	switch len(axes) {
	case 0:
		return whole(n)
	case 1: // an image of one row
		axes = slices.Concat(axes, axes)
	}
	return c.images(name, n, axes, w)
}

// images brings a value into the form N, H, W, C and back: axes before the first of the windows are N, those behind the
// last are C. Axes between them move to the front.
func (c *call) images(name string, n *ir.Node, axes []int, w window) value {
	shape := n.Type.Shape
	a, b := axes[0], axes[1]
	var order []int
	for i := range shape {
		if i < a || i > a && i < b {
			order = append(order, i)
		}
	}
	lead := len(order)
	order = append(order, a)
	if b != a {
		order = append(order, b)
	}
	for i := b + 1; i < len(shape); i++ {
		order = append(order, i)
	}
	moved := ir.TransposeShape(shape, order)
	spatial := moved[lead : lead+1]
	if b != a {
		spatial = moved[lead : lead+2]
	}
	attrs := op.Window{ChannelsLast: true}
	var highs []int
	for _, axis := range slices.Compact([]int{a, b}) {
		attrs.Kernel, attrs.Strides = append(attrs.Kernel, w.size[axis]), append(attrs.Strides, w.stride[axis])
		attrs.Dilations, attrs.Pads = append(attrs.Dilations, w.dilate[axis]), append(attrs.Pads, w.low[axis])
		highs = append(highs, w.high[axis])
	}
	attrs.Pads = append(attrs.Pads, highs...)
	image := slices.Concat([]int{elems(moved[:lead])}, spatial, []int{elems(moved[lead+len(spatial):])})
	y := c.windows(name, c.shape(c.transpose(n, order), image), attrs)
	if y == nil {
		return value{}
	}
	out := slices.Clone(moved)
	copy(out[lead:], y.Type.Shape[1:1+len(spatial)])
	back := make([]int, len(order))
	for i, o := range order {
		back[o] = i
	}
	mean := c.sums[y]
	y = c.transpose(c.shape(y, out), back)
	if mean.mean != nil && y != nil {
		c.sums[y] = sum{c.transpose(c.shape(mean.mean, out), back), mean.count}
	}
	return whole(y)
}

// windows makes the pool: a sum is the mean times the size of the window.
func (c *call) windows(name string, x *ir.Node, w op.Window) *ir.Node {
	for _, p := range w.Pads {
		if p < 0 {
			c.fail(source.CodeForm, "windows that leave elements out (padding %v) are not supported", w.Pads)
			return nil
		}
	}
	switch name {
	case "stablehlo.maximum":
		return c.emit(op.MaxPool, &w, x)
	case "stablehlo.minimum":
		flip := c.emit(op.MaxPool, &w, c.emit(op.Mul, nil, x, c.number(x, -1)))
		return c.emit(op.Mul, nil, flip, c.number(x, -1))
	case "stablehlo.add":
		mean := c.emit(op.AvgPool, &op.AvgAttrs{Window: w, IncludePad: true}, x)
		count := elems(w.Kernel)
		y := c.emit(op.Mul, nil, mean, c.number(x, float64(count)))
		if y != nil {
			c.sums[y] = sum{mean, count}
		}
		return y
	}
	c.fail(source.CodeForm, "windows joined by %s", name)
	return nil
}
