// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"slices"
	"strings"

	"lathe/frontend/coding"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/pointwise"
)

// qonnx is the domain of the operations that QONNX adds; it has had other names.
const qonnx = "qonnx.custom_op.general."

var qonnxNames = [...]string{"finn.custom_op.general", "onnx.brevitas"}

// qualified is the name of an operation with its domain.
func qualified(n *node) string {
	switch {
	case n.domain == "":
		return n.op
	case slices.Contains(qonnxNames[:], n.domain):
		return qonnx + n.op
	}
	return n.domain + "." + n.op
}

// qonnxRounds are the rounding modes of QONNX: UP and DOWN are away from zero and towards it.
var qonnxRounds = [...]struct {
	name  string
	round format.Round
}{
	{"ROUND", format.RoundEven}, {"HALF_EVEN", format.RoundEven}, {"HALF_UP", format.RoundAway},
	{"HALF_DOWN", format.RoundHalfZero}, {"FLOOR", format.RoundFloor}, {"CEIL", format.RoundCeil},
	{"DOWN", format.RoundZero}, {"ROUND_TO_ZERO", format.RoundZero}, {"UP", format.RoundOutward},
}

func (c *call) roundingMode(def string) format.Round {
	mode := strings.ToUpper(c.string("rounding_mode", def))
	for _, r := range qonnxRounds {
		if r.name == mode {
			return r.round
		}
	}
	c.fail(diag.BadAttribute, "rounding_mode %s is unknown", quote(mode))
	return format.RoundEven
}

// integer reads input i as one integer.
func (c *call) integer(i int, what string, lo, hi float64) int64 {
	v := c.numbers(i, what)
	if c.err != nil {
		return 0
	}
	if len(v) == 0 || slices.Max(v) != slices.Min(v) || v[0] != math.Trunc(v[0]) || v[0] < lo || v[0] > hi {
		c.fail(diag.QuantForm, "has %s %v; one integer from %g to %g is supported", what, v[:min(len(v), 4)], lo, hi)
		return 0
	}
	return int64(v[0])
}

// qonnxScheme reads scale, zero point and width at inputs 1, 2, 3, for a tensor of the given shape.
func (c *call) qonnxScheme(shape []int) *coding.Scheme {
	s := &coding.Scheme{Axis: -1}
	s.Ints.W = int(c.integer(3, "the bit width", 1, 32))
	s.Ints.Signed = c.int("signed", 1) != 0
	s.Ints.Round = c.roundingMode("ROUND")
	s.Zero = c.integer(2, "the zero point", -1<<31, 1<<31)
	if c.int("narrow", 0) != 0 {
		s.Ints.Over = format.Sym
	}
	if s.Ints.W == 1 && s.Ints.Signed { // +1 and -1, as BipolarQuant
		s.Ints, s.Sign = format.Fixed{W: 2, Signed: true}, true
	}
	c.broadcastScales(s, shape)
	if s.Shifts = true; s.Zero != 0 && !c.in[0].constant() {
		c.unshift(s)
	}
	return s
}

// unshift gives s the rounding of x/scale that makes, with the zero point added behind it, the codes that QONNX makes
// of x/scale + zero point. Where no code is negative, away from zero is up. Ties to even stay as they are: an odd zero
// point moves those to the odd code.
func (c *call) unshift(s *coding.Scheme) {
	r, ok := s.Ints.Round, !s.Sign
	switch {
	case r == format.RoundEven, r == format.RoundFloor, r == format.RoundCeil:
	case s.Ints.Signed:
		ok = false
	case r == format.RoundAway:
		r = format.RoundUp
	case r == format.RoundHalfZero:
		r = format.RoundDown
	case r == format.RoundOutward:
		r = format.RoundCeil
	default:
		r = format.RoundFloor
	}
	if s.Ints.Round = r; !ok && c.err == nil {
		c.fail(diag.QuantForm, "rounds signed codes by %s around the zero point %d", c.string("rounding_mode", "ROUND"),
			s.Zero).Hint = "give it zero point 0, signed = 0, or more than one bit and rounding_mode ROUND"
	}
}

