// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"slices"
	"strings"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/whole"
	"lathe/ir/op/window"
)

// reductions lists sums, means and extremes along axes.
func reductions() []row {
	return []row{
		{"mean.dim mean.default", "self dim keepdim dtype", reduction(reduce.Mean)},
		{"sum.dim_IntList sum.default", "self dim keepdim dtype", reduction(reduce.Sum)},
		{"amax.default", "self dim keepdim", reduction(reduce.Max)},
		{"amin.default", "self dim keepdim", reduction(reduce.Min)},
		{"max.default", "self", reduction(reduce.Max)},
		{"min.default", "self", reduction(reduce.Min)},
		{"max.dim", "self dim keepdim", convertMaxDim},
		{"min.dim", "self dim keepdim", convertMaxDim},
		{"topk.default", "self k dim largest sorted", convertTopK},
		{"prod.default prod.dim_int", "self dim keepdim dtype", reduction(reduce.Prod)},
		{"any.default any.dim any.dims", "self dim keepdim", truth(reduce.Any)},
		{"all.default all.dim all.dims", "self dim keepdim", truth(reduce.All)},
		{"cumsum.default", "self dim dtype", convertCumSum},
		{"logsumexp.default", "self dim keepdim", func(c *call) {
			x := c.tensor("self")
			axes, keep := c.axes(c.ints("dim"), len(c.shape(x))), c.bool("keepdim", false)
			c.composed(func(at build.Place) (*ir.Node, error) {
				return c.b.Reduce(at, build.LogSumExp, x, axes, keep)
			}, x)
		}},
		{"argmin.default", "self dim keepdim", convertArgMax},
		{"argmax.default", "self dim keepdim", convertArgMax},
		{"var.correction", "self dim correction keepdim", convertVar(false)},
		{"var.dim var.default", "self dim unbiased keepdim", convertVar(false)},
		{"std.dim std.default", "self dim unbiased keepdim", convertVar(true)},
		{"std.correction", "self dim correction keepdim", convertVar(true)},
		{"linalg_vector_norm.default", "self ord dim keepdim dtype", convertNorm},
		{"softmax.int _softmax.default", "self dim dtype half_to_float", along(norm.Softmax)},
		{"log_softmax.int _log_softmax.default", "self dim dtype half_to_float", along(norm.LogSoftmax)},
	}
}

// along converts an operation along one axis; a dtype is a cast before it.
func along(o *ir.Op) func(*call) {
	return func(c *call) {
		x := c.tensor("self")
		x = c.cast(x, c.outType(x))
		axis := c.axis(c.int("dim", -1), len(c.shape(x)))
		c.result(c.emit("", o, &column.AxisAttrs{Axis: axis}, x))
	}
}

