// SPDX-License-Identifier: Apache-2.0

package format

import (
	"math/big"
	"math/bits"
)

// The questions that others have for a format, beyond what every format answers. Each is an interface of its own, so
// that a format answers in its file those that concern it, and nobody asks which format it is. Most stand here; those
// of one subject stand with it: Fitted (scales of channels), Biased (patterns), fitter (training), fastBlock (blocks of
// float64).

// Integers is a format seen as integers: the code q has the value (q-Zero)*Step.
type Integers struct {
	Codes Fixed // the codes as numbers, F = 0, with rounding and overflow
	Zero  int64
	Step  Exact
}

// Span is the range of q-Zero over all codes, those included that encoding never returns.
func (v Integers) Span() (lo, hi int64) {
	all := Fixed{W: v.Codes.W, Signed: v.Codes.Signed}
	return all.Min() - v.Zero, all.Max() - v.Zero
}

// Bits is the width of a two's complement number that holds every code without its zero point.
func (v Integers) Bits() int {
	lo, hi := v.Span()
	return SignedBits(big.NewInt(lo), big.NewInt(hi))
}

// Of is code, sign-extended, minus the zero point.
func (v Integers) Of(code int64) int64 { return v.Codes.low(code) - v.Zero }

// IntegersOf is the view of formats whose codes are integers with one step; ok is false for all others.
func IntegersOf(f Format) (v Integers, ok bool) {
	if i, is := f.(interface{ integers() (Integers, bool) }); is {
		return i.integers()
	}
	return Integers{}, false
}

// WithoutZero is the format of the same scale, without a zero point, that holds every code of f minus its own; ok is
// false where f has none.
func WithoutZero(f Format) (g Format, ok bool) {
	if z, is := f.(interface{ withoutZero() (Format, bool) }); is {
		return z.withoutZero()
	}
	return nil, false
}

// Product is the format that holds every sum of so many products of values of f and g, in steps of both scales'
// product, rounded to float32. It is false where both scales are powers of two, so that a fixed format holds the sums,
// where a format has a zero point, and where sums have more than 63 bits.
func Product(f, g Format, terms int) (Format, bool) {
	a, ok := IntegersOf(f)
	b, also := IntegersOf(g)
	if !ok || !also || a.Zero != 0 || b.Zero != 0 || IsFixed(f) && IsFixed(g) {
		return nil, false
	}
	scale, _ := new(big.Rat).Mul(a.Step.Rat(), b.Step.Rat()).Float32()
	w := a.Codes.W + b.Codes.W + bits.Len(uint(terms))
	return Affine{W: w, Signed: true, Scale: scale, Axis: PerTensor}, w <= 63
}

// AsFixed returns f as two's complement or unsigned integers times a power of two, with its rounding and overflow:
// fixed, ufixed, int, uint, and affine formats with zero point 0 and a positive power of two as scale.
func AsFixed(f Format) (Fixed, bool) {
	if i, is := f.(interface{ asFixed() (Fixed, bool) }); is {
		return i.asFixed()
	}
	return Fixed{}, false
}

// IsFixed says that AsFixed has an answer: adders and shifters compute on the codes directly.
func IsFixed(f Format) bool {
	_, ok := AsFixed(f)
	return ok
}

// Coded says that f is a scalar format whose codes are no integers: they are decoded before anything is computed of
// them, and results are encoded behind.
func Coded(f Format) bool {
	if _, integers := IntegersOf(f); integers || IsFixed(f) {
		return false
	}
	_, codec := f.(Codec)
	_, block := f.(Block)
	return codec && !block
}

// CodecOf is the codec of f, that of AsFixed where it is fixed; nil where there is none.
func CodecOf(f Format) Codec {
	if fx, ok := AsFixed(f); ok {
		return fx
	}
	c, _ := f.(Codec)
	return c
}

// ExactFixed is the fixed format that holds every finite value of f, a scalar format with a lattice.
func ExactFixed(f Format) (Fixed, bool) {
	exp, bits, ok := f.Lattice()
	lo, _ := f.Limits()
	return Fixed{W: bits, F: -exp, Signed: lo.Sign() < 0}, ok
}

// Constants is the format in which sums take constants of f, a scalar format with a lattice: every value of f is one of
// its values.
func Constants(f Format) Format {
	if c, is := f.(interface{ asConstant() Format }); is {
		return c.asConstant()
	}
	fx, _ := ExactFixed(f)
	return fx
}

