// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"math"

	"lathe/frontend/build"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
)

// plain lists the functions of one argument, element by element, without others.
func plain() []row {
	return []row{
		{"relu.default", "self", unary(pointwise.Relu)},
		{"sigmoid.default", "self", unary(curve.Sigmoid)},
		{"tanh.default", "self", unary(curve.Tanh)},
		{"erf.default special_erf.default", "self", unary(curve.Erf)},
		{"exp.default", "self", unary(curve.Exp)},
		{"sqrt.default", "self", unary(curve.Sqrt)},
		{"log.default", "self", unary(curve.Log)},
		{"floor.default", "self", unary(curve.Floor)},
		{"ceil.default", "self", unary(curve.Ceil)},
		{"round.default", "self", unary(curve.Round)},
		{"trunc.default fix.default", "self", unary(curve.Trunc)},
		{"abs.default", "self", unary(curve.Abs)},
		{"sign.default sgn.default", "self", unary(curve.Sign)},
		{"cos.default", "self", unary(curve.Cos)},
		{"sin.default", "self", unary(curve.Sin)},
		{"tan.default", "self", unary(curve.Tan)},
		{"acos.default", "self", unary(curve.Acos)},
		{"asin.default", "self", unary(curve.Asin)},
		{"atan.default", "self", unary(curve.Atan)},
		{"cosh.default", "self", unary(curve.Cosh)},
		{"sinh.default", "self", unary(curve.Sinh)},
		{"acosh.default", "self", unary(curve.Acosh)},
		{"asinh.default", "self", unary(curve.Asinh)},
		{"atanh.default", "self", unary(curve.Atanh)},
		{"mish.default", "self", unary(curve.Mish)},
		{"hardswish.default", "self", unary(curve.HardSwish)},
	}
}

// functions lists those with parameters, and those that are made of others.
func functions() []row {
	return []row{
		{"hardsigmoid.default", "self", unaryWith(curve.HardSigmoid, func(*call) any {
			return &curve.HardSigmoidAttrs{Alpha: 1. / 6, Beta: 0.5}
		})},
		{"silu.default", "self", unaryWith(curve.Silu, func(*call) any { return &curve.AlphaAttrs{Alpha: 1} })},
		{"selu.default", "self", unaryWith(curve.Selu, func(*call) any {
			return &curve.SeluAttrs{Alpha: 1.67326319217681884765625, Gamma: 1.05070102214813232421875}
		})},
		{"celu.default", "self alpha", unaryWith(curve.Celu, alpha("alpha", 1))},
		{"elu.default", "self alpha scale input_scale", convertElu},
		{"leaky_relu.default", "self negative_slope", unaryWith(pointwise.LeakyRelu, func(c *call) any {
			return &pointwise.LeakyAttrs{Alpha: float32(c.float("negative_slope", 0.01))}
		})},
		{"rrelu.default", "self lower upper training", convertRRelu},
		{"gelu.default", "self approximate", convertGelu},
		{"softplus.default", "self beta threshold", convertSoftplus},
		{"hardshrink.default", "self lambd", shrink(false)},
		{"softshrink.default", "self lambd", shrink(true)},
		{"hardtanh.default", "self min_val max_val", clip("min_val", "max_val", -1, 1)},
		{"relu6.default", "self", clip("", "", 0, 6)},
		{"clamp.default clip.default", "self min max", clip("min", "max", math.Inf(-1), math.Inf(1))},
		{"clamp_min.default", "self min", clip("min", "", 0, math.Inf(1))},
		{"clamp_max.default", "self max", clip("", "max", math.Inf(-1), 0)},
		{"reciprocal.default", "self", unaryWith(curve.Reciprocal, func(*call) any {
			return &curve.ReciprocalAttrs{Numerator: 1}
		})},
		{"rsqrt.default", "self", func(c *call) {
			root := c.emit("sqrt", curve.Sqrt, nil, c.tensor("self"))
			c.result(c.emit("", curve.Reciprocal, &curve.ReciprocalAttrs{Numerator: 1}, root))
		}},
		{"log1p.default", "self", func(c *call) {
			x := c.tensor("self")
			one := c.constantOf(number{kind: 'i', i: 1}, ir.F32, "one")
			c.result(c.emit("", curve.Log, nil, c.emit("add", pointwise.Add, nil, x, one)))
		}},
		{"expm1.default", "self", func(c *call) {
			one := c.constantOf(number{kind: 'i', i: 1}, ir.F32, "one")
			c.result(c.emit("", pointwise.Sub, nil, c.emit("exp", curve.Exp, nil, c.tensor("self")), one))
		}},
		{"log2.default", "self", logarithm(math.Log2E)},
		{"log10.default", "self", logarithm(math.Log10E)},
		{"log_sigmoid.default", "self", func(c *call) {
			minus := c.constantOf(number{kind: 'i', i: -1}, ir.F32, "minus")
			x := c.emit("negative", pointwise.Mul, nil, c.tensor("self"), minus)
			c.result(c.emit("", pointwise.Mul, nil, c.emit("softplus", curve.Softplus, nil, x), minus))
		}},
		{"prelu.default _prelu_kernel.default", "self weight", convertPRelu},
		{"glu.default", "self dim", convertGlu},
	}
}

