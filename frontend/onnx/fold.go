// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"slices"

	"lathe/frontend/source"
	"lathe/ir"
)

// The evaluator of constant expressions: shape arithmetic and small parameters. Each function gets one entry for each
// possible input, nil where it is absent, and returns nil after c.fail.

// foldBinary applies an element-wise operation with broadcasting. Floats are computed in float64 and rounded once.
func foldBinary(fl func(a, b float64) float64, in func(c *call, a, b int64) int64) func(*call, []*konst) *konst {
	return func(c *call, k []*konst) *konst {
		a, b := k[0], k[1]
		shape, ok := c.broadcast(a, b)
		if !ok {
			return nil
		}
		if a.typ != b.typ {
			c.fail(source.CodeDType, "operands of type %s and %s", a.typ, b.typ)
			return nil
		}
		a, b = a.broadcastTo(shape), b.broadcastTo(shape)
		for i := range a.ints {
			a.ints[i] = wrap(a.typ, in(c, a.ints[i], b.ints[i]))
		}
		for i := range a.floats {
			a.floats[i] = roundTo(a.typ, fl(a.floats[i], b.floats[i]))
		}
		return a
	}
}

// broadcast is the common shape of the operands; the result is charged.
func (c *call) broadcast(operands ...*konst) ([]int, bool) {
	var shape []int
	for _, k := range operands {
		var err error
		if shape, err = broadcastShape(shape, k.shape); err != nil {
			c.fail(source.CodeShape, "%v", err)
			return nil, false
		}
	}
	return shape, c.room(shape)
}

func intDiv(c *call, a, b int64) int64 {
	if b == 0 {
		c.fail(source.CodeFold, "divides by zero")
		return 0
	}
	return a / b
}

func foldEqual(c *call, k []*konst) *konst {
	shape, ok := c.broadcast(k[0], k[1])
	if !ok {
		return nil
	}
	a, b, out := k[0].broadcastTo(shape), k[1].broadcastTo(shape), newKonst(ir.B1, shape)
	for i := range out.ints {
		if a.real() && b.real() {
			out.ints[i] = truth(a.floats[i] == b.floats[i])
		} else if !a.real() && !b.real() {
			out.ints[i] = truth(a.ints[i] == b.ints[i])
		} else {
			c.fail(source.CodeDType, "operands of type %s and %s", a.typ, b.typ)
			return nil
		}
	}
	return out
}

func foldWhere(c *call, k []*konst) *konst {
	if k[0].typ != ir.B1 || k[1].typ != k[2].typ {
		c.fail(source.CodeDType, "operands of type %s, %s and %s", k[0].typ, k[1].typ, k[2].typ)
		return nil
	}
	shape, ok := c.broadcast(k[0], k[1], k[2])
	if !ok {
		return nil
	}
	cond, out, other := k[0].broadcastTo(shape), k[1].broadcastTo(shape), k[2].broadcastTo(shape)
	for i, yes := range cond.ints {
		switch {
		case yes != 0:
		case out.real():
			out.floats[i] = other.floats[i]
		default:
			out.ints[i] = other.ints[i]
		}
	}
	return out
}

func foldGather(c *call, k []*konst) *konst {
	data, at := k[0], k[1]
	axis := c.axis(c.int("axis", 0), len(data.shape), 0)
	if c.err != nil || at.real() {
		c.fail(source.CodeDType, "indices must be integers")
		return nil
	}
	outer, inner := data.shape[:axis], data.shape[axis+1:]
	shape := slices.Concat(outer, at.shape, inner)
	if len(shape) > maxRank || !c.room(shape) {
		c.fail(source.CodeLimit, "its result has %d dimensions", len(shape))
		return nil
	}
	if slices.Contains(shape, 0) {
		return newKonst(data.typ, shape)
	}
	n, in := data.shape[axis], ir.Type{Shape: inner}.Elems()
	index := make([]int, 0, ir.Type{Shape: shape}.Elems())
	for o := range (ir.Type{Shape: outer}).Elems() {
		for _, i := range at.ints {
			if i < int64(-n) || i >= int64(n) {
				c.fail(source.CodeFold, "index %d is outside of %d elements", i, n)
				return nil
			}
			if i < 0 {
				i += int64(n)
			}
			for j := range in {
				index = append(index, (o*n+int(i))*in+j)
			}
		}
	}
	return data.pick(shape, index)
}

