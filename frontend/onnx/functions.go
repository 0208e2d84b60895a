// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"slices"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
)

// functionTable lists the functions of one argument.
func functionTable() []opSpec {
	return []opSpec{
		{"Exp", "", 1, 1, convertUnary(curve.Exp), false},
		{"Log", "", 1, 1, convertUnary(curve.Log), false},
		{"Sqrt", "", 1, 1, convertUnary(curve.Sqrt), false},
		{"Reciprocal", "", 1, 1, convertReciprocal, false},
		{"Neg", "", 1, 1, convertNeg, false},
		{"Abs", "", 1, 1, convertAny(curve.Abs), false},
		{"Sign", "", 1, 1, convertAny(curve.Sign), false},
		{"Floor", "", 1, 1, convertUnary(curve.Floor), false},
		{"Ceil", "", 1, 1, convertUnary(curve.Ceil), false},
		{"Round", "", 1, 1, convertUnary(curve.Round), false},
		{"Erf", "", 1, 1, convertUnary(curve.Erf), false},
		{"Gelu", "approximate", 1, 1, convertGelu, false},
		{"Softplus", "", 1, 1, convertUnary(curve.Softplus), false},
		{"Softsign", "", 1, 1, convertUnary(curve.Softsign), false},
		{"Mish", "", 1, 1, convertUnary(curve.Mish), false},
		{"Swish", "alpha", 1, 1, convertAlpha(curve.Silu, 1), false},
		{"Elu", "alpha", 1, 1, convertAlpha(curve.Elu, 1), false},
		{"Celu", "alpha", 1, 1, convertAlpha(curve.Celu, 1), false},
		{"Selu", "alpha gamma", 1, 1, convertSelu, false},
		{"HardSigmoid", "alpha beta", 1, 1, convertHardSigmoid, false},
		{"HardSwish", "", 1, 1, convertUnary(curve.HardSwish), false},
		{"PRelu", "", 2, 2, convertPRelu, false},
		{"ThresholdedRelu", "alpha", 1, 1, convertAlpha(curve.ThresholdedRelu, 1), false},
		{"Shrink", "bias lambd", 1, 1, convertShrink, false},
		{"Sin", "", 1, 1, convertUnary(curve.Sin), false},
		{"Cos", "", 1, 1, convertUnary(curve.Cos), false},
		{"Tan", "", 1, 1, convertUnary(curve.Tan), false},
		{"Asin", "", 1, 1, convertUnary(curve.Asin), false},
		{"Acos", "", 1, 1, convertUnary(curve.Acos), false},
		{"Atan", "", 1, 1, convertUnary(curve.Atan), false},
		{"Sinh", "", 1, 1, convertUnary(curve.Sinh), false},
		{"Cosh", "", 1, 1, convertUnary(curve.Cosh), false},
		{"Asinh", "", 1, 1, convertUnary(curve.Asinh), false},
		{"Acosh", "", 1, 1, convertUnary(curve.Acosh), false},
		{"Atanh", "", 1, 1, convertUnary(curve.Atanh), false},
		{"IsNaN", "", 1, 1, convertUnary(whole.IsNaN), false},
		{"IsInf", "detect_negative detect_positive", 1, 1, convertIsInf, false},
	}
}

// convertAlpha converts a function with the parameter alpha, which is def by default.
func convertAlpha(o *ir.Op, def float32) func(*call) {
	return func(c *call) {
		a := &curve.AlphaAttrs{Alpha: c.finite("alpha", def)}
		if o == curve.Celu && a.Alpha == 0 {
			c.fail(diag.BadAttribute, "attribute alpha is 0, by which it divides")
		}
		c.result(c.emit("", o, a, c.data(0)))
	}
}

// finite is a finite attribute.
func (c *call) finite(name string, def float32) float32 {
	v := c.float(name, def)
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		c.fail(diag.BadAttribute, "attribute %s is %g", name, v)
	}
	return v
}

func convertShrink(c *call) {
	lambda, bias, x := c.finite("lambd", 0.5), c.finite("bias", 0), c.data(0)
	if c.err != nil {
		return
	}
	n, err := c.b.Shrink(c.place(""), x, lambda, bias)
	c.wrap(diag.OperandShapes, err)
	c.result(n)
}

func convertSelu(c *call) {
	a := &curve.SeluAttrs{Alpha: c.finite("alpha", 1.67326319217681884765625),
		Gamma: c.finite("gamma", 1.05070102214813232421875)}
	c.result(c.emit("", curve.Selu, a, c.data(0)))
}

func convertHardSigmoid(c *call) {
	a := &curve.HardSigmoidAttrs{Alpha: c.finite("alpha", 0.2), Beta: c.finite("beta", 0.5)}
	c.result(c.emit("", curve.HardSigmoid, a, c.data(0)))
}

func convertGelu(c *call) {
	switch form := c.string("approximate", "none"); form {
	case "none":
		c.result(c.emit("", curve.Gelu, nil, c.data(0)))
	case "tanh":
		c.result(c.emit("", curve.GeluTanh, nil, c.data(0)))
	default:
		c.fail(diag.BadAttribute, "approximate is %s; it may be none or tanh", quote(form))
	}
}

// convertNeg is a product with -1, which becomes part of the layer before it.
func convertNeg(c *call) {
	x := c.arg(0)
	if c.err == nil {
		c.result(c.emit("", pointwise.Mul, nil, x, c.like(x, -1, "minus")))
	}
}

