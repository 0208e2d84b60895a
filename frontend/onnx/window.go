// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/geometry"
	"lathe/ir/op/reduce"
	"lathe/ir/op/sum"
	"lathe/ir/op/whole"
	"lathe/ir/op/window"
)

// spatial is the number of spatial axes of input 0, 1 or 2, or 3 where volume is set; it fails for anything else.
func (c *call) spatial() int {
	rank := len(c.shape(0))
	switch {
	case rank > 5 || rank == 5 && !c.volume:
		c.fail(diag.SpatialAxes, "has %d spatial axes (%s); one to three are supported", rank-2, ir.ShapeString(c.shape(0)))
	case rank < 3:
		c.fail(diag.OperandShapes, "needs batch, channels and spatial axes, its input is %s", ir.ShapeString(c.shape(0)))
	}
	return rank - 2
}

// pool3 is a pool of three spatial axes: one over the last two, then one over the first. The greatest, and the mean, of
// a box are those of its layers.
func (c *call) pool3(o *ir.Op, attrs func(geometry.Window) any) {
	c.volume = true
	w, s := c.window(nil), c.shape(0)
	c.fullWindows(&w)
	if c.err != nil {
		return
	}
	pick := func(list []int, at ...int) (out []int) {
		for _, i := range at {
			out = append(out, list[i])
		}
		return out
	}
	plane := geometry.Window{Kernel: w.Kernel[1:], Strides: w.Strides[1:], Dilations: w.Dilations[1:],
		Pads: pick(w.Pads, 1, 2, 4, 5), CeilMode: w.CeilMode}
	depth := geometry.Window{Kernel: []int{w.Kernel[0], 1}, Strides: []int{w.Strides[0], 1}, CeilMode: w.CeilMode,
		Dilations: []int{w.Dilations[0], 1}, Pads: []int{w.Pads[0], 0, w.Pads[3], 0}}
	x := c.reshape("planes", c.data(0), []int{s[0], s[1] * s[2], s[3], s[4]})
	x = c.emit("plane", o, attrs(plane), x)
	if c.err != nil {
		return
	}
	h, v := x.Type.Shape[2], x.Type.Shape[3]
	x = c.emit("depth", o, attrs(depth), c.reshape("columns", x, []int{s[0], s[1], s[2], h * v}))
	if c.err == nil {
		c.result(c.reshape("", x, []int{s[0], s[1], x.Type.Shape[2], h, v}))
	}
}

// window reads the attributes that Conv and the pools share. Kernel comes from kernel_shape, or from the weights.
func (c *call) window(kernel []int) geometry.Window {
	rank := c.spatial()
	w := geometry.Window{Kernel: c.ints("kernel_shape"), Strides: c.ints("strides"), Dilations: c.ints("dilations")}
	if !c.hasAttr("kernel_shape") {
		w.Kernel = kernel
	}
	ones := func(name string, v []int) []int {
		if c.err == nil && !c.hasAttr(name) {
			for range rank {
				v = append(v, 1)
			}
		}
		return v
	}
	w.Strides, w.Dilations = ones("strides", w.Strides), ones("dilations", w.Dilations)
	w.CeilMode = c.int("ceil_mode", 0) != 0
	for _, list := range [][]int{w.Kernel, w.Strides, w.Dilations} {
		if c.err == nil && len(list) != rank {
			c.fail(diag.BadAttribute, "kernel_shape %v, strides %v and dilations %v do not fit %d spatial axes", w.Kernel,
				w.Strides, w.Dilations, rank)
		}
		for _, v := range list {
			if v < 1 {
				c.fail(diag.BadAttribute, "kernel_shape %v, strides %v and dilations %v must be positive", w.Kernel, w.Strides,
					w.Dilations)
			}
		}
	}
	if c.err == nil {
		w.Pads = c.pads(&w)
	}
	return w
}

