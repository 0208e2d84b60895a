// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
)

// Quant of QONNX on a computed value whose channels or elements have bit widths and scales of their own, as training
// with a width for each element (HGQ) leaves them.

// codeOf is how the elements at one place are coded.
type codeOf struct {
	bits float64
	exp  int // the scale is 2^exp
}

// quantChannels makes one node of such a Quant. Scales are powers of two, without zero points.
func (c *call) quantChannels() {
	x, round := c.data(0), c.roundingMode("ROUND")
	zero, signed := c.integer(2, "the zero point", -1<<31, 1<<31), c.int("signed", 1) != 0
	narrow := c.int("narrow", 0) != 0
	if c.err == nil && zero != 0 {
		c.fail(diag.QuantForm, "has the zero point %d beside widths or scales of channels; 0 is supported", zero).Hint =
			"give all channels one width and one scale, or no zero point"
	}
	codes, axis := c.codesAlong()
	if c.err != nil {
		return
	}
	least, all := math.MaxInt, format.Fixed{W: 1, Signed: signed, Round: round}
	for i := range codes {
		q := &codes[i]
		switch {
		case q.bits == 1 && signed:
			c.fail(diag.QuantForm, "has signed channels of one bit, the sign, with widths or scales of their own").Hint =
				"give them 2 bits, or take BipolarQuant with one scale for all"
			return
		case q.bits == 1 && narrow:
			q.bits = 0 // the code 0 alone
		}
		if q.bits > 0 {
			least = min(least, q.exp)
		}
	}
	if narrow {
		all.Over = format.Sym
	}
	a := &pointwise.QuantEachAttrs{Axis: axis}
	for _, q := range codes {
		drop := q.exp - least
		if q.bits == 0 {
			drop = 0
		}
		a.Bits, a.Drop = append(a.Bits, int(q.bits)), append(a.Drop, drop)
		all.W = max(all.W, int(q.bits)+drop)
	}
	if all.W > mostWidth {
		c.fail(diag.QuantForm, "has codes of %d bits, counted in their least scale; up to %d are supported", all.W,
			mostWidth).Hint = "bring the scales closer together, or take bits from the coarsest channels"
		return
	}
	if least != math.MaxInt {
		all.F = -least
	}
	if all.W == 1 {
		all.Over = format.Sat
	}
	a.Format = all.String()
	c.result(c.eachOf(x, a))
}

// eachOf is the node; where elements differ along several axes, it works on all of them in a row.
func (c *call) eachOf(x *ir.Node, a *pointwise.QuantEachAttrs) *ir.Node {
	shape := c.shape(0)
	if a.Axis >= 0 {
		return c.emit("", pointwise.QuantEach, a, x)
	}
	a.Axis = 0
	flat := c.emit("flat", move.Reshape, &move.ReshapeAttrs{Shape: []int{len(a.Bits)}}, x)
	return c.emit("shaped", move.Reshape, &move.ReshapeAttrs{Shape: slices.Clone(shape)},
		c.emit("", pointwise.QuantEach, a, flat))
}

// codesAlong reads widths and scales: for each index of the one axis along which they differ, where lowering can make
// that the last one, else for each element, and then the axis is -1.
func (c *call) codesAlong() (codes []codeOf, axis int) {
	shape := c.shape(0)
	scale, width := c.spread(1, shape), c.spread(3, shape)
	if c.err != nil {
		return nil, 0
	}
	total := elems(shape)
	for i := range total {
		w, s := width(i), float32(scale(i))
		e, power := format.Log2(s)
		switch {
		case w != math.Trunc(w) || w < 0 || w > mostWidth:
			c.fail(diag.QuantForm, "has the bit width %g; integers from 0 to %d are supported", w, mostWidth)
		case !(s > 0) || s > 3e38:
			c.fail(diag.QuantScale, "has the scale %g; scales are positive finite numbers", s).
				Hint = positiveScales
		case !power:
			c.fail(diag.QuantForm, "gives channels or elements of a computed value their own widths or scales, among "+
				"them the scale %g, which is no power of two", s).Hint =
				"make the scales of activations powers of two, or give them one width and one scale"
		}
		if c.err != nil {
			return nil, 0
		}
		codes = append(codes, codeOf{w, e})
	}
	inner := total
	for axis, size := range shape {
		inner /= size
		channels := axis == 1 || axis == len(shape)-1
		if along := codes[:inner*size]; channels && size > 1 && alike(codes, inner, size) {
			list := make([]codeOf, size)
			for k := range list {
				list[k] = along[k*inner]
			}
			return list, axis
		}
	}
	return codes, -1
}

// alike says that codes depend on the index of one axis alone, of the given size, with so many elements behind it.
func alike(codes []codeOf, inner, size int) bool {
	for i, q := range codes {
		if q != codes[i/inner%size*inner] {
			return false
		}
	}
	return true
}
