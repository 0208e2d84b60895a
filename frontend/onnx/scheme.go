// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"

	"lathe/frontend/build"
	"lathe/frontend/coding"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
)

// decode makes a constant of real numbers of codes.
func (c *call) decode(name string, s *coding.Scheme, codes []int64, shape []int) *ir.Node {
	if c.err != nil {
		return nil
	}
	n, err := s.Constant(c.b, name, codes, shape)
	c.wrap(diag.BadDimension, err)
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

// positiveScales says what to do about a scale that is none.
const positiveScales = "calibrate the quantizer again with samples that reach every layer"

// codes is the scheme of an element type, without scale and zero point.
func (c *call) codes(dtype int64) coding.Scheme {
	for _, t := range codeTypes {
		if t.dtype == dtype {
			return coding.Scheme{Ints: format.Fixed{W: t.w, Signed: t.signed}, Axis: -1}
		}
	}
	c.fail(diag.QuantType, "has codes of type %s; integers of 4, 8, 16 and 32 bits are supported", dtypeName(dtype)).
		Hint = "quantize to them (QuantType.QInt8 of onnxruntime), or give the float model, which --calibrate quantizes"
	return coding.Scheme{Axis: -1, Ints: format.Fixed{W: 8}}
}

// linearScheme reads scale and zero point of QuantizeLinear and its kin: inputs `at` and `at`+1, the latter optional.
// shape is that of the coded tensor, axis that of several scales, dtype the type of the codes where no zero point
// tells it.
func (c *call) linearScheme(at int, shape []int, axis int64, dtype int64) *coding.Scheme {
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
		s.Zero = zero[0]
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
func (c *call) setScales(s *coding.Scheme, scales []float64, shape []int, axis int64) {
	for _, v := range scales {
		f := float32(v)
		if !(f > 0) || f > 3e38 {
			c.fail(diag.QuantScale, "has the scale %g; scales are positive finite numbers", v).
				Hint = positiveScales
			s.Scales = []float32{1}
			return
		}
		s.Scales = append(s.Scales, f)
	}
	if slices.Max(s.Scales) == slices.Min(s.Scales) {
		s.Scales = s.Scales[:1]
		return
	}
	s.Axis = c.axis(axis, len(shape), 0)
	if c.err == nil && shape[s.Axis] != len(s.Scales) {
		c.fail(diag.OperandShapes, "has %d scales for axis %d of %s", len(s.Scales), s.Axis, ir.ShapeString(shape))
	}
}
