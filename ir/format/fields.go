// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"math/bits"

	"lathe/ir/hlo"
)

// fields is the element of blocks whose codes are a sign bit, a field f of e bits and a fraction k of m bits, with the
// value +-k*2^step for f = 0 and +-(2^m+k)*2^(f-1+step) for all others: the floats of any bias, powers of two (m = 0),
// and sign and magnitude (e = 0). With e = -1 codes are two's complement integers of m bits, times 2^step.
type fields struct {
	e, m    int
	step    int   // exponent of the least step
	most    int64 // the greatest code of positive values; those above, if any, are infinity and NaN
	oneZero bool  // encoding never makes a zero with a sign
	round   Round
}

// newFields has no infinity and no NaN.
func newFields(e, m, step int) fields { return fields{e: e, m: m, step: step, most: 1<<(e+m) - 1} }

// fixed is the format of codes that are integers.
func (f fields) fixed() (fx Fixed, ok bool) {
	return Fixed{W: f.m, F: -f.step, Signed: true, Round: f.round}, f.e < 0
}

func (f fields) signedCodes() bool { return f.e < 0 }

// String describes the codes; elements alone have no text of their own.
func (f fields) String() string { return fmt.Sprintf("elements of %d and %d bits", f.e, f.m) }

// Width is 1+e+m.
func (f fields) Width() int { return 1 + f.e + f.m }

// CodeSet is f with rounding to even.
func (f fields) CodeSet() Format {
	f.round = RoundEven
	return f
}

// Lattice counts in the least step.
func (f fields) Lattice() (exp int, bits int, ok bool) {
	if bits = f.m; f.e >= 0 {
		bits += 1 << f.e
	}
	return f.step, bits, bits <= 63
}

// Limits are the values of the greatest codes of either sign.
func (f fields) Limits() (lo, hi Exact) {
	if fx, ok := f.fixed(); ok {
		return fx.Limits()
	}
	hi = f.Decode(f.most)
	return hi.Neg(), hi
}

// parts are the sign, the significand and the places above the least step that it is shifted by.
func (f fields) parts(code int64) (minus bool, sig int64, by int) {
	field, sig := code>>f.m&(1<<f.e-1), code&(1<<f.m-1)
	if field > 0 {
		sig |= 1 << f.m
		field--
	}
	return code>>(f.e+f.m)&1 != 0, sig, int(field)
}

// Decode is the value of a code, -0 included. Of the codes beyond the greatest the first is infinity, if there are
// several; the others are NaN.
func (f fields) Decode(code int64) Exact {
	if fx, ok := f.fixed(); ok {
		return fx.Decode(code)
	}
	minus, sig, by := f.parts(code)
	v := FromInt(sig, by+f.step)
	all := int64(1)<<(f.e+f.m) - 1
	switch mag := code & all; {
	case mag == f.most+1 && f.most+1 < all:
		v = Inf(false)
	case mag > f.most:
		return NaN()
	}
	if minus && !(f.oneZero && sig == 0) {
		return v.Neg()
	}
	return v
}

// integer is a code in steps. The codes of infinity and NaN count as the numbers that they would be without: encoding
// makes none, and hardware does not look for them.
func (f fields) integer(code int64) int64 {
	if fx, ok := f.fixed(); ok {
		return fx.low(code)
	}
	minus, sig, by := f.parts(code)
	if minus {
		return -(sig << by)
	}
	return sig << by
}

// Encode rounds once, ties to the even code by default, and saturates; NaN gives 0.
func (f fields) Encode(v Exact) int64 { return f.stochastic(v, 0) }

func (f fields) rounding() Round { return f.round }

// stochastic is Encode with a random word.
func (f fields) stochastic(v Exact, word uint32) int64 {
	fx, integer := f.fixed()
	switch {
	case integer && f.round == RoundStochastic:
		return fx.EncodeStochastic(v, word)
	case integer:
		return fx.Encode(v)
	case v.IsNaN():
		return 0
	case v.IsInf():
		return f.signed(f.most, v.neg)
	}
	mag, exp := v.significand()
	return f.encode(mag, exp, v.neg, word)
}

