// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/geometry"
	"lathe/ir/op/sum"
)

// pool3 is a pool of three spatial axes: one over the last two, then one over the first. The greatest, and the mean, of
// a box are those of its layers.
func (c *call) pool3(o *ir.Op, w geometry.Window, attrs func(geometry.Window) any) {
	x, undo := c.aside(c.tensor("self"), 3)
	if c.err != nil {
		return
	}
	s := x.Type.Shape
	plane := geometry.Window{Kernel: w.Kernel[1:], Strides: w.Strides[1:], Dilations: w.Dilations[1:],
		Pads: []int{w.Pads[1], w.Pads[2], w.Pads[4], w.Pads[5]}, CeilMode: w.CeilMode}
	depth := geometry.Window{Kernel: []int{w.Kernel[0], 1}, Strides: []int{w.Strides[0], 1}, CeilMode: w.CeilMode,
		Dilations: []int{w.Dilations[0], 1}, Pads: []int{w.Pads[0], 0, w.Pads[3], 0}}
	y := c.emit("plane", o, attrs(plane), c.reshape("planes", x, []int{s[0], s[1] * s[2], s[3], s[4]}))
	if c.err != nil {
		return
	}
	h, v := y.Type.Shape[2], y.Type.Shape[3]
	y = c.emit("depth", o, attrs(depth), c.reshape("columns", y, []int{s[0], s[1], s[2], h * v}))
	if c.err == nil {
		c.result(undo(c.reshape("box", y, []int{s[0], s[1], y.Type.Shape[2], h, v})))
	}
}

// convertIm2col is the patches of an image as columns, a convolution with ones.
func convertIm2col(c *call) {
	x, undo := c.aside(c.tensor("self"), 2)
	w := c.pool(2)
	w.Dilations = c.spatial("dilation", c.ints("dilation"), 2, 1)
	c.window(&w)
	const most = 1 << 10
	if c.err == nil && w.Kernel[0]*w.Kernel[1] > most {
		c.fail(diag.ModelLimit, "takes patches of %d elements; at most %d are supported", w.Kernel[0]*w.Kernel[1], most)
	}
	if c.err != nil {
		return
	}
	channels, patch := x.Type.Shape[1], w.Kernel[0]*w.Kernel[1]
	ones := make([]float32, channels*patch*patch)
	for i := range channels * patch {
		ones[i*patch+i%patch] = 1
	}
	k, err := c.b.Const(c.place.Name+".patch", ir.FloatBlob(ones), []int{channels * patch, 1, w.Kernel[0], w.Kernel[1]})
	c.wrap(err)
	y := c.emit("patches", sum.Conv, &sum.ConvAttrs{Window: w, Groups: channels}, x, k)
	if c.err == nil {
		c.result(undo(c.reshape("columns", y, []int{x.Type.Shape[0], channels * patch,
			y.Type.Shape[2] * y.Type.Shape[3]})))
	}
}
