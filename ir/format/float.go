// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"strconv"

	"lathe/internal/diag"
	"lathe/ir/hlo"
	"lathe/rtl"
)

// Float is float(E,M): a sign bit, a field f of E bits and a fraction k of M bits, with the value k*2^(1-bias-M) for
// f = 0 and (2^M+k)*2^(f-bias-M) for all others. Kind says which codes are no finite values. Zero has two codes, but
// one with FloatFNUZ.
type Float struct {
	E, M   int
	Kind   FloatKind
	Offset int // bias minus 2^(E-1)-1, or with FloatFNUZ 2^(E-1)
	Round  Round
	Over   Beyond
}

// FloatKind says which codes have no finite value. The numbers are those of the RTL.
type FloatKind uint8

// The kinds of floats.
const (
	FloatFinite FloatKind = iota // none
	FloatIEEE                    // the greatest field: infinity for the fraction 0, else NaN
	FloatFN                      // the code of all ones, NaN
	FloatFNUZ                    // what would be -0, NaN
)

var kindNames = [...]string{"", "ieee", "fn", "fnuz"}

// Beyond says what becomes of a rounded value beyond the greatest one. The numbers are those of the RTL.
type Beyond uint8

// The overflow rules of floats.
const (
	BeyondSat  Beyond = iota // the greatest value
	BeyondCode               // infinity with FloatIEEE, the default there; NaN with FloatFN and FloatFNUZ
)

// The floats that have names.
var (
	E4M3 = Float{E: 4, M: 3, Kind: FloatFN}
	E5M2 = Float{E: 5, M: 2, Kind: FloatIEEE}
	E3M2 = Float{E: 3, M: 2}
	E2M3 = Float{E: 2, M: 3}
	E2M1 = Float{E: 2, M: 1}
	FP16 = Float{E: 5, M: 10, Kind: FloatIEEE, Over: BeyondCode}
)

var floatNames = map[Float]string{E4M3: "e4m3", E5M2: "e5m2", E3M2: "e3m2", E2M3: "e2m3", E2M1: "e2m1", FP16: "fp16"}

// maxBias bounds the bias of floats.
const maxBias = 500

func buildFloat(c *call) (Format, error) {
	var f Float
	f.Kind = FloatKind(c.word(kindNames[FloatIEEE:]...) + 1)
	v, err := c.ints(intRange{"e", 1, 8}, intRange{"m", 0, 30})
	if err != nil {
		return nil, err
	}
	f.E, f.M = v[0], v[1]
	if f.Kind != FloatFinite && f.most() < 1 || f.Kind == FloatIEEE && f.M == 0 {
		return nil, c.fail(diag.FormatNumbers, len(c.name)+1, "%s leaves no code for a number or none for NaN",
			kindNames[f.Kind])
	}
	if f.Over, err = c.beyond(f.Kind); err != nil {
		return nil, err
	}
	bias, err := c.intOption(f.Bias(), intRange{"bias", -maxBias, maxBias})
	if err != nil {
		return nil, err
	}
	if f.Round, err = c.dialect(); err != nil {
		return nil, err
	}
	if f.Round == RoundMASE && f.Kind != FloatFinite {
		return nil, c.fail(diag.FormatOption, 1, "dialect=mase is for floats whose codes are all finite")
	}
	return f.WithBias(bias), c.noScale()
}

// beyond reads the option over of floats of a kind.
func (c *call) beyond(kind FloatKind) (Beyond, error) {
	name := [...]string{FloatFinite: "sat", FloatIEEE: "inf", FloatFN: "nan", FloatFNUZ: "nan"}[kind]
	switch over := c.option("over"); {
	case over == "" && kind == FloatIEEE, over == name && kind != FloatFinite:
		return BeyondCode, nil
	case over == "", over == "sat":
		return BeyondSat, nil
	default:
		return 0, c.fail(diag.FormatOption, 1, "over=%s: these codes have no %s", over, over).
			WithHint("inf needs ieee, nan fn or fnuz")
	}
}

// String is the canonical text: the name, or all options that are not the default.
func (f Float) String() string {
	if name, ok := floatNames[f]; ok {
		return name
	}
	s := fmt.Sprintf("float(%d,%d", f.E, f.M)
	if f.Kind != FloatFinite {
		s += "," + kindNames[f.Kind]
	}
	s += biasText(f.Offset, f.Bias()) + optionText(f.Round, Sat)
	switch {
	case f.Kind == FloatIEEE && f.Over == BeyondSat:
		s += ",over=sat"
	case f.Kind != FloatIEEE && f.Over == BeyondCode:
		s += ",over=nan"
	}
	return s + ")"
}

// biasText prints the option bias where it is not the default.
func biasText(offset, bias int) string {
	if offset == 0 {
		return ""
	}
	return ",bias=" + strconv.Itoa(bias)
}

// Width is 1+E+M.
func (f Float) Width() int { return 1 + f.E + f.M }

