// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"fmt"
	"slices"
	"strings"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/geometry"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/sum"
	"lathe/ir/op/window"
)

// tables lists the operations, by what they do.
func tables() [][]row {
	return [][]row{weighted(), plain(), functions(), shapes(), pairs(), reductions(), matrices(), makers(), indexing(),
		images(), orders(), recurrences(), quantizations(),
		writes()}
}

// weighted lists the operations with weights, the norms and the pools.
func weighted() []row {
	return []row{
		{"linear.default", "input weight bias", convertLinear},
		{"addmm.default", "self mat1 mat2 beta alpha", convertAddmm},
		{"conv1d.default conv2d.default conv3d.default conv1d.padding conv2d.padding conv3d.padding",
			"input weight bias stride padding dilation groups", convertConv},
		{"convolution.default", "input weight bias stride padding dilation transposed output_padding groups", convertConv},
		{"batch_norm.default", "input weight bias running_mean running_var training momentum eps cudnn_enabled",
			convertBatchNorm},
		{"_native_batch_norm_legit_no_training.default", "input weight bias running_mean running_var momentum eps",
			convertBatchNorm},
		{"max_pool1d.default max_pool2d.default max_pool3d.default max_pool2d_with_indices.default " +
			"max_pool3d_with_indices.default",
			"self kernel_size stride padding dilation ceil_mode", convertMaxPool},
		{"avg_pool1d.default avg_pool2d.default avg_pool3d.default",
			"self kernel_size stride padding ceil_mode count_include_pad divisor_override", convertAvgPool},
		{"adaptive_max_pool1d.default adaptive_max_pool2d.default", "self output_size", convertAdaptive},
		{"adaptive_avg_pool1d.default adaptive_avg_pool2d.default _adaptive_avg_pool2d.default", "self output_size",
			convertAdaptive},
	}
}

// convertLinear is x*transpose(weight) + bias. Weights that are computed at run time are a product of matrices.
func convertLinear(c *call) {
	x, w, b := c.tensor("input"), c.tensor("weight"), c.maybe("bias")
	if c.err != nil {
		return
	}
	if !c.constant(w) || b != nil && !c.constant(b) {
		perm := identity(len(w.Type.Shape))
		slices.Reverse(perm)
		y := c.product("product", x, c.turn("transpose", w, perm))
		if b != nil {
			y = c.emit("", pointwise.Add, nil, y, b)
		}
		c.result(y)
		return
	}
	if len(w.Type.Shape) == 1 { // one output feature, whose axis is missing
		w = c.reshape("weight", w, []int{1, w.Type.Shape[0]})
		y := c.linear("product", x, w, nil)
		left := slices.Clone(c.shape(x))[:max(len(c.shape(x))-1, 0)]
		if b == nil {
			c.result(c.reshape("", y, left))
			return
		}
		c.result(c.emit("", pointwise.Add, nil, c.reshape("feature", y, left), b))
		return
	}
	c.result(c.linear("", x, w, b))
}

// linear makes a linear node; the bias may be nil.
func (c *call) linear(suffix string, x, w, b *ir.Node) *ir.Node {
	if b == nil {
		return c.emit(suffix, sum.Linear, nil, x, w)
	}
	return c.emit(suffix, sum.Linear, nil, x, w, b)
}

// convertAddmm is beta*self + alpha*mat1*mat2: a linear operation where mat2 is constant and self a row.
func convertAddmm(c *call) {
	bias, x, w := c.tensor("self"), c.tensor("mat1"), c.tensor("mat2")
	for _, name := range []string{"alpha", "beta"} {
		if c.float(name, 1) != 1 {
			c.fail(diag.UnsupportedForm, "%s is %g; only 1 is supported", name, c.float(name, 1))
		}
	}
	if c.err != nil {
		return
	}
	if c.constant(w) && c.constant(bias) && len(bias.Type.Shape) == 1 && len(w.Type.Shape) == 2 &&
		bias.Type.Shape[0] == w.Type.Shape[1] {
		c.result(c.linear("", x, c.flipped(w), bias))
		return
	}
	c.result(c.emit("", pointwise.Add, nil, c.product("product", x, w), bias))
}

// spatial spreads a list of one over the spatial axes; empty, it is all def.
func (c *call) spatial(name string, list []int, rank, def int) []int {
	if c.err != nil || rank < 1 {
		return nil
	}
	switch len(list) {
	case 0:
		return slices.Repeat([]int{def}, rank)
	case 1:
		return slices.Repeat(list, rank)
	case rank:
		return list
	}
	c.fail(diag.BadAttribute, "%s has %d entries for %d spatial axes", name, len(list), rank)
	return slices.Repeat([]int{def}, rank)
}

// batched is aside of what takes one or two spatial axes.
func (c *call) batched(x *ir.Node, spatial int) (y *ir.Node, undo func(*ir.Node) *ir.Node) {
	if c.err == nil && spatial > 2 {
		c.fail(diag.SpatialAxes, "has %d spatial axes; one or two are supported", spatial)
	}
	return c.aside(x, spatial)
}

