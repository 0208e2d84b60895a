// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"slices"

	"lathe/frontend/build"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/geometry"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
)

// images lists what moves, pads and resizes images, and other operations that the builder composes.
func images() []row {
	return []row{
		{"im2col.default", "self kernel_size dilation padding stride", convertIm2col},
		{"conv_transpose1d.default conv_transpose2d.input conv_transpose3d.input",
			"input weight bias stride padding output_padding groups dilation", convertConvTranspose},
		{"pixel_shuffle.default", "self upscale_factor", func(c *call) {
			x, n := c.tensor("self"), clampInt(c.int("upscale_factor", 1))
			c.composed(func(at build.Place) (*ir.Node, error) { return c.b.DepthToSpace(at, x, n, build.CRD) }, x)
		}},
		{"pixel_unshuffle.default", "self downscale_factor", func(c *call) {
			x, n := c.tensor("self"), clampInt(c.int("downscale_factor", 1))
			c.composed(func(at build.Place) (*ir.Node, error) { return c.b.SpaceToDepth(at, x, n, build.CRD) }, x)
		}},
		{"channel_shuffle.default", "self groups", convertChannelShuffle},
		{"_native_batch_norm_legit.no_stats", "input weight bias training momentum eps", convertOwnStatistics},
		{"upsample_nearest1d.vec upsample_nearest2d.vec", "input output_size scale_factors", resize("nearest")},
		{"upsample_linear1d.vec upsample_bilinear2d.vec", "input output_size align_corners scale_factors",
			resize("linear")},
		{"upsample_bicubic2d.vec", "input output_size align_corners scale_factors", resize("cubic")},
		{"constant_pad_nd.default", "self pad value", convertPad},
		{"pad.default", "self pad mode value", convertPad},
		{"reflection_pad1d.default reflection_pad2d.default", "self padding", convertPad},
		{"replication_pad1d.default replication_pad2d.default", "self padding", convertPad},
		{"instance_norm.default",
			"input weight bias running_mean running_var use_input_stats momentum eps cudnn_enabled", convertInstanceNorm},
		{"einsum.default", "equation tensors path", func(c *call) {
			nodes, text := c.tensors("tensors"), c.str("equation", "")
			c.composed(func(at build.Place) (*ir.Node, error) { return c.b.Einsum(at, text, nodes...) }, nodes...)
		}},
		{"one_hot.default", "self num_classes", convertOneHot},
		{"roll.default", "self shifts dims", convertRoll},
	}
}

// composed makes a node by a function of the builder, of what the importer has read.
func (c *call) composed(make func(at build.Place) (*ir.Node, error), args ...*ir.Node) {
	if c.err == nil && slices.Contains(args, nil) {
		c.fail(diag.OperandCount, "lacks a tensor")
	}
	if c.err != nil {
		return
	}
	n, err := make(c.place)
	c.wrap(err)
	c.result(n)
}

func convertConvTranspose(c *call) {
	x, w, b := c.tensor("input"), c.weight("weight"), c.weight("bias")
	c.transposed(x, w, b)
}

// transposed is a transposed convolution.
func (c *call) transposed(x, w, b *ir.Node) {
	rank := len(c.shape(w)) - 2
	if c.err == nil && (w == nil || rank < 1) {
		c.fail(diag.OperandShapes, "the weights have the shape %s", ir.ShapeString(c.shape(w)))
	}
	x, undo := c.aside(x, rank)
	pads := c.spatial("padding", c.ints("padding"), rank, 0)
	a := build.ConvTransposeAttrs{
		Strides: c.spatial("stride", c.ints("stride"), rank, 1), Pads: slices.Concat(pads, pads),
		OutputPadding: c.spatial("output_padding", c.ints("output_padding"), rank, 0),
		Dilations:     c.spatial("dilation", c.ints("dilation"), rank, 1), Groups: clampInt(c.int("groups", 1)),
	}
	if c.err != nil {
		return
	}
	c.window(&geometry.Window{Kernel: w.Type.Shape[2:], Strides: a.Strides, Dilations: a.Dilations, Pads: a.Pads})
	if c.err != nil {
		return
	}
	y, err := c.b.ConvTranspose(c.place, x, w, b, a)
	c.wrap(err)
	c.result(undo(y))
}

