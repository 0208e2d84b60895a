// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"math"
	"slices"

	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
)

// convertCdist is the distance of each row of x1 from each of x2.
func convertCdist(c *call) {
	a, b := c.tensor("x1"), c.tensor("x2")
	if c.err != nil {
		return
	}
	m, n := len(a.Type.Shape), len(b.Type.Shape)
	if m < 2 || n < 2 {
		c.fail(diag.OperandShapes, "takes rows of %s and %s", ir.ShapeString(a.Type.Shape), ir.ShapeString(b.Type.Shape))
		return
	}
	a = c.reshape("rows", a, slices.Insert(slices.Clone(a.Type.Shape), m-1, 1))
	b = c.reshape("others", b, slices.Insert(slices.Clone(b.Type.Shape), n-2, 1))
	c.result(c.length(c.emit("way", pointwise.Sub, nil, a, b), false))
}

// convertPairwise is the distance of two vectors along the last axis, whose difference eps is added to.
func convertPairwise(c *call) {
	way := c.emit("way", pointwise.Sub, nil, c.tensor("x1"), c.tensor("x2"))
	eps := c.constantOf(number{kind: 'f', f: c.float("eps", 1e-6)}, ir.F32, "eps")
	c.result(c.length(c.emit("off", pointwise.Add, nil, way, eps), c.bool("keepdim", false)))
}

// length is the p-norm of x along its last axis, for p of 1, 2 or infinity.
func (c *call) length(x *ir.Node, keep bool) *ir.Node {
	axes := []int{len(c.shape(x)) - 1}
	switch p := c.float("p", 2); {
	case p == 2:
		squares := c.emit("square", pointwise.Mul, nil, x, x)
		return c.emit("", curve.Sqrt, nil, c.reduced("squares", reduce.Sum, squares, axes, keep))
	case p == 1:
		return c.reduced("", reduce.Sum, c.emit("size", curve.Abs, nil, x), axes, keep)
	case math.IsInf(p, 1):
		return c.reduced("", reduce.Max, c.emit("size", curve.Abs, nil, x), axes, keep)
	default:
		c.fail(diag.UnsupportedForm, "p is %g; 1, 2 and infinity are supported", p)
		return nil
	}
}
