// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"math/big"
	"math/bits"
	"strconv"

	"lathe/rtl"
)

// Div says how an affine format divides by its scale.
type Div uint8

// The divisions: DivF32 rounds the quotient to float32 before it is rounded to a code, as ONNX runtimes do.
const (
	DivExact Div = iota
	DivF32
)

var divNames = [...]string{"exact", "f32"}

// PerTensor is the Axis of an affine format with one scale, written in its text.
const PerTensor = -1

// Affine is int(W,z=Z)*S or uint(W,z=Z)*S: an integer q of W bits with value (q-Z)*S. With Axis >= 0, written
// "[axis]" or "[axis:group]", the scales travel beside the codes, one per index (or group of indices) of that axis.
type Affine struct {
	W      int
	Zero   int64
	Signed bool
	Scale  float32 // positive; 0 where Axis >= 0
	Axis   int     // PerTensor or an axis
	Group  int     // indices of Axis that share a scale; 0 where there is no group
	Round  Round
	Over   Over
	Div    Div
}

// String is the canonical text.
func (a Affine) String() string {
	name := "uint("
	if a.Signed {
		name = "int("
	}
	s := name + strconv.Itoa(a.W)
	if a.Zero != 0 {
		s += ",z=" + strconv.FormatInt(a.Zero, 10)
	}
	s += optionText(a.Round, a.Over)
	if a.Div != DivExact {
		s += ",div=" + divNames[a.Div]
	}
	s += ")*"
	switch {
	case a.Axis < 0:
		return s + strconv.FormatFloat(float64(a.Scale), 'g', -1, 32)
	case a.Group > 0:
		return s + "[" + strconv.Itoa(a.Axis) + ":" + strconv.Itoa(a.Group) + "]"
	}
	return s + "[" + strconv.Itoa(a.Axis) + "]"
}

// Width is W.
func (a Affine) Width() int { return a.W }

// CodeSet is a with rounding to even, saturation and exact division.
func (a Affine) CodeSet() Format {
	a.Round, a.Over, a.Div = RoundEven, Sat, DivExact
	return a
}

// Integers is the integer format of the codes q, without zero point and scale.
func (a Affine) Integers() Fixed {
	return Fixed{W: a.W, Signed: a.Signed, Round: a.Round, Over: a.Over}
}

// scale is the scale of the text, 1 where the scales travel beside the codes.
func (a Affine) scale() float32 {
	if a.Axis >= 0 {
		return 1
	}
	return a.Scale
}

// Lattice counts in units of the lowest bit of S: k = (q-Z)*significand(S). A "[axis]" format has none.
func (a Affine) Lattice() (exp int, bitCount int, ok bool) {
	if a.Axis >= 0 {
		return 0, 0, false
	}
	bare := Fixed{W: a.W, Signed: a.Signed}
	sig, exp := FromFloat32(a.Scale).Int()
	lo := new(big.Int).Mul(big.NewInt(bare.Min()-a.Zero), sig)
	hi := new(big.Int).Mul(big.NewInt(bare.Max()-a.Zero), sig)
	bitCount = max(lo.BitLen(), hi.BitLen())
	if lo.Sign() < 0 {
		bitCount = SignedBits(lo, hi)
	}
	return exp, bitCount, bitCount <= 63
}

// Limits are the values of the extreme codes.
func (a Affine) Limits() (lo, hi Exact) {
	return a.Decode(a.Integers().Min()), a.Decode(a.Integers().Max())
}

// Decode is (code-Z)*S; with "[axis]" scales S = 1.
func (a Affine) Decode(code int64) Exact { return a.DecodeScaled(code, a.scale(), a.Zero) }

// Encode rounds v/S once, adds Z and applies the overflow rule; with "[axis]" scales S = 1. NaN counts as 0.
func (a Affine) Encode(v Exact) int64 { return a.EncodeScaled(v, a.scale(), a.Zero) }

// DecodeScaled is (code-zero)*scale.
func (a Affine) DecodeScaled(code int64, scale float32, zero int64) Exact {
	q := a.Integers().low(code) - zero
	if q == 0 {
		return Exact{}
	}
	return FromInt(q, 0).Mul(FromFloat32(scale))
}

// EncodeScaled rounds v/scale once to an integer, adds zero and applies the overflow rule. NaN counts as 0;
// infinities give the extreme codes. A scale that is 0, infinite or NaN gives the code of zero.
func (a Affine) EncodeScaled(v Exact, scale float32, zero int64) int64 {
	s := FromFloat32(scale)
	if v.IsNaN() || s.IsZero() || !s.IsFinite() {
		v, s = Exact{}, FromInt(1, 0)
	}
	if a.Div == DivF32 {
		v, s = quoF32(v, s), FromInt(1, 0)
	}
	if v.IsInf() {
		return a.Integers().extreme(v.neg != s.neg)
	}
	if q, ok := quoSmall(v, s, a.Round); ok {
		return a.Integers().over(q + zero)
	}
	num, den := ratio(v, s)
	return a.finish(RoundQuo(num, den, a.Round), zero)
}

// EncodeStochastic is EncodeScaled with stochastic rounding by the random word: floor(v/scale + word/2^32).
func (a Affine) EncodeStochastic(v Exact, scale float32, zero int64, word uint32) int64 {
	s := FromFloat32(scale)
	if !v.IsFinite() || s.IsZero() || !s.IsFinite() {
		return a.EncodeScaled(v, scale, zero)
	}
	if a.Div == DivF32 {
		if v, s = quoF32(v, s), FromInt(1, 0); v.IsInf() {
			return a.Integers().extreme(v.neg)
		}
	}
	num, den := ratio(v, s)
	add := new(big.Int).Mul(den, big.NewInt(int64(word)))
	num.Add(num.Lsh(num, 32), add)
	return a.finish(RoundQuo(num, new(big.Int).Lsh(den, 32), RoundFloor), zero)
}

