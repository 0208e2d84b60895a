// SPDX-License-Identifier: Apache-2.0

package bigmath

import (
	"math/big"
)

// Rational is v exactly.
func Rational(v float32) *big.Rat { return new(big.Rat).SetFloat64(float64(v)) }

// Floor is the greatest whole number that is at most x.
func Floor(x *big.Rat) *big.Rat { // Euclidean division: the floor, as denominators are positive
	return new(big.Rat).SetInt(new(big.Int).Div(x.Num(), x.Denom()))
}

// Round is the whole number nearest to x, the even one of two.
func Round(x *big.Rat) *big.Rat {
	y := Floor(new(big.Rat).Add(x, big.NewRat(1, 2)))
	if tie := new(big.Rat).Sub(y, x); tie.Cmp(big.NewRat(1, 2)) == 0 && y.Num().Bit(0) == 1 {
		y.Sub(y, big.NewRat(1, 1))
	}
	return y
}

// Clamp brings x into [0, top], in place.
func Clamp(x, top *big.Rat) *big.Rat {
	switch {
	case x.Sign() < 0:
		return x.SetInt64(0)
	case x.Cmp(top) > 0:
		return x.Set(top)
	}
	return x
}
