// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/geometry"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
	"lathe/ir/op/window"
)

// window is how a reduce_window moves.
type windowOp struct {
	size, stride, base, dilate, low, high []int
}

// convertReduceWindow makes pools of images.
func convertReduceWindow(c *call) {
	values, inits := c.reduceOperands()
	if c.err != nil {
		return
	}
	x, rank := values[0], len(values[0].dims)
	w := windowOp{size: c.ints(rank, required, "window_dimensions"), stride: c.ints(rank, 1, "window_strides"),
		base: c.ints(rank, 1, "base_dilations"), dilate: c.ints(rank, 1, "window_dilations")}
	w.low, w.high = c.pads(rank, "padding")
	if c.err == nil && slices.Min(append(slices.Concat(w.size, w.stride, w.base, w.dilate), 1)) < 1 {
		c.fail(diag.BadAttribute, "windows, strides and dilations must be positive")
	}
	name := c.monoid()
	if len(values) != 1 || name == "" {
		c.fail(diag.UnsupportedForm, "windows of %d operands, joined by an operation that is not recognised", len(values))
	}
	if c.err != nil {
		return
	}
	if n := c.pool(name, x, inits[0], w); n.node != nil || c.err != nil {
		c.outs = append(c.outs, n)
		return
	}
	c.outs = append(c.outs, c.joinWindows(name, x, inits[0], w))
}

// pool finds the two axes, or fewer, along which windows have a size, and makes a pool of them; nil where there are
// more, or values of another kind.
func (c *call) pool(name string, x, init value, w windowOp) value {
	n := c.full(x)
	var axes []int
	fits := n != nil && n.Type.IsFloat() && c.neutral(name, init)
	for i := range w.size {
		fits = fits && w.base[i] == 1 && min(w.low[i], w.high[i]) >= 0
		if w.size[i] > 1 || w.stride[i] > 1 || w.low[i] != 0 || w.high[i] != 0 {
			axes = append(axes, i)
		}
	}
	if len(axes) == 1 && c.running(name, n, axes[0], w, 0) != nil {
		return value{}
	}
	if c.err != nil || !fits || len(axes) > 2 || len(axes) == 0 || emptyWindows(x.dims, w, axes) ||
		name != "stablehlo.add" && name != "stablehlo.maximum" {
		return value{}
	}
	if len(axes) == 1 { // an image of one row
		axes = slices.Concat(axes, axes)
	}
	return c.images(name, n, axes, w)
}

// images brings a value into the form N, H, W, C and back: axes before the first of the windows are N, those behind the
// last are C. Axes between them move to the front.
func (c *call) images(name string, n *ir.Node, axes []int, w windowOp) value {
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
	attrs := geometry.Window{ChannelsLast: true}
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
		c.sums[y] = partialSum{c.transpose(c.shape(mean.mean, out), back), mean.count}
	}
	return wholeValue(y)
}

// windows makes the pool: a sum is the mean times the size of the window.
func (c *call) windows(name string, x *ir.Node, w geometry.Window) *ir.Node {
	if name == "stablehlo.maximum" {
		return c.emit(window.MaxPool, &w, x)
	}
	mean := c.emit(window.AvgPool, &window.AvgAttrs{Window: w, IncludePad: true}, x)
	count := elems(w.Kernel)
	y := c.emit(pointwise.Mul, nil, mean, c.number(x, float64(count)))
	if y != nil {
		c.sums[y] = partialSum{mean, count}
	}
	return y
}

// emptyWindows says that windows may see nothing but padding, of which pools make nothing.
func emptyWindows(dims []int, w windowOp, axes []int) bool {
	for _, a := range axes {
		out := (dims[a]+w.low[a]+w.high[a]-(w.size[a]-1)*w.dilate[a]-1)/w.stride[a] + 1
		for o := range out {
			inside := false
			for k := range w.size[a] {
				at := o*w.stride[a] + k*w.dilate[a] - w.low[a]
				inside = inside || at >= 0 && at < dims[a]
			}
			if !inside {
				return true
			}
		}
	}
	return false
}

// joinWindows is the general form, axis by axis: sums over windows of 1, 2, 4, ... elements make those of any size.
func (c *call) joinWindows(name string, x, init value, w windowOp) value {
	fill, ok := init.scalar()
	if !ok {
		c.fail(diag.DataDependent, "the initial value is computed from data")
		return value{}
	}
	if c.specs[name] == nil {
		c.fail(diag.UnsupportedForm, "windows joined by %s", name)
		return value{}
	}
	n := c.full(x)
	for axis := range w.size {
		if sum := c.running(name, n, axis, w, fill); sum != nil {
			n = sum
			continue
		}
		n = c.padAxis(n, axis, w.low[axis], w.high[axis], w.base[axis]-1, fill)
		n = c.joinAxis(name, n, axis, w)
	}
	if n != nil && !c.neutral(name, init) && elems(w.size) > 1 {
		return c.joined(name, wholeValue(n), value{init.node, n.Type.Shape})
	}
	return wholeValue(n)
}

// running is the sum of all elements up to each, or from each on, where windows are those; else nil.
func (c *call) running(name string, n *ir.Node, axis int, w windowOp, fill float64) *ir.Node {
	size := w.size[axis]
	if name != "stablehlo.add" || fill != 0 || n == nil || size < 2 || size != n.Type.Shape[axis] || w.stride[axis] != 1 ||
		w.base[axis] != 1 || w.dilate[axis] != 1 || min(w.low[axis], w.high[axis]) != 0 ||
		max(w.low[axis], w.high[axis]) != size-1 {
		return nil
	}
	if parts := c.parts(n, axis); parts != nil && w.low[axis] > 0 {
		return c.runningParts(parts, axis)
	}
	return c.emit(whole.CumSum, &whole.CumSumAttrs{Axis: axis, Reverse: w.high[axis] > 0}, n)
}

// joinAxis joins the windows along one axis.
func (c *call) joinAxis(name string, n *ir.Node, axis int, w windowOp) *ir.Node {
	if n == nil || c.err != nil {
		return nil
	}
	size, step := w.size[axis], w.dilate[axis]
	count := n.Type.Shape[axis] - (size-1)*step // windows in steps of one
	if count < 1 {
		c.fail(diag.OperandShapes, "windows of %d elements in steps of %d are larger than axis %d of %s", size, step, axis,
			ir.ShapeString(n.Type.Shape))
		return nil
	}
	var all *ir.Node
	from := 0
	for m := 1; ; m *= 2 { // n holds windows of m elements
		if size&m != 0 {
			part := c.slice(n, axis, from*step, from*step+count, 1)
			if all != nil {
				part = c.joined(name, wholeValue(all), wholeValue(part)).node
			}
			all = part
			from += m
		}
		if 2*m > size || n == nil {
			break
		}
		last := n.Type.Shape[axis] - m*step
		n = c.joined(name, wholeValue(c.slice(n, axis, 0, last, 1)),
			wholeValue(c.slice(n, axis, m*step, m*step+last, 1))).node
	}
	return c.slice(all, axis, 0, count, w.stride[axis])
}