// convertIsInf may ask for the infinities of one sign.
func convertIsInf(c *call) {
	x := c.data(0)
	minus, plus := c.int("detect_negative", 1) != 0, c.int("detect_positive", 1) != 0
	if minus && plus {
		c.result(c.emit("", whole.IsInf, nil, x))
		return
	}
	at := float32(math.Inf(1))
	if minus {
		at = -at
	}
	if !minus && !plus { // none: no number is less than minus infinity
		at = -at
		c.result(c.emit("", whole.Compare, &whole.CompareAttrs{Rel: "lt"}, x, c.number(at, "infinity")))
		return
	}
	c.result(c.emit("", whole.Compare, &whole.CompareAttrs{Rel: "eq"}, x, c.number(at, "infinity")))
}

func convertReciprocal(c *call) {
	c.result(c.emit("", curve.Reciprocal, &curve.ReciprocalAttrs{Numerator: 1}, c.data(0)))
}

// keepsShape says that constant input i does not broadcast the other input to another shape.
func (c *call) keepsShape(i int) bool {
	x, k := c.shape(1-i), c.shape(i)
	if len(k) > len(x) {
		return false
	}
	for i, d := range k {
		if d != 1 && d != x[len(x)-len(k)+i] {
			return false
		}
	}
	return true
}

// convertPow: one constant exponent for all elements is a function of one argument.
func convertPow(c *call) {
	if c.whole(0) {
		c.wholePow()
		return
	}
	x := c.data(0)
	if p, ok := c.uniform(1); ok && c.keepsShape(1) {
		if p == 1 {
			c.result(c.emit("", move.Identity, nil, x))
			return
		}
		c.result(c.emit("", curve.Pow, &curve.PowAttrs{Exponent: p}, x))
		return
	}
	c.result(c.emit("", whole.Power, nil, x, c.converted("exponent", c.arg(1), ir.F32)))
}

// wholePow is a power of whole numbers: exact where the exponents are whole, too, else computed in floats and cut.
func (c *call) wholePow() {
	x, e := c.arg(0), c.arg(1)
	if c.err != nil {
		return
	}
	to := ir.StoredAs(x.Type.Format)
	if !e.Type.IsFloat() {
		c.result(c.emit("", whole.Power, nil, x, c.converted("exponent", e, to)))
		return
	}
	y := c.emit("power", whole.Power, nil, c.converted("base", x, ir.F32), e)
	c.result(c.emit("", whole.Convert, &whole.ConvertAttrs{To: to}, y))
}

// converted is n with elements of another type, n itself where it has that type.
func (c *call) converted(suffix string, n *ir.Node, to ir.DType) *ir.Node {
	if c.err != nil || n.Type.Format == ir.FormatOf(to) {
		return n
	}
	return c.emit(suffix, whole.Convert, &whole.ConvertAttrs{To: to}, n)
}

// convertDiv: a division by a constant is a product with its reciprocal, which layers take into their weights.
func convertDiv(c *call) {
	c.alike(0)
	switch {
	case c.err != nil:
	case c.whole(0) || c.in[0].constant() == c.in[1].constant():
		a := c.arg(0)
		c.result(c.emit("", whole.Div, nil, a, c.arg(1)))
	case c.in[1].constant():
		d := c.data(1)
		if v, _ := build.Floats(d); slices.Contains(v, 0) { // of infinities and NaN
			c.result(c.emit("", whole.Div, nil, c.data(0), d))
			return
		}
		x := c.data(0)
		c.result(c.emit("", pointwise.Mul, nil, x,
			c.emitNow("inverse", curve.Reciprocal, &curve.ReciprocalAttrs{Numerator: 1}, d)))
	default:
		if v, ok := c.uniform(0); ok && c.keepsShape(0) {
			c.result(c.emit("", curve.Reciprocal, &curve.ReciprocalAttrs{Numerator: v}, c.data(1)))
			return
		}
		n := c.emit("reciprocal", curve.Reciprocal, &curve.ReciprocalAttrs{Numerator: 1}, c.data(1))
		c.result(c.emit("", pointwise.Mul, nil, n, c.data(0)))
	}
}

// convertPRelu: a constant slope, one number or one a channel, is an operation of its own; others are max(x, 0) +
// slope*min(x, 0).
func convertPRelu(c *call) {
	if v, ok := c.uniform(1); ok && c.keepsShape(1) {
		c.result(c.emit("", pointwise.LeakyRelu, &pointwise.LeakyAttrs{Alpha: v}, c.data(0)))
		return
	}
	shape, own := c.shape(0), c.shape(1)
	axis := min(1, len(shape)-1)
	perChannel := c.in[1].constant() && elems(own) == shape[max(axis, 0)]
	for i, d := range own { // aligned at the end
		if at := len(shape) - len(own) + i; d != 1 && at != axis {
			perChannel = false
		}
	}
	x := c.data(0)
	if perChannel {
		c.result(c.emit("", pointwise.PRelu, &column.ScaleAttrs{Axis: axis}, x,
			c.reshape("slope", c.data(1), []int{shape[axis]})))
		return
	}
	over := c.emit("over", pointwise.Relu, nil, x)
	under := c.emit("under", pointwise.Mul, nil, c.emit("negative", pointwise.Min, nil, x, c.number(0, "zero")), c.data(1))
	c.result(c.emit("", pointwise.Add, nil, over, under))
}
