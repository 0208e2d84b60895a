// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"math"
	"slices"
	"strings"

	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/whole"
)

// orders lists sorts, writes at positions, and functions that are made of a few others.
func orders() []row {
	return []row{
		{"sort.default", "self dim descending", convertSort},
		{"sort.stable", "self stable dim descending", convertSort},
		{"argsort.default", "self dim descending", convertSort},
		{"argsort.stable", "self stable dim descending", convertSort},
		{"scatter.src scatter.value", "self dim index src value", scatter("")},
		{"scatter.reduce scatter.value_reduce", "self dim index src value reduce", convertScatterReduce},
		{"scatter_add.default", "self dim index src", scatter("add")},
		{"scatter_reduce.two", "self dim index src reduce include_self", convertScatterReduce},
		{"index_put.default _unsafe_index_put.default", "self indices values accumulate", convertIndexPut},
		{"index_add.default", "self dim index source alpha", convertIndexAdd},
		{"var_mean.correction", "self dim correction keepdim", convertVarMean(false)},
		{"var_mean.dim var_mean.default", "self dim unbiased keepdim", convertVarMean(false)},
		{"std_mean.correction", "self dim correction keepdim", convertVarMean(true)},
		{"std_mean.dim std_mean.default", "self dim unbiased keepdim", convertVarMean(true)},
		{"lerp.Scalar lerp.Tensor", "self end weight", convertLerp},
		{"addcmul.default", "self tensor1 tensor2 value", convertAddc(pointwise.Mul)},
		{"addcdiv.default", "self tensor1 tensor2 value", convertAddc(whole.Div)},
		{"cosine_similarity.default", "x1 x2 dim eps", convertCosine},
		{"cdist.default _cdist_forward.default", "x1 x2 p compute_mode", convertCdist},
		{"pairwise_distance.default", "x1 x2 p eps keepdim", convertPairwise},
		{"exp2.default special_exp2.default", "self", func(c *call) {
			factor := c.constantOf(number{kind: 'f', f: math.Ln2}, ir.F32, "factor")
			c.result(c.emit("", curve.Exp, nil, c.emit("scaled", pointwise.Mul, nil, c.tensor("self"), factor)))
		}},
		{"frac.default", "self", func(c *call) {
			x := c.tensor("self")
			c.result(c.emit("", pointwise.Sub, nil, x, c.emit("whole", curve.Trunc, nil, x)))
		}},
	}
}

// convertSort takes all elements in order, of equal ones the first first; argsort only their places.
func convertSort(c *call) {
	x, axis, size := c.axisOf("dim", -1)
	a := whole.TopKAttrs{Axis: axis, K: size, Largest: c.bool("descending", false)}
	b := a
	places := strings.HasPrefix(c.n.target, prefix+"argsort")
	if !places {
		c.result(c.emit("values", whole.TopKValues, &a, x))
	}
	if places || len(c.outs()) > 1 {
		c.result(c.emit("indices", whole.TopKIndices, &b, x))
	}
}

// scatter writes at positions along an axis: elements of a tensor, of which as many are read as there are positions, or
// one number.
func scatter(combine string) func(*call) {
	return func(c *call) {
		x, axis, _ := c.axisOf("dim", 0)
		index := c.tensor("index")
		if c.err != nil {
			return
		}
		shape := index.Type.Shape
		var updates *ir.Node
		if c.has("src") {
			updates = c.tensor("src")
			if c.err == nil && len(updates.Type.Shape) != len(shape) {
				c.fail(diag.OperandShapes, "writes %s at positions of %s", ir.ShapeString(updates.Type.Shape),
					ir.ShapeString(shape))
			}
			for i, d := range shape {
				if c.err == nil && d > updates.Type.Shape[i] {
					c.fail(diag.OperandShapes, "writes %s at positions of %s", ir.ShapeString(updates.Type.Shape),
						ir.ShapeString(shape))
					return
				}
				updates = c.slice("part", updates, i, 0, d, 1)
			}
		} else {
			updates = c.broadcast("values", c.constantOf(c.scalar("value"), ir.StoredAs(x.Type.Format), "value"), shape)
		}
		a := &whole.ScatterAttrs{Axis: axis, Reduce: combine}
		c.result(c.emit("", whole.ScatterElements, a, x, index, updates))
	}
}

func convertScatterReduce(c *call) {
	name := c.str("reduce", "")
	combine := map[string]string{"add": "add", "multiply": "mul", "sum": "add", "prod": "mul", "amax": "max",
		"amin": "min"}[name]
	if c.err == nil && combine == "" {
		c.fail(diag.UnsupportedForm, "combines by %s; sum, prod, amax and amin are supported", source.Quote(name))
	}
	if !c.bool("include_self", true) {
		c.fail(diag.UnsupportedForm, "leaves out what stood there; include_self=True is supported")
	}
	scatter(combine)(c)
}

// convertIndexPut writes values where whole numbers point along some axes, or where truth values are 1.
func convertIndexPut(c *call) {
	x, list, values := c.tensor("self"), c.tensors("indices"), c.tensor("values")
	if c.err != nil {
		return
	}
	if len(list) == 1 && list[0] != nil && list[0].Type.Format == ir.Bool {
		c.putMasked(x, list[0], values)
		return
	}
	axes, index := c.positions(x, list, "writes", "writes by truth values along several axes")
	if c.err != nil {
		return
	}
	if len(axes) == 1 && c.putAlong(x, values, axes[0], index[0]) {
		return
	}
	if axes[len(axes)-1] != len(axes)-1 {
		c.fail(diag.UnsupportedForm, "writes at positions along axes that are not the first; those are supported")
		return
	}
	var places []int // the shape of all positions together
	for _, n := range index {
		places = broadcastShapes(places, n.Type.Shape)
	}
	for i, n := range index {
		index[i] = c.reshape("column", c.broadcast("places", n, places), append(slices.Clone(places), 1))
	}
	at := c.concat("tuples", index, -1)
	rest := x.Type.Shape[len(axes):]
	combine := ""
	if c.bool("accumulate", false) {
		combine = "add"
	}
	updates := c.broadcast("values", values, slices.Concat(places, rest))
	c.result(c.emit("", whole.ScatterND, &whole.ScatterNDAttrs{Reduce: combine}, x, at, updates))
}

