// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"lathe/frontend/coding"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/norm"
)

// operand reads a value with its scale and zero point, inputs i to i+2, as real numbers.
func (c *call) operand(i int, axis int64) (*value, *coding.Scheme) {
	if !c.has(i) {
		c.fail(diag.OperandCount, "input %d is missing", i)
		return &value{dtype: 1}, &coding.Scheme{Scales: []float32{1}, Axis: -1}
	}
	s := c.linearScheme(i+1, c.shape(i), axis, c.in[i].dtype)
	return c.decoded(i, s), s
}

// floatThenCode runs a float conversion on the operands in, and codes its result by scale and zero point, inputs at and
// at+1.
func (c *call) floatThenCode(convert func(*call), at int, dtype int64, in ...*value) {
	s := c.linearScheme(at, nil, 0, dtype)
	if c.err != nil {
		return
	}
	c.in = in
	if convert(c); c.err == nil {
		c.quantized(c.fr.values[c.n.out[0]].node, s, codesType(s), "quant")
	}
}

// productBias is a bias of 32-bit codes in steps of the products of input and weights.
func (c *call) productBias(i int, x, w *coding.Scheme) *value {
	s := &coding.Scheme{Ints: c.codes(6).Ints, Axis: w.Axis}
	if s.Axis >= 0 {
		s.Axis = 0
	}
	for _, v := range w.Scales {
		s.Scales = append(s.Scales, x.Scales[0]*v)
	}
	return c.decoded(i, s)
}

func convertQLinearConv(c *call) {
	x, xs := c.operand(0, 1)
	w, ws := c.operand(3, 0)
	in := []*value{x, w}
	if c.has(8) && c.err == nil {
		in = append(in, c.productBias(8, xs, ws))
	}
	c.floatThenCode(convertConv, 6, c.in[0].dtype, in...)
}

func convertQLinearMatMul(c *call) {
	a, _ := c.operand(0, 0)
	b, _ := c.operand(3, -1)
	c.floatThenCode(convertMatMul, 6, c.in[0].dtype, a, b)
}

// convertQGemm: alpha*A*B + C, float where no scale of the result is given.
func convertQGemm(c *call) {
	if c.float("alpha", 1) != 1 && c.has(6) {
		c.fail(diag.QuantForm, "has alpha %g, which changes the scale of C", c.float("alpha", 1))
	}
	axis := int64(1)
	if c.int("transB", 0) != 0 {
		axis = 0
	}
	a, as := c.operand(0, 0)
	b, bs := c.operand(3, axis)
	in := []*value{a, b}
	if c.has(6) && c.err == nil {
		in = append(in, c.productBias(6, as, bs))
	}
	if c.has(7) {
		c.floatThenCode(convertGemm, 7, c.in[0].dtype, in...)
		return
	}
	if c.err == nil {
		c.in = in
		convertGemm(c)
	}
}

func convertQLinearBinary(o *ir.Op) func(*call) {
	return func(c *call) {
		a, _ := c.operand(0, 0)
		b, _ := c.operand(3, 0)
		c.floatThenCode(convertBinary(o, nil), 6, c.in[0].dtype, a, b)
	}
}

func convertQLinearUnary(convert func(*call)) func(*call) {
	return func(c *call) {
		x, _ := c.operand(0, 0)
		c.floatThenCode(convert, 3, c.in[0].dtype, x)
	}
}

// convertQLinearSoftmax has an attribute for the operator set whose Softmax it is.
func convertQLinearSoftmax(c *call) {
	c.opset = int(c.int("opset", int64(c.opset)))
	convertQLinearUnary(convertSoftmax(norm.Softmax))(c)
}

// convertQLinearConcat: scale and zero point of the result, then parts with theirs.
func convertQLinearConcat(c *call) {
	if len(c.in)%3 != 2 {
		c.fail(diag.OperandCount, "has %d inputs; two for the result and three for each part are needed", len(c.in))
		return
	}
	var parts []*value
	for i := 2; i < len(c.in); i += 3 {
		x, _ := c.operand(i, 0)
		parts = append(parts, x)
	}
	c.floatThenCode(convertConcat, 0, parts[0].dtype, parts...)
}

// convertQLinearPool is a pool of images with channels first.
func convertQLinearPool(convert func(*call)) func(*call) {
	return func(c *call) {
		if c.int("channels_last", 0) != 0 {
			c.fail(diag.QuantForm, "has channels_last = 1; images with channels first are supported")
		}
		convertQLinearUnary(convert)(c)
	}
}