// resize samples an image at other places. Coordinates follow the factors where they are given.
func resize(mode string) func(*call) {
	return func(c *call) {
		x := c.tensor("input")
		rank := len(c.shape(x)) - 2
		if c.err == nil && rank < 1 {
			c.fail(diag.OperandShapes, "needs batch, channels and spatial axes, its input is %s", ir.ShapeString(x.Type.Shape))
		}
		if c.err != nil {
			return
		}
		a := build.ResizeAttrs{Mode: mode, Sizes: c.ints("output_size"), Coordinates: "half_pixel", CubicA: -0.75}
		if mode == "nearest" {
			a.Coordinates, a.Nearest = "asymmetric", "floor"
		} else if c.bool("align_corners", false) {
			a.Coordinates = "align_corners"
		}
		for i := range rank {
			a.Axes = append(a.Axes, i+2)
		}
		if factors, ok := c.arg("scale_factors"); ok {
			items, err := factors.v.List()
			c.wrap(err)
			for i := range items {
				f, err := items[i].Float()
				if c.wrap(err); i < rank && c.err == nil {
					a.Scales = append(a.Scales, f)
				}
			}
		}
		for i := range a.Scales {
			if c.err == nil && len(a.Sizes) < len(a.Scales) {
				a.Sizes = append(a.Sizes, clampInt(int64(float64(x.Type.Shape[i+2])*a.Scales[i])))
			}
		}
		const most = 1 << 16
		for _, s := range a.Sizes {
			if s > most {
				c.fail(diag.ModelLimit, "makes an axis of %d elements; the limit is %d", s, most)
			}
		}
		c.composed(func(at build.Place) (*ir.Node, error) { return c.b.Resize(at, x, a) }, x)
	}
}

// convertPad pads axes, the last one first; negative numbers cut.
func convertPad(c *call) {
	x, pads, mode := c.tensor("self"), c.ints("pad"), c.str("mode", "constant")
	switch {
	case c.has("padding"):
		pads = c.ints("padding")
		mode = "reflect"
		if c.n.target[len(prefix):][:4] == "repl" {
			mode = "replicate"
		}
	case mode != "constant" && mode != "reflect" && mode != "replicate" && mode != "circular":
		c.fail(diag.BadAttribute, "mode is %s; it may be constant, reflect, replicate or circular", source.Quote(mode))
	}
	value := c.float("value", 0)
	if c.err == nil && (len(pads)%2 != 0 || len(pads) > 2*len(x.Type.Shape)) {
		c.fail(diag.BadAttribute, "pads %s by %v", ir.ShapeString(x.Type.Shape), pads)
	}
	for i := 0; i+1 < len(pads) && c.err == nil; i += 2 {
		x = c.padAxis(x, len(x.Type.Shape)-1-i/2, pads[i], pads[i+1], mode, value)
	}
	c.result(x)
}

// padAxis pads one axis.
func (c *call) padAxis(x *ir.Node, axis, before, after int, mode string, value float64) *ir.Node {
	if c.err != nil || x == nil || before == 0 && after == 0 {
		return x
	}
	size := x.Type.Shape[axis]
	if limit := 1 << 20; before > limit || after > limit || size > limit && mode != "constant" {
		c.fail(diag.ModelLimit, "pads axis %d of %s by %d and %d", axis, ir.ShapeString(x.Type.Shape), before, after)
		return nil
	}
	if first, last := max(-before, 0), size-max(-after, 0); last-first < size {
		x = c.slice("crop", x, axis, min(first, size), max(last-first, 0), 1)
		size, before, after = last-first, max(before, 0), max(after, 0)
	}
	switch {
	case c.err != nil || before+after == 0:
		return x
	case mode == "constant":
		v, ok := build.PadValue(x, value)
		if !ok {
			c.fail(diag.UnsupportedForm, "pads whole numbers by %.0f, which float32 does not hold", value)
		}
		return c.emit("", move.Pad, &move.PadAttrs{Axis: axis, Before: before, After: after, Value: v}, x)
	}
	edge := build.EdgeReflect
	switch mode {
	case "replicate":
		edge = build.EdgeRepeat
	case "circular":
		edge = build.EdgeWrap
	}
	places, ok := build.PadPlaces(size, before, after, edge)
	if !ok {
		c.fail(diag.BadAttribute, "pads the %d elements of axis %d by %d and %d (%s)", size, axis, before, after, mode)
		return nil
	}
	index := make([]int64, len(places))
	for i, k := range places {
		index[i] = int64(k)
	}
	return c.ordered("", x, axis, index)
}

