// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
)

// scheme is how a model codes real numbers as integers: value = (code - zero) * scale.
type scheme struct {
	ints   format.Fixed // width, sign, rounding and overflow of the codes; F = 0
	zero   int64
	scales []float32 // one, or one for each index of axis
	axis   int       // -1 where there is one scale
	// sign: the code is 1 for values from 0 on, else -1.
	sign bool
}

func (s *scheme) same(t *scheme) bool {
	return s.ints.W == t.ints.W && s.ints.Signed == t.ints.Signed && s.zero == t.zero && slices.Equal(s.scales, t.scales)
}

// within says that codes of s are codes of t for the same numbers.
func (s *scheme) within(t *scheme) bool {
	same := *s
	same.ints.W, same.ints.Signed = t.ints.W, t.ints.Signed
	return same.same(t) && s.ints.Min() >= t.ints.Min() && s.ints.Max() <= t.ints.Max()
}

// clipped is the scheme whose codes are those of s from lo to hi; false where no width has that range.
func (s *scheme) clipped(lo, hi int64) (*scheme, bool) {
	lo, hi = max(lo, s.ints.Min()), min(hi, s.ints.Max())
	for w := 1; w <= s.ints.W; w++ {
		for _, signed := range []bool{true, false} {
			for _, over := range []format.Over{format.Sat, format.Sym} {
				t := *s
				t.ints.W, t.ints.Signed, t.ints.Over = w, signed, over
				if (w > 1 || over == format.Sat) && t.ints.Min() == lo && t.ints.Max() == hi && lo <= s.zero && s.zero <= hi {
					return &t, true
				}
			}
		}
	}
	return nil, false
}

// typ is the scheme as a format: fixed where it has no zero point and one power of two. Values that are not coded yet
// are divided by the scale in float32, as runtimes do.
func (s *scheme) typ(div format.Div) ir.Type {
	a := format.Affine{W: s.ints.W, Signed: s.ints.Signed, Zero: s.zero, Axis: s.axis, Round: s.ints.Round,
		Over: s.ints.Over, Div: div}
	if s.axis >= 0 {
		return ir.Type{Format: a, Scales: s.scales}
	}
	a.Scale, a.Axis = s.scales[0], format.PerTensor
	if e, ok := format.Log2(a.Scale); ok && a.Zero == 0 {
		f := s.ints
		f.F = -e
		return ir.Type{Format: f}
	}
	return ir.Type{Format: a}
}

// scale is the one of element i of a tensor.
func (s *scheme) scale(shape []int, i int) float32 {
	if s.axis < 0 {
		return s.scales[0]
	}
	inner := elems(shape[s.axis+1:])
	return s.scales[i/inner%len(s.scales)]
}

// encode gives the codes of real numbers.
func (s *scheme) encode(values []float64, shape []int) []int64 {
	a := format.Affine{W: s.ints.W, Signed: s.ints.Signed, Round: s.ints.Round, Over: s.ints.Over, Div: format.DivF32}
	out := make([]int64, len(values))
	for i, v := range values {
		switch {
		case s.sign && v < 0:
			out[i] = -1
		case s.sign:
			out[i] = 1
		default:
			out[i] = a.EncodeScaled(format.FromFloat64(v), s.scale(shape, i), s.zero)
		}
	}
	return out
}

// decode makes a constant of real numbers of codes: exact products, which remember their format. Those of more bits
// than f32 tells apart are stored as f64.
func (c *call) decode(name string, s *scheme, codes []int64, shape []int) *ir.Node {
	if c.err != nil {
		return nil
	}
	own := s.typ(format.DivExact)
	values := make([]float64, len(codes))
	for i, q := range codes {
		values[i] = float64(q-s.zero) * float64(s.scale(shape, i))
	}
	data := ir.DoubleBlob(values)
	if own.Format.Width() <= 16 {
		data = ir.FloatBlob(data.Floats())
	}
	n, err := c.b.Stored(name, data, shape, build.Unsaid(shape))
	if c.wrap(diag.BadDimension, err); err != nil {
		return nil
	}
	n.Attrs.(*ir.Const).Own = own
	return n
}

