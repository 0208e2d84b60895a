// SPDX-License-Identifier: Apache-2.0

package bigmath

import (
	"math/big"

	"lathe/ir/format"
)

// limitExp is the exponent from which a result counts as infinite, so that its low bits, which over=wrap would keep,
// need not be known.
const limitExp = 128

// Limited is y, or infinity with its sign where the result counts as infinite.
func Limited(y format.Exact) format.Exact {
	if y.IsFinite() && !y.IsZero() && y.Log2() >= limitExp {
		return format.Inf(y.Signbit())
	}
	return y
}

// Irrational makes the exact form of a function on big.Float.
func Irrational(f func(x *big.Float) *big.Float) func(x *big.Rat) format.Exact {
	return func(x *big.Rat) format.Exact { return ExactOf(f(FromRat(x))) }
}

// FromRat is x in working precision, which holds every argument.
func FromRat(x *big.Rat) *big.Float { return new(big.Float).SetPrec(Prec).SetRat(x) }

// ExactOf converts a big.Float without loss.
func ExactOf(y *big.Float) format.Exact {
	if y.Sign() == 0 {
		return format.FromInt(0, 0)
	}
	mant := new(big.Float)
	exp := y.MantExp(mant)
	prec := int(y.MinPrec())
	v, _ := mant.SetMantExp(mant, prec).Int(nil)
	return format.FromBig(v, exp-prec)
}
