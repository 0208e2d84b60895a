// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"slices"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
)

// convertClip: bounds are attributes up to opset 10, inputs from 11.
func convertClip(c *call) {
	a := &pointwise.ClipAttrs{Min: float32(math.Inf(-1)), Max: float32(math.Inf(1))}
	if c.byAttrs(11, "min", "max") {
		a.Min, a.Max = c.float("min", a.Min), c.float("max", a.Max)
	}
	for i := 1; i < len(c.in) && c.err == nil; i++ {
		if c.in[i] != nil && elems(c.shape(i)) != 1 {
			c.fail(diag.OperandShapes, "a bound has shape %s, it must be one number", ir.ShapeString(c.shape(i)))
		}
	}
	if c.err != nil {
		return
	}
	if c.clipCodes() {
		return
	}
	if c.whole(0) || c.has(1) && !c.in[1].constant() || c.has(2) && !c.in[2].constant() {
		c.clipBetween()
		return
	}
	if c.has(1) {
		a.Min = float32(c.scalar(1, "the lower bound"))
	}
	if c.has(2) {
		a.Max = float32(c.scalar(2, "the upper bound"))
	}
	if a.Min != a.Min || a.Max != a.Max {
		c.fail(diag.BadAttribute, "a bound is not a number")
	}
	a.Min = min(a.Min, a.Max) // where the bounds cross, the upper one wins
	c.result(c.emit("", pointwise.Clip, a, c.data(0)))
}

// clipCodes is a Clip between QuantizeLinear and DequantizeLinear, which leaves codes of fewer bits; it says whether it
// is one.
func (c *call) clipCodes() bool {
	v := c.in[0]
	if c.err != nil || v == nil || !c.whole(0) || v.quant == nil && !v.constant() {
		return false
	}
	s := v.quant
	if s == nil {
		if !slices.ContainsFunc(codeTypes[:], func(t codeType) bool { return t.dtype == v.dtype }) {
			return false
		}
		all := c.codes(v.dtype)
		s = &all
	}
	lo, hi := s.Ints.Min(), s.Ints.Max()
	for i, bound := range []*int64{&lo, &hi} {
		if c.has(i + 1) {
			x, ok := build.Ints(c.arg(i + 1))
			if !ok || len(x) != 1 || !c.in[i+1].constant() {
				return false
			}
			*bound = x[0]
		}
	}
	t, ok := s.Clipped(lo, hi)
	switch {
	case !ok:
		return false
	case v.quant == nil:
		c.clipBetween()
		if c.err == nil {
			c.fr.values[c.n.out[0]].clip = t
		}
	case v.node.Op == pointwise.Quant:
		c.quantized(v.node.Args[0], t, v.dtype, "")
	default:
		return false
	}
	return true
}

// clipBetween takes bounds of any kind: the upper one last.
func (c *call) clipBetween() {
	x, suffix := c.arg(0), "lower"
	if !c.has(2) {
		suffix = ""
	}
	rank := make([]int, 0)
	if c.has(1) {
		x = c.emit(suffix, pointwise.Max, nil, x, c.reshape("low", c.arg(1), rank))
	}
	if c.has(2) {
		x = c.emit("", pointwise.Min, nil, x, c.reshape("high", c.arg(2), rank))
	}
	if !c.has(1) && !c.has(2) {
		x = c.emit("", move.Identity, nil, x)
	}
	c.result(x)
}