// reduce converts a reduction; no axes are all axes.
func reduction(o *ir.Op) func(*call) {
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
	var attrs any = &reduce.Attrs{Axes: axes}
	if o == reduce.Mean && slices.Equal(axes, []int{2, 3}) && len(shape) == 4 {
		o, attrs = window.GlobalAvgPool, &window.GlobalAttrs{}
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

// truth converts a reduction of truth values; other elements are true where they are not 0.
func truth(o *ir.Op) func(*call) {
	return func(c *call) {
		x := c.cast(c.tensor("self"), ir.B1)
		axes := c.axes(c.ints("dim"), len(c.shape(x)))
		c.result(c.reduced("", o, x, axes, c.bool("keepdim", false)))
	}
}

func convertCumSum(c *call) {
	x := c.tensor("self")
	x = c.cast(x, c.outType(x))
	axis := c.axis(c.int("dim", 0), len(c.shape(x)))
	c.result(c.emit("", whole.CumSum, &whole.CumSumAttrs{Axis: axis}, x))
}

// least says that an operation is about minima.
func (c *call) least() bool {
	return strings.HasPrefix(c.n.target, prefix+"min") || strings.HasPrefix(c.n.target, prefix+"argmin")
}

// extreme is where the largest value of an axis stands, or the least.
func (c *call) extreme(suffix string, x *ir.Node, a *reduce.ArgMaxAttrs) *ir.Node {
	a.Least = c.least()
	return c.cast(c.emit(suffix, reduce.ArgMax, a, x), ir.I64)
}

// convertMaxDim gives the maxima, or the minima, and where they stand.
func convertMaxDim(c *call) {
	x := c.tensor("self")
	axis, keep := c.axis(c.int("dim", 0), len(c.shape(x))), c.bool("keepdim", false)
	o := reduce.Max
	if c.least() {
		o = reduce.Min
	}
	c.result(c.reduced("values", o, x, []int{axis}, keep))
	if len(c.outs()) > 1 {
		c.result(c.extreme("indices", x, &reduce.ArgMaxAttrs{Axis: axis, KeepDims: keep}))
	}
}

func convertTopK(c *call) {
	x, axis, size := c.axisOf("dim", -1)
	k := c.int("k", 1)
	if c.err == nil && (k < 1 || k > int64(size)) {
		c.fail(diag.BadAttribute, "takes the %d largest of %d elements", k, size)
	}
	a := whole.TopKAttrs{Axis: axis, K: int(k), Largest: c.bool("largest", true)}
	b := a
	c.result(c.emit("values", whole.TopKValues, &a, x))
	if len(c.outs()) > 1 {
		c.result(c.emit("indices", whole.TopKIndices, &b, x))
	}
}

func convertArgMax(c *call) {
	x := c.tensor("self")
	a := &reduce.ArgMaxAttrs{KeepDims: c.bool("keepdim", false)}
	shape := slices.Repeat([]int{1}, len(c.shape(x)))
	if !c.has("dim") {
		x, a.KeepDims = c.reshape("flat", x, []int{elems(c.shape(x))}), false
	}
	a.Axis = c.axis(c.int("dim", 0), len(c.shape(x)))
	n := c.extreme("", x, a)
	if !c.has("dim") && c.bool("keepdim", false) {
		n = c.reshape("shape", n, shape)
	}
	c.result(n)
}

// convertVar is the variance, in two passes, or its root; the divisor is the count less the correction.
func convertVar(root bool) func(*call) {
	return func(c *call) { c.result(c.variance(root, "")) }
}

func (c *call) variance(root bool, suffix string) *ir.Node {
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
		c.fail(diag.UnsupportedForm, "is a variance of %g values with a correction of %g", count, correction)
	}
	far := c.emit("minus", pointwise.Sub, nil, x, c.reduced("mean", reduce.Mean, x, axes, true))
	v := c.reduced("var", reduce.Mean, c.emit("square", pointwise.Mul, nil, far, far), axes, c.bool("keepdim", false))
	if correction != 0 {
		v = c.emit("correction", pointwise.Mul, nil, v,
			c.constantOf(number{kind: 'f', f: count / (count - correction)}, ir.F32,
				"factor"))
	}
	if root {
		v = c.emit(suffix, curve.Sqrt, nil, v)
	}
	return v
}

// convertNorm is the root of the sum of squares, or the sum of sizes.
func convertNorm(c *call) {
	x := c.tensor("self")
	axes, keep := c.axes(c.ints("dim"), len(c.shape(x))), c.bool("keepdim", false)
	switch p := c.float("ord", 2); p {
	case 2:
		sum := c.reduced("sum", reduce.Sum, c.emit("square", pointwise.Mul, nil, x, x), axes, keep)
		c.result(c.emit("", curve.Sqrt, nil, sum))
	case 1:
		c.result(c.reduced("", reduce.Sum, c.emit("abs", curve.Abs, nil, x), axes, keep))
	default:
		c.fail(diag.UnsupportedForm, "ord is %g; 1 and 2 are supported", p)
	}
}