// codeType is an element type of codes.
type codeType struct {
	dtype  int64
	w      int
	signed bool
}

// codeTypes are the element types of codes.
var codeTypes = [...]codeType{{2, 8, false}, {3, 8, true}, {4, 16, false}, {5, 16, true}, {6, 32, true},
	{21, 4, false}, {22, 4, true}, {12, 32, false}}

// codes is the scheme of an element type, without scale and zero point.
func (c *call) codes(dtype int64) scheme {
	for _, t := range codeTypes {
		if t.dtype == dtype {
			return scheme{ints: format.Fixed{W: t.w, Signed: t.signed}, axis: -1}
		}
	}
	c.fail(diag.QuantType, "has codes of type %s; integers of 4, 8, 16 and 32 bits are supported", dtypeName(dtype))
	return scheme{axis: -1, ints: format.Fixed{W: 8}}
}

// linearScheme reads scale and zero point of QuantizeLinear and its kin: inputs `at` and `at`+1, the latter optional.
// shape is that of the coded tensor, axis that of several scales, dtype the type of the codes where no zero point
// tells it.
func (c *call) linearScheme(at int, shape []int, axis int64, dtype int64) *scheme {
	if c.has(at + 1) {
		dtype = c.in[at+1].dtype
	}
	s := c.codes(dtype)
	scale := c.numbers(at, "the scale")
	if c.err != nil {
		return &s
	}
	if c.whole(at) || len(scale) == 0 {
		c.fail(diag.BadElementType, "its scale %s holds no floats", quote(c.in[at].name))
		return &s
	}
	c.setScales(&s, scale, shape, axis)
	if !c.has(at+1) || c.err != nil {
		return &s
	}
	c.oneShape(at)
	zero, ok := build.Ints(c.fixed(at+1, "the zero point"))
	switch {
	case c.err != nil:
	case !ok || len(zero) == 0:
		c.fail(diag.BadElementType, "its zero point %s holds no integers", quote(c.in[at+1].name))
	case slices.Max(zero) != slices.Min(zero):
		c.fail(diag.QuantForm, "has zero points that differ between channels (%d to %d)", slices.Min(zero),
			slices.Max(zero)).Hint = "quantize weights symmetrically"
	default:
		s.zero = zero[0]
	}
	return &s
}

// oneShape demands a zero point, input at + 1, of the shape of its scale; single numbers may have axes.
func (c *call) oneShape(at int) {
	scale, zero := c.shape(at), c.shape(at+1)
	if c.err == nil && !slices.Equal(scale, zero) && (elems(scale) != 1 || elems(zero) != 1) {
		c.fail(diag.OperandShapes, "its zero point %s has shape %s, its scale %s", quote(c.in[at+1].name),
			ir.ShapeString(zero),
			ir.ShapeString(scale))
	}
}

// setScales takes one scale, or one for each index of an axis of shape.
func (c *call) setScales(s *scheme, scales []float64, shape []int, axis int64) {
	for _, v := range scales {
		f := float32(v)
		if !(f > 0) || f > 3e38 {
			c.fail(diag.QuantScale, "has the scale %g; scales are positive finite numbers", v)
			s.scales = []float32{1}
			return
		}
		s.scales = append(s.scales, f)
	}
	if slices.Max(s.scales) == slices.Min(s.scales) {
		s.scales = s.scales[:1]
		return
	}
	s.axis = c.axis(axis, len(shape), 0)
	if c.err == nil && shape[s.axis] != len(s.scales) {
		c.fail(diag.OperandShapes, "has %d scales for axis %d of %s", len(s.scales), s.axis, ir.ShapeString(shape))
	}
}
