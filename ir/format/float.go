// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"

	"lathe/ir/hlo"
	"lathe/rtl"
)

// Float is float(E,M): a sign bit, a field f of E bits and a fraction k of M bits, with the value k*2^(1-bias-M) for
// f = 0 and (2^M+k)*2^(f-bias-M) for all others, bias 2^(E-1)-1. All codes are finite; zero has two.
type Float struct{ E, M int }

// later are the options of floats and logarithms that are known and have no meaning yet.
var later = []string{"ieee", "fn", "fnuz", "bias", "round", "over", "dialect"}

func buildFloat(c *call) (Format, error) {
	v, err := c.ints(intRange{"e", 1, 8}, intRange{"m", 0, 30})
	if err != nil {
		return nil, err
	}
	return Float{v[0], v[1]}, c.noScale()
}

// String is the canonical text.
func (f Float) String() string { return fmt.Sprintf("float(%d,%d)", f.E, f.M) }

// Width is 1+E+M.
func (f Float) Width() int { return 1 + f.E + f.M }

// CodeSet is f.
func (f Float) CodeSet() Format { return f }

// low is the exponent of the least normal value: 1-bias.
func (f Float) low() int { return 2 - 1<<(f.E-1) }

// most is the greatest code of positive values.
func (f Float) most() int64 { return 1<<(f.E+f.M) - 1 }

// Lattice counts in the least code.
func (f Float) Lattice() (exp int, bits int, ok bool) {
	bits = f.M + 1<<f.E
	return f.low() - f.M, bits, bits <= 63
}

// Limits are the values of the greatest codes of either sign.
func (f Float) Limits() (lo, hi Exact) {
	hi = f.Decode(f.most())
	return hi.Neg(), hi
}

// Decode is the value of a code, -0 included.
func (f Float) Decode(code int64) Exact {
	field, sig := code>>f.M&(1<<f.E-1), code&(1<<f.M-1)
	if field > 0 {
		sig |= 1 << f.M
		field--
	}
	v := FromInt(sig, int(field)+f.low()-f.M)
	if code>>(f.E+f.M)&1 != 0 {
		return v.Neg()
	}
	return v
}

// Encode rounds to the nearest value, ties to the even code, and saturates; NaN gives 0. A zero keeps its sign.
func (f Float) Encode(v Exact) int64 {
	if v.IsNaN() {
		return 0
	}
	code := f.magnitude(v.Abs())
	if v.Signbit() {
		code |= 1 << (f.E + f.M)
	}
	return code
}

// magnitude is the code of v >= 0. Codes ascend with values: the one below v is its significand, to M+1 bits, plus 2^M
// for every step of its exponent above the least.
func (f Float) magnitude(v Exact) int64 {
	if v.IsInf() || v.Log2() > f.low()+1<<f.E {
		return f.most()
	}
	up := max(v.Log2()-f.low(), 0)
	if v.IsZero() {
		up = 0
	}
	unit := f.low() - f.M + up
	below := v.RoundTo(unit, RoundFloor)
	q, _ := below.Int64(unit)
	code := q + int64(up)<<f.M
	if c := v.Sub(below).Cmp(FromInt(1, unit-1)); c > 0 || c == 0 && code&1 != 0 {
		code++
	}
	return min(code, f.most())
}

// DecodeHLO shifts significands by their fields.
func (f Float) DecodeHLO(b *hlo.Builder, x hlo.Value, out Fixed) hlo.Value {
	exp, bits, _ := f.Lattice()
	x = b.Convert(x, hlo.I64)
	k := func(v int64) hlo.Value { return b.Splat(x, v) }
	zero := k(0)
	field := b.And(b.ShiftRightLogical(x, k(int64(f.M))), k(1<<f.E-1))
	normal := b.Min(field, k(1))
	sig := b.Add(b.And(x, k(1<<f.M-1)), b.ShiftLeft(normal, k(int64(f.M))))
	v := b.ShiftLeft(sig, b.Sub(field, normal))
	sign := b.And(b.ShiftRightLogical(x, k(int64(f.E+f.M))), k(1))
	return requantHLO(b, b.Select(b.Compare(hlo.NE, sign, zero), b.Neg(v), v), exp, bits, out)
}

// EncodeHLO finds the place of the leading one, cuts there and rounds.
func (f Float) EncodeHLO(b *hlo.Builder, x hlo.Value, in Fixed) hlo.Value {
	x = b.Convert(x, hlo.I64)
	minus := b.Compare(hlo.LT, x, b.Splat(x, 0))
	code := f.magnitudeHLO(b, b.Abs(x), in)
	return b.Convert(b.Select(minus, b.Add(code, b.Splat(code, 1<<(f.E+f.M))), code), Carrier(f))
}

func (f Float) magnitudeHLO(b *hlo.Builder, v hlo.Value, in Fixed) hlo.Value {
	k := func(c int64) hlo.Value { return b.Splat(v, c) }
	zero, one := k(0), k(1)
	first := int64(f.low() - f.M + in.F)                            // places below the step of the least codes
	bits := b.Sub(k(64), b.CountLeadingZeros(v))                    // of v
	up := b.Max(b.Sub(bits, k(first+int64(f.M)+1)), zero)           // exponents above the least
	by := b.Add(up, k(first))                                       // places to the right, to the left where negative
	right, left := b.Clamp(zero, by, k(62)), b.Max(b.Neg(by), zero) // beyond 62 nothing is left either
	q := b.ShiftLeft(b.ShiftRightArith(v, right), left)
	code := b.Add(q, b.ShiftLeft(up, k(int64(f.M))))
	rest := b.Sub(v, b.ShiftLeft(b.ShiftRightArith(v, right), right))
	half := b.ShiftRightLogical(b.ShiftLeft(one, right), one) // 0 where nothing is cut off
	odd := b.And(code, one)
	// Up from beyond one half, and from one half at odd codes: rest + odd > half.
	bump := b.And(b.Min(b.Max(b.Sub(b.Add(rest, odd), half), zero), one), b.Min(right, one))
	return b.Select(b.Compare(hlo.EQ, v, zero), zero, b.Min(b.Add(code, bump), k(f.most())))
}

// DecodeRTL is num_float_dec.
func (f Float) DecodeRTL(out Fixed, s Stream) *rtl.Unit {
	exp, _, _ := f.Lattice()
	return rtl.NewUnit("num_float_dec", "LANES", s.Lanes, "E", f.E, "M", f.M, "SHIFT", -out.F-exp, "OUT_W", out.W,
		"OUT_SIGNED", rtl.Flag(out.Signed), "ROUND", int(out.Round), "OVER", int(out.Over), "BEATS", s.Beats)
}

// EncodeRTL is num_float_enc.
func (f Float) EncodeRTL(in Fixed, s Stream) *rtl.Unit { return f.encoder(in, s, true) }

// encoder is num_float_enc, with two codes of zero or with one.
func (f Float) encoder(in Fixed, s Stream, negZero bool) *rtl.Unit {
	return rtl.NewUnit("num_float_enc", "LANES", s.Lanes, "IN_W", in.W, "IN_SIGNED", rtl.Flag(in.Signed), "E", f.E,
		"M", f.M, "SHIFT", f.low()-f.M+in.F, "NEG_ZERO", rtl.Flag(negZero), "BEATS", s.Beats)
}
