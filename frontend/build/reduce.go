// SPDX-License-Identifier: Apache-2.0

package build

import (
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
)

// Reduction names what Reduce computes.
type Reduction string

// The reductions, by the names that ONNX gives them behind "Reduce".
const (
	Sum       Reduction = "Sum"
	Mean      Reduction = "Mean"
	Max       Reduction = "Max"
	Min       Reduction = "Min"
	Prod      Reduction = "Prod"
	L1        Reduction = "L1"        // sum of |x|
	L2        Reduction = "L2"        // sqrt of the sum of x*x
	SumSquare Reduction = "SumSquare" // sum of x*x
	LogSum    Reduction = "LogSum"    // log of the sum
	LogSumExp Reduction = "LogSumExp" // log of the sum of e^x, computed relative to the greatest x
)

// Reduce reduces x along axes, negative ones counted from the end; nil is all of them. keep leaves axes of size 1.
func (b *Builder) Reduce(at Place, r Reduction, x *ir.Node, axes []int, keep bool) (*ir.Node, error) {
	c, rank := b.chain(at), len(x.Type.Shape)
	a := &reduce.Attrs{}
	for i := range rank {
		if axes == nil {
			a.Axes = append(a.Axes, i)
		}
	}
	for _, axis := range axes {
		if axis = c.axis(axis, rank); slices.Contains(a.Axes, axis) {
			c.fail(diag.BadAttribute, "axis %d is reduced twice", axis)
		}
		a.Axes = append(a.Axes, axis)
	}
	slices.Sort(a.Axes)
	var out []int
	for i, d := range x.Type.Shape {
		if !slices.Contains(a.Axes, i) {
			out = append(out, d)
		}
	}
	if keep || len(a.Axes) == 0 {
		return c.done(c.reduce("", r, x, a))
	}
	return c.done(c.reshape("", c.reduce("kept", r, x, a), out...))
}

// reduce makes the nodes of a reduction that keeps axes.
func (c *chain) reduce(part string, r Reduction, x *ir.Node, a *reduce.Attrs) *ir.Node {
	switch r {
	case Sum:
		return c.do(part, reduce.Sum, a, x)
	case Mean:
		return c.do(part, reduce.Mean, a, x)
	case Max:
		return c.do(part, reduce.Max, a, x)
	case Min:
		return c.do(part, reduce.Min, a, x)
	case Prod:
		return c.do(part, reduce.Prod, a, x)
	case L1:
		return c.do(part, reduce.Sum, a, c.do("abs", curve.Abs, nil, x))
	case L2:
		return c.do(part, curve.Sqrt, nil, c.do("sum", reduce.Sum, a, c.do("square", pointwise.Mul, nil, x, x)))
	case SumSquare:
		return c.do(part, reduce.Sum, a, c.do("square", pointwise.Mul, nil, x, x))
	case LogSum:
		return c.do(part, curve.Log, nil, c.do("sum", reduce.Sum, a, x))
	case LogSumExp:
		// An infinite maximum would make NaN of the difference; the greatest floats do not.
		bound := &pointwise.ClipAttrs{Min: -math.MaxFloat32, Max: math.MaxFloat32}
		top := c.do("top", pointwise.Clip, bound, c.do("max", reduce.Max, a, x))
		e := c.do("exp", curve.Exp, nil, c.do("below", pointwise.Sub, nil, x, top))
		return c.do(part, pointwise.Add, nil, c.do("log", curve.Log, nil, c.do("sum", reduce.Sum, a, e)), top)
	}
	c.fail(diag.UnsupportedOps, "the reduction %q is not known", string(r))
	return nil
}