// aside gives an image without a batch axis one of size 1; undo takes it away again.
func (c *call) aside(x *ir.Node, spatial int) (y *ir.Node, undo func(*ir.Node) *ir.Node) {
	shape := c.shape(x)
	switch {
	case c.err != nil:
		return nil, func(*ir.Node) *ir.Node { return nil }
	case len(shape) == spatial+2:
		return x, func(y *ir.Node) *ir.Node { return y }
	case len(shape) != spatial+1:
		c.fail(diag.OperandShapes, "needs channels and %d spatial axes, its input is %s", spatial, ir.ShapeString(shape))
	}
	y = c.reshape("batch", x, append([]int{1}, shape...))
	return y, func(y *ir.Node) *ir.Node {
		if y == nil || c.err != nil {
			return nil
		}
		return c.reshape("unbatch", y, y.Type.Shape[1:])
	}
}

func convertConv(c *call) {
	x, w, b := c.tensor("input"), c.weight("weight"), c.weight("bias")
	rank := len(c.shape(w)) - 2
	if c.err == nil && (w == nil || rank < 1) {
		c.fail(diag.OperandShapes, "the weights have the shape %s", ir.ShapeString(c.shape(w)))
	}
	if c.bool("transposed", false) {
		c.transposed(x, w, b)
		return
	}
	x, undo := c.aside(x, rank)
	if c.err != nil {
		return
	}
	win := geometry.Window{Kernel: w.Type.Shape[2:], Strides: c.spatial("stride", c.ints("stride"), rank, 1),
		Dilations: c.spatial("dilation", c.ints("dilation"), rank, 1)}
	if a, ok := c.arg("padding"); ok && a.kind == "as_string" {
		win.Pads = c.autoPads(&win)
	} else {
		pads := c.spatial("padding", c.ints("padding"), rank, 0)
		win.Pads = slices.Concat(pads, pads)
	}
	c.window(&win)
	a := &sum.ConvAttrs{Window: win, Groups: clampInt(c.int("groups", 1))}
	if rank == 3 && c.err == nil {
		y, err := c.b.Conv(c.place, x, w, b, a)
		c.wrap(err)
		c.result(undo(y))
		return
	}
	args := []*ir.Node{x, w}
	if b != nil {
		args = append(args, b)
	}
	c.result(undo(c.emit("", sum.Conv, a, args...)))
}

// autoPads are those of padding "same" and "valid"; the odd element of same stands at the end.
func (c *call) autoPads(w *geometry.Window) []int {
	rank := len(w.Kernel)
	pads := make([]int, 2*rank)
	switch mode := c.str("padding", ""); mode {
	case "valid":
	case "same":
		for i, k := range w.Kernel {
			total := (k - 1) * w.Dilations[i]
			pads[i], pads[i+rank] = total/2, total-total/2
		}
	default:
		c.fail(diag.BadAttribute, "padding is %s; it may be same or valid", source.Quote(mode))
	}
	return pads
}

// window checks sizes that archives may state at will.
func (c *call) window(w *geometry.Window) {
	const most = 1 << 20
	for _, list := range [][]int{w.Kernel, w.Strides, w.Dilations} {
		for _, v := range list {
			if v < 1 || v > most {
				c.fail(diag.BadAttribute, "kernel %v, stride %v and dilation %v must be 1 to 2^20", w.Kernel, w.Strides,
					w.Dilations)
			}
		}
	}
	for _, p := range w.Pads {
		if p < 0 || p > most {
			c.fail(diag.BadAttribute, "padding %v must be 0 to 2^20", w.Pads)
		}
	}
}

// convertBatchNorm normalizes with stored statistics. Scale and bias may be absent.
func convertBatchNorm(c *call) {
	x := c.tensor("input")
	if c.bool("training", false) {
		c.fail(diag.UnsupportedForm, "is in training mode").WithHint("call model.eval() before torch.export")
	}
	if shape := c.shape(x); c.err == nil && len(shape) < 2 {
		c.fail(diag.OperandShapes, "needs batch and channels, its input is %s", ir.ShapeString(shape))
	}
	mean, variance := c.weight("running_mean"), c.weight("running_var")
	if c.err == nil && (mean == nil || variance == nil) {
		c.fail(diag.UnsupportedForm, "has no stored statistics, and takes those of its input").
			WithHint("export a model whose batch norms track running statistics")
	}
	scale, bias := c.weight("weight"), c.weight("bias")
	if scale == nil {
		scale = c.filled("ones", 1, c.shape(mean))
	}
	if bias == nil {
		bias = c.filled("zeros", 0, c.shape(mean))
	}
	a := &sum.BatchNormAttrs{Epsilon: float32(c.float("eps", 1e-5)), Axis: 1}
	c.result(c.emit("", sum.BatchNorm, a, x, scale, bias, mean, variance))
}

// filled is a constant of equal floats.
func (c *call) filled(role string, v float32, shape []int) *ir.Node {
	if c.err != nil {
		return nil
	}
	n, err := c.b.Const(c.place.Name+"."+role, ir.FloatBlob(slices.Repeat([]float32{v}, elems(shape))), shape)
	c.wrap(err)
	return n
}

