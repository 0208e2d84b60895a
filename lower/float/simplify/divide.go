// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"fmt"
	"math"
	"slices"

	"lathe/ir"
	"lathe/ir/op/composite"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/sum"
	"lathe/ir/op/walk"
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

const (
	// mostRunning bounds the axis of running sums that become a product with a matrix, which has the square of it.
	mostRunning = 128
	// mostFactors bounds how many values of a product become a tree of multiplications.
	mostFactors = 16
)

// partsOf are the operations that n, which has no unit, consists of; nil where it stays.
func partsOf(n *ir.Node) ([]*ir.Node, error) {
	switch {
	case n.Op.ByParts():
		return n.Op.Expand(n)
	case n.Op == whole.CumSum && n.Type.IsFloat():
		return runningParts(n)
	case n.Op == reduce.Prod && n.Type.IsFloat():
		return productParts(n)
	}
	if _, ok := n.Attrs.(*reduce.Attrs); ok && n.Op.RTL != nil && n.Type.IsFloat() {
		return reduceParts(n)
	}
	return nil, nil
}

// reduceParts are a reduction along axes with others between them, run by run; nil where there are none between.
func reduceParts(n *ir.Node) ([]*ir.Node, error) {
	shape, a := n.Args[0].Type.Shape, n.Attrs.(*reduce.Attrs)
	var runs [][]int
	between := true
	for axis, size := range shape {
		switch reduced := slices.Contains(a.Axes, axis); {
		case reduced && (len(runs) == 0 || between && size > 1):
			runs, between = append(runs, []int{axis}), false
		case reduced:
			runs[len(runs)-1] = append(runs[len(runs)-1], axis)
		case size > 1:
			between = true
		}
	}
	if len(runs) < 2 {
		return nil, nil
	}
	e, y := composite.Expand(n), n.Args[0]
	for i, run := range runs {
		y = e.Do(fmt.Sprintf("run%d", i), n.Op, &reduce.Attrs{Axes: run}, y)
	}
	return e.Done()
}

// runningParts are running sums as the product with a triangle of ones.
func runningParts(n *ir.Node) ([]*ir.Node, error) {
	a, x := n.Attrs.(*whole.CumSumAttrs), n.Args[0]
	last := len(x.Type.Shape) - 1
	axis, err := walk.Axis(a.Axis, last+1)
	if err != nil || x.Type.Shape[axis] > mostRunning {
		return nil, err
	}
	size := x.Type.Shape[axis]
	triangle := make([]float32, size*size)
	for to := range size {
		for from := range size {
			if from < to != a.Reverse && from != to || from == to && !a.Exclusive {
				triangle[to*size+from] = 1
			}
		}
	}
	e := composite.Expand(n)
	ones := e.Const("triangle", ir.Float(size, size), ir.FloatBlob(triangle))
	turn := func(name string, x *ir.Node) *ir.Node {
		if axis == last {
			return x
		}
		perm := make([]int, last+1)
		for i := range perm {
			perm[i] = i
		}
		perm[axis], perm[last] = last, axis
		return e.Do(name, move.Transpose, &move.TransposeAttrs{Perm: perm}, x)
	}
	turn("back", e.Do("sums", sum.Linear, nil, turn("turned", x), ones))
	return e.Done()
}

// productParts are the product along axes as a tree of multiplications.
func productParts(n *ir.Node) ([]*ir.Node, error) {
	e, y := composite.Expand(n), n.Args[0]
	all := 1
	for _, axis := range n.Attrs.(*reduce.Attrs).Axes {
		all *= y.Type.Shape[axis]
	}
	if all > mostFactors || all == 1 {
		return nil, nil
	}
	for _, axis := range n.Attrs.(*reduce.Attrs).Axes {
		size := y.Type.Shape[axis]
		factors := make([]*ir.Node, size)
		for i := range factors {
			factors[i] = e.Do(fmt.Sprintf("factor%d_%d", axis, i), move.Slice,
				&move.SliceAttrs{Axis: axis, Start: i, Count: 1, Step: 1}, y)
		}
		for len(factors) > 1 {
			var products []*ir.Node
			for i := 0; i+1 < len(factors); i += 2 {
				products = append(products, e.Do(fmt.Sprintf("product%d_%d_%d", axis, len(factors), i), pointwise.Mul, nil,
					factors[i], factors[i+1]))
			}
			factors = append(products, factors[2*len(products):]...)
		}
		y = factors[0]
	}
	return e.Done()
}
