// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"math"
	"slices"

	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
)

// Divisions turns divisions, which have no unit, into what has: x / c is the product with 1/c, c / x is a reciprocal,
// and x / y the product with the reciprocal of y. Divisors that hold a zero stay, as they make infinities.
func Divisions(g *ir.Graph) error {
	for _, n := range slices.Clone(g.Nodes) {
		if n.Op != whole.Div || !n.Type.IsFloat() || n.Args[0].IsConst() && n.Args[1].IsConst() {
			continue
		}
		if n.Args[1].IsConst() {
			if err := timesInverse(g, n); err != nil {
				return err
			}
			continue
		}
		x, y := n.Args[0], n.Args[1]
		if c, ok := x.Uniform(); ok && slices.Equal(y.Type.Shape, n.Type.Shape) {
			n.Op, n.Attrs, n.Args = curve.Reciprocal, &curve.ReciprocalAttrs{Numerator: float32(c)}, []*ir.Node{y}
			continue
		}
		r := &ir.Node{Name: g.FreshName(n.Name + ".reciprocal"), Op: curve.Reciprocal, Pos: n.Pos,
			Attrs: &curve.ReciprocalAttrs{Numerator: 1}, Type: y.Type, Args: []*ir.Node{y}}
		g.InsertBefore(n, r)
		n.Op, n.Attrs, n.Args = pointwise.Mul, nil, []*ir.Node{x, r}
	}
	g.DropDead()
	return nil
}

// timesInverse turns n, a division by a constant without zeros, into a product; of one number where all are the same.
func timesInverse(g *ir.Graph, n *ir.Node) error {
	c := n.Args[1]
	t, err := c.Value()
	if err != nil {
		return err
	}
	inverse := make([]float32, len(t.Floats))
	for i, v := range t.Floats {
		if inverse[i] = 1 / v; v == 0 || math.IsInf(float64(v), 0) || v != v {
			return nil
		}
	}
	shape := c.Type.Shape
	if _, same := c.Uniform(); same && slices.Equal(n.Args[0].Type.Shape, n.Type.Shape) {
		inverse, shape = inverse[:1], []int{1}
	}
	n.Op, n.Attrs = pointwise.Mul, nil
	n.Args = []*ir.Node{n.Args[0], newConst(g, n, n.Name+".inverse", n.Pos, shape, inverse, c)}
	return nil
}
