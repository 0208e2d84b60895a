// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"slices"

	"lathe/frontend/coding"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/whole"
)

// Codes as whole numbers, in float arithmetic: for models that compute with them beyond Quantize and Dequantize pairs.

// codesOf computes the codes of a value that stands for the numbers behind them.
func (c *call) codesOf(v *value) *ir.Node {
	if c.err != nil {
		return nil
	}
	n, err := v.quant.Codes(c.b, c.place(""), v.node, storage(v.dtype))
	c.wrap(diag.OperandShapes, err)
	return n
}

// codesByChannel computes codes of input 0 with a scale a channel, as whole numbers.
func (c *call) codesByChannel(s *coding.Scheme) {
	shape := slices.Repeat([]int{1}, len(c.shape(0))-s.Axis)
	shape[0] = len(s.Scales)
	var zero *ir.Node
	if s.Zero != 0 {
		zero = c.number(float32(s.Zero), "zero")
	}
	c.coded32(s.Ints, codesType(s), c.made("scale", ir.FloatBlob(s.Scales), shape), zero)
}

// coded32 makes the codes round(x/scale) + zero of input 0 the result, within the range of ints.
func (c *call) coded32(ints format.Fixed, dtype int64, scale, zero *ir.Node) {
	n := c.emit("round", curve.Round, nil, c.emit("steps", whole.Div, nil, c.data(0), scale))
	if zero != nil {
		n = c.emit("shifted", pointwise.Add, nil, n, zero)
	}
	n = c.emit("clip", pointwise.Clip, &pointwise.ClipAttrs{Min: float32(ints.Min()), Max: float32(ints.Max())}, n)
	n = c.emit("", whole.Convert, &whole.ConvertAttrs{To: storage(dtype)}, n)
	if c.result(n); c.err == nil {
		c.fr.values[c.n.out[0]].dtype = dtype
	}
}

// decodedAtRun computes the numbers behind codes with one scale.
func (c *call) decodedAtRun(n *ir.Node, s *coding.Scheme) *ir.Node {
	if c.err != nil {
		return nil
	}
	n, err := s.Numbers(c.b, c.place(""), n)
	c.wrap(diag.OperandShapes, err)
	return n
}

// plainScheme says that scale and zero point, inputs 1 and 2, are what a scheme describes: constants, one zero point,
// scales for whole channels.
func (c *call) plainScheme() bool {
	if c.err != nil || c.int("block_size", 0) != 0 || !c.in[1].constant() {
		return c.err != nil
	}
	if !c.has(2) {
		return true
	}
	if c.codes(c.in[2].dtype); c.err != nil || !c.in[2].constant() {
		return c.err != nil
	}
	_, same := c.uniform(2)
	return same
}

// spreadOver is input i, the scales or the zero points of input 0, as real numbers that broadcast to it: one, one for
// each index of the axis, or one for each block of elements along it.
func (c *call) spreadOver(i int, role string) *ir.Node {
	n, x := c.converted(role, c.arg(i), ir.F32), c.shape(0)
	if c.err != nil || n.Type.Elems() == 1 {
		return c.reshape(role, n, []int{})
	}
	axis, s := c.axis(c.int("axis", 1), len(x), 0), n.Type.Shape
	switch block := int(min(max(c.int("block_size", 0), 0), maxSmall)); {
	case c.err != nil:
	case len(s) == 1 && block == 0 && s[0] == x[axis]:
		shape := slices.Repeat([]int{1}, len(x)-axis)
		shape[0] = s[0]
		return c.reshape(role, n, shape)
	case len(s) == len(x) && block > 0 && (x[axis]+block-1)/block == s[axis]:
		cut := slices.Insert(slices.Clone(s), axis+1, 1)
		wide, joined := slices.Clone(cut), slices.Clone(s)
		wide[axis+1], joined[axis] = block, s[axis]*block
		n = c.reshape(role, c.repeat(role, c.reshape(role, n, cut), wide), joined)
		if joined[axis] != x[axis] {
			n = c.part(role, n, axis, 0, x[axis])
		}
		return n
	}
	c.fail(diag.QuantForm, "has %s of shape %s for %s, axis %d and blocks of %d", role, ir.ShapeString(s),
		ir.ShapeString(x), axis, c.int("block_size", 0))
	return nil
}

// decodedBy is DequantizeLinear in float arithmetic.
func (c *call) decodedBy() {
	if c.has(2) {
		c.oneShape(1)
	}
	n := c.converted("real", c.arg(0), ir.F32)
	if c.has(2) {
		n = c.emit("steps", pointwise.Sub, nil, n, c.spreadOver(2, "zero"))
	}
	c.result(c.emit("", pointwise.Mul, nil, n, c.spreadOver(1, "scale")))
}

// codedBy is QuantizeLinear in float arithmetic.
func (c *call) codedBy() {
	dtype := max(c.int("output_dtype", 2), 2)
	if c.has(2) {
		dtype = c.in[2].dtype
	}
	ints := c.codes(dtype).Ints
	var zero *ir.Node
	if c.has(2) {
		c.oneShape(1)
		zero = c.spreadOver(2, "zero")
	}
	c.coded32(ints, dtype, c.spreadOver(1, "scale"), zero)
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
	a, zero := &reduce.Attrs{Axes: axes}, c.number(0, "zero")
	bound := func(reduce, with *ir.Op, role string) *ir.Node {
		n := x
		if len(axes) > 0 {
			n = c.reshape(role, c.emit(role, reduce, a, x), []int{})
		}
		return c.emit(role, with, nil, n, zero)
	}
	least, most := bound(reduce.Min, pointwise.Min, "least"), bound(reduce.Max, pointwise.Max, "most")
	top := c.number(math.MaxUint8, "top")
	scale := c.emit("scale", whole.Div, nil, c.emit("range", pointwise.Sub, nil, most, least), top)
	clip := &pointwise.ClipAttrs{Min: 0, Max: math.MaxUint8}
	start := c.emit("start", pointwise.Sub, nil, zero, c.emit("low", whole.Div, nil, least, scale))
	start = c.emit("point", pointwise.Clip, clip, c.emit("near", curve.Round, nil, start))
	steps := c.emit("round", curve.Round, nil, c.emit("steps", whole.Div, nil, x, scale))
	codes := c.emit("clip", pointwise.Clip, clip, c.emit("shifted", pointwise.Add, nil, steps, start))
	to := &whole.ConvertAttrs{To: ir.U8}
	c.result(c.emit("", whole.Convert, to, codes))
	c.resultAt(1, scale)
	c.resultAt(2, c.emit("zero_point", whole.Convert, to, start))
}
