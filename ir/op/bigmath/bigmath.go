// SPDX-License-Identifier: Apache-2.0

// Package bigmath computes real functions to any precision asked for, as tables need it.
package bigmath

import (
	"math/big"
)

// Prec is the working precision of real functions: 96 bits are needed, the rest absorbs cancellation.
const Prec = 224

// Float is x in the precision of this package.
func Float(x float64) *big.Float { return new(big.Float).SetPrec(Prec).SetFloat64(x) }

// expEnd bounds the arguments of Exp: beyond, no format tells its results from 0 or from an infinity.
const expEnd = 2900

// Exp is exp(x) by halving the argument below 2^-8, a Taylor series, and squaring back.
func Exp(x *big.Float) *big.Float {
	switch {
	case x.Cmp(Float(expEnd)) > 0:
		return new(big.Float).SetPrec(Prec).SetMantExp(Float(1), 1<<12)
	case x.Cmp(Float(-expEnd)) < 0:
		return new(big.Float).SetPrec(Prec).SetMantExp(Float(1), -1<<12)
	}
	halvings := max(0, x.MantExp(nil)+8)
	r := new(big.Float).SetPrec(Prec + 64)
	r.SetMantExp(new(big.Float).SetPrec(Prec+64).Set(x), -halvings)
	sum := new(big.Float).SetPrec(Prec + 64).SetInt64(1)
	term := new(big.Float).SetPrec(Prec + 64).SetInt64(1)
	for i := int64(1); i < 64; i++ {
		term.Mul(term, r)
		term.Quo(term, new(big.Float).SetInt64(i))
		if term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-Prec-64 {
			break
		}
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum.SetPrec(Prec)
}

// beyondPrec is the exponent of a step far below every rounding boundary of codes that still shows beside 1.
const beyondPrec = -Prec + 8

// Sigmoid is 1/(1+exp(-x)). It is irrational but at 0: where working precision ends on 1/2, 1 or 0, the result is
// moved off by a little, so that directed rounding sees on which side of the limit the function lies.
func Sigmoid(x *big.Float) *big.Float {
	if x.Sign() < 0 { // keeps the result's relative precision for very negative x
		e := Exp(x)
		y := new(big.Float).SetPrec(Prec).Quo(e, new(big.Float).SetPrec(Prec).Add(Float(1), e))
		switch {
		case y.Sign() == 0:
			y.SetMantExp(Float(1), -1<<16)
		case y.Cmp(Float(0.5)) >= 0:
			y.Sub(Float(0.5), tiny())
		}
		return y
	}
	e := Exp(new(big.Float).Neg(x))
	y := new(big.Float).SetPrec(Prec).Quo(Float(1), e.Add(e, Float(1)))
	switch {
	case y.Cmp(Float(1)) >= 0:
		y.Sub(Float(1), tiny())
	case x.Sign() > 0 && y.Cmp(Float(0.5)) <= 0:
		y.Add(Float(0.5), tiny())
	}
	return y
}

func tiny() *big.Float { return new(big.Float).SetMantExp(Float(1), beyondPrec) }

// Tanh is (1-exp(-2|x|))/(1+exp(-2|x|)) with the sign of x; below 2^-60 it is x - x^3/3. It stays off 1 as
// Sigmoid does, and off x.
func Tanh(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return Float(0)
	}
	a := new(big.Float).SetPrec(Prec).Abs(x)
	y := new(big.Float).SetPrec(Prec)
	if a.MantExp(nil) < -60 {
		cube := new(big.Float).SetPrec(Prec).Mul(a, a)
		cube.Mul(cube, a)
		if y.Sub(a, cube.Quo(cube, Float(3))); y.Cmp(a) >= 0 {
			y.SetPrec(2*Prec).Sub(a, new(big.Float).Mul(a, tiny()))
		}
	} else {
		e := Exp(new(big.Float).SetPrec(Prec).Mul(a, Float(-2)))
		y.Quo(new(big.Float).SetPrec(Prec).Sub(Float(1), e), new(big.Float).SetPrec(Prec).Add(Float(1), e))
		if y.Cmp(Float(1)) >= 0 {
			y.Sub(Float(1), tiny())
		}
	}
	if x.Sign() < 0 {
		y.Neg(y)
	}
	return y
}
