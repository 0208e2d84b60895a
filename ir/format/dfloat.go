// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"

	"lathe/ir/hlo"
	"lathe/rtl"
)

// DFloat is dfloat(E,M): a float without a hidden bit. The value of a sign bit, a field f of E bits and a significand k
// of M bits is k*2^(f-bias-M), so that several codes have one value. Encode takes the least field.
type DFloat struct {
	E, M   int
	Offset int // bias minus 2^(E-1)-1
	Round  Round
}

func buildDFloat(c *call) (Format, error) {
	v, err := c.ints(intRange{"e", 1, 8}, intRange{"m", 2, 30})
	if err != nil {
		return nil, err
	}
	d := DFloat{E: v[0], M: v[1]}
	if d.Round, err = c.dialect(); err != nil {
		return nil, err
	}
	usual := d.Bias()
	bias, err := c.intOption(usual, intRange{"bias", -maxBias, maxBias})
	if err != nil {
		return nil, err
	}
	d.Offset = bias - usual
	return d, c.noScale()
}

// String is the canonical text.
func (d DFloat) String() string {
	return fmt.Sprintf("dfloat(%d,%d", d.E, d.M) + biasText(d.Offset, d.Bias()) + optionText(d.Round, Sat) + ")"
}

// Width is 1+E+M.
func (d DFloat) Width() int { return 1 + d.E + d.M }

// CodeSet is d with rounding to even.
func (d DFloat) CodeSet() Format {
	d.Round = RoundEven
	return d
}

// Bias is what fields exceed exponents by.
func (d DFloat) Bias() int { return 1<<(d.E-1) - 1 + d.Offset }

// low is the exponent of the step of field 0.
func (d DFloat) low() int { return -d.Bias() - d.M }

// most is the greatest code of positive values.
func (d DFloat) most() int64 { return 1<<(d.E+d.M) - 1 }

// Lattice counts in steps of field 0.
func (d DFloat) Lattice() (exp int, bits int, ok bool) {
	bits = d.M + 1<<d.E
	return d.low(), bits, bits <= 63
}

// Limits are the values of the greatest codes of either sign.
func (d DFloat) Limits() (lo, hi Exact) {
	hi = d.Decode(d.most())
	return hi.Neg(), hi
}

// Decode is the value of a code, -0 included.
func (d DFloat) Decode(code int64) Exact {
	v := FromInt(code&(1<<d.M-1), int(code>>d.M&(1<<d.E-1))+d.low())
	if code>>(d.E+d.M)&1 != 0 {
		return v.Neg()
	}
	return v
}

// Encode rounds as if there were no greatest field, ties to the even significand, and saturates; NaN gives 0. A zero
// keeps its sign.
func (d DFloat) Encode(v Exact) int64 { return d.stochastic(v, 0) }

func (d DFloat) rounding() Round { return d.Round }

// stochastic is Encode with a random word.
func (d DFloat) stochastic(v Exact, word uint32) int64 {
	if v.IsNaN() {
		return 0
	}
	code := d.magnitude(v, word)
	if v.Signbit() {
		code |= 1 << (d.E + d.M)
	}
	return code
}

// magnitude is the code of |v|.
func (d DFloat) magnitude(v Exact, word uint32) int64 {
	if v.IsZero() {
		return 0
	}
	if v.IsInf() || v.Log2() > d.low()+d.M+1<<d.E {
		return d.most()
	}
	field := max(v.Log2()-d.low()-d.M+1, 0)
	mag, exp := v.significand()
	f := cut(mag, d.low()+field-exp)
	q := int64(f.whole)
	mase, exact := d.Round == RoundMASE, f.frac == 0 && !f.rest
	switch {
	case mase && exact && q == 1<<(d.M-1) && field > 0: // a power of two is the greatest value of the field below
		return min(int64(field)<<d.M-1, d.most())
	case f.goesUp(d.Round, q&1 != 0, v.neg, word) && !(mase && q == 1<<d.M-1):
		q++
	}
	if q>>d.M != 0 {
		q, field = q>>1, field+1
	}
	return min(int64(field)<<d.M+q, d.most())
}

