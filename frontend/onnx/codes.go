// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"

	"lathe/frontend/source"
	"lathe/ir"
	"lathe/ir/op"
)

// Codes as whole numbers, in float arithmetic: for models that compute with them beyond Quantize and Dequantize pairs.

// codesOf computes the codes of a value that stands for the numbers behind them: round(x/scale) + zero.
func (c *call) codesOf(v *value) *ir.Node {
	s, n := v.quant, v.node
	if c.err != nil {
		return nil
	}
	if s.scales[0] != 1 {
		n = c.emit("steps", op.Div, nil, n, c.number(s.scales[0], "scale"))
	}
	n = c.emit("round", op.Round, nil, n)
	if s.zero != 0 {
		n = c.emit("shifted", op.Add, nil, n, c.number(float32(s.zero), "zero"))
	}
	return c.emit("codes", op.Convert, &op.ConvertAttrs{To: storage(v.dtype)}, n)
}

// perChannel is a constant of the scales of s, for values of a rank.
func (c *call) perChannel(s *scheme, rank int) *ir.Node {
	if s.axis < 0 {
		return c.number(s.scales[0], "scale")
	}
	shape := make([]int, rank-s.axis)
	for i := range shape {
		shape[i] = 1
	}
	shape[0] = len(s.scales)
	return c.made("scale", ir.FloatBlob(s.scales), shape)
}

// codesByChannel computes codes of input 0 with a scale a channel, as whole numbers.
func (c *call) codesByChannel(s *scheme) {
	n := c.emit("steps", op.Div, nil, c.data(0), c.perChannel(s, len(c.shape(0))))
	n = c.emit("round", op.Round, nil, n)
	if s.zero != 0 {
		n = c.emit("shifted", op.Add, nil, n, c.number(float32(s.zero), "zero"))
	}
	lo, hi := s.ints.Min(), s.ints.Max()
	n = c.emit("clip", op.Clip, &op.ClipAttrs{Min: float32(lo), Max: float32(hi)}, n)
	n = c.emit("", op.Convert, &op.ConvertAttrs{To: storage(s.dtype())}, n)
	if c.result(n); c.err == nil {
		c.fr.values[c.n.out[0]].dtype = s.dtype()
	}
}

// decodedAtRun computes (code - zero)*scale.
func (c *call) decodedAtRun(n *ir.Node, s *scheme) *ir.Node {
	n = c.converted("real", n, ir.F32)
	if s.zero != 0 {
		n = c.emit("steps", op.Sub, nil, n, c.number(float32(s.zero), "zero"))
	}
	if c.err != nil {
		return nil
	}
	return c.emit("", op.Mul, nil, n, c.perChannel(s, len(n.Type.Shape)))
}

// decodedBy is DequantizeLinear with a scale or a zero point that is computed, one for all elements.
func (c *call) decodedBy() {
	n := c.converted("real", c.arg(0), ir.F32)
	for i := 1; i < len(c.in); i++ {
		if c.in[i] != nil && elems(c.shape(i)) != 1 {
			c.fail(source.CodeQuantForm, "has scales of shape %s that are computed; one for all elements is supported",
				ir.ShapeString(c.shape(i)))
		}
	}
	if c.has(2) {
		n = c.emit("steps", op.Sub, nil, n, c.converted("zero", c.arg(2), ir.F32))
	}
	c.result(c.emit("", op.Mul, nil, n, c.data(1)))
}

// convertDynamic is DynamicQuantizeLinear: codes of 8 bits without sign, whose scale and zero point come from the least
// and the greatest value, 0 included.
func convertDynamic(c *call) {
	x := c.data(0)
	if c.err != nil {
		return
	}
	axes := make([]int, len(x.Type.Shape))
	for i := range axes {
		axes[i] = i
	}
	a, zero := &op.ReduceAttrs{Axes: axes}, c.number(0, "zero")
	bound := func(reduce, with *ir.Op, role string) *ir.Node {
		n := x
		if len(axes) > 0 {
			n = c.reshape(role, c.emit(role, reduce, a, x), []int{})
		}
		return c.emit(role, with, nil, n, zero)
	}
	least, most := bound(op.ReduceMin, op.Min, "least"), bound(op.ReduceMax, op.Max, "most")
	top := c.number(math.MaxUint8, "top")
	scale := c.emit("scale", op.Div, nil, c.emit("range", op.Sub, nil, most, least), top)
	clip := &op.ClipAttrs{Min: 0, Max: math.MaxUint8}
	start := c.emit("start", op.Sub, nil, zero, c.emit("low", op.Div, nil, least, scale))
	start = c.emit("point", op.Clip, clip, c.emit("near", op.Round, nil, start))
	steps := c.emit("round", op.Round, nil, c.emit("steps", op.Div, nil, x, scale))
	codes := c.emit("clip", op.Clip, clip, c.emit("shifted", op.Add, nil, steps, start))
	to := &op.ConvertAttrs{To: ir.U8}
	c.result(c.emit("", op.Convert, to, codes))
	c.resultAt(1, scale)
	c.resultAt(2, c.emit("zero_point", op.Convert, to, start))
}
