// SPDX-License-Identifier: Apache-2.0

package build

import (
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
)

// Trilu keeps the upper or the lower triangle of the matrices of x, and makes the rest 0: the diagonal k, which lies k
// places to the right of the main one, is kept.
func (b *Builder) Trilu(at Place, x *ir.Node, k int, upper bool) (*ir.Node, error) {
	c, s := b.chain(at), x.Type.Shape
	if len(s) < 2 {
		c.fail(diag.OperandShapes, "%s is not a matrix", ir.ShapeString(s))
		return c.done(nil)
	}
	rows, cols := s[len(s)-2], s[len(s)-1]
	keep := make([]int64, rows*cols)
	for i := range keep {
		if d := i%cols - i/cols; upper && d >= k || !upper && d <= k {
			keep[i] = 1
		}
	}
	return c.done(c.do("", whole.Where, nil, c.wholes("triangle", ir.B1, keep, rows, cols), x, c.zero(x)))
}

// Shrink is x + bias below -lambda, x - bias above lambda, and 0 between.
func (b *Builder) Shrink(at Place, x *ir.Node, lambda, bias float32) (*ir.Node, error) {
	c := b.chain(at)
	beyond := func(part, rel string, limit, add float32, rest *ir.Node) *ir.Node {
		to := x
		if bias != 0 {
			to = c.do(part+"_moved", pointwise.Add, nil, x, c.number(part+"_bias", float64(add)))
		}
		hit := c.do(part+"_hit", whole.Compare, &whole.CompareAttrs{Rel: rel}, x, c.number(part+"_limit", float64(limit)))
		return c.do(part, whole.Where, nil, hit, to, rest)
	}
	below := beyond("below", "lt", -lambda, bias, c.number("zero", 0))
	return c.done(beyond("above", "gt", lambda, -bias, below))
}

// OneHot is on where the position along a new axis is the index, off elsewhere. Negative indices count from the end;
// those outside are on nowhere. off and on have one element each and one format, that of the result.
func (b *Builder) OneHot(at Place, index *ir.Node, depth, axis int, off, on *ir.Node) (*ir.Node, error) {
	c := b.chain(at)
	axis = c.axis(axis, len(index.Type.Shape)+1)
	if depth < 1 || off.Type.Elems() != 1 || on.Type.Elems() != 1 {
		c.fail(diag.BadAttribute, "a depth of %d, %d values for off and %d for on", depth, off.Type.Elems(), on.Type.Elems())
	}
	if c.err != nil {
		return c.done(nil)
	}
	d := ir.StoredAs(index.Type.Format)
	if d != ir.I64 {
		index = c.do("index", whole.Convert, &whole.ConvertAttrs{To: ir.I64}, index)
	}
	column := slices.Repeat([]int{1}, len(c.shape(index))-axis+1)
	column[0] = depth
	var places, back []int64
	for i := range depth {
		places, back = append(places, int64(i)), append(back, int64(i-depth))
	}
	index = c.reshape("axis", index, slices.Insert(slices.Clone(c.shape(index)), axis, 1)...)
	equal := &whole.CompareAttrs{Rel: "eq"}
	hit := c.do("hit", whole.Compare, equal, index, c.wholes("places", ir.I64, places, column...))
	hit = c.do("hits", whole.Or, nil, hit, c.do("back", whole.Compare, equal, index,
		c.wholes("from_end", ir.I64, back, column...)))
	return c.done(c.do("", whole.Where, nil, hit, c.reshape("on", on), c.reshape("off", off)))
}

// wholes is a constant of whole numbers.
func (c *chain) wholes(part string, d ir.DType, values []int64, shape ...int) *ir.Node {
	if c.err != nil {
		return nil
	}
	var n *ir.Node
	n, c.err = c.b.Const(c.at.Name+"."+part, IntBlob(d, values), shape)
	return n
}

// zero is a constant 0 in the format of x.
func (c *chain) zero(x *ir.Node) *ir.Node {
	if x.Type.IsFloat() {
		return c.number("zero", 0)
	}
	return c.wholes("zero", ir.StoredAs(x.Type.Format), []int64{0})
}