// DecodeHLO shifts significands by their fields.
func (d DFloat) DecodeHLO(b *hlo.Builder, x hlo.Value, out Fixed) hlo.Value {
	exp, bits, _ := d.Lattice()
	x = b.Convert(x, hlo.I64)
	k := func(v int64) hlo.Value { return b.Splat(x, v) }
	field := b.And(b.ShiftRightLogical(x, k(int64(d.M))), k(1<<d.E-1))
	v := b.ShiftLeft(b.And(x, k(1<<d.M-1)), field)
	sign := b.And(b.ShiftRightLogical(x, k(int64(d.E+d.M))), k(1))
	return requantHLO(b, b.Select(b.Compare(hlo.NE, sign, k(0)), b.Neg(v), v), exp, bits, out)
}

// EncodeHLO finds the place of the leading one, rounds M bits below it, and moves on where they overflow.
func (d DFloat) EncodeHLO(b *hlo.Builder, x hlo.Value, in Fixed) hlo.Value {
	x = b.Convert(x, hlo.I64)
	k := func(c int64) hlo.Value { return b.Splat(x, c) }
	zero, m := k(0), k(int64(d.M))
	first := int64(d.low() + in.F) // places below the step of field 0
	v, neg := b.Abs(x), b.ShiftRightLogical(x, k(63))
	bits := b.Sub(k(64), b.CountLeadingZeros(v))
	field := b.Max(b.Sub(bits, k(first+int64(d.M))), zero)
	q, step := cutHLO(b, v, b.Add(field, k(first)), neg)
	bump := step.goesUp(b, d.Round)
	if last := k(1<<d.M - 1); d.Round == RoundMASE { // and a power of two is the greatest value of the field below
		bump = b.Select(b.Compare(hlo.EQ, q, last), zero, bump)
		power := b.And(b.Compare(hlo.EQ, q, k(1<<(d.M-1))), b.Compare(hlo.EQ, step.rest, zero))
		power = b.And(power, b.Compare(hlo.GT, field, zero))
		bump, field = b.Select(power, b.Sub(last, q), bump), b.Select(power, b.Sub(field, k(1)), field)
	}
	q = b.Add(q, bump)
	carry := b.ShiftRightLogical(q, m)
	code := b.Add(b.ShiftLeft(b.Add(field, carry), m), b.ShiftRightLogical(q, carry))
	code = b.Select(b.Compare(hlo.EQ, v, zero), zero, b.Min(code, k(d.most())))
	return b.Convert(b.Add(code, b.ShiftLeft(neg, k(int64(d.E+d.M)))), Carrier(d))
}

// DecodeRTL is num_float_dec without a hidden bit.
func (d DFloat) DecodeRTL(out Fixed, s Stream) *rtl.Unit {
	exp, _, _ := d.Lattice()
	return rtl.NewUnit("num_float_dec", "LANES", s.Lanes, "E", d.E, "M", d.M, "HIDDEN", 0, "SHIFT", -out.F-exp,
		"OUT_W", out.W, "OUT_SIGNED", rtl.Flag(out.Signed), "ROUND", int(out.Round), "OVER", int(out.Over), "BEATS", s.Beats)
}

// EncodeRTL is num_float_enc without a hidden bit.
func (d DFloat) EncodeRTL(in Fixed, s Stream) *rtl.Unit {
	return rtl.NewUnit("num_float_enc", "LANES", s.Lanes, "IN_W", in.W, "IN_SIGNED", rtl.Flag(in.Signed), "E", d.E,
		"M", d.M, "HIDDEN", 0, "SHIFT", d.low()+in.F, "NEG_ZERO", 1, "ROUND", int(d.Round), "BEATS", s.Beats)
}

// KernelType is dfloat_code, which knows no dialects.
func (d DFloat) KernelType() string {
	if d.Round == RoundMASE {
		return ""
	}
	return fmt.Sprintf("dfloat_code<%d, %d, %d, %s>", d.E, d.M, d.Bias(), d.Round.kernel())
}

// Finer is d with a bias that is greater by so many.
func (d DFloat) Finer(bits int) Format {
	d.Offset += bits
	return d
}

func (d DFloat) offset() int { return d.Offset }
