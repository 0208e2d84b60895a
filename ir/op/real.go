// SPDX-License-Identifier: Apache-2.0

package op

import "math/big"

// realPrec is the working precision of real functions: 96 bits are needed, the rest absorbs cancellation.
const realPrec = 224

func bigFloat(x float64) *big.Float { return new(big.Float).SetPrec(realPrec).SetFloat64(x) }

// expEnd bounds the arguments of realExp: beyond, no format tells its results from 0 or from an infinity.
const expEnd = 2900

// realExp is exp(x) by halving the argument below 2^-8, a Taylor series, and squaring back.
func realExp(x *big.Float) *big.Float {
	switch {
	case x.Cmp(bigFloat(expEnd)) > 0:
		return new(big.Float).SetPrec(realPrec).SetMantExp(bigFloat(1), 1<<12)
	case x.Cmp(bigFloat(-expEnd)) < 0:
		return new(big.Float).SetPrec(realPrec).SetMantExp(bigFloat(1), -1<<12)
	}
	halvings := max(0, x.MantExp(nil)+8)
	r := new(big.Float).SetPrec(realPrec + 64)
	r.SetMantExp(new(big.Float).SetPrec(realPrec+64).Set(x), -halvings)
	sum := new(big.Float).SetPrec(realPrec + 64).SetInt64(1)
	term := new(big.Float).SetPrec(realPrec + 64).SetInt64(1)
	for i := int64(1); i < 64; i++ {
		term.Mul(term, r)
		term.Quo(term, new(big.Float).SetInt64(i))
		if term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-realPrec-64 {
			break
		}
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum.SetPrec(realPrec)
}

// beyondPrec is the exponent of a step far below every rounding boundary of codes that still shows beside 1.
const beyondPrec = -realPrec + 8

// realSigmoid is 1/(1+exp(-x)). It is irrational but at 0: where working precision ends on 1/2, 1 or 0, the result is
// moved off by a little, so that directed rounding sees on which side of the limit the function lies.
func realSigmoid(x *big.Float) *big.Float {
	if x.Sign() < 0 { // keeps the result's relative precision for very negative x
		e := realExp(x)
		y := new(big.Float).SetPrec(realPrec).Quo(e, new(big.Float).SetPrec(realPrec).Add(bigFloat(1), e))
		switch {
		case y.Sign() == 0:
			y.SetMantExp(bigFloat(1), -1<<16)
		case y.Cmp(bigFloat(0.5)) >= 0:
			y.Sub(bigFloat(0.5), tiny())
		}
		return y
	}
	e := realExp(new(big.Float).Neg(x))
	y := new(big.Float).SetPrec(realPrec).Quo(bigFloat(1), e.Add(e, bigFloat(1)))
	switch {
	case y.Cmp(bigFloat(1)) >= 0:
		y.Sub(bigFloat(1), tiny())
	case x.Sign() > 0 && y.Cmp(bigFloat(0.5)) <= 0:
		y.Add(bigFloat(0.5), tiny())
	}
	return y
}

func tiny() *big.Float { return new(big.Float).SetMantExp(bigFloat(1), beyondPrec) }

// realTanh is (1-exp(-2|x|))/(1+exp(-2|x|)) with the sign of x; below 2^-60 it is x - x^3/3. It stays off 1 as
// realSigmoid does, and off x.
func realTanh(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return bigFloat(0)
	}
	a := new(big.Float).SetPrec(realPrec).Abs(x)
	y := new(big.Float).SetPrec(realPrec)
	if a.MantExp(nil) < -60 {
		cube := new(big.Float).SetPrec(realPrec).Mul(a, a)
		cube.Mul(cube, a)
		if y.Sub(a, cube.Quo(cube, bigFloat(3))); y.Cmp(a) >= 0 {
			y.SetPrec(2*realPrec).Sub(a, new(big.Float).Mul(a, tiny()))
		}
	} else {
		e := realExp(new(big.Float).SetPrec(realPrec).Mul(a, bigFloat(-2)))
		y.Quo(new(big.Float).SetPrec(realPrec).Sub(bigFloat(1), e), new(big.Float).SetPrec(realPrec).Add(bigFloat(1), e))
		if y.Cmp(bigFloat(1)) >= 0 {
			y.Sub(bigFloat(1), tiny())
		}
	}
	if x.Sign() < 0 {
		y.Neg(y)
	}
	return y
}