// broadcastScales reads input 1 as scales that broadcast to shape along one axis at most.
func (c *call) broadcastScales(s *coding.Scheme, shape []int) {
	s.Scales = []float32{1}
	scales := c.numbers(1, "the scale")
	if c.err != nil {
		return
	}
	axis, given := -1, c.shape(1)
	for i, d := range given {
		at := len(shape) - len(given) + i
		if d == 1 {
			continue
		}
		if axis >= 0 || at < 0 || shape[at] != d {
			c.fail(diag.QuantForm, "has scales of shape %s for %s; one, or one for each index of an axis, is supported",
				ir.ShapeString(given), ir.ShapeString(shape))
			return
		}
		axis = at
	}
	if c.in[1].dtype != 1 && c.whole(1) {
		c.fail(diag.BadElementType, "its scale %s holds no floats", quote(c.in[1].name))
		return
	}
	s.Scales = nil
	c.setScales(s, scales, shape, int64(max(axis, 0)))
}

// coded gives input 0 the codes of scheme s: a constant at once, a computed value by a node.
func (c *call) coded(s *coding.Scheme) {
	if c.err != nil {
		return
	}
	if !c.in[0].constant() {
		c.quantized(c.data(0), s, 1, "")
		return
	}
	if k := c.elements(0); c.err == nil {
		n := c.decode(c.in[0].name, s, s.Encode(k, c.shape(0)), c.shape(0))
		*c.fr.values[c.n.out[0]] = value{name: c.in[0].name, dtype: 1, node: n}
	}
}

func convertQonnxQuant(c *call) {
	if !c.quantEach() {
		c.coded(c.qonnxScheme(c.shape(0)))
	}
}

// convertBipolarQuant is the scale with the sign of x: the codes 1 and -1.
func convertBipolarQuant(c *call) {
	s := &coding.Scheme{Ints: format.Fixed{W: 2, Signed: true}, Axis: -1, Sign: true}
	c.broadcastScales(s, c.shape(0))
	c.coded(s)
}

// convertTrunc drops low bits of codes: x, scale, zero point, bits in, then bits out (version 1), or scale and bits out
// (version 2, which keeps the value: a rounding to the coarser scale). Version 1 keeps the scale and so divides the
// value by 2^dropped.
func convertTrunc(c *call) {
	s := &coding.Scheme{Axis: -1, Ints: format.Fixed{Signed: true, Round: c.roundingMode("FLOOR")}}
	c.broadcastScales(s, c.shape(0))
	if zero := c.integer(2, "the zero point", -1<<31, 1<<31); zero != 0 {
		c.fail(diag.QuantForm, "has the zero point %d; without one it is supported", zero)
	}
	in := c.integer(3, "the bit width of the input", 1, 32)
	if len(c.in) > 5 {
		c.truncTo(s, in)
		return
	}
	out := c.integer(4, "the bit width", 1, 31)
	if c.err == nil && out > in {
		c.fail(diag.QuantForm, "makes %d bits of %d", out, in)
	}
	s.Ints.W = int(out) + 1 // a sign, as the node does not say whether there is one
	if r := s.Ints.Round; r != format.RoundFloor && r != format.RoundZero && out < in {
		s.Ints.W = min(s.Ints.W+1, mostWidth) // the greatest code may round up to a power of two
	}
	half := c.emit("drop", pointwise.Mul, nil, c.data(0), c.number(float32(math.Ldexp(1, int(out-in))), "drop"))
	c.quantized(half, s, 1, "")
}

// truncTo is version 2: the ratio of the scales is a power of two.
func (c *call) truncTo(s *coding.Scheme, in int64) {
	to := c.scalar(4, "the scale of the result")
	s.Ints.W = int(c.integer(5, "the bit width of the result", 1, 32))
	s.Ints.Signed = c.int("signed", 1) != 0
	if c.int("narrow", 0) != 0 {
		s.Ints.Over = format.Sym
	}
	if c.err != nil {
		return
	}
	ratio := float32(to) / s.Scales[0]
	if e, ok := format.Log2(ratio); !ok || e < 0 || e > int(in) || float32(to) != s.Scales[0]*ratio {
		c.fail(diag.QuantForm, "goes from scale %g to %g; the ratio must be a power of two, 1 or more", s.Scales[0], to)
		return
	}
	s.Scales = []float32{float32(to)}
	c.quantized(c.data(0), s, 1, "")
}