// finish adds the zero point to a rounded quotient of any size and applies the overflow rule.
func (a Affine) finish(q *big.Int, zero int64) int64 {
	return a.Integers().RequantBig(q.Add(q, big.NewInt(zero)), 0)
}

// quoF32 is v/s rounded to float32.
func quoF32(v, s Exact) Exact {
	if f := v.Float32(); FromFloat32(f) == v {
		return FromFloat32(f / s.Float32())
	}
	return FromFloat32(v.Quo(s).Float32())
}

// quoSmall is v/s rounded to an integer below 2^61, where numerator and denominator fit 61 bits.
func quoSmall(v, s Exact, r Round) (int64, bool) {
	if v.wide != nil || v.mag == 0 {
		return 0, v.wide == nil
	}
	num, den := v.mag, s.mag // s is a float32: 24 bits
	if d := v.exp - s.exp; d >= 0 {
		if bits.Len64(num)+d > 61 {
			return 0, false
		}
		num <<= d
	} else {
		if bits.Len64(den)-d > 61 || bits.Len64(num) > 61 {
			return 0, false
		}
		den <<= -d
	}
	neg := v.neg != s.neg
	q, rem := int64(num/den), num%den
	if neg { // floor division of a negative number
		q = -q
		if rem != 0 {
			q, rem = q-1, den-rem
		}
	}
	if r.increment(q&1 != 0, neg, cmpUint(2*rem, den), rem == 0) {
		q++
	}
	return q, true
}

// ratio gives v/s as integers num/den with den > 0; both new.
func ratio(v, s Exact) (num, den *big.Int) {
	num, e := v.Int()
	den, se := s.Int()
	if d := e - se; d >= 0 {
		num.Lsh(num, uint(d))
	} else {
		den.Lsh(den, uint(-d))
	}
	if den.Sign() < 0 {
		num.Neg(num)
		den.Neg(den)
	}
	return num, den
}

// asFixed is the power-of-two case of AsFixed.
func (a Affine) asFixed() (Fixed, bool) {
	e, ok := Log2(a.Scale)
	if !ok || a.Axis >= 0 || a.Div != DivExact {
		return Fixed{}, false
	}
	return a.CodesAt(e)
}

// CodesAt is the integers in steps of 2^exp, where the zero point is 0.
func (a Affine) CodesAt(exp int) (Fixed, bool) {
	f := a.Integers()
	f.F = -exp
	return f, a.Zero == 0 && a.Div != DivF32
}

func (a Affine) integers() (Integers, bool) {
	return Integers{a.Integers(), a.Zero, FromFloat32(a.Scale)}, a.Axis < 0
}

func (a Affine) withoutZero() (Format, bool) {
	v, ok := a.integers()
	if !ok || a.Zero == 0 {
		return nil, false
	}
	lo, _ := v.Span()
	f := Affine{W: v.Bits(), Signed: lo < 0, Scale: a.Scale, Axis: PerTensor}
	if !f.Signed {
		f.W--
	}
	return f, true
}

// Floats writes the values of codes, rounded half-even to 53 bits. It writes nothing, and says false, where scales
// travel beside them, and where a difference may have more than 53 bits.
func (a Affine) Floats(codes []int64, out []float64) bool {
	const widest = 1 << 50
	if a.Axis >= 0 || a.Zero > widest || a.Zero < -widest {
		return false
	}
	f, by := a.Integers(), float64(a.Scale)
	for i, c := range codes {
		out[i] = float64(f.low(c)-a.Zero) * by
	}
	return true
}

func (a Affine) signedCodes() bool { return a.Signed }

func (a Affine) rounding() Round { return a.Round }

func (a Affine) stochastic(v Exact, word uint32) int64 {
	return a.EncodeStochastic(v, a.scale(), a.Zero, word)
}

// ScaleAxis is Axis and Group of "[axis]" scales.
func (a Affine) ScaleAxis() (axis, group int, ok bool) { return a.Axis, a.Group, a.Axis >= 0 }

// Factor is Scale and Zero.
func (a Affine) Factor() (scale float32, zero int64) { return a.Scale, a.Zero }

func (a Affine) withScaleAxis(axis int) Format {
	if a.Axis >= 0 {
		a.Axis = axis
	}
	return a
}

func (a Affine) withExactQuotients() Format {
	a.Div = DivExact
	return a
}

// DecodeAt is DecodeScaled with the zero point of the text.
func (a Affine) DecodeAt(code int64, scale float32) Exact { return a.DecodeScaled(code, scale, a.Zero) }

// EncodeAt is EncodeScaled with the zero point of the text.
func (a Affine) EncodeAt(v Exact, scale float32) int64 { return a.EncodeScaled(v, scale, a.Zero) }

// Log2 is the exponent of a positive power of two; ok is false for any other number.
func Log2(s float32) (exp int, ok bool) {
	x := FromFloat32(s)
	if !x.IsFinite() || x.neg || x.mag != 1 {
		return 0, false
	}
	return x.exp, true
}

// KernelType is affine_code, which takes scale and zero point beside the codes.
func (a Affine) KernelType() string {
	return fmt.Sprintf("affine_code<%d, %d, %s, %s, %d>", a.W, rtl.Flag(a.Signed), a.Round.kernel(), a.Over.kernel(),
		rtl.Flag(a.Div == DivF32))
}

func (a Affine) withRules(change func(*Round, *Over)) Format {
	over := a.Over
	if change(&a.Round, &a.Over); a.W == 1 { // symmetric saturation would leave one code
		a.Over = over
	}
	return a
}
