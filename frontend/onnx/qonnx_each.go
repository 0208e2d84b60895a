// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"slices"

	"lathe/frontend/coding"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
)

// Quant of QONNX with a bit width, or a scale, for each channel or each element.

// mostWidth bounds bit widths, and tooFine says so of codes in a common scale.
const (
	mostWidth = 32
	tooFine   = "has weights of %d bits, counted in their least scale; up to %d are supported"
)

// spread reads input i, which broadcasts to shape, and gives its value for each element.
func (c *call) spread(i int, shape []int) func(at int) float64 {
	given, values := c.shape(i), c.elements(i)
	steps := make([]int, len(shape))
	inner := 1
	for k := len(given) - 1; k >= 0 && c.err == nil; k-- {
		at := len(shape) - len(given) + k
		if at < 0 || given[k] != 1 && given[k] != shape[at] {
			c.fail(diag.OperandShapes, "input %d has shape %s, which does not broadcast to %s", i, ir.ShapeString(given),
				ir.ShapeString(shape))
			break
		}
		if given[k] > 1 {
			steps[at] = inner
		}
		inner *= given[k]
	}
	return func(at int) float64 {
		from := 0
		for k := len(shape) - 1; k >= 0; k-- {
			from += at % shape[k] * steps[k]
			at /= shape[k]
		}
		return values[from]
	}
}

// varies says that constant input i holds several numbers, and how many of its axes have more than one index.
func (c *call) varies(i int) (differ bool, axes int) {
	for _, d := range c.shape(i) {
		if d > 1 {
			axes++
		}
	}
	if axes == 0 || !c.in[i].constant() {
		return false, axes
	}
	v := c.elements(i)
	return c.err == nil && len(v) > 0 && slices.Min(v) != slices.Max(v), axes
}

// quantEach is a Quant whose bit widths differ, or whose scales do so along several axes or for a computed value; it
// says whether it is one. Weights become codes of one width that holds all: they have no others than those of their own
// widths. Scales that differ along several axes must be the least times powers of two, in which all are counted.
func (c *call) quantEach() bool {
	widths, _ := c.varies(3)
	scales, axes := c.varies(1)
	scales = scales && (axes > 1 || !c.in[0].constant())
	switch {
	case c.err != nil || !widths && !scales:
		return false
	case !c.in[0].constant():
		c.quantChannels()
		return true
	}
	shape := c.shape(0)
	s := &coding.Scheme{Axis: -1, Scales: []float32{1}, Ints: format.Fixed{Signed: true}}
	if s.Zero = c.integer(2, "the zero point", -1<<31, 1<<31); s.Zero != 0 && scales {
		c.fail(diag.QuantForm, "has the zero point %d beside scales of elements; 0 is supported", s.Zero)
	}
	codes := c.codesEach(s.Zero, shape)
	if c.err != nil {
		return true
	}
	if !scales {
		c.broadcastScales(s, shape)
	} else if codes = c.commonScale(s, codes, shape); c.err != nil {
		return true
	}
	for _, v := range codes {
		for s.Ints.W = max(s.Ints.W, 2); v < s.Ints.Min() || v > s.Ints.Max(); s.Ints.W++ {
		}
	}
	if s.Ints.W > mostWidth {
		c.fail(diag.QuantForm, tooFine, s.Ints.W, mostWidth)
		return true
	}
	n := c.decode(c.in[0].name, s, codes, shape)
	*c.fr.values[c.n.out[0]] = value{name: c.in[0].name, dtype: 1, node: n}
	return true
}

// codesEach gives input 0 codes, each of the width and the scale at its place. Width 0 is the number 0: what pruning
// leaves.
func (c *call) codesEach(zero int64, shape []int) []int64 {
	x, scale, width := c.elements(0), c.spread(1, shape), c.spread(3, shape)
	a := format.Affine{Signed: c.int("signed", 1) != 0, Round: c.roundingMode("ROUND"), Div: format.DivF32}
	if c.int("narrow", 0) != 0 {
		a.Over = format.Sym
	}
	codes := make([]int64, len(x))
	for i, v := range x {
		if c.err != nil {
			return nil
		}
		w, s := width(i), float32(scale(i))
		switch {
		case w != math.Trunc(w) || w < 0 || w > mostWidth:
			c.fail(diag.QuantForm, "has the bit width %g; integers from 0 to %d are supported", w, mostWidth)
		case !(s > 0) || s > 3e38:
			c.fail(diag.QuantScale, "has the scale %g; scales are positive finite numbers", s).
				Hint = positiveScales
		case w == 0:
			codes[i] = zero
		case w == 1 && a.Signed: // +1 and -1, as BipolarQuant
			codes[i] = 1
			if float32(v)/s+float32(zero) < 0 {
				codes[i] = -1
			}
		default:
			a.W = int(w)
			codes[i] = a.EncodeScaled(format.FromFloat32(float32(v)/s+float32(zero)), 1, 0)
		}
	}
	return codes
}

// commonScale makes the least scale that of s, and counts codes in it.
func (c *call) commonScale(s *coding.Scheme, codes []int64, shape []int) []int64 {
	scale := c.spread(1, shape)
	least := slices.Min(c.elements(1))
	s.Scales = []float32{float32(least)}
	out := make([]int64, len(codes))
	for i, q := range codes {
		e, power := format.Log2(float32(scale(i) / least))
		switch {
		case q == 0:
		case power && e < mostWidth:
			out[i] = q << e
		case power:
			c.fail(diag.QuantForm, tooFine, e+2, mostWidth)
			return nil
		default:
			c.fail(diag.QuantForm, "has scales of elements from %g to %g whose ratios are no powers of two", least,
				slices.Max(c.elements(1))).Hint = "give each output channel one scale, or make all scales powers of two"
			return nil
		}
	}
	return out
}