// CodeSet is f with rounding to even and saturation.
func (f Float) CodeSet() Format {
	f.Round, f.Over = RoundEven, BeyondSat
	return f
}

// Bias is what fields exceed exponents by.
func (f Float) Bias() int {
	b := 1<<(f.E-1) - 1 + f.Offset
	if f.Kind == FloatFNUZ {
		b++
	}
	return b
}

// WithBias is f with the given bias.
func (f Float) WithBias(bias int) Float {
	f.Offset += bias - f.Bias()
	return f
}

// low is the exponent of the least normal value.
func (f Float) low() int { return 1 - f.Bias() }

// sign is the sign bit.
func (f Float) sign() int64 { return 1 << (f.E + f.M) }

// most is the greatest code of finite positive values.
func (f Float) most() int64 {
	switch f.Kind {
	case FloatIEEE:
		return f.sign() - 1<<f.M - 1
	case FloatFN:
		return f.sign() - 2
	}
	return f.sign() - 1
}

// nan is the canonical code of NaN, 0 where there is none.
func (f Float) nan() int64 {
	switch f.Kind {
	case FloatIEEE:
		return f.most() + 1 + 1<<(f.M-1)
	case FloatFN:
		return f.sign() - 1
	case FloatFNUZ:
		return f.sign()
	}
	return 0
}

// beyond is the code of a value beyond the greatest one with the given sign bit.
func (f Float) beyond(sign int64) int64 {
	switch {
	case f.Over == BeyondSat:
		return sign | f.most()
	case f.Kind == FloatIEEE:
		return sign | (f.most() + 1)
	}
	return f.nan()
}

// Lattice counts in the least code.
func (f Float) Lattice() (exp int, bits int, ok bool) {
	bits = f.M + int(f.most()>>f.M) + 1
	return f.low() - f.M, bits, bits <= 63
}

// Limits are the values of the greatest finite codes of either sign.
func (f Float) Limits() (lo, hi Exact) {
	hi = f.Decode(f.most())
	return hi.Neg(), hi
}

// Decode is the value of a code, -0 included.
func (f Float) Decode(code int64) Exact {
	neg, code := code&f.sign() != 0, code&(f.sign()-1)
	switch {
	case f.Kind == FloatIEEE && code == f.most()+1:
		return Inf(neg)
	case code > f.most(), f.Kind == FloatFNUZ && neg && code == 0:
		return NaN()
	}
	field, sig := code>>f.M, code&(1<<f.M-1)
	if field > 0 {
		sig |= 1 << f.M
		field--
	}
	return pack(neg, uint64(sig), int(field)+f.low()-f.M)
}

// Encode rounds to a code as if there were no greatest one, and then applies the overflow rule; NaN gives the canonical
// NaN, or 0. A zero keeps its sign where it has two codes.
func (f Float) Encode(v Exact) int64 { return f.stochastic(v, 0) }

func (f Float) rounding() Round { return f.Round }

// stochastic is Encode with a random word.
func (f Float) stochastic(v Exact, word uint32) int64 {
	sign := int64(0)
	if v.Signbit() {
		sign = f.sign()
	}
	switch {
	case v.IsNaN():
		return f.nan()
	case v.IsInf():
		return f.beyond(sign)
	case v.IsZero() && f.Kind != FloatFNUZ:
		return sign
	case v.IsZero():
		return 0
	}
	code := f.magnitude(v, word)
	switch {
	case code > f.most():
		return f.beyond(sign)
	case code == 0 && f.Kind == FloatFNUZ:
		return 0
	}
	return sign | code
}

// magnitude is the code of |v|, not 0, as if there were no greatest one. Codes ascend with values: the one below is the
// significand, to M+1 bits, plus 2^M for every step of its exponent above the least.
func (f Float) magnitude(v Exact, word uint32) int64 {
	up := max(v.Log2()-f.low(), 0)
	if up > 1<<f.E {
		return f.sign()
	}
	mag, exp := v.significand()
	q := cut(mag, f.low()-f.M+up-exp)
	code := int64(q.whole) + int64(up)<<f.M
	last := int64(1)<<f.M - 1 // of the codes of an exponent
	if q.goesUp(f.Round, code&1 != 0, v.neg, word) && (f.Round != RoundMASE || code&last != last) {
		code++
	}
	return code
}

