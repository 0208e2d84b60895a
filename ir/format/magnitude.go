// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math/big"
	"math/bits"

	"lathe/ir/hlo"
)

// Floats, logarithms and their like round magnitudes: the sign stands apart, and modes that ask for a direction look
// at it. The functions of this file are the one rounding of such formats, in Go and in StableHLO.

// fraction is a magnitude between two codes: whole steps, 64 bits of a step, and whether anything follows them.
type fraction struct {
	whole, frac uint64
	rest        bool
}

const (
	half    = 1 << 63            // of a step
	rootTwo = 0x6a09e667f3bcc908 // floor of (sqrt(2)-1)*2^64
)

// cut is mag*2^-n; n < 0 is a left shift, which must fit.
func cut(mag uint64, n int) fraction {
	switch {
	case n <= 0:
		return fraction{whole: mag << -n}
	case n < 64:
		return fraction{whole: mag >> n, frac: mag << (64 - n)}
	case n < 128:
		return fraction{frac: mag >> (n - 64), rest: n > 64 && mag<<(128-n) != 0}
	}
	return fraction{rest: mag != 0}
}

// goesUp says whether the magnitude of a value becomes the next greater one; odd is the last bit of the code below,
// neg the sign of the value, word the random word of RoundStochastic.
func (f fraction) goesUp(r Round, odd, neg bool, word uint32) bool {
	over, tie := f.frac > half || f.frac == half && f.rest, f.frac == half && !f.rest
	some := f.frac != 0 || f.rest
	switch r {
	case RoundEven, RoundMASE:
		return over || tie && odd
	case RoundAway:
		return over || tie
	case RoundUp:
		return over || tie && !neg
	case RoundDown:
		return over || tie && neg
	case RoundHalfZero:
		return over
	case RoundFloor:
		return some && neg
	case RoundCeil:
		return some && !neg
	case RoundOutward:
		return some
	case RoundLog: // of powers of two: 1+fraction against the square root of two, which no fraction of 62 bits meets
		return f.whole > 0 && f.frac > rootTwo || f.whole == 0 && over
	case RoundStochastic: // floor(value + word/2^32)
		if at := uint64(word) << 32; neg {
			return f.frac > at || f.frac == at && f.rest
		} else {
			_, carry := bits.Add64(f.frac, at, 0)
			return carry != 0
		}
	}
	return false
}

// significand is |x| = mag*2^exp of a finite x other than 0, of which a last bit stands for all bits beyond 63.
func (x Exact) significand() (mag uint64, exp int) {
	if x.wide == nil {
		return x.mag, x.exp
	}
	n := x.wide.BitLen() - 63
	return new(big.Int).Rsh(x.wide, uint(n)).Uint64()<<1 | 1, x.exp + n - 1
}

// stepHLO is a magnitude between two codes, in I64: what is cut off, one half of a step (0 where nothing is cut off),
// the last bit of the code below, 1 for negative values, by how many places it was cut, and 1 where the code below has
// a hidden bit.
type stepHLO struct{ rest, half, odd, neg, right, normal hlo.Value }

// goesUp prints 1 where goesUp of fractions is true, else 0.
func (s stepHLO) goesUp(b *hlo.Builder, r Round) hlo.Value {
	zero, one := b.Splat(s.rest, 0), b.Splat(s.rest, 1)
	add := zero
	switch r {
	case RoundEven, RoundMASE:
		add = s.odd
	case RoundAway:
		add = one
	case RoundUp:
		add = b.Sub(one, s.neg)
	case RoundDown:
		add = s.neg
	case RoundHalfZero:
	case RoundFloor:
		return b.And(b.Min(s.rest, one), s.neg)
	case RoundCeil:
		return b.And(b.Min(s.rest, one), b.Sub(one, s.neg))
	case RoundOutward:
		return b.Min(s.rest, one)
	case RoundLog:
		frac := b.ShiftLeft(s.rest, b.Sub(b.Splat(s.right, 62), s.right))
		return b.Select(b.Compare(hlo.GT, s.normal, zero),
			b.Select(b.Compare(hlo.GT, frac, b.Splat(frac, rootTwo>>2)), one, zero), s.goesUp(b, RoundEven))
	default: // RoundZero, and RoundStochastic without a word for positive values: engines refuse that mode
		return zero
	}
	return b.And(b.Min(b.Max(b.Sub(b.Add(s.rest, add), s.half), zero), one), b.Min(s.half, one))
}

// cutHLO prints v >= 0 of up to 62 bits shifted right by `by` places, left where negative, and what it cuts off. odd is
// the last bit of the result.
func cutHLO(b *hlo.Builder, v, by, neg hlo.Value) (q hlo.Value, s stepHLO) {
	zero, one := b.Splat(v, 0), b.Splat(v, 1)
	right, left := b.Clamp(zero, by, b.Splat(v, 62)), b.Max(b.Neg(by), zero) // beyond 62 nothing is left either
	whole := b.ShiftRightArith(v, right)
	q = b.ShiftLeft(whole, left)
	return q, stepHLO{
		rest: b.Sub(v, b.ShiftLeft(whole, right)), half: b.ShiftRightLogical(b.ShiftLeft(one, right), one),
		odd: b.And(q, one), neg: neg, right: right, normal: b.Min(q, one),
	}
}
