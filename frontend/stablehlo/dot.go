// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"slices"

	"lathe/frontend/stablehlo/syntax"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/sum"
)

// convertDot multiplies vectors and matrices.
func convertDot(c *call) {
	x, y := c.args[0], c.args[1]
	if len(x.dims) < 1 || len(y.dims) < 1 || len(x.dims) > 2 || len(y.dims) > 2 {
		c.fail(diag.OperandTypes, "multiplies %s by %s", ir.ShapeString(x.dims), ir.ShapeString(y.dims))
		return
	}
	c.contract([4][]int{{}, {}, {len(x.dims) - 1}, {0}})
}

// convertDotGeneral multiplies along any axes.
func convertDotGeneral(c *call) {
	attrs := c.in.Attrs
	if a := attrs.Get("dot_dimension_numbers"); a != nil {
		attrs = c.Dict(a)
		c.contract([4][]int{c.list(attrs, "lhs_batching_dimensions"), c.list(attrs, "rhs_batching_dimensions"),
			c.list(attrs, "lhs_contracting_dimensions"), c.list(attrs, "rhs_contracting_dimensions")})
		return
	}
	var lists [4][]int
	for i, name := range []string{"batching_dims", "contracting_dims"} {
		a := attrs.Get(name)
		if a == nil {
			continue
		}
		left, ok := c.IntList(a.Value)
		if !ok || len(a.Value) != 3 {
			c.fail(diag.BadAttribute, "%s are not two lists", name)
			return
		}
		right, ok := c.IntList(a.Value[2:])
		if !ok {
			c.fail(diag.BadAttribute, "%s are not two lists", name)
			return
		}
		lists[2*i], lists[2*i+1] = toInts(left), toInts(right)
	}
	c.contract(lists)
}

// list reads whole numbers, none where the attribute is missing.
func (c *call) list(attrs syntax.Attrs, names ...string) []int {
	a := attrs.Get(names...)
	if a == nil {
		return nil
	}
	v, ok := c.Ints(a)
	if !ok {
		c.fail(diag.BadAttribute, "%s is not a list of whole numbers", a.Name)
	}
	return toInts(v)
}

// side is an operand of a product: its axes by what becomes of them.
type side struct {
	v                     value
	batch, contract, free []int
}

func newSide(v value, batch, contract []int) side {
	s := side{v: v, batch: batch, contract: contract}
	for i := range v.dims {
		if !slices.Contains(batch, i) && !slices.Contains(contract, i) {
			s.free = append(s.free, i)
		}
	}
	return s
}

func (s side) sizes(axes []int) []int {
	out := make([]int, len(axes))
	for i, a := range axes {
		out[i] = s.v.dims[a]
	}
	return out
}

// contract multiplies; lists are the batch axes of both operands, then the contracting ones.
func (c *call) contract(lists [4][]int) {
	c.widen()
	x, y := c.args[0], c.args[1]
	for i, list := range lists {
		c.axes(append(slices.Clone(lists[i%2]), lists[2+i%2]...), len(c.args[i%2].dims))
		if len(list) != len(lists[i^1]) {
			c.fail(diag.BadAttribute, "%d axes stand against %d", len(list), len(lists[i^1]))
		}
	}
	if c.err != nil {
		return
	}
	a, b := newSide(x, lists[0], lists[2]), newSide(y, lists[1], lists[3])
	if !slices.Equal(a.sizes(a.batch), b.sizes(b.batch)) || !slices.Equal(a.sizes(a.contract), b.sizes(b.contract)) {
		c.fail(diag.OperandTypes, "multiplies %s by %s along axes of other sizes", ir.ShapeString(x.dims),
			ir.ShapeString(y.dims))
		return
	}
	dims := slices.Concat(a.sizes(a.batch), a.sizes(a.free), b.sizes(b.free))
	switch {
	case y.node.IsConst() && len(a.batch) == 0 && y.node.Type.IsFloat():
		c.done(c.shape(c.linear(a, b), dims))
	case x.node.IsConst() && len(a.batch) == 0 && x.node.Type.IsFloat():
		n := c.linear(b, a) // [free of y, free of x]
		n = c.shape(n, slices.Concat(b.sizes(b.free), a.sizes(a.free)))
		c.done(c.transpose(n, swapped(len(b.free), len(a.free))))
	default:
		k := elems(a.sizes(a.contract))
		batch := a.sizes(a.batch)
		left := c.arranged(a, slices.Concat(a.batch, a.free, a.contract),
			slices.Concat(batch, []int{elems(a.sizes(a.free)), k}))
		right := c.arranged(b, slices.Concat(b.batch, b.contract, b.free),
			slices.Concat(batch, []int{k, elems(b.sizes(b.free))}))
		c.done(c.shape(c.emit(sum.MatMul, nil, left, right), dims))
	}
}

// widen converts whole numbers to the type of the result, in which products and sums are taken.
func (c *call) widen() {
	if list := c.results(); len(list) == 1 && list[0].Tensor {
		for i, v := range c.args {
			if !v.node.Type.IsFloat() && c.err == nil {
				c.args[i] = c.cast(v, list[0].Elem)
			}
		}
	}
}

// swapped is the permutation that brings the last n axes before the first m.
func swapped(m, n int) []int {
	perm := make([]int, 0, m+n)
	for i := range n {
		perm = append(perm, m+i)
	}
	for i := range m {
		perm = append(perm, i)
	}
	return perm
}

// arranged gives a side its axes in the given order, and then a shape.
func (c *call) arranged(s side, order, shape []int) *ir.Node {
	return c.shape(c.transpose(c.full(s.v), order), shape)
}

// linear multiplies by constant weights: the free axes of x stay in front, one axis of outputs behind.
func (c *call) linear(x, w side) *ir.Node {
	k, out := elems(x.sizes(x.contract)), elems(w.sizes(w.free))
	if k == 0 || out == 0 {
		c.fail(diag.BadDimension, "multiplies matrices without elements")
		return nil
	}
	weights := c.arranged(w, slices.Concat(w.free, w.contract), []int{out, k})
	lead := x.sizes(x.free)
	data := c.arranged(x, slices.Concat(x.free, x.contract), append(lead, k))
	return c.emit(sum.Linear, nil, data, weights)
}
