// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/geometry"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
)

// volume is a convolution over three spatial axes: a sum of convolutions over the last two, one for each place of the
// kernel along the first, in which the steps of that axis are samples.
func (c *call) volume(x, w, b *ir.Node, win geometry.Window, groups int) *ir.Node {
	if c.err != nil {
		return nil
	}
	const spatial = 3
	if len(x.Type.Shape) != spatial+2 || len(w.Type.Shape) != spatial+2 {
		c.fail(diag.OperandShapes, "needs batch, channels and three spatial axes, its input is %s",
			ir.ShapeString(x.Type.Shape))
		return nil
	}
	if before, after := win.Pads[0], win.Pads[spatial]; before+after > 0 {
		x = c.emit("padded", move.Pad, &move.PadAttrs{Axis: 2, Before: before, After: after}, x)
	}
	shape := c.shape(x)
	if c.err != nil {
		return nil
	}
	reach, stride := (win.Kernel[0]-1)*win.Dilations[0]+1, win.Strides[0]
	depth := (shape[2]-reach)/stride + 1
	if shape[2] < reach {
		c.fail(diag.OperandShapes, "a kernel of %d does not fit %d slices", reach, shape[2])
		return nil
	}
	flat := &sum.ConvAttrs{Groups: groups, Window: geometry.Window{Kernel: win.Kernel[1:], Strides: win.Strides[1:],
		Dilations: win.Dilations[1:], Pads: slices.Concat(win.Pads[1:spatial], win.Pads[spatial+1:])}}
	var y *ir.Node
	for k := range win.Kernel[0] {
		part := c.slice("slices", x, 2, k*win.Dilations[0], depth, stride)
		part = c.turn("steps", part, []int{0, 2, 1, 3, 4})
		part = c.reshape("images", part, []int{shape[0] * depth, shape[1], shape[3], shape[4]})
		kernel := c.reshape("kernel", c.slice("kernel_slice", w, 2, k, 1, 1), slices.Delete(slices.Clone(w.Type.Shape), 2, 3))
		a := *flat
		args := []*ir.Node{part, kernel}
		if k == 0 && b != nil {
			args = append(args, b)
		}
		part = c.emit("conv", sum.Conv, &a, args...)
		if k > 0 {
			part = c.emit("sum", pointwise.Add, nil, y, part)
		}
		y = part
	}
	if c.err != nil {
		return nil
	}
	out := y.Type.Shape
	y = c.reshape("volumes", y, []int{shape[0], depth, out[1], out[2], out[3]})
	return c.turn("", y, []int{0, 2, 1, 3, 4})
}
