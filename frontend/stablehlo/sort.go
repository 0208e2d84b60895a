// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/whole"
)

// convertTopK finds the greatest values along the last axis and where they stand, of equal ones the first.
func convertTopK(c *call) {
	attrs := c.in.Attrs
	if a := attrs.Get("composite_attributes"); a != nil {
		attrs = c.Dict(a)
	}
	k, ok := attrs.Get("k").Int()
	x := c.node(0)
	largest, isBool := attrs.Get("largest").Bool()
	if x == nil || c.err != nil {
		return
	}
	last := len(x.Type.Shape) - 1
	if !ok || last < 0 || k < 1 || k > int64(x.Type.Shape[last]) {
		c.fail(diag.BadAttribute, "the greatest %d of %s", k, ir.ShapeString(x.Type.Shape))
		return
	}
	a := whole.TopKAttrs{Axis: last, K: int(k), Largest: largest || !isBool}
	values, at := a, a
	index := c.cast(wholeValue(c.emit(whole.TopKIndices, &at, x)), "i32")
	c.outs = append(c.outs, wholeValue(c.emit(whole.TopKValues, &values, x)), index)
}

// convertSort sorts by the first operand; equal elements keep their order, and the others go with it.
func convertSort(c *call) {
	x := c.node(0)
	axis := c.in.Attrs.Get("dimension")
	if x == nil || c.err != nil {
		return
	}
	rank := len(x.Type.Shape)
	at := rank - 1
	if v, ok := axis.Int(); ok {
		at = int(v)
		if at < 0 {
			at += rank
		}
	}
	if at < 0 || at >= rank || x.Type.Shape[at] == 0 {
		c.fail(diag.BadAttribute, "sorts axis %d of %s", at, ir.ShapeString(x.Type.Shape))
		return
	}
	largest := c.firstIs(false)
	if !largest && !c.firstIs(true) {
		c.fail(diag.UnsupportedForm, "an order that is not that of the first operand alone")
		return
	}
	a := whole.TopKAttrs{Axis: at, K: x.Type.Shape[at], Largest: largest}
	values, places := a, a
	c.outs = append(c.outs, wholeValue(c.emit(whole.TopKValues, &values, x)))
	if len(c.args) == 1 {
		return
	}
	order := c.emit(whole.TopKIndices, &places, x)
	for i, v := range c.args[1:] {
		if c.counts(v, at) { // where each stood
			c.outs = append(c.outs,
				wholeValue(c.emit(whole.Convert, &whole.ConvertAttrs{To: ir.StoredAs(v.node.Type.Format)}, order)))
			continue
		}
		c.outs = append(c.outs, wholeValue(c.emit(whole.GatherElements, &column.AxisAttrs{Axis: at}, c.node(1+i), order)))
	}
}

// firstIs tries the region on numbers: an element stands before another where its first operand is less, or greater,
// whatever the other operands are.
func (c *call) firstIs(less bool) bool {
	numbers := []float64{0, 1, 2, 5}
	for _, a := range numbers {
		for _, b := range numbers {
			for _, other := range []float64{0, 1} {
				args := []*ir.Node{c.number(c.args[0].node, a), c.number(c.args[0].node, b)}
				for i, v := range c.args[1:] {
					shift := float64(i)
					args = append(args, c.number(v.node, other+shift), c.number(v.node, 1-other+shift))
				}
				if slices.Contains(args, nil) {
					return false
				}
				got, ok := c.scalarCall(0, args)
				if !ok || len(got) != 1 || (got[0] != 0) != (less && a < b || !less && a > b) {
					return false
				}
			}
		}
	}
	return true
}