// logarithm converts that of another base: the natural one times a factor.
func logarithm(factor float64) func(*call) {
	return func(c *call) {
		x := c.emit("log", curve.Log, nil, c.tensor("self"))
		c.result(c.emit("", pointwise.Mul, nil, x, c.constantOf(number{kind: 'f', f: factor}, ir.F32, "factor")))
	}
}

// unary converts a function without attributes.
func unary(o *ir.Op) func(*call) {
	return func(c *call) { c.result(c.emit("", o, nil, c.tensor("self"))) }
}

// unaryWith converts a function with attributes.
func unaryWith(o *ir.Op, attrs func(*call) any) func(*call) {
	return func(c *call) { c.result(c.emit("", o, attrs(c), c.tensor("self"))) }
}

func alpha(name string, def float64) func(*call) any {
	return func(c *call) any {
		v := c.float(name, def)
		if math.IsNaN(v) || math.IsInf(v, 0) || v == 0 {
			c.fail(diag.BadAttribute, "%s is %g", name, v)
		}
		return &curve.AlphaAttrs{Alpha: float32(v)}
	}
}

// convertElu: with a scale and no scale of the input it is SELU.
func convertElu(c *call) {
	x, a, scale := c.tensor("self"), c.float("alpha", 1), c.float("scale", 1)
	switch {
	case c.float("input_scale", 1) != 1:
		c.fail(diag.UnsupportedForm, "input_scale is %g; only 1 is supported", c.float("input_scale", 1))
	case scale != 1:
		c.result(c.emit("", curve.Selu, &curve.SeluAttrs{Alpha: float32(a), Gamma: float32(scale)}, x))
	default:
		c.result(c.emit("", curve.Elu, &curve.AlphaAttrs{Alpha: float32(a)}, x))
	}
}

func convertGelu(c *call) {
	switch mode := c.str("approximate", "none"); mode {
	case "none":
		c.result(c.emit("", curve.Gelu, nil, c.tensor("self")))
	case "tanh":
		c.result(c.emit("", curve.GeluTanh, nil, c.tensor("self")))
	default:
		c.fail(diag.BadAttribute, "approximate is %s; it may be none or tanh", source.Quote(mode))
	}
}

// convertSoftplus is log(1 + exp(beta*x))/beta. Beyond the threshold, 20, it is x to the last bit of float32.
func convertSoftplus(c *call) {
	x, beta := c.tensor("self"), c.float("beta", 1)
	if t := c.float("threshold", 20); t < 20 {
		c.fail(diag.UnsupportedForm, "threshold is %g; 20 and more are supported", t)
	}
	if beta == 1 {
		c.result(c.emit("", curve.Softplus, nil, x))
		return
	}
	if beta == 0 || math.IsNaN(beta) || math.IsInf(beta, 0) {
		c.fail(diag.BadAttribute, "beta is %g", beta)
	}
	x = c.emit("beta", pointwise.Mul, nil, x, c.constantOf(number{kind: 'f', f: beta}, ir.F32, "beta"))
	y := c.emit("softplus", curve.Softplus, nil, x)
	c.result(c.emit("", pointwise.Mul, nil, y, c.constantOf(number{kind: 'f', f: 1 / beta}, ir.F32, "scale")))
}

