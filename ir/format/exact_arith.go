// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math/big"
	"math/bits"
)

// Mul is x*y. Zero times an infinity is NaN.
func (x Exact) Mul(y Exact) Exact {
	neg := x.neg != y.neg
	switch {
	case x.IsNaN() || y.IsNaN():
		return NaN()
	case x.IsInf() || y.IsInf():
		if x.IsZero() || y.IsZero() {
			return NaN()
		}
		return Inf(neg)
	case x.IsZero() || y.IsZero():
		return Exact{neg: neg}
	}
	if x.wide == nil && y.wide == nil {
		if hi, lo := bits.Mul64(x.mag, y.mag); hi == 0 {
			return Exact{neg: neg, mag: lo, exp: x.exp + y.exp}
		}
	}
	a, _ := x.Abs().Int()
	b, _ := y.Abs().Int()
	return packBig(neg, a.Mul(a, b), x.exp+y.exp)
}

// Add is x+y. A sum of zero is +0 unless both are -0; infinities of opposite sign give NaN.
func (x Exact) Add(y Exact) Exact {
	switch {
	case x.IsNaN() || y.IsNaN() || x.IsInf() && y.IsInf() && x.neg != y.neg:
		return NaN()
	case x.IsInf():
		return x
	case y.IsInf():
		return y
	case x.IsZero() && y.IsZero():
		return Exact{neg: x.neg && y.neg}
	case x.IsZero():
		return y
	case y.IsZero():
		return x
	}
	if x.exp < y.exp {
		x, y = y, x
	}
	d := x.exp - y.exp
	if x.wide == nil && y.wide == nil && bits.Len64(x.mag)+d <= 62 && bits.Len64(y.mag) <= 62 {
		a, b := int64(x.mag<<d), int64(y.mag)
		if x.neg {
			a = -a
		}
		if y.neg {
			b = -b
		}
		return FromInt(a+b, y.exp)
	}
	a, _ := x.Int()
	b, _ := y.Int()
	return FromBig(a.Add(a.Lsh(a, uint(d)), b), y.exp)
}

// Sub is x-y.
func (x Exact) Sub(y Exact) Exact { return x.Add(y.Neg()) }

// Quo is x/y with the precision of FromRat: an Encode of it is the Encode of the exact quotient. A finite x over
// zero is an infinity, 0/0 and Inf/Inf are NaN.
func (x Exact) Quo(y Exact) Exact {
	neg := x.neg != y.neg
	switch {
	case x.IsNaN() || y.IsNaN() || x.IsInf() && y.IsInf() || x.IsZero() && y.IsZero():
		return NaN()
	case x.IsInf() || y.IsZero():
		return Inf(neg)
	case y.IsInf() || x.IsZero():
		return Exact{neg: neg}
	}
	a, _ := x.Int()
	b, _ := y.Int()
	return FromRat(new(big.Rat).SetFrac(a, b)).Shift(x.exp - y.exp)
}

// Cmp is -1, 0 or 1 as x is below, equal to or above y. -0 equals +0; NaN equals itself and is below all else.
func (x Exact) Cmp(y Exact) int {
	switch {
	case x.IsNaN() && y.IsNaN():
		return 0
	case x.IsNaN():
		return -1
	case y.IsNaN():
		return 1
	}
	if sx, sy := x.Sign(), y.Sign(); sx != sy {
		if sx < sy {
			return -1
		}
		return 1
	} else if sx == 0 {
		return 0
	} else if sx < 0 {
		return -cmpAbs(x, y)
	}
	return cmpAbs(x, y)
}

// cmpAbs compares |x| and |y|, neither of them zero nor NaN.
func cmpAbs(x, y Exact) int {
	switch {
	case x.IsInf() && y.IsInf():
		return 0
	case x.IsInf():
		return 1
	case y.IsInf():
		return -1
	}
	if lx, ly := x.Log2(), y.Log2(); lx != ly {
		if lx < ly {
			return -1
		}
		return 1
	}
	return x.Abs().Sub(y.Abs()).Sign()
}

// Max is the larger of x and y; NaN if either is.
func Max(x, y Exact) Exact {
	if x.IsNaN() || !y.IsNaN() && x.Cmp(y) >= 0 {
		return x
	}
	return y
}

// Min is the smaller of x and y; NaN if either is.
func Min(x, y Exact) Exact {
	if x.IsNaN() || !y.IsNaN() && x.Cmp(y) <= 0 {
		return x
	}
	return y
}
