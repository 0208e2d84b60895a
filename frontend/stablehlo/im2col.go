// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/sum"
)

// patches is a convolution by weights that are computed: what each window sees becomes a row, and rows are multiplied
// by a matrix. x is N, H, W, C and the weights are O, KH, KW, C/groups; one spatial axis may be missing.
func (c *call) patches(x, w *ir.Node, a *sum.ConvAttrs) *ir.Node {
	if x == nil || w == nil {
		return nil
	}
	rank := len(a.Kernel)
	for i := range rank {
		x = c.padded(x, 1+i, a.Pads[i], a.Pads[rank+i], 0)
	}
	if x == nil {
		return nil
	}
	out := make([]int, rank)
	for i := range out {
		if out[i] = (x.Type.Shape[1+i]-(a.Kernel[i]-1)*a.Dilations[i]-1)/a.Strides[i] + 1; out[i] < 1 {
			c.fail(diag.OperandShapes, "the kernel is larger than the image")
			return nil
		}
	}
	var taps []*ir.Node
	for tap := range elems(a.Kernel) {
		part := x
		for i := rank - 1; i >= 0; i-- {
			at := tap % a.Kernel[i] * a.Dilations[i]
			tap /= a.Kernel[i]
			part = c.slice(part, 1+i, at, at+(out[i]-1)*a.Strides[i]+1, a.Strides[i])
		}
		taps = append(taps, part)
	}
	last := rank + 1
	channels, outs := x.Type.Shape[last]/a.Groups, w.Type.Shape[0]/a.Groups
	var groups []*ir.Node
	for g := range a.Groups {
		parts := make([]*ir.Node, len(taps))
		for i, t := range taps {
			parts[i] = c.slice(t, last, g*channels, (g+1)*channels, 1)
		}
		rows := parts[0]
		if len(parts) > 1 {
			rows = c.emit(move.Concat, &move.ConcatAttrs{Axis: last}, parts...)
		}
		k := channels * len(taps)
		weights := c.transpose(c.shape(c.slice(w, 0, g*outs, (g+1)*outs, 1), []int{outs, k}), []int{1, 0})
		rows = c.shape(rows, []int{x.Type.Shape[0] * elems(out), k})
		y := c.emit(sum.MatMul, nil, rows, weights)
		groups = append(groups, c.shape(y, slices.Concat(x.Type.Shape[:1], out, []int{outs})))
	}
	if len(groups) == 1 {
		return groups[0]
	}
	return c.emit(move.Concat, &move.ConcatAttrs{Axis: last}, groups...)
}