// FixedFor is the narrowest fixed format that holds all finite values of some codes of f; ok is false where it has more
// than 63 bits, which codes of wide formats rarely need.
func FixedFor(f Format, codes []int64) (fx Fixed, ok bool) {
	least, top := maxFrac, -maxFrac
	for _, c := range codes {
		if v := f.Decode(c); v.IsFinite() && !v.IsZero() {
			least, top = min(least, v.exp), max(top, v.Log2())
		}
	}
	if top < least {
		return Fixed{W: 1, Signed: true}, true // zeros
	}
	fx = Fixed{W: top - least + 2, F: -least, Signed: true}
	return fx, fx.W <= 63
}

// Scaled is a format with a real scale, which may travel beside the codes.
type Scaled interface {
	Format
	// ScaleAxis is the axis along which scales travel beside the codes, and how many of its indices share one (0: each
	// has its own); ok is false where the text gives the scale.
	ScaleAxis() (axis, group int, ok bool)
	// Factor is the scale of the text, 0 where there is none, and the zero point.
	Factor() (scale float32, zero int64)
	// DecodeAt and EncodeAt are Decode and Encode at a given scale, with the zero point of the text.
	DecodeAt(code int64, scale float32) Exact
	EncodeAt(v Exact, scale float32) int64
	// CodesAt is the format of the codes at a scale of 2^exp: fixed if the zero point is 0 and quotients are exact.
	CodesAt(exp int) (Fixed, bool)
}

// ScaledAlong is f where its scales travel beside the codes, and their axis; ok is false for all other formats.
func ScaledAlong(f Format) (s Scaled, axis int, ok bool) {
	if s, ok = f.(Scaled); ok {
		axis, _, ok = s.ScaleAxis()
	}
	return s, axis, ok
}

// ScaleAxis is the axis of ScaledAlong.
func ScaleAxis(f Format) (axis int, ok bool) {
	_, axis, ok = ScaledAlong(f)
	return axis, ok
}

// OutputChannels is the integers of the codes of f, at scale 1, where f gives every output channel of weights, an index
// of axis 0, a scale of its own and no zero point.
func OutputChannels(f Format) (Fixed, bool) {
	s, is := f.(Scaled)
	if !is {
		return Fixed{}, false
	}
	axis, group, ok := s.ScaleAxis()
	_, zero := s.Factor()
	ints, _ := s.CodesAt(0)
	return ints, ok && axis == 0 && group <= 1 && zero == 0
}

// WithScaleAxis is f with its scales along another axis, where they travel beside the codes.
func WithScaleAxis(f Format, axis int) Format {
	if s, is := f.(interface{ withScaleAxis(axis int) Format }); is {
		return s.withScaleAxis(axis)
	}
	return f
}

// WithExactQuotients is f with values divided by its scale exactly before they are rounded. Codes keep their values.
func WithExactQuotients(f Format) Format {
	if s, is := f.(interface{ withExactQuotients() Format }); is {
		return s.withExactQuotients()
	}
	return f
}

// SignedCodes reports that codes of f are two's complement numbers, which an int64 holds sign-extended; the codes of
// all other formats are raw bits.
func SignedCodes(f Format) bool {
	s, is := elements(f).(interface{ signedCodes() bool })
	return is && s.signedCodes()
}

// Raw is the codes of f as integers.
func Raw(f Format) Fixed { return Fixed{W: f.Width(), Signed: SignedCodes(f)} }

// rounder is a format with a choice of rounding.
type rounder interface {
	rounding() Round
	// stochastic is Encode with stochastic rounding by a random word.
	stochastic(v Exact, word uint32) int64
}

// EncodeSeeded is f.Encode(v) but for formats with round=stochastic, which take their random word (StochasticWord of
// seed and element index) here. For a block format v is an element at scale 1.
func EncodeSeeded(f Format, v Exact, word uint32) int64 {
	f = elements(f)
	if r, is := f.(rounder); is && r.rounding() == RoundStochastic {
		return r.stochastic(v, word)
	}
	return f.Encode(v)
}

// Rounding is the rounding mode of f, that of the elements for a block format; RoundEven where f has no choice.
func Rounding(f Format) Round {
	if r, is := elements(f).(rounder); is {
		return r.rounding()
	}
	return RoundEven
}

// WithRules is f with other rules of rounding and overflow, where it has a choice of them.
func WithRules(f Format, change func(*Round, *Over)) Format {
	if r, is := f.(interface {
		withRules(func(*Round, *Over)) Format
	}); is {
		return r.withRules(change)
	}
	return f
}

// elements is the format of the elements of blocks, or f itself.
func elements(f Format) Format {
	if b, ok := f.(Block); ok {
		return b.Element()
	}
	return f
}
