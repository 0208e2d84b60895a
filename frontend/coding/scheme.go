// SPDX-License-Identifier: Apache-2.0

// Package coding is how models code real numbers as integers, for all importers: with scales, a zero point and a width.
package coding

import (
	"slices"

	"lathe/frontend/build"
	"lathe/ir"
	"lathe/ir/format"
)

// Scheme is how a model codes real numbers as integers: value = (code - Zero) * scale.
type Scheme struct {
	// Ints is width, sign, rounding and overflow of the codes; F = 0.
	Ints format.Fixed
	// Zero is the code of the number 0.
	Zero int64
	// Scales are one, or one for each index of Axis.
	Scales []float32
	// Axis is -1 where there is one scale.
	Axis int
	// Sign: the code is 1 for values from 0 on, else -1.
	Sign bool
	// Shifts: codes are round(value/scale + Zero), as in QONNX, and not round(value/scale) + Zero, as in ONNX. Ties, and
	// rounding away from or towards zero, tell the two apart.
	Shifts bool
}

func (s *Scheme) same(t *Scheme) bool {
	return s.Ints.W == t.Ints.W && s.Ints.Signed == t.Ints.Signed && s.Zero == t.Zero && slices.Equal(s.Scales, t.Scales)
}

// Within says that codes of s are codes of t for the same numbers.
func (s *Scheme) Within(t *Scheme) bool {
	same := *s
	same.Ints.W, same.Ints.Signed = t.Ints.W, t.Ints.Signed
	return same.same(t) && s.Ints.Min() >= t.Ints.Min() && s.Ints.Max() <= t.Ints.Max()
}

// Clipped is the scheme whose codes are those of s from lo to hi; false where no width has that range.
func (s *Scheme) Clipped(lo, hi int64) (*Scheme, bool) {
	lo, hi = max(lo, s.Ints.Min()), min(hi, s.Ints.Max())
	for w := 1; w <= s.Ints.W; w++ {
		for _, signed := range []bool{true, false} {
			for _, over := range []format.Over{format.Sat, format.Sym} {
				t := *s
				t.Ints.W, t.Ints.Signed, t.Ints.Over = w, signed, over
				if (w > 1 || over == format.Sat) && t.Ints.Min() == lo && t.Ints.Max() == hi && lo <= s.Zero && s.Zero <= hi {
					return &t, true
				}
			}
		}
	}
	return nil, false
}

// Type is the scheme as a format: fixed where it has no zero point and one power of two. Values that are not coded yet
// are divided by the scale in float32, as runtimes do.
func (s *Scheme) Type(div format.Div) ir.Type {
	a := format.Affine{W: s.Ints.W, Signed: s.Ints.Signed, Zero: s.Zero, Axis: s.Axis, Round: s.Ints.Round,
		Over: s.Ints.Over, Div: div}
	if s.Axis >= 0 {
		return ir.Type{Format: a, Scales: s.Scales}
	}
	a.Scale, a.Axis = s.Scales[0], format.PerTensor
	if e, ok := format.Log2(a.Scale); ok && a.Zero == 0 {
		f := s.Ints
		f.F = -e
		return ir.Type{Format: f}
	}
	return ir.Type{Format: a}
}

// scale is the one of element i of a tensor.
func (s *Scheme) scale(shape []int, i int) float32 {
	if s.Axis < 0 {
		return s.Scales[0]
	}
	inner := ir.Type{Shape: shape[s.Axis+1:]}.Elems()
	return s.Scales[i/inner%len(s.Scales)]
}

// Encode gives the codes of the elements of an array of that shape: each divided by its scale in float32.
func (s *Scheme) Encode(values []float64, shape []int) []int64 {
	a := format.Affine{W: s.Ints.W, Signed: s.Ints.Signed, Round: s.Ints.Round, Over: s.Ints.Over, Div: format.DivF32}
	out := make([]int64, len(values))
	for i, v := range values {
		if s.Shifts && s.Zero != 0 {
			v = float64(float32(v)/s.scale(shape, i) + float32(s.Zero))
		}
		switch {
		case s.Shifts && s.Zero != 0 && !s.Sign:
			out[i] = a.EncodeScaled(format.FromFloat64(v), 1, 0)
		case s.Sign && v < 0:
			out[i] = -1
		case s.Sign:
			out[i] = 1
		default:
			out[i] = a.EncodeScaled(format.FromFloat64(v), s.scale(shape, i), s.Zero)
		}
	}
	return out
}

// Constant makes a constant of the real numbers of codes, exact products, which remembers their format. Those of more
// bits than float32 tells apart are stored as float64. The format rounds to the nearest code, whatever the scheme does:
// numbers in float32 may lie below their codes, and would be floored to the next one.
func (s *Scheme) Constant(b *build.Builder, name string, codes []int64, shape []int) (*ir.Node, error) {
	near := *s
	near.Ints.Round = format.RoundEven
	own := near.Type(format.DivExact)
	values := make([]float64, len(codes))
	for i, q := range codes {
		values[i] = float64(q-s.Zero) * float64(s.scale(shape, i))
	}
	data := ir.DoubleBlob(values)
	if own.Format.Width() <= 16 {
		data = ir.FloatBlob(data.Floats())
	}
	n, err := b.Stored(name, data, shape, build.Unsaid(shape))
	if err != nil {
		return nil, err
	}
	n.Attrs.(*ir.Const).Own = own
	return n, nil
}