// ordered takes elements of an axis in a constant order.
func (c *call) ordered(suffix string, x *ir.Node, axis int, index []int64) *ir.Node {
	if c.err != nil {
		return nil
	}
	at := c.place
	if suffix != "" {
		at.Name, at.Alt = at.Name+"."+suffix, ""
	}
	n, err := c.b.Pick(at, x, axis, index)
	c.wrap(err)
	return n
}

func convertInstanceNorm(c *call) {
	x := c.tensor("input")
	if !c.bool("use_input_stats", true) {
		convertBatchNorm(c)
		return
	}
	if shape := c.shape(x); c.err == nil && len(shape) < 3 {
		c.fail(diag.OperandShapes, "needs batch, channels and spatial axes, its input is %s", ir.ShapeString(shape))
	}
	if c.err != nil {
		return
	}
	channels := x.Type.Shape[1]
	args := c.affine(x, []int{channels})
	for len(args) < 3 {
		args = append(args, c.filled([]string{"", "ones", "zeros"}[len(args)], float32(2-len(args)), []int{channels}))
	}
	a := &norm.GroupNormAttrs{Groups: channels, Eps: float32(c.float("eps", 1e-5))}
	c.result(c.emit("", norm.GroupNorm, a, args...))
}

// convertOwnStatistics is a batch norm over a single sample with its own mean and variance: an instance norm.
func convertOwnStatistics(c *call) {
	x := c.tensor("input")
	if shape := c.shape(x); c.err == nil && (len(shape) < 3 || shape[0] != 1) {
		c.fail(diag.UnsupportedForm, "takes its statistics over the samples of %s", ir.ShapeString(shape)).
			WithHint("call model.eval() before torch.export")
	}
	convertInstanceNorm(c)
}

// convertChannelShuffle takes the channels of the groups in turn.
func convertChannelShuffle(c *call) {
	x, groups := c.tensor("self"), clampInt(c.int("groups", 1))
	shape := c.shape(x)
	if c.err == nil && (len(shape) < 2 || groups < 1 || shape[1]%groups != 0) {
		c.fail(diag.OperandShapes, "cuts the channels of %s into %d groups", ir.ShapeString(shape), groups)
	}
	if c.err != nil {
		return
	}
	cut := slices.Concat(shape[:1], []int{groups, shape[1] / groups}, shape[2:])
	perm := identity(len(cut))
	perm[1], perm[2] = 2, 1
	c.result(c.reshape("", c.turn("move", c.reshape("cut", x, cut), perm), shape))
}

func convertOneHot(c *call) {
	x, n := c.tensor("self"), c.int("num_classes", -1)
	if c.err == nil && (n < 1 || n > maxMade) {
		c.fail(diag.DataDependent, "num_classes is %d; it must be given", n)
	}
	off, on := c.constantOf(number{kind: 'i'}, ir.I64, "off"), c.constantOf(number{kind: 'i', i: 1}, ir.I64, "on")
	c.composed(func(at build.Place) (*ir.Node, error) {
		return c.b.OneHot(at, x, int(n), len(x.Type.Shape), off, on)
	}, x, off, on)
}

// convertRoll shifts axes in a circle; without axes, all elements as one row.
func convertRoll(c *call) {
	x, shifts, dims := c.tensor("self"), c.ints("shifts"), c.ints("dims")
	shape := c.shape(x)
	if len(dims) == 0 {
		x, dims = c.reshape("flat", x, []int{elems(shape)}), []int{0}
	}
	if c.err == nil && len(dims) != len(shifts) {
		c.fail(diag.BadAttribute, "shifts axes %v by %v", dims, shifts)
	}
	for i, d := range dims {
		axis := c.axis(int64(d), len(c.shape(x)))
		if c.err != nil || len(x.Type.Shape) == 0 || x.Type.Shape[axis] == 0 {
			break
		}
		size := x.Type.Shape[axis]
		if cut := ((-shifts[i])%size + size) % size; cut > 0 {
			x = c.concat("", []*ir.Node{c.slice("tail", x, axis, cut, size-cut, 1), c.slice("head", x, axis, 0, cut, 1)},
				int64(axis))
		}
	}
	c.result(c.reshape("shape", x, shape))
}
