// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"slices"

	"lathe/frontend/build"
	"lathe/ir"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
)

// maxParts bounds the parts of an axis that are computed one by one.
const maxParts = 64

// parts are the pieces of length 1 that an axis of truth values or whole numbers is put together from, as jnp.select
// stacks conditions, without that axis; nil where it is made otherwise. What is computed from them stays a function of
// each element.
func (c *call) parts(n *ir.Node, axis int) []*ir.Node {
	if c.err != nil || n == nil || n.Type.IsFloat() || n.Type.Shape[axis] > maxParts {
		return nil
	}
	dims := slices.Delete(slices.Clone(n.Type.Shape), axis, axis+1)
	if n.Type.Shape[axis] == 1 {
		for (n.Op == move.Repeat || n.Op == move.Reshape) && n.Args[0].Type.Elems() == n.Type.Elems() {
			n = n.Args[0]
		}
		return []*ir.Node{c.shape(n, dims)}
	}
	var list []*ir.Node
	switch {
	case n.Op == whole.Convert:
		for _, p := range c.parts(n.Args[0], axis) {
			list = append(list, c.emit(n.Op, n.Attrs, p))
		}
	case n.Op == move.Concat && n.Attrs.(*move.ConcatAttrs).Axis == axis:
		for _, a := range n.Args {
			more := c.parts(a, axis)
			if more == nil {
				return nil
			}
			list = append(list, more...)
		}
	}
	return list
}

// runningParts are the sums of all parts up to each, stacked along an axis.
func (c *call) runningParts(parts []*ir.Node, axis int) *ir.Node {
	stack := slices.Clone(parts)
	for i, p := range parts {
		if i > 0 {
			p = c.emit(pointwise.Add, nil, parts[i-1], p)
		}
		if parts[i] = p; p == nil {
			return nil
		}
		stack[i] = c.shape(p, slices.Insert(slices.Clone(p.Type.Shape), axis, 1))
	}
	return c.emit(move.Concat, &move.ConcatAttrs{Axis: axis}, stack...)
}

// converted is a value in another type of whole numbers.
func (c *call) converted(n *ir.Node, to ir.DType) *ir.Node {
	if n == nil || ir.StoredAs(n.Type.Format) == to {
		return n
	}
	return c.emit(whole.Convert, &whole.ConvertAttrs{To: to}, n)
}

// greatestPart is the first place of the greatest of parts, as int32, and that.
func (c *call) greatestPart(parts []*ir.Node, dims []int) (best, at value) {
	part := func(i int) value { return wholeValue(c.converted(parts[i], ir.I32)) }
	place := func(i int) value { return value{c.constant(build.IntBlob(ir.I32, []int64{int64(i)})), dims} }
	best, at = part(0), place(0)
	for i := 1; i < len(parts) && c.err == nil; i++ {
		p := part(i)
		more := c.pointwise(whole.Compare, &whole.CompareAttrs{Rel: "gt"}, p, best)
		best = c.pointwise(pointwise.Max, nil, p, best)
		at = c.pointwise(whole.Where, nil, more, place(i), at)
	}
	return best, at
}
