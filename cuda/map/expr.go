// SPDX-License-Identifier: Apache-2.0

package pointwise

import (
	"fmt"
	"math"
	"strconv"
)

// Expr is a function of inputs and scalars, element by element: what a chain computes. The zero Expr is input 0.
type Expr struct {
	fn   *Function
	args []Expr
	kind exprKind
	at   int
}

type exprKind uint8

const (
	exprArg exprKind = iota
	exprScalar
	exprApply
)

// Function is a function of one or two values that kernels know.
type Function struct {
	Name  string
	Arity int
	// Of is the function in float64, for references; b is 0 where Arity is 1.
	Of func(a, b float64) float64
	// Loss bounds the relative error of the fp32 code at arguments a and b, in units of 2^-24, inexact arguments apart.
	Loss func(a, b float64) float64
}

// Functions lists the functions of map/functions.cuh.
func Functions() []Function { return functions }

var functions = []Function{
	{"add", 2, func(a, b float64) float64 { return a + b }, ulps(1)},
	{"sub", 2, func(a, b float64) float64 { return a - b }, ulps(1)},
	{"mul", 2, func(a, b float64) float64 { return a * b }, ulps(1)},
	{"div", 2, func(a, b float64) float64 { return a / b }, ulps(1)},
	{"max", 2, math.Max, ulps(0)},
	{"min", 2, math.Min, ulps(0)},
	{"neg", 1, func(a, _ float64) float64 { return -a }, ulps(0)},
	{"abs", 1, func(a, _ float64) float64 { return math.Abs(a) }, ulps(0)},
	{"relu", 1, func(a, _ float64) float64 { return math.Max(a, 0) }, ulps(0)},
	{"square", 1, func(a, _ float64) float64 { return a * a }, ulps(1)},
	{"sqrt", 1, func(a, _ float64) float64 { return math.Sqrt(a) }, ulps(1)},
	{"exp", 1, func(a, _ float64) float64 { return math.Exp(a) }, ulps(4)},
	{"tanh", 1, func(a, _ float64) float64 { return math.Tanh(a) }, ulps(4)},
	{"erf", 1, func(a, _ float64) float64 { return math.Erf(a) }, ulps(4)},
	{"sigmoid", 1, func(a, _ float64) float64 { return 1 / (1 + math.Exp(-a)) }, ulps(6)},
	{"softplus", 1, func(a, _ float64) float64 { return math.Max(a, 0) + math.Log1p(math.Exp(-math.Abs(a))) }, ulps(6)},
	{"silu", 1, func(a, _ float64) float64 { return gated(a, 1/(1+math.Exp(-a))) }, ulps(7)},
	{"gelu_erf", 1, func(a, _ float64) float64 { return gated(a, math.Erfc(-a*math.Sqrt2/2)/2) }, geluErfLoss},
	{"gelu_tanh", 1, geluTanh, geluTanhLoss},
	{"hardsigmoid", 1, func(a, _ float64) float64 { return hardsigmoid(a) }, hardsigmoidLoss},
	{"hardswish", 1, func(a, _ float64) float64 { return gated(a, hardsigmoid(a)) }, hardsigmoidLoss},
}

func ulps(n float64) func(a, b float64) float64 { return func(_, _ float64) float64 { return n } }

// gated is x*weight for a weight in [0, 1], with the limit 0 at -Inf.
func gated(x, weight float64) float64 {
	if weight == 0 {
		return math.Copysign(0, -1)
	}
	return x * weight
}

func hardsigmoid(a float64) float64 { return math.Min(math.Max(a/6+0.5, 0), 1) }

// geluTanh is the approximation of gelu by Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.
func geluTanh(a, _ float64) float64 {
	return gated(a, 1/(1+math.Exp(-2*math.Sqrt(2/math.Pi)*(a+0.044715*a*a*a))))
}

// geluErfLoss: the rounded argument z = -x/sqrt(2) changes erfc by 2z^2 of its relative error at most.
func geluErfLoss(a, _ float64) float64 { return 8 + 2*a*a }

// geluTanhLoss: the exponent 2u has four roundings, which the exponential multiplies by its size.
func geluTanhLoss(a, _ float64) float64 { return 8 + 5*1.6*(math.Abs(a)+0.045*math.Abs(a*a*a)) }

// hardsigmoidLoss: x/6 + 1/2 cancels near -3.
func hardsigmoidLoss(a, _ float64) float64 {
	if h := hardsigmoid(a); h > 0 && h < 1 {
		return 2 + 1.5/h
	}
	return 2
}

// Arg is input k of the chain, 0..3.
func Arg(k int) Expr { return Expr{at: k} }

// Scalar is scalar k of the launch, 0..3.
func Scalar(k int) Expr { return Expr{kind: exprScalar, at: k} }

// Apply is a function of Functions of one or two expressions. Error L0990 for an unknown name or a wrong number.
func Apply(name string, args ...Expr) (Expr, error) {
	for i := range functions {
		if functions[i].Name == name {
			if len(args) != functions[i].Arity {
				return Expr{}, unfit("", "%s takes %d arguments, not %d", name, functions[i].Arity, len(args))
			}
			return Expr{kind: exprApply, fn: &functions[i], args: args}, nil
		}
	}
	return Expr{}, unfit("", "kernels know no function %q", name)
}

// Type is the expression as a type of C++.
func (e Expr) Type() string {
	switch e.kind {
	case exprArg:
		return "arg<" + strconv.Itoa(e.at) + ">"
	case exprScalar:
		return "scalar<" + strconv.Itoa(e.at) + ">"
	}
	if len(e.args) == 1 {
		return fmt.Sprintf("apply<fn_%s, %s>", e.fn.Name, e.args[0].Type())
	}
	return fmt.Sprintf("apply2<fn_%s, %s, %s>", e.fn.Name, e.args[0].Type(), e.args[1].Type())
}

// need is how many inputs, or scalars, the expression needs: one more than the largest index.
func (e Expr) need(kind exprKind) int {
	if e.kind == kind {
		return e.at + 1
	}
	n := 0
	for _, a := range e.args {
		n = max(n, a.need(kind))
	}
	return n
}

// Eval is the value of the expression in float64.
func (e Expr) Eval(x, scalars []float64) float64 {
	switch e.kind {
	case exprArg:
		return x[e.at]
	case exprScalar:
		return scalars[e.at]
	}
	a, b := e.args[0].Eval(x, scalars), 0.0
	if len(e.args) > 1 {
		b = e.args[1].Eval(x, scalars)
	}
	return e.fn.Of(a, b)
}