func foldConcat(c *call, k []*konst) *konst {
	k = k[:len(c.in)]
	if slices.Contains(k, nil) {
		c.fail(source.CodeArity, "an input is missing")
		return nil
	}
	axis := c.axis(c.int("axis", 0), len(k[0].shape), 0)
	if c.err != nil {
		return nil
	}
	shape := slices.Clone(k[0].shape)
	for _, p := range k[1:] {
		if p.typ != k[0].typ || len(p.shape) != len(shape) || !slices.Equal(p.shape[:axis], shape[:axis]) ||
			!slices.Equal(p.shape[axis+1:], shape[axis+1:]) {
			c.fail(source.CodeShape, "cannot join %s of %s and %s of %s along axis %d", ir.ShapeString(k[0].shape), k[0].typ,
				ir.ShapeString(p.shape), p.typ, axis)
			return nil
		}
		shape[axis] += p.shape[axis]
	}
	if !c.room(shape) {
		return nil
	}
	out := newKonst(k[0].typ, shape)
	if slices.Contains(shape, 0) {
		return out
	}
	inner, at := ir.Type{Shape: shape[axis+1:]}.Elems(), 0
	for o := range (ir.Type{Shape: shape[:axis]}).Elems() {
		for _, p := range k {
			n := p.shape[axis] * inner
			if out.real() {
				copy(out.floats[at:], p.floats[o*n:(o+1)*n])
			} else {
				copy(out.ints[at:], p.ints[o*n:(o+1)*n])
			}
			at += n
		}
	}
	return out
}

func foldExpand(c *call, k []*konst) *konst {
	want := c.dims(k[1])
	if c.err != nil {
		return nil
	}
	shape, ok := c.broadcast(k[0], &konst{shape: want})
	if !ok {
		return nil
	}
	return k[0].broadcastTo(shape)
}

// dims reads a constant as a shape: up to 16 sizes that are not negative and not too large together.
func (c *call) dims(k *konst) []int {
	if k.real() || len(k.shape) > 1 || k.len() > maxRank {
		c.fail(source.CodeShape, "a shape must be a list of up to %d integers, not %s of %s", maxRank,
			ir.ShapeString(k.shape), k.typ)
		return nil
	}
	shape := make([]int, len(k.ints))
	for i, v := range k.ints {
		shape[i] = int(v)
	}
	if err := ir.CheckShape(shape); err != nil {
		c.fail(source.CodeDims, "%v", err)
	}
	return shape
}

func foldFill(c *call, k []*konst) *konst {
	shape := c.dims(k[0])
	if !c.room(shape) {
		return nil
	}
	value := &konst{typ: ir.F32, floats: []float64{0}}
	if a := c.attr("value", kindTensor); a != nil {
		b, err := a.t.blob(&c.ext)
		if c.wrap(source.CodeFold, err); err != nil {
			return nil
		}
		if b.Len() != 1 {
			c.fail(source.CodeAttr, "attribute value has %d elements instead of one", b.Len())
			return nil
		}
		value, err = readKonst(b, nil)
		c.wrap(source.CodeFold, err)
	}
	if c.err != nil {
		return nil
	}
	return value.pick(shape, make([]int, ir.Type{Shape: shape}.Elems()))
}

func foldRange(c *call, k []*konst) *konst {
	for _, p := range k {
		if p.len() != 1 || p.typ != k[0].typ {
			c.fail(source.CodeShape, "start, limit and delta must be numbers of one type")
			return nil
		}
	}
	s := [3]float64{}
	for i, p := range k {
		if p.real() {
			s[i] = p.floats[0]
		} else {
			s[i] = float64(p.ints[0])
		}
	}
	n := math.Ceil((s[1] - s[0]) / s[2])
	if !(n <= maxResult) { // NaN too
		c.fail(source.CodeLimit, "a range of %g elements", n)
		return nil
	}
	shape := []int{max(0, int(n))}
	if !c.room(shape) {
		return nil
	}
	out := newKonst(k[0].typ, shape)
	for i := range shape[0] {
		if out.real() {
			out.floats[i] = roundTo(out.typ, s[0]+float64(i)*s[2])
		} else {
			out.ints[i] = wrap(out.typ, k[0].ints[0]+int64(i)*k[2].ints[0])
		}
	}
	return out
}
