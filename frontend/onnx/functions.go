// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"

	"lathe/frontend/source"
	"lathe/ir"
	"lathe/ir/op"
)

// functionTable lists the functions of one argument.
func functionTable() []opSpec {
	return []opSpec{
		{"Exp", "", 1, 1, foldUnary(math.Exp), convertUnary(op.Exp)},
		{"Log", "", 1, 1, foldUnary(math.Log), convertUnary(op.Log)},
		{"Sqrt", "", 1, 1, foldUnary(math.Sqrt), convertUnary(op.Sqrt)},
		{"Reciprocal", "", 1, 1, foldUnary(func(x float64) float64 { return 1 / x }), convertReciprocal},
		{"Pow", "", 2, 2, foldBinary(math.Pow, intPow), convertPow},
		{"Div", "", 2, 2, foldBinary(func(a, b float64) float64 { return a / b }, intDiv), convertDiv},
		{"Neg", "", 1, 1, foldUnary(func(x float64) float64 { return -x }), convertNeg},
		{"Abs", "", 1, 1, foldUnary(math.Abs), convertUnary(op.Abs)},
		{"Sign", "", 1, 1, nil, convertUnary(op.Sign)},
		{"Floor", "", 1, 1, foldUnary(math.Floor), convertUnary(op.Floor)},
		{"Ceil", "", 1, 1, foldUnary(math.Ceil), convertUnary(op.Ceil)},
		{"Round", "", 1, 1, foldUnary(math.RoundToEven), convertUnary(op.Round)},
		{"Erf", "", 1, 1, foldUnary(math.Erf), convertUnary(op.Erf)},
		{"Gelu", "approximate", 1, 1, nil, convertGelu},
		{"Softplus", "", 1, 1, nil, convertUnary(op.Softplus)},
		{"Softsign", "", 1, 1, nil, convertUnary(op.Softsign)},
		{"Mish", "", 1, 1, nil, convertUnary(op.Mish)},
		{"Swish", "alpha", 1, 1, nil, convertAlpha(op.Silu, 1)},
		{"Elu", "alpha", 1, 1, nil, convertAlpha(op.Elu, 1)},
		{"Celu", "alpha", 1, 1, nil, convertAlpha(op.Celu, 1)},
		{"Selu", "alpha gamma", 1, 1, nil, convertSelu},
		{"HardSigmoid", "alpha beta", 1, 1, nil, convertHardSigmoid},
		{"HardSwish", "", 1, 1, nil, convertUnary(op.HardSwish)},
		{"PRelu", "", 2, 2, nil, convertPRelu},
		{"ThresholdedRelu", "alpha", 1, 1, nil, convertAlpha(op.ThresholdedRelu, 1)},
	}
}

// foldUnary evaluates a function of real constants.
func foldUnary(f func(float64) float64) func(*call, []*konst) *konst {
	return func(c *call, k []*konst) *konst {
		if !k[0].real() {
			c.fail(source.CodeDType, "an operand of type %s", k[0].typ)
			return nil
		}
		if !c.room(k[0].shape) {
			return nil
		}
		out := newKonst(k[0].typ, k[0].shape)
		for i, x := range k[0].floats {
			out.floats[i] = roundTo(out.typ, f(x))
		}
		return out
	}
}

// intPow is a power of integers; negative exponents give 0 but for bases of 1 and -1.
func intPow(_ *call, a, b int64) int64 {
	y := int64(1)
	if b < 0 {
		if a != 1 && a != -1 {
			return 0
		}
		b = -b
	}
	for ; b > 0; b >>= 1 {
		if b&1 == 1 {
			y *= a
		}
		a *= a
	}
	return y
}

// convertAlpha converts a function with the parameter alpha, which is def by default.
func convertAlpha(o *ir.Op, def float32) func(*call) {
	return func(c *call) {
		a := &op.AlphaAttrs{Alpha: c.real("alpha", def)}
		if o == op.Celu && a.Alpha == 0 {
			c.fail(source.CodeAttr, "attribute alpha is 0, by which it divides")
		}
		c.result(c.emit("", o, a, c.data(0)))
	}
}

// real is a finite attribute.
func (c *call) real(name string, def float32) float32 {
	v := c.float(name, def)
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		c.fail(source.CodeAttr, "attribute %s is %g", name, v)
	}
	return v
}

func convertSelu(c *call) {
	a := &op.SeluAttrs{Alpha: c.real("alpha", 1.67326319217681884765625),
		Gamma: c.real("gamma", 1.05070102214813232421875)}
	c.result(c.emit("", op.Selu, a, c.data(0)))
}