// pool reads the window of a pool over the last axes.
func (c *call) pool(rank int) geometry.Window {
	w := geometry.Window{Kernel: c.spatial("kernel_size", c.ints("kernel_size"), rank, 1),
		CeilMode: c.bool("ceil_mode", false)}
	w.Strides = w.Kernel
	if stride := c.ints("stride"); len(stride) > 0 {
		w.Strides = c.spatial("stride", stride, rank, 1)
	}
	w.Dilations = slices.Repeat([]int{1}, rank)
	pads := c.spatial("padding", c.ints("padding"), rank, 0)
	w.Pads = slices.Concat(pads, pads)
	for i, p := range pads {
		if c.err == nil && 2*p > w.Kernel[i] {
			c.fail(diag.BadAttribute, "pads by %d, more than half of the kernel of %d", p, w.Kernel[i])
		}
	}
	c.window(&w)
	return w
}

// dimsOf is the number of spatial axes of an operation that has it in its name: max_pool2d.
func (c *call) dimsOf() int {
	for i := range len(c.n.target) - 1 {
		if d := c.n.target[i]; c.n.target[i+1] == 'd' && d >= '1' && d <= '3' {
			return int(d - '0')
		}
	}
	return 2
}

func convertMaxPool(c *call) {
	rank := c.dimsOf()
	w := c.pool(rank)
	if c.has("dilation") {
		w.Dilations = c.spatial("dilation", c.ints("dilation"), rank, 1)
		c.window(&w)
	}
	if rank == 3 {
		c.pool3(window.MaxPool, w, func(w geometry.Window) any { return &w })
		return
	}
	x, undo := c.batched(c.tensor("self"), rank)
	c.result(undo(c.emit("", window.MaxPool, &w, x)))
}

func convertAvgPool(c *call) {
	rank := c.dimsOf()
	w, include := c.pool(rank), c.bool("count_include_pad", true)
	if c.has("divisor_override") {
		c.fail(diag.UnsupportedForm, "divides by divisor_override; only the size of the window is supported")
	}
	attrs := func(w geometry.Window) any { return &window.AvgAttrs{Window: w, IncludePad: include} }
	if rank == 3 {
		c.pool3(window.AvgPool, w, attrs)
		return
	}
	x, undo := c.batched(c.tensor("self"), rank)
	c.result(undo(c.emit("", window.AvgPool, attrs(w), x)))
}

// convertAdaptive is the mean, or the largest value, of the image or of parts of it.
func convertAdaptive(c *call) {
	rank := c.dimsOf()
	x, undo := c.batched(c.tensor("self"), rank)
	out := c.spatial("output_size", c.ints("output_size"), rank, 1)
	if c.err != nil {
		return
	}
	in := x.Type.Shape[2:]
	w := geometry.Window{Pads: make([]int, 2*rank), Dilations: slices.Repeat([]int{1}, rank)}
	for i, o := range out {
		if o < 1 {
			c.fail(diag.BadDimension, "makes %s of %s", ir.ShapeString(out), ir.ShapeString(in))
			return
		}
		if in[i]%o != 0 {
			c.result(undo(c.uneven(x, out)))
			return
		}
		w.Kernel = append(w.Kernel, in[i]/o)
	}
	w.Strides = w.Kernel
	if strings.Contains(c.n.target, "_max_") {
		c.result(undo(c.emit("", window.MaxPool, &w, x)))
		return
	}
	if elems(out) == 1 {
		c.result(undo(c.emit("", window.GlobalAvgPool, &window.GlobalAttrs{}, x)))
		return
	}
	c.result(undo(c.emit("", window.AvgPool, &window.AvgAttrs{Window: w}, x)))
}

// uneven reduces parts of different sizes, one axis of the image after the other: part k of o of n elements begins at
// floor(k*n/o) and ends before ceil((k+1)*n/o), as PyTorch has it, so that neighbours may share elements.
func (c *call) uneven(x *ir.Node, out []int) *ir.Node {
	reducer := reduce.Mean
	if strings.Contains(c.n.target, "_max_") {
		reducer = reduce.Max
	}
	var axes []int
	for i, o := range out {
		if x.Type.Shape[2+i] != o {
			axes = append(axes, 2+i)
		}
	}
	for i, axis := range axes {
		n, o, whole := x.Type.Shape[axis], out[axis-2], ""
		if i < len(axes)-1 {
			whole = fmt.Sprintf("parts%d", axis)
		}
		parts := make([]*ir.Node, o)
		for k := range o {
			from, to, name := k*n/o, ((k+1)*n+o-1)/o, fmt.Sprintf("part%d_%d", axis, k)
			part := c.emit(name, move.Slice, &move.SliceAttrs{Axis: axis, Start: from, Count: to - from, Step: 1}, x)
			if name += "_reduced"; o == 1 {
				name = whole
			}
			parts[k] = c.emit(name, reducer, &reduce.Attrs{Axes: []int{axis}}, part)
		}
		if x = parts[0]; o > 1 {
			x = c.emit(whole, move.Concat, &move.ConcatAttrs{Axis: axis}, parts...)
		}
		if c.err != nil {
			return nil
		}
	}
	return x
}
