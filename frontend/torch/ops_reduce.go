// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"slices"

	"lathe/frontend/source"
	"lathe/ir"
	"lathe/ir/op"
)

// reductions lists sums, means and extremes along axes.
func reductions() []row {
	return []row{
		{"mean.dim mean.default", "self dim keepdim dtype", reduce(op.ReduceMean)},
		{"sum.dim_IntList sum.default", "self dim keepdim dtype", reduce(op.ReduceSum)},
		{"amax.default", "self dim keepdim", reduce(op.ReduceMax)},
		{"amin.default", "self dim keepdim", reduce(op.ReduceMin)},
		{"max.default", "self", reduce(op.ReduceMax)},
		{"min.default", "self", reduce(op.ReduceMin)},
		{"max.dim", "self dim keepdim", convertMaxDim},
		{"argmax.default", "self dim keepdim", convertArgMax},
		{"var.correction", "self dim correction keepdim", convertVar(false)},
		{"var.dim", "self dim unbiased keepdim", convertVar(false)},
		{"std.correction", "self dim correction keepdim", convertVar(true)},
		{"linalg_vector_norm.default", "self ord dim keepdim dtype", convertNorm},
		{"softmax.int _softmax.default", "self dim dtype half_to_float", along(op.Softmax)},
		{"log_softmax.int _log_softmax.default", "self dim dtype half_to_float", along(op.LogSoftmax)},
	}
}

// along converts an operation along one axis; a dtype is a cast before it.
func along(o *ir.Op) func(*call) {
	return func(c *call) {
		x := c.tensor("self")
		x = c.cast(x, c.outType(x))
		axis := c.axis(c.int("dim", -1), len(c.shape(x)))
		c.result(c.emit("", o, &op.AxisAttrs{Axis: axis}, x))
	}
}

// reduce converts a reduction; no axes are all axes.
func reduce(o *ir.Op) func(*call) {
	return func(c *call) {
		x := c.tensor("self")
		x = c.cast(x, c.outType(x))
		axes := c.axes(c.ints("dim"), len(c.shape(x)))
		c.result(c.reduced("", o, x, axes, c.bool("keepdim", false)))
	}
}

// reduced makes a reduction over sorted axes. A mean over all spatial axes of an image is a global pool.
func (c *call) reduced(suffix string, o *ir.Op, x *ir.Node, axes []int, keep bool) *ir.Node {
	if c.err != nil || x == nil || len(axes) == 0 {
		return x
	}
	shape := x.Type.Shape
	var attrs any = &op.ReduceAttrs{Axes: axes}
	if o == op.ReduceMean && (slices.Equal(axes, []int{2, 3}) && len(shape) == 4 ||
		slices.Equal(axes, []int{2}) && len(shape) == 3 && suffix == "" && c.dimsOf() == 1) {
		o, attrs = op.GlobalAvgPool, &op.GlobalAttrs{}
	}
	if keep {
		return c.emit(suffix, o, attrs, x)
	}
	left := make([]int, 0, len(shape))
	for i, d := range shape {
		if !slices.Contains(axes, i) {
			left = append(left, d)
		}
	}
	part := "pool"
	if suffix != "" {
		part = suffix + "." + part
	}
	return c.reshape(suffix, c.emit(part, o, attrs, x), left)
}

// convertMaxDim gives the maxima and where they stand.
func convertMaxDim(c *call) {
	x := c.tensor("self")
	axis, keep := c.axis(c.int("dim", 0), len(c.shape(x))), c.bool("keepdim", false)
	c.result(c.reduced("values", op.ReduceMax, x, []int{axis}, keep))
	if len(c.outs()) > 1 {
		c.result(c.emit("indices", op.ArgMax, &op.ArgMaxAttrs{Axis: axis, KeepDims: keep}, x))
	}
}

func convertArgMax(c *call) {
	x := c.tensor("self")
	if !c.has("dim") {
		x = c.reshape("flat", x, []int{elems(c.shape(x))})
	}
	a := &op.ArgMaxAttrs{Axis: c.axis(c.int("dim", 0), len(c.shape(x))), KeepDims: c.bool("keepdim", false)}
	if c.err == nil && !c.has("dim") && a.KeepDims {
		c.fail(source.CodeForm, "keepdim without dim is not supported")
	}
	c.result(c.emit("", op.ArgMax, a, x))
}

// convertVar is the variance, in two passes, or its root; the divisor is the count less the correction.
func convertVar(root bool) func(*call) {
	return func(c *call) {
		x := c.tensor("self")
		axes := c.axes(c.ints("dim"), len(c.shape(x)))
		correction := 1.
		if c.has("correction") {
			correction = c.scalar("correction").float()
		}
		if !c.bool("unbiased", true) {
			correction = 0
		}
		count := 1.
		for _, a := range axes {
			if c.err == nil && len(x.Type.Shape) > 0 {
				count *= float64(x.Type.Shape[a])
			}
		}
		if c.err == nil && count <= correction {
			c.fail(source.CodeForm, "is a variance of %g values with a correction of %g", count, correction)
		}
		far := c.emit("minus", op.Sub, nil, x, c.reduced("mean", op.ReduceMean, x, axes, true))
		v := c.reduced("var", op.ReduceMean, c.emit("square", op.Mul, nil, far, far), axes, c.bool("keepdim", false))
		if correction != 0 {
			v = c.emit("correction", op.Mul, nil, v, c.constantOf(number{kind: 'f', f: count / (count - correction)}, ir.F32,
				"factor"))
		}
		if root {
			v = c.emit("", op.Sqrt, nil, v)
		}
		c.result(v)
	}
}

// convertNorm is the root of the sum of squares, or the sum of sizes.
func convertNorm(c *call) {
	x := c.tensor("self")
	axes, keep := c.axes(c.ints("dim"), len(c.shape(x))), c.bool("keepdim", false)
	switch p := c.float("ord", 2); p {
	case 2:
		sum := c.reduced("sum", op.ReduceSum, c.emit("square", op.Mul, nil, x, x), axes, keep)
		c.result(c.emit("", op.Sqrt, nil, sum))
	case 1:
		c.result(c.reduced("", op.ReduceSum, c.emit("abs", op.Abs, nil, x), axes, keep))
	default:
		c.fail(source.CodeForm, "ord is %g; 1 and 2 are supported", p)
	}
}