// DecodeHLO shifts significands by their fields.
func (f Float) DecodeHLO(b *hlo.Builder, x hlo.Value, out Fixed) hlo.Value {
	exp, bits, _ := f.Lattice()
	x = b.Convert(x, hlo.I64)
	k := func(v int64) hlo.Value { return b.Splat(x, v) }
	zero, mag := k(0), b.And(x, k(f.sign()-1))
	field := b.ShiftRightLogical(mag, k(int64(f.M)))
	normal := b.Min(field, k(1))
	sig := b.Add(b.And(x, k(1<<f.M-1)), b.ShiftLeft(normal, k(int64(f.M))))
	v := b.ShiftLeft(sig, b.Sub(field, normal))
	if f.most() != f.sign()-1 {
		v = b.Select(b.Compare(hlo.GT, mag, k(f.most())), zero, v)
	}
	minus := b.Compare(hlo.NE, b.And(x, k(f.sign())), zero)
	y := requantHLO(b, b.Select(minus, b.Neg(v), v), exp, bits, out)
	if f.Kind != FloatIEEE {
		return y
	}
	ends := b.Select(minus, b.Splat(y, out.Min()), b.Splat(y, out.Max()))
	return b.Select(b.Compare(hlo.EQ, mag, k(f.most()+1)), ends, y)
}

// EncodeHLO finds the place of the leading one, cuts there and rounds.
func (f Float) EncodeHLO(b *hlo.Builder, x hlo.Value, in Fixed) hlo.Value {
	x = b.Convert(x, hlo.I64)
	k := func(v int64) hlo.Value { return b.Splat(x, v) }
	neg := b.ShiftRightLogical(x, k(63))
	code := f.magnitudeHLO(b, b.Abs(x), neg, in)
	minus, signed := b.Compare(hlo.NE, neg, k(0)), b.Add(code, b.ShiftLeft(neg, k(int64(f.E+f.M))))
	if f.Kind == FloatFNUZ {
		signed = b.Select(b.Compare(hlo.EQ, code, k(0)), code, signed)
	}
	ends := b.Select(minus, k(f.beyond(f.sign())), k(f.beyond(0)))
	return b.Convert(b.Select(b.Compare(hlo.GT, code, k(f.most())), ends, signed), Carrier(f))
}

// magnitudeHLO prints magnitude, and 0 for 0.
func (f Float) magnitudeHLO(b *hlo.Builder, v, neg hlo.Value, in Fixed) hlo.Value {
	k := func(c int64) hlo.Value { return b.Splat(v, c) }
	zero := k(0)
	first := int64(f.low() - f.M + in.F)                  // places below the step of the least codes
	bits := b.Sub(k(64), b.CountLeadingZeros(v))          // of v
	up := b.Max(b.Sub(bits, k(first+int64(f.M)+1)), zero) // exponents above the least
	q, step := cutHLO(b, v, b.Add(up, k(first)), neg)
	code := b.Add(q, b.ShiftLeft(up, k(int64(f.M))))
	step.odd = b.And(code, k(1))
	bump := step.goesUp(b, f.Round)
	if last := int64(1)<<f.M - 1; f.Round == RoundMASE {
		bump = b.Select(b.Compare(hlo.EQ, b.And(code, k(last)), k(last)), zero, bump)
	}
	return b.Select(b.Compare(hlo.EQ, v, zero), zero, b.Add(code, bump))
}

// DecodeRTL is num_float_dec.
func (f Float) DecodeRTL(out Fixed, s Stream) *rtl.Unit {
	exp, _, _ := f.Lattice()
	return rtl.NewUnit("num_float_dec", "LANES", s.Lanes, "E", f.E, "M", f.M, "KIND", int(f.Kind), "SHIFT", -out.F-exp,
		"OUT_W", out.W, "OUT_SIGNED", rtl.Flag(out.Signed), "ROUND", int(out.Round), "OVER", int(out.Over), "BEATS", s.Beats)
}

// EncodeRTL is num_float_enc.
func (f Float) EncodeRTL(in Fixed, s Stream) *rtl.Unit { return f.encoder(in, s, f.Kind != FloatFNUZ) }

// encoder is num_float_enc, with two codes of zero or with one.
func (f Float) encoder(in Fixed, s Stream, negZero bool) *rtl.Unit {
	return rtl.NewUnit("num_float_enc", "LANES", s.Lanes, "IN_W", in.W, "IN_SIGNED", rtl.Flag(in.Signed), "E", f.E,
		"M", f.M, "KIND", int(f.Kind), "SHIFT", f.low()-f.M+in.F, "NEG_ZERO", rtl.Flag(negZero), "ROUND", int(f.Round),
		"OVER", int(f.Over), "BEATS", s.Beats)
}

// KernelType is float_code, which knows no dialects.
func (f Float) KernelType() string {
	if f.Round == RoundMASE {
		return ""
	}
	kind := [...]string{"FINITE", "IEEE", "FN", "FNUZ"}[f.Kind]
	over := "SAT"
	if f.Over == BeyondCode {
		over = [...]string{FloatIEEE: "TO_INF", FloatFN: "TO_NAN", FloatFNUZ: "TO_NAN"}[f.Kind]
	}
	return fmt.Sprintf("float_code<%d, %d, %d, %s, %s, %s>", f.E, f.M, f.Bias(), kind, f.Round.kernel(), over)
}

// Finer is f with a bias that is greater by so many.
func (f Float) Finer(bits int) Format {
	f.Offset += bits
	return f
}

func (f Float) offset() int { return f.Offset }