// clip converts a function that bounds its argument; a bound without a name is fixed.
func clip(low, high string, min, max float64) func(*call) {
	return func(c *call) {
		x, lo, hi := c.tensor("self"), min, max
		if x = c.cast(x, c.outType(x)); c.err == nil && !x.Type.IsFloat() {
			c.clipWhole(x, low, high, min, max)
			return
		}
		if low != "" {
			lo = c.float(low, min)
		}
		if high != "" {
			hi = c.float(high, max)
		}
		if math.IsNaN(lo) || math.IsNaN(hi) {
			c.fail(diag.BadAttribute, "a bound is not a number")
		}
		c.result(c.emit("", pointwise.Clip, &pointwise.ClipAttrs{Min: float32(lo), Max: float32(hi)}, x))
	}
}

// clipWhole bounds whole numbers, which may have more digits than float32.
func (c *call) clipWhole(x *ir.Node, low, high string, min, max float64) {
	typ := ir.StoredAs(x.Type.Format)
	bound := func(name string, fixed float64) *ir.Node {
		s := number{kind: 'f', f: fixed}
		if name != "" && c.has(name) {
			s = c.scalar(name)
		}
		if math.IsInf(s.float(), 0) {
			return nil
		}
		return c.constantOf(s, typ, "bound")
	}
	if b := bound(low, min); b != nil {
		x = c.emit("lower", pointwise.Max, nil, x, b)
	}
	if b := bound(high, max); b != nil {
		x = c.emit("", pointwise.Min, nil, x, b)
	}
	c.result(x)
}

// convertPRelu takes a slope for each channel, which is axis 1, or one for all.
func convertPRelu(c *call) {
	x, slope := c.tensor("self"), c.weight("weight")
	if c.err != nil {
		return
	}
	if elems(slope.Type.Shape) == 1 {
		if v, ok := build.Floats(slope); ok {
			c.result(c.emit("", pointwise.LeakyRelu, &pointwise.LeakyAttrs{Alpha: float32(v[0])}, x))
			return
		}
	}
	slope = c.reshape("slope", slope, []int{elems(slope.Type.Shape)})
	c.result(c.emit("", pointwise.PRelu, &column.ScaleAttrs{Axis: min(1, len(x.Type.Shape)-1)}, x, slope))
}

// convertGlu is the first half of an axis times the sigmoid of the second.
func convertGlu(c *call) {
	x := c.tensor("self")
	axis := c.axis(c.int("dim", -1), len(c.shape(x)))
	if c.err != nil {
		return
	}
	half := x.Type.Shape[axis] / 2
	if half == 0 || x.Type.Shape[axis]%2 != 0 {
		c.fail(diag.OperandShapes, "cannot halve axis %d of %s", axis, ir.ShapeString(x.Type.Shape))
		return
	}
	gate := c.emit("sigmoid", curve.Sigmoid, nil, c.slice("gate", x, axis, half, half, 1))
	c.result(c.emit("", pointwise.Mul, nil, c.slice("value", x, axis, 0, half, 1), gate))
}

// shrink makes 0 of what lies within lambd of 0; soft brings the rest as much nearer.
func shrink(soft bool) func(*call) {
	return func(c *call) {
		x, lambda, by := c.tensor("self"), float32(c.float("lambd", 0.5)), float32(0)
		if soft {
			by = lambda
		}
		c.composed(func(at build.Place) (*ir.Node, error) { return c.b.Shrink(at, x, lambda, by) }, x)
	}
}

// convertRRelu is a leaky ReLU outside of training, whose slope lies in the middle.
func convertRRelu(c *call) {
	if c.bool("training", false) {
		c.fail(diag.UnsupportedForm, "is in training mode").WithHint("call model.eval() before torch.export")
	}
	slope := (c.float("lower", 1.0/8) + c.float("upper", 1.0/3)) / 2
	c.result(c.emit("", pointwise.LeakyRelu, &pointwise.LeakyAttrs{Alpha: float32(slope)}, c.tensor("self")))
}