// pads reads pads or computes them from auto_pad. SAME keeps ceil(in/stride) windows; the odd element of padding stands
// at the end (UPPER) or at the beginning (LOWER). ONNX operator Conv.
func (c *call) pads(w *geometry.Window) []int {
	rank := len(w.Kernel)
	auto := c.string("auto_pad", "NOTSET")
	pads := make([]int, 2*rank)
	switch auto {
	case "NOTSET", "":
		if !c.hasAttr("pads") {
			return pads
		}
		pads = c.ints("pads")
		if c.err == nil && len(pads) != 2*rank {
			c.fail(diag.BadAttribute, "pads %v do not fit %d spatial axes", pads, rank)
		}
		for _, p := range pads {
			if p < 0 {
				c.fail(diag.UnsupportedForm, "pads %v: negative pads, which crop, are not supported", pads)
			}
		}
	case "VALID":
	case "SAME_UPPER", "SAME_LOWER":
		for i, in := range c.shape(0)[2:] {
			windows := (in + w.Strides[i] - 1) / w.Strides[i]
			total := max((windows-1)*w.Strides[i]+(w.Kernel[i]-1)*w.Dilations[i]+1-in, 0)
			if total > maxAttr {
				c.fail(diag.ModelLimit, "auto_pad asks for %d elements of padding, the limit is %d", total, maxAttr)
			}
			pads[i], pads[i+rank] = total/2, total-total/2
			if auto == "SAME_LOWER" {
				pads[i], pads[i+rank] = pads[i+rank], pads[i]
			}
		}
	default:
		c.fail(diag.BadAttribute, "auto_pad is %s; it may be NOTSET, SAME_UPPER, SAME_LOWER or VALID", quote(auto))
	}
	return pads
}

// convertConvTranspose: the shape of the result may be given instead of the pads.
func convertConvTranspose(c *call) {
	c.volume = true
	rank := c.spatial()
	var kernel []int
	if w := c.shape(1); len(w) > 2 {
		kernel = w[2:]
	}
	if c.err != nil {
		return
	}
	w := c.window(kernel)
	a := build.ConvTransposeAttrs{Strides: w.Strides, Dilations: w.Dilations, Groups: int(c.int("group", 1)),
		Pads: w.Pads, OutputPadding: make([]int, rank)}
	if c.hasAttr("output_padding") {
		a.OutputPadding = c.ints("output_padding")
	}
	if a.Groups < 1 || a.Groups > maxAttr || c.err == nil && len(a.OutputPadding) != rank {
		c.fail(diag.BadAttribute, "group is %d, output_padding %v for %d spatial axes", a.Groups, a.OutputPadding, rank)
	}
	x, weights := c.data(0), c.weight(1, "the weights")
	if c.err != nil {
		return
	}
	c.transposedPads(&a, kernel)
	var bias *ir.Node
	if c.has(2) {
		bias = c.weight(2, "the biases")
	}
	if c.err != nil {
		return
	}
	n, err := c.b.ConvTranspose(c.place(""), x, weights, bias, a)
	c.wrap(diag.OperandShapes, err)
	c.result(n)
}

// transposedPads computes the pads from output_shape, or from an auto_pad for which the result has in*stride elements.
func (c *call) transposedPads(a *build.ConvTransposeAttrs, kernel []int) {
	want := c.ints("output_shape")
	auto := c.string("auto_pad", "NOTSET")
	same := auto == "SAME_UPPER" || auto == "SAME_LOWER"
	if !same && !c.hasAttr("output_shape") {
		return
	}
	spatial := c.shape(0)[2:]
	if want != nil && len(want) != len(spatial) {
		c.fail(diag.BadAttribute, "output_shape %v does not fit %d spatial axes", want, len(spatial))
		return
	}
	for i, in := range spatial {
		out := in * a.Strides[i]
		if want != nil {
			out = want[i]
		}
		total := (in-1)*a.Strides[i] + a.OutputPadding[i] + (kernel[i]-1)*a.Dilations[i] + 1 - out
		if total < 0 { // more elements than there are: behind the last
			a.OutputPadding[i] -= total
			total = 0
		}
		begin := total / 2
		if auto != "SAME_UPPER" {
			begin = total - begin
		}
		a.Pads[i], a.Pads[i+len(spatial)] = begin, total-begin
	}
}

func convertConv(c *call) {
	c.volume = true
	c.spatial()
	var kernel []int
	if w := c.shape(1); len(w) > 2 {
		kernel = w[2:]
	}
	a := &sum.ConvAttrs{Window: c.window(kernel)}
	group := c.int("group", 1)
	if group < 1 || group > maxAttr {
		c.fail(diag.BadAttribute, "group is %d", group)
	}
	a.Groups = int(group)
	x, w := c.data(0), c.weight(1, "the weights")
	if c.err == nil && len(a.Kernel) == 3 {
		var bias *ir.Node
		if c.has(2) {
			bias = c.weight(2, "the biases")
		}
		if c.err != nil {
			return
		}
		n, err := c.b.Conv(c.place(""), x, w, bias, a)
		c.wrap(diag.OperandShapes, err)
		c.result(n)
		return
	}
	args := []*ir.Node{x, w}
	if c.has(2) {
		args = append(args, c.weight(2, "the biases"))
	}
	c.result(c.emit("", sum.Conv, a, args...))
}