// encodeInt is Encode of v*2^exp.
func (f fields) encodeInt(v int64, exp int) int64 {
	if fx, ok := f.fixed(); ok {
		return fx.Requant(v, exp)
	}
	if v < 0 {
		return f.encode(uint64(-v), exp, true, 0)
	}
	return f.encode(uint64(v), exp, false, 0)
}

// signed is the code of a magnitude and a sign.
func (f fields) signed(mag int64, minus bool) int64 {
	if minus && !(f.oneZero && mag == 0) {
		mag |= 1 << (f.e + f.m)
	}
	return mag
}

// encode is the code of +-mag*2^exp.
func (f fields) encode(mag uint64, exp int, minus bool, word uint32) int64 {
	n := f.step - exp             // places of mag below the step
	length := bits.Len64(mag) - n // bits of the value in steps
	switch {
	case mag == 0:
		return f.signed(0, minus)
	case length > f.m+1<<f.e-1: // more than the greatest code has
		return f.signed(f.most, minus)
	}
	up := max(length-f.m-1, 0)
	part := cut(mag, n+up)
	code := int64(part.whole) + int64(up)<<f.m
	if part.goesUp(f.round, code&1 != 0, minus, word) {
		code++
	}
	return f.signed(min(code, f.most), minus)
}

// integers64 prints codes x as integers of 64 bits in steps.
func (f fields) integers64(b *hlo.Builder, x hlo.Value) hlo.Value {
	x = b.Convert(x, hlo.I64)
	if f.e < 0 {
		return x
	}
	k := func(v int64) hlo.Value { return b.Splat(x, v) }
	sig := b.And(x, k(1<<f.m-1))
	if f.e > 0 {
		field := b.And(b.ShiftRightLogical(x, k(int64(f.m))), k(1<<f.e-1))
		normal := b.Min(field, k(1))
		sig = b.ShiftLeft(b.Add(sig, b.ShiftLeft(normal, k(int64(f.m)))), b.Sub(field, normal))
	}
	sign := b.And(b.ShiftRightLogical(x, k(int64(f.e+f.m))), k(1))
	return b.Select(b.Compare(hlo.NE, sign, k(0)), b.Neg(sig), sig)
}

// encodeHLO prints codes x of in, of up to 50 bits, as codes of f.
func (f fields) encodeHLO(b *hlo.Builder, x hlo.Value, in Fixed) hlo.Value {
	if fx, ok := f.fixed(); ok {
		return fx.EncodeHLO(b, x, in)
	}
	x = b.Convert(x, hlo.I64)
	k := func(v int64) hlo.Value { return b.Splat(x, v) }
	zero, one := k(0), k(1)
	v := b.Abs(x)
	neg := b.ShiftRightLogical(x, k(63))
	first := int64(f.step + in.F)                           // places below the step
	length := b.Sub(k(64), b.CountLeadingZeros(v))          // of the magnitude
	up := b.Max(b.Sub(length, k(first+int64(f.m)+1)), zero) // steps of the field
	q, s := cutHLO(b, v, b.Add(up, k(first)), neg)
	code := b.Add(q, b.ShiftLeft(up, k(int64(f.m))))
	s.odd = b.And(code, one)
	mag := b.Min(b.Add(code, s.goesUp(b, f.round)), k(f.most))
	top := first + int64(f.m) + 1<<f.e - 1
	mag = b.Select(b.Compare(hlo.GT, length, k(top)), k(f.most), mag)
	mag = b.Select(b.Compare(hlo.EQ, x, zero), zero, mag)
	sign := b.ShiftLeft(neg, k(int64(f.e+f.m)))
	if f.oneZero {
		sign = b.Select(b.Compare(hlo.EQ, mag, zero), zero, sign)
	}
	return b.Convert(b.Add(mag, sign), Carrier(f))
}
