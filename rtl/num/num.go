// SPDX-License-Identifier: Apache-2.0

// Package num states in Go, on unbounded integers, what the arithmetic modules of this folder compute. Benches compare
// the hardware with it. It is written from the definitions of the rounding modes, not from the circuits.
package num

import "math/big"

// Rounding modes: the values of the parameter ROUND.
const (
	Even     = iota // nearest, ties to even
	Away            // nearest, ties away from zero
	Up              // nearest, ties to +Inf
	Down            // nearest, ties to -Inf
	HalfZero        // nearest, ties to zero
	Floor
	Ceil
	Zero    // toward zero
	Outward // away from zero
)

// Overflow modes: the values of the parameter OVER.
const (
	Saturate  = iota
	Symmetric // as Saturate, without the most negative code, or the greatest of an unsigned format
	Wrap
)

// Quotient returns v / d rounded to an integer; d > 0.
func Quotient(v, d *big.Int, round int) *big.Int {
	floor, rest := new(big.Int).DivMod(v, d, new(big.Int)) // Euclidean, which is the floor for d > 0
	if rest.Sign() == 0 {
		return floor
	}
	half := rest.Lsh(rest, 1).Cmp(d)
	var up bool
	switch round {
	case Floor:
		up = false
	case Ceil:
		up = true
	case Zero:
		up = v.Sign() < 0
	case Outward:
		up = v.Sign() > 0
	default:
		tie := map[int]bool{Even: floor.Bit(0) == 1, Away: v.Sign() > 0, Up: true, Down: false, HalfZero: v.Sign() < 0}
		up = half > 0 || half == 0 && tie[round]
	}
	if up {
		floor.Add(floor, big.NewInt(1))
	}
	return floor
}

// Fit returns the code of the integer q in a format of the given width: what remains after overflow.
func Fit(q *big.Int, width int, signed bool, over int) *big.Int {
	one := big.NewInt(1)
	count := new(big.Int).Lsh(one, uint(width))
	least, most := new(big.Int), new(big.Int).Sub(count, one)
	if signed {
		most.Rsh(most, 1)
		least.Not(most)
	}
	if over == Wrap {
		r := new(big.Int).Mod(q, count)
		if r.Cmp(most) > 0 {
			r.Sub(r, count)
		}
		return r
	}
	switch {
	case over > Wrap:
		most.SetInt64(int64(over-Wrap-1) >> 1)
		least.SetInt64(0)
		if (over-Wrap-1)&1 != 0 {
			least.Neg(most)
		}
	case over == Symmetric && signed:
		least.Neg(most)
	case over == Symmetric:
		most.Sub(most, one)
	}
	switch {
	case q.Cmp(least) < 0:
		return least
	case q.Cmp(most) > 0:
		return most
	}
	return new(big.Int).Set(q)
}

// Cast is the parameters of num_requant that say what becomes of a value.
type Cast struct {
	Shift  int
	Width  int // OUT_W
	Signed bool
	Round  int
	Over   int
}

// Of returns the code for v: v / 2^Shift, rounded, then overflow.
func (c Cast) Of(v *big.Int) *big.Int { return c.Divided(v, -c.Shift, 1) }

// Offset returns the code for v in a format with a zero point: v / 2^Shift, rounded, moved, then overflow.
func (c Cast) Offset(v *big.Int, zero int64) *big.Int {
	num, den := new(big.Int).Set(v), big.NewInt(1)
	if c.Shift > 0 {
		den.Lsh(den, uint(c.Shift))
	} else {
		num.Lsh(num, uint(-c.Shift))
	}
	q := Quotient(num, den, c.Round)
	return Fit(q.Add(q, big.NewInt(zero)), c.Width, c.Signed, c.Over)
}

// Divided returns the code for v * 2^lshift / n, rounded once, then overflow, as num_div_const; Shift plays no part.
func (c Cast) Divided(v *big.Int, lshift, n int) *big.Int {
	num, den := new(big.Int).Set(v), big.NewInt(int64(n))
	if lshift >= 0 {
		num.Lsh(num, uint(lshift))
	} else {
		den.Lsh(den, uint(-lshift))
	}
	return Fit(Quotient(num, den, c.Round), c.Width, c.Signed, c.Over)
}

// FloatValue is the value of a code {sign, field of e bits, fraction} of w bits with a hidden bit, in steps of the
// least. With nan the code of all ones, sign apart, is worth 0.
func FloatValue(code int64, w, e int, nan bool) int64 {
	mag := code & (1<<(w-1) - 1)
	if nan && mag == 1<<(w-1)-1 {
		return 0
	}
	m := w - 1 - e
	v, field := mag&(1<<m-1), mag>>m
	if field > 0 {
		v = (v + 1<<m) << (field - 1)
	}
	if code>>(w-1)&1 != 0 {
		return -v
	}
	return v
}