// broadcastShapes is the shape of two arrays that broadcast against each other; what does not is found by the repeat.
func broadcastShapes(a, b []int) []int {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := slices.Clone(a)
	for i, d := range b {
		out[len(a)-len(b)+i] = max(out[len(a)-len(b)+i], d)
	}
	return out
}

// putMasked writes one value, or one for each place of the later axes, where a mask of the first axes is 1.
func (c *call) putMasked(x, mask, values *ir.Node) {
	n := len(mask.Type.Shape)
	if n > len(x.Type.Shape) || !slices.Equal(mask.Type.Shape, x.Type.Shape[:n]) {
		c.fail(diag.OperandShapes, "a mask of %s does not fit %s", ir.ShapeString(mask.Type.Shape),
			ir.ShapeString(x.Type.Shape))
		return
	}
	if elems(values.Type.Shape) != 1 {
		c.fail(diag.UnsupportedForm,
			"writes %d values where a mask is 1: how many it takes is known at run time only; one value "+
				"is supported", elems(values.Type.Shape))
		return
	}
	if c.bool("accumulate", false) {
		values = c.emit("sum", pointwise.Add, nil, x, c.reshape("value", values, nil))
	} else {
		values = c.reshape("value", values, nil)
	}
	for len(mask.Type.Shape) < len(x.Type.Shape) && c.err == nil {
		mask = c.reshape("mask", mask, append(slices.Clone(mask.Type.Shape), 1))
	}
	c.result(c.emit("", whole.Where, nil, mask, values, x))
}

// convertIndexAdd adds slices at positions along an axis.
func convertIndexAdd(c *call) {
	x, axis, _ := c.axisOf("dim", 0)
	index, updates := c.tensor("index"), c.tensor("source")
	if c.err != nil {
		return
	}
	shape := slices.Repeat([]int{1}, len(x.Type.Shape))
	shape[axis] = elems(index.Type.Shape)
	index = c.broadcast("places", c.reshape("column", index, shape), c.shape(updates))
	if c.has("alpha") && c.float("alpha", 1) != 1 {
		factor := c.constantOf(c.scalar("alpha"), ir.StoredAs(x.Type.Format), "alpha")
		updates = c.emit("scaled", pointwise.Mul, nil, updates, factor)
	}
	a := &whole.ScatterAttrs{Axis: axis, Reduce: "add"}
	c.result(c.emit("", whole.ScatterElements, a, x, index, updates))
}

// convertVarMean gives the variance, or its root, and the mean.
func convertVarMean(root bool) func(*call) {
	return func(c *call) {
		c.result(c.variance(root, "variance"))
		if len(c.outs()) > 1 {
			x := c.tensor("self")
			axes := c.axes(c.ints("dim"), len(c.shape(x)))
			c.result(c.reduced("average", reduce.Mean, x, axes, c.bool("keepdim", false)))
		}
	}
}

// convertLerp is self + weight*(end - self).
func convertLerp(c *call) {
	x, end := c.tensor("self"), c.tensor("end")
	weight := c.operand("weight", ir.F32)
	step := c.emit("step", pointwise.Mul, nil, c.emit("way", pointwise.Sub, nil, end, x), weight)
	c.result(c.emit("", pointwise.Add, nil, x, step))
}

// convertAddc is self + value*(tensor1 op tensor2).
func convertAddc(o *ir.Op) func(*call) {
	return func(c *call) {
		x, a, b := c.tensor("self"), c.tensor("tensor1"), c.tensor("tensor2")
		y := c.emit("pair", o, nil, a, b)
		if c.has("value") && c.float("value", 1) != 1 {
			y = c.emit("scaled", pointwise.Mul, nil, y, c.constantOf(c.scalar("value"), c.outType(x), "value"))
		}
		c.result(c.emit("", pointwise.Add, nil, x, y))
	}
}

// convertCosine is the product of two vectors along an axis, each divided by its length, or by eps where that is less.
func convertCosine(c *call) {
	least := c.constantOf(number{kind: 'f', f: c.float("eps", 1e-8)}, ir.F32, "eps")
	axis := c.int("dim", 1)
	part := func(name string) *ir.Node {
		x := c.tensor(name)
		at := []int{c.axis(axis, len(c.shape(x)))}
		squares := c.reduced(name+".squares", reduce.Sum, c.emit(name+".square", pointwise.Mul, nil, x, x), at, true)
		length := c.emit(name+".longer", pointwise.Max, nil, c.emit(name+".length", curve.Sqrt, nil, squares), least)
		inverse := c.emit(name+".inverse", curve.Reciprocal, &curve.ReciprocalAttrs{Numerator: 1}, length)
		return c.emit(name+".unit", pointwise.Mul, nil, x, inverse)
	}
	y := c.emit("product", pointwise.Mul, nil, part("x1"), part("x2"))
	c.result(c.reduced("", reduce.Sum, y, []int{c.axis(axis, len(c.shape(y)))}, false))
}
