// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"math"

	"lathe/frontend/source"
	"lathe/ir"
	"lathe/ir/op"
)

// maxTopK bounds how many values are taken out one by one.
const maxTopK = 64

// convertTopK finds the greatest values along the last axis and where they stand, of equal ones the first: each is the
// greatest of those that are left.
func convertTopK(c *call) {
	attrs := c.in.Attrs
	if a := attrs.Get("composite_attributes"); a != nil {
		attrs = c.Dict(a)
	}
	k, ok := attrs.Get("k").Int()
	x := c.node(0)
	if largest, isBool := attrs.Get("largest").Bool(); isBool && !largest {
		c.fail(source.CodeForm, "the least values are not supported")
	}
	if x == nil || c.err != nil {
		return
	}
	last := len(x.Type.Shape) - 1
	if !ok || last < 0 || k < 1 || int(k) > x.Type.Shape[last] || k > maxTopK {
		c.fail(source.CodeAttr, "the greatest %d of %s", k, ir.ShapeString(x.Type.Shape))
		return
	}
	places := c.iota(ir.I64, x.Type.Shape, last)
	var values, at []*ir.Node
	all := whole(x)
	var taken value
	for range k {
		left := all
		if taken.node != nil {
			left = c.choose(taken, value{c.lowest(x), all.dims}, all)
		}
		best := c.emit(op.ReduceMax, &op.ReduceAttrs{Axes: []int{last}}, left.node)
		here := value{c.emit(op.Compare, &op.CompareAttrs{Rel: "eq"}, x, best), all.dims}
		if taken.node != nil { // the least number may be one of those that are left
			here = c.pointwise(op.And, nil, here, c.pointwise(op.Not, nil, taken))
		}
		i := c.emit(op.ArgMax, &op.ArgMaxAttrs{Axis: last, KeepDims: true}, c.cast(here, "f32").node)
		if i != nil && i.Type.Format != ir.Int64 {
			i = c.emit(op.Convert, &op.ConvertAttrs{To: ir.I64}, i)
		}
		if i == nil {
			return
		}
		values, at = append(values, best), append(at, i)
		hit := value{c.emit(op.Compare, &op.CompareAttrs{Rel: "eq"}, places.node, i), all.dims}
		if taken.node != nil {
			hit = c.pointwise(op.Or, nil, taken, hit)
		}
		taken = hit
	}
	join := func(list []*ir.Node) *ir.Node {
		if len(list) == 1 {
			return list[0]
		}
		return c.emit(op.Concat, &op.ConcatAttrs{Axis: last}, list...)
	}
	index := c.cast(whole(join(at)), "i32")
	c.outs = append(c.outs, whole(join(values)), index)
}

// lowest is the least number of the format of x.
func (c *call) lowest(x *ir.Node) *ir.Node {
	if x.Type.IsFloat() {
		return c.number(x, math.Inf(-1))
	}
	return c.whole(x, least(x))
}
