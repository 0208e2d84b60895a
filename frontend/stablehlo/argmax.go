// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"math"
	"slices"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/whole"
)

// reducePlaced recognises the reduction of values beside their positions: the greatest or the least value, and where it
// stands first or last. What the region does is found by trying it.
func (c *call) reducePlaced(values, inits []value, axes []int) {
	if len(values) != 2 || len(axes) != 1 || !c.counts(values[1], axes[0]) || !ir.IsWhole(values[1].node.Type.Format) {
		c.fail(diag.UnsupportedForm, "a reduction of %d operands that is not recognised", len(values))
		return
	}
	x := values[0]
	for _, k := range []choice{{false, false}, {false, true}, {true, false}, {true, true}} {
		if c.picks(k, x.node, values[1].node) && c.neutralPick(k, inits[0]) {
			c.pick(k, x, values[1], axes[0])
			return
		}
	}
	c.fail(diag.UnsupportedForm, "a reduction of values beside their positions that is not recognised")
}

// choice is which of two values stays: the least or the greatest, and of equal ones the one further back or in front.
type choice struct{ least, last bool }

// counts says that a value is 0, 1, 2, ... along an axis.
func (c *call) counts(v value, axis int) bool {
	list, ok := build.Ints(v.node)
	if !ok {
		return false
	}
	shape := slices.Concat(slices.Repeat([]int{1}, len(v.dims)-len(v.node.Type.Shape)), v.node.Type.Shape)
	if shape[axis] != v.dims[axis] {
		return false
	}
	inner := elems(shape[axis+1:])
	for i, x := range list {
		if x != int64(i/inner%shape[axis]) {
			return false
		}
	}
	return true
}

// picks tries the region on pairs of values and positions.
func (c *call) picks(k choice, like, at *ir.Node) bool {
	numbers := []float64{-1, 0, 2, 2, 0}
	if c.b.IsUnsigned(like) {
		numbers[0] = 3
	}
	if like.Type.IsFloat() {
		numbers = append(numbers, math.NaN(), math.Inf(1), math.Inf(-1))
	}
	if like.Type.Format == ir.Bool {
		numbers = []float64{0, 1, 1, 0}
	}
	for i, a := range numbers {
		for j, b := range numbers {
			if i == j {
				continue
			}
			in := []*ir.Node{c.number(like, a), c.whole(at, int64(i)), c.number(like, b), c.whole(at, int64(j))}
			got, ok := c.scalarCall(0, c.regionOrder(in))
			if !ok || len(got) != 2 {
				return false
			}
			want, pos := b, j
			if k.stays(a, b, i, j) {
				want, pos = a, i
			}
			if got[0] != want && (got[0] == got[0] || want == want) || got[1] != float64(pos) && !(a != a && b != b) {
				return false
			}
		}
	}
	return true
}

// regionOrder brings arguments from a, i, b, j into the order of the region: pairs in parentheses hold a, b and i, j.
func (c *call) regionOrder(in []*ir.Node) []*ir.Node {
	if len(c.in.Names) > 0 {
		return []*ir.Node{in[0], in[2], in[1], in[3]}
	}
	return in
}

// stays says that a at i stays beside b at j.
func (k choice) stays(a, b float64, i, j int) bool {
	if k.least {
		a, b = -a, -b
	}
	switch {
	case a != a || b != b:
		return a != a
	case a == b:
		return (i < j) != k.last
	}
	return a > b
}

// neutralPick says that the initial value is never chosen, save where all are equal to it.
func (c *call) neutralPick(k choice, init value) bool {
	if k.least {
		return c.neutral("stablehlo.minimum", init)
	}
	return c.neutral("stablehlo.maximum", init)
}

// pick makes the two results.
func (c *call) pick(k choice, x, at value, axis int) {
	name, o := "stablehlo.maximum", reduce.Max
	if k.least {
		name, o = "stablehlo.minimum", reduce.Min
	}
	n := c.full(x)
	if parts := c.parts(n, axis); parts != nil && !k.least && !k.last && !c.b.IsUnsigned(x.node) {
		best, where := c.greatestPart(parts, slices.Delete(slices.Clone(x.dims), axis, axis+1))
		best = wholeValue(c.converted(c.full(best), ir.StoredAs(x.node.Type.Format)))
		c.outs = append(c.outs, best, wholeValue(c.converted(c.full(where), ir.StoredAs(at.node.Type.Format))))
		return
	}
	if n != nil && n.Type.Format == ir.Bool {
		c.fail(diag.UnsupportedForm, "the place of a truth value among values that are not stacked one by one")
		return
	}
	init := value{c.number(x.node, math.Inf(map[bool]int{true: 1, false: -1}[k.least])), nil}
	if c.b.IsUnsigned(x.node) {
		init.node = c.whole(x.node, map[bool]int64{true: -1, false: 0}[k.least])
		c.b.MarkUnsigned(init.node)
	} else if !x.node.Type.IsFloat() {
		init.node = c.whole(x.node, map[bool]int64{true: most(x.node), false: least(x.node)}[k.least])
	}
	best := c.reduced(name, o, x, init, []int{axis})
	var where *ir.Node
	if k.least {
		n = c.flipped(n)
	}
	where = c.emit(reduce.ArgMax, &reduce.ArgMaxAttrs{Axis: axis, Last: k.last}, n)
	if to := ir.StoredAs(at.node.Type.Format); where != nil && where.Type.Format != at.node.Type.Format {
		where = c.emit(whole.Convert, &whole.ConvertAttrs{To: to}, where)
	}
	c.outs = append(c.outs, best, wholeValue(where))
}

// flipped turns the order of values around.
func (c *call) flipped(n *ir.Node) *ir.Node {
	if n != nil && !n.Type.IsFloat() {
		return c.emit(whole.Not, nil, n)
	}
	return c.emit(pointwise.Mul, nil, n, c.number(n, -1))
}