func convertBatchNorm(c *call) {
	if c.int("training_mode", 0) != 0 {
		c.fail(diag.UnsupportedForm, "is in training mode").WithHint("export the model after model.eval()")
	}
	if c.int("spatial", 1) != 1 {
		c.fail(diag.UnsupportedForm, "spatial=0, statistics for each element, is not supported")
	}
	if len(c.shape(0)) < 2 {
		c.fail(diag.OperandShapes, "needs batch and channels, its input is %s", ir.ShapeString(c.shape(0)))
	}
	args := []*ir.Node{c.data(0)}
	for i, what := range [...]string{"the scales", "the biases", "the means", "the variances"} {
		args = append(args, c.weight(i+1, what))
	}
	c.result(c.emit("", sum.BatchNorm, &sum.BatchNormAttrs{Epsilon: c.float("epsilon", 1e-5), Axis: 1}, args...))
}

// fullWindows refuses windows that lie in the padding alone: they have no maximum and no mean.
func (c *call) fullWindows(w *geometry.Window) {
	for i, k := range w.Kernel {
		if c.err != nil {
			return
		}
		in, s, d := c.shape(0)[2+i], w.Strides[i], w.Dilations[i]
		before, span := w.Pads[i], in+w.Pads[i]+w.Pads[i+len(w.Kernel)]-(k-1)*d-1
		// The first window reaches the image with element ceil(before/d), at a position below d.
		if before > 0 && ((before+d-1)/d >= k || d > in) {
			c.fail(diag.UnsupportedForm, "pads %v: a window lies in the padding alone", w.Pads)
			return
		}
		last := span / s * s // the last window that ceil_mode does not add; it holds its own start
		if last-before >= in {
			c.fail(diag.UnsupportedForm, "pads %v: a window lies in the padding alone", w.Pads)
		}
	}
}

// convertMaxPool: bytes are compared as real numbers.
func convertMaxPool(c *call) {
	if len(c.shape(0)) == 5 {
		c.pool3(window.MaxPool, func(w geometry.Window) any { return &w })
		return
	}
	w := c.window(nil)
	c.fullWindows(&w)
	x := c.arg(0)
	if c.err != nil || x.Type.IsFloat() {
		c.result(c.emit("", window.MaxPool, &w, x))
		return
	}
	y := c.emit("pool", window.MaxPool, &w, c.converted("real", x, ir.F32))
	c.result(c.emit("", whole.Convert, &whole.ConvertAttrs{To: ir.StoredAs(x.Type.Format)}, y))
}

func convertAvgPool(c *call) {
	include := c.int("count_include_pad", 0) != 0
	if len(c.shape(0)) == 5 {
		c.pool3(window.AvgPool, func(w geometry.Window) any { return &window.AvgAttrs{Window: w, IncludePad: include} })
		return
	}
	a := &window.AvgAttrs{Window: c.window(nil), IncludePad: include}
	c.fullWindows(&a.Window)
	c.result(c.emit("", window.AvgPool, a, c.data(0)))
}

// overAll reduces all spatial axes where they are more than two.
func (c *call) overAll(o *ir.Op) bool {
	rank := len(c.shape(0))
	if rank <= 4 {
		return false
	}
	a := &reduce.Attrs{}
	for i := 2; i < rank; i++ {
		a.Axes = append(a.Axes, i)
	}
	c.result(c.emit("", o, a, c.data(0)))
	return true
}

func convertGlobalAvg(c *call) {
	if c.overAll(reduce.Mean) {
		return
	}
	c.spatial()
	c.result(c.emit("", window.GlobalAvgPool, &window.GlobalAttrs{}, c.data(0)))
}

// convertGlobalMax is a maximum pool whose window is the image: disjoint windows, which need no memory of rows.
func convertGlobalMax(c *call) {
	if c.overAll(reduce.Max) {
		return
	}
	c.spatial()
	w := geometry.Window{Kernel: append([]int(nil), c.shape(0)[min(2, len(c.shape(0))):]...)}
	w.Pads = make([]int, 2*len(w.Kernel))
	for range w.Kernel {
		w.Dilations = append(w.Dilations, 1)
	}
	w.Strides = append(w.Strides, w.Kernel...)
	c.result(c.emit("", window.MaxPool, &w, c.data(0)))
}
