// SPDX-License-Identifier: Apache-2.0

// Package curve holds real functions of one variable, as tables of their correctly rounded values.
package curve

import (
	"math"
	"math/big"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/hlo"
	"lathe/ir/op/bigmath"
	"lathe/ir/op/carrier"
)

// The smooth functions. Those with parameters stand in functions_param.go, rational ones in functions_step.go.
var (
	Sigmoid = smooth("sigmoid", "sigmoid", "1/(1+exp(-x))",
		func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, bigmath.Sigmoid, (*hlo.Builder).Logistic, &domain{bits: 4})
	Tanh = smooth("tanh", "tanh", "hyperbolic tangent", math.Tanh, bigmath.Tanh, (*hlo.Builder).Tanh,
		&domain{bits: 3, low: -1})
	Exp      = smooth("exp", "exp", "e^x", math.Exp, bigmath.Exp, (*hlo.Builder).Exp, nil)
	Erf      = smooth("erf", "erf", "error function", math.Erf, bigmath.Erf, (*hlo.Builder).Erf, &domain{bits: 2, low: -1})
	Softplus = smooth("softplus", "softplus", "log(1 + exp(x))", softplus, bigmath.Softplus, softplusHLO,
		&domain{bits: 4, keeps: true})
	Gelu = smooth("gelu", "gelu_erf", "x*(1 + erf(x/sqrt(2)))/2",
		func(x float64) float64 { return x / 2 * math.Erfc(-x/math.Sqrt2) }, bigmath.Gelu, geluHLO,
		&domain{bits: 3, keeps: true}, -0.75179152)
	GeluTanh = smooth("gelu_tanh", "gelu_tanh", "x*(1 + tanh(sqrt(2/pi)*(x + 0.044715*x^3)))/2",
		func(x float64) float64 { return x / (1 + math.Exp(-2*geluInner(x))) }, bigmath.GeluTanh, geluTanhHLO,
		&domain{bits: 3, keeps: true}, -0.75246142)
	Mish = smooth("mish", "", "x*tanh(log(1 + exp(x)))", func(x float64) float64 { return x * math.Tanh(softplus(x)) },
		bigmath.Mish, func(b *hlo.Builder, x hlo.Value) hlo.Value { return b.Mul(x, b.Tanh(softplusHLO(b, x))) }, nil,
		-1.19243121)
)

// Log is the natural logarithm; quantized, that of 0 and of negative numbers is the least value.
var Log = function{
	name: "log", doc: "natural logarithm", monotone: true,
	near: func(any) func(float64) float64 { return math.Log },
	exact: func(any) func(*big.Rat) format.Exact {
		return func(x *big.Rat) format.Exact {
			if x.Sign() <= 0 {
				return format.Inf(true)
			}
			return bigmath.ExactOf(bigmath.Log(bigmath.FromRat(x)))
		}
	},
	hlo: func(b *hlo.Builder, _ any, x hlo.Value) hlo.Value { return b.Log(x) },
}.op()

// Sqrt is the square root; quantized, that of a negative number is 0.
var Sqrt = function{
	name: "sqrt", doc: "square root", monotone: true,
	near: func(any) func(float64) float64 { return math.Sqrt },
	exact: func(any) func(*big.Rat) format.Exact {
		return func(x *big.Rat) format.Exact { return exactPower(x, 0.5) }
	},
	hlo:    func(b *hlo.Builder, _ any, x hlo.Value) hlo.Value { return b.Sqrt(x) },
	kernel: func(any) string { return "sqrt" },
}.op()

// smooth makes the operation of an irrational function without parameters. It rises everywhere, or falls up to its one
// turn. kernel is its name in the kernel library; wide is its domain, nil if it has none.
func smooth(name, kernel, doc string, near func(float64) float64, exact func(*big.Float) *big.Float,
	print func(*hlo.Builder, hlo.Value) hlo.Value, wide *domain, bends ...float64) *ir.Op {
	f := function{
		name: name, doc: doc, monotone: len(bends) == 0,
		near:  func(any) func(float64) float64 { return near },
		exact: func(any) func(*big.Rat) format.Exact { return bigmath.Irrational(exact) },
		hlo:   func(b *hlo.Builder, _ any, x hlo.Value) hlo.Value { return print(b, x) },
	}
	if wide != nil {
		f.domain = func(any) (domain, bool) { return *wide, true }
	}
	if kernel != "" {
		f.kernel = func(any) string { return kernel }
	}
	if !f.monotone {
		f.bends = func(any) []float64 { return bends }
	}
	return f.op()
}

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

func geluInner(x float64) float64 { return math.Sqrt(2/math.Pi) * (x + 0.044715*x*x*x) }

func softplusHLO(b *hlo.Builder, x hlo.Value) hlo.Value {
	return b.Add(b.Max(x, carrier.Number(b, 0)), b.Log1p(b.Exp(b.Neg(b.Abs(x)))))
}

func geluHLO(b *hlo.Builder, x hlo.Value) hlo.Value {
	phi := b.Add(b.Erf(b.Mul(x, carrier.Number(b, math.Sqrt2/2))), carrier.Number(b, 1))
	return b.Mul(b.Mul(x, carrier.Number(b, 0.5)), phi)
}

func geluTanhHLO(b *hlo.Builder, x hlo.Value) hlo.Value {
	cube := b.Mul(b.Mul(b.Mul(x, x), x), carrier.Number(b, 0.044715))
	return b.Mul(x, b.Logistic(b.Mul(b.Add(x, cube), carrier.Number(b, 2*math.Sqrt(2/math.Pi)))))
}
