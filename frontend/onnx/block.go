// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"slices"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
)

// blockTable lists normalizations and the blocks of transformers.
func blockTable() []opSpec {
	return []opSpec{
		{"MeanVarianceNormalization", "axes", 1, 1, convertMeanVariance, false},
		{"LpPool", windowAttrs + "ceil_mode p", 1, 1, convertLpPool, false},
		{"GlobalLpPool", "p", 1, 1, convertGlobalLp, false},
		{"Einsum", "equation", 1, many, convertEinsum, false},
		{"Resize", resizeAttrs, 1, 4, convertResize, false},
		{"Upsample", "mode scales", 1, 2, convertUpsample, false},
		{"LpNormalization", "axis p", 1, 1, convertLpNorm, false},
		{"LRN", "size alpha beta bias", 1, 1, convertLRN, false},
		{"Attention", "is_causal kv_num_heads left_window_size q_num_heads qk_matmul_output_mode " +
			"right_window_size scale softcap softmax_precision", 3, 7,
			convertAttention, true},
		{"RotaryEmbedding", "interleaved num_heads rotary_embedding_dim", 3, 4, convertRotary, false},
		{"LayerNormalization", "axis epsilon stash_type", 2, 3, convertLayerNorm, true},
		{"RMSNormalization", "axis epsilon stash_type", 2, 2, convertRMSNorm, false},
		{"InstanceNormalization", "epsilon", 3, 3, convertInstanceNorm, false},
		{"GroupNormalization", "epsilon num_groups stash_type", 3, 3, convertGroupNorm, false},
	}
}

func convertEinsum(c *call) {
	c.present()
	c.alike(0)
	var args []*ir.Node
	for i := range c.in {
		args = append(args, c.arg(i))
	}
	equation := c.string("equation", "")
	if c.err != nil {
		return
	}
	n, err := c.b.Einsum(c.place(""), equation, args...)
	c.wrap(diag.OperandShapes, err)
	c.result(n)
}

func convertLRN(c *call) {
	a := build.LRNAttrs{Size: int(min(max(c.int("size", 0), 0), maxAttr)), Alpha: c.finite("alpha", 1e-4),
		Beta: c.finite("beta", 0.75), Bias: c.finite("bias", 1)}
	x := c.data(0)
	if c.err != nil {
		return
	}
	n, err := c.b.LRN(c.place(""), x, a)
	c.wrap(diag.OperandShapes, err)
	c.result(n)
}

// convertMeanVariance normalizes over any axes, without gains.
func convertMeanVariance(c *call) {
	axes := []int{0, 2, 3}
	if c.hasAttr("axes") {
		axes = c.ints("axes")
	}
	x := c.data(0)
	if c.err != nil {
		return
	}
	n, err := c.b.MeanVariance(c.place(""), x, axes)
	c.wrap(diag.OperandShapes, err)
	c.result(n)
}

// power is the exponent of a norm, 2 by default.
func (c *call) power() int {
	p := c.int("p", 2)
	if c.err == nil && (p < 1 || p > maxAttr) {
		c.fail(diag.BadAttribute, "p is %d; a norm has p of 1 or more", p)
	}
	return int(p)
}

// convertLpPool: a norm of each window, in which padding counts nothing.
func convertLpPool(c *call) {
	c.volume = true
	w, p, x := c.window(nil), c.power(), c.data(0)
	if c.err != nil {
		return
	}
	n, err := c.b.LpPool(c.place(""), x, w, p)
	c.wrap(diag.OperandShapes, err)
	c.result(n)
}

func convertGlobalLp(c *call) {
	shape, p, x := c.shape(0), c.power(), c.data(0)
	if c.err == nil && len(shape) < 3 {
		c.fail(diag.OperandShapes, "needs batch, channels and spatial axes, its input is %s", ir.ShapeString(shape))
	}
	if c.err != nil {
		return
	}
	n, err := c.b.GlobalLp(c.place(""), x, p)
	c.wrap(diag.OperandShapes, err)
	c.result(n)
}

// convertLayerNorm: mean and the inverse of the deviation are further results.
func convertLayerNorm(c *call) {
	shape := c.shape(0)
	a := &norm.Attrs{Axis: c.axis(c.int("axis", -1), len(shape), 0), Eps: c.float("epsilon", 1e-5)}
	args := []*ir.Node{c.data(0), c.data(1)}
	if c.has(2) {
		args = append(args, c.data(2))
	}
	c.result(c.emit("", norm.LayerNorm, a, args...))
	if c.err != nil || !c.wants(1) && !c.wants(2) {
		return
	}
	axes := &reduce.Attrs{}
	for i := a.Axis; i < len(shape); i++ {
		axes.Axes = append(axes.Axes, i)
	}
	mean := c.emit("mean", reduce.Mean, axes, args[0])
	c.resultAt(1, mean)
	less := c.emit("less", pointwise.Sub, nil, args[0], mean)
	variance := c.emit("variance", reduce.Mean, axes, c.emit("square", pointwise.Mul, nil, less, less))
	deviation := c.emit("deviation", curve.Sqrt, nil,
		c.emit("sum", pointwise.Add, nil, variance, c.number(a.Eps, "epsilon")))
	c.resultAt(2, c.emit("inverse", curve.Reciprocal, &curve.ReciprocalAttrs{Numerator: 1}, deviation))
}

func convertRMSNorm(c *call) {
	a := &norm.Attrs{Axis: c.axis(c.int("axis", -1), len(c.shape(0)), 0), Eps: c.float("epsilon", 1e-5)}
	x := c.data(0)
	c.result(c.emit("", norm.RMSNorm, a, x, c.data(1)))
}

// convertInstanceNorm is a group normalization with a group a channel.
func convertInstanceNorm(c *call) {
	if len(c.shape(0)) < 3 {
		c.fail(diag.OperandShapes, "needs batch, channels and spatial axes, its input is %s", ir.ShapeString(c.shape(0)))
		return
	}
	a := &norm.GroupNormAttrs{Groups: c.shape(0)[1], Eps: c.float("epsilon", 1e-5)}
	x, scale := c.data(0), c.data(1)
	c.result(c.emit("", norm.GroupNorm, a, x, scale, c.data(2)))
}

// convertGroupNorm: scale and bias are one a group up to opset 20, one a channel from 21.
func convertGroupNorm(c *call) {
	shape, groups := c.shape(0), c.int("num_groups", 0)
	if len(shape) < 3 || groups < 1 || groups > maxAttr || int64(shape[1])%groups != 0 {
		c.fail(diag.OperandShapes, "%d groups do not divide the channels of %s", groups, ir.ShapeString(shape))
		return
	}
	args := []*ir.Node{c.data(0)}
	for i := 1; i < 3 && c.err == nil; i++ {
		v := c.data(i)
		if c.opset < 21 && c.err == nil && slices.Equal(v.Type.Shape, []int{int(groups)}) {
			each := shape[1] / int(groups)
			v = c.repeat("groups", c.reshape("column", v, []int{int(groups), 1}), []int{int(groups), each})
			v = c.reshape("channels", v, []int{shape[1]})
		}
		args = append(args, v)
	}
	c.result(c.emit("", norm.GroupNorm, &norm.GroupNormAttrs{Groups: int(groups), Eps: c.float("epsilon", 1e-5)}, args...))
}