func convertHardSigmoid(c *call) {
	a := &op.HardSigmoidAttrs{Alpha: c.real("alpha", 0.2), Beta: c.real("beta", 0.5)}
	c.result(c.emit("", op.HardSigmoid, a, c.data(0)))
}

func convertGelu(c *call) {
	switch form := c.string("approximate", "none"); form {
	case "none":
		c.result(c.emit("", op.Gelu, nil, c.data(0)))
	case "tanh":
		c.result(c.emit("", op.GeluTanh, nil, c.data(0)))
	default:
		c.fail(source.CodeAttr, "approximate is %s; it may be none or tanh", quote(form))
	}
}

// convertNeg is a product with -1, which becomes part of the layer before it.
func convertNeg(c *call) {
	x := c.data(0)
	c.result(c.emit("", op.Mul, nil, x, c.number(-1, "minus")))
}

func convertReciprocal(c *call) {
	c.result(c.emit("", op.Reciprocal, &op.ReciprocalAttrs{Numerator: 1}, c.data(0)))
}

// uniform is the number that all elements of constant input i are; false if they differ or the input is no constant.
func (c *call) uniform(i int) (float32, bool) {
	if c.err != nil || !c.in[i].constant() {
		return 0, false
	}
	k, ok, err := c.constantOf(c.in[i])
	if err != nil || !ok || k.len() == 0 {
		return 0, false
	}
	if !k.real() {
		k = k.cast(ir.F32)
	}
	for _, v := range k.floats {
		if v != k.floats[0] {
			return 0, false
		}
	}
	return float32(k.floats[0]), true
}

// keepsShape says that constant input i does not broadcast the other input to another shape.
func (c *call) keepsShape(i int) bool {
	x, k := c.shape(1-i), c.shape(i)
	shape, err := broadcastShape(x, k)
	return err == nil && elems(shape) == elems(x) && len(shape) == len(x)
}

// convertPow takes one exponent for all elements.
func convertPow(c *call) {
	p, ok := c.uniform(1)
	if !ok || !c.keepsShape(1) {
		e := c.fail(source.CodeForm, "the exponent (%s) must be one constant number", quote(c.in[1].name))
		_ = e.WithHint("a power of a constant is Exp of a product")
		return
	}
	x := c.data(0)
	if p == 1 {
		c.result(c.emit("", op.Identity, nil, x))
		return
	}
	c.result(c.emit("", op.Pow, &op.PowAttrs{Exponent: p}, x))
}

// convertDiv divides by a constant, which is a product with its reciprocal, or a constant by a value.
func convertDiv(c *call) {
	switch {
	case c.in[1].constant():
		k := c.small(1, "the divisor")
		if k == nil {
			return
		}
		inverse := newKonst(ir.F32, k.shape)
		for i, v := range k.cast(ir.F32).floats {
			if v == 0 {
				c.fail(source.CodeFold, "divides by zero")
				return
			}
			inverse.floats[i] = 1 / v
		}
		x := c.data(0)
		c.result(c.emit("", op.Mul, nil, x, c.known(inverse, "inverse")))
	case c.in[0].constant():
		if v, ok := c.uniform(0); ok && c.keepsShape(0) {
			c.result(c.emit("", op.Reciprocal, &op.ReciprocalAttrs{Numerator: v}, c.data(1)))
			return
		}
		n := c.emit("reciprocal", op.Reciprocal, &op.ReciprocalAttrs{Numerator: 1}, c.data(1))
		c.result(c.emit("", op.Mul, nil, n, c.data(0)))
	default:
		c.fail(source.CodeDynamic, "divides one computed value by another; one of them must be constant")
	}
}

// convertPRelu takes a constant slope, one number or one a channel.
func convertPRelu(c *call) {
	if v, ok := c.uniform(1); ok {
		c.result(c.emit("", op.LeakyRelu, &op.LeakyAttrs{Alpha: v}, c.data(0)))
		return
	}
	shape, own := c.shape(0), c.shape(1)
	axis := min(1, len(shape)-1)
	for i, d := range own { // aligned at the end
		if at := len(shape) - len(own) + i; d != 1 && (at != axis || d != shape[at]) {
			c.fail(source.CodeForm, "slopes of shape %s for %s; one number or one a channel is supported", ir.ShapeString(own),
				ir.ShapeString(shape))
			return
		}
	}
	k := c.small(1, "the slopes")
	if k == nil {
		return
	}
	x := c.data(0)
	c.result(c.emit("", op.PRelu, &op.ScaleAttrs{Axis: axis}, x, c.known(k.reshaped([]int{shape[axis]}), "slope")))
}
