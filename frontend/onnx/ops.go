// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"math"
	"slices"

	"lathe/frontend/source"
	"lathe/ir"
	"lathe/ir/op"
)

// opSpec is one row of the table of operations.
type opSpec struct {
	name        string
	attrs       string // names of the known attributes
	least, most int    // inputs
	// fold evaluates a node whose inputs are all small constants; nil if convert handles constants itself.
	fold func(c *call, k []*konst) *konst
	// convert makes graph nodes; nil for operations that exist on constants only.
	convert func(c *call)
}

// many is the number of inputs of operations without a bound.
const many = 1 << 20

const windowAttrs = "auto_pad kernel_shape pads strides dilations "

// opTable lists the operations, constant expressions last.
func opTable() []opSpec {
	add := foldBinary(func(a, b float64) float64 { return a + b }, func(_ *call, a, b int64) int64 { return a + b })
	sub := foldBinary(func(a, b float64) float64 { return a - b }, func(_ *call, a, b int64) int64 { return a - b })
	mul := foldBinary(func(a, b float64) float64 { return a * b }, func(_ *call, a, b int64) int64 { return a * b })
	return append([]opSpec{
		{"Gemm", "alpha beta transA transB", 2, 3, nil, convertGemm},
		{"MatMul", "", 2, 2, nil, convertMatMul},
		{"Conv", windowAttrs + "group", 2, 3, nil, convertConv},
		{"BatchNormalization", "epsilon momentum spatial training_mode", 5, 5, nil, convertBatchNorm},
		{"Relu", "", 1, 1, nil, convertUnary(op.Relu)},
		{"LeakyRelu", "alpha", 1, 1, nil, convertLeaky},
		{"Clip", "min max", 1, 3, nil, convertClip},
		{"Sigmoid", "", 1, 1, nil, convertUnary(op.Sigmoid)},
		{"Tanh", "", 1, 1, nil, convertUnary(op.Tanh)},
		{"Softmax", "axis", 1, 1, nil, convertSoftmax},
		{"ArgMax", "axis keepdims select_last_index", 1, 1, nil, convertArgMax},
		{"MaxPool", windowAttrs + "ceil_mode storage_order", 1, 1, nil, convertMaxPool},
		{"AveragePool", windowAttrs + "ceil_mode count_include_pad", 1, 1, nil, convertAvgPool},
		{"GlobalAveragePool", "", 1, 1, nil, convertGlobalAvg},
		{"GlobalMaxPool", "", 1, 1, nil, convertGlobalMax},
		{"Add", "", 2, 2, add, convertBinary(op.Add)},
		{"Sub", "", 2, 2, sub, convertBinary(op.Sub)},
		{"Mul", "", 2, 2, mul, convertBinary(op.Mul)},
		{"Reshape", "allowzero", 2, 2, nil, convertReshape},
		{"Flatten", "axis", 1, 1, nil, convertFlatten},
		{"Squeeze", "axes", 1, 2, nil, convertSqueeze},
		{"Unsqueeze", "axes", 1, 2, nil, convertUnsqueeze},
		{"Transpose", "perm", 1, 1, foldTranspose, convertTranspose},
		{"Identity", "", 1, 1, nil, convertIdentity},
		{"Dropout", "ratio seed", 1, 3, nil, convertDropout},
		{"Cast", "to saturate round_mode", 1, 1, nil, convertCast},
		{"CastLike", "saturate round_mode", 2, 2, nil, convertCastLike},
		{"Constant", "value value_int value_ints value_float value_floats", 0, 0, nil, convertConstant},
		{"Shape", "start end", 1, 1, nil, convertShape},
		{"Size", "", 1, 1, nil, convertSize},
		{"ConstantOfShape", "value", 1, 1, foldFill, nil},
		{"Range", "", 3, 3, foldRange, nil},
		{"Equal", "", 2, 2, foldEqual, nil},
		{"Where", "", 3, 3, foldWhere, nil},
	}, slices.Concat(functionTable(), moveTable(), reduceTable())...)
}

// opNames lists what opTable holds.
func opNames() []string {
	var names []string
	for _, s := range opTable() {
		names = append(names, s.name)
	}
	return names
}

// convertUnary converts an operation with one input and no attributes.
func convertUnary(o *ir.Op) func(*call) {
	return func(c *call) { c.result(c.emit("", o, nil, c.data(0))) }
}

// convertBinary converts an operation with two inputs and broadcasting.
func convertBinary(o *ir.Op) func(*call) {
	return func(c *call) {
		a := c.data(0)
		c.result(c.emit("", o, nil, a, c.data(1)))
	}
}

func convertLeaky(c *call) {
	c.result(c.emit("", op.LeakyRelu, &op.LeakyAttrs{Alpha: c.float("alpha", 0.01)}, c.data(0)))
}

// convertClip: bounds are attributes up to opset 10, inputs from 11.
func convertClip(c *call) {
	a := &op.ClipAttrs{Min: float32(math.Inf(-1)), Max: float32(math.Inf(1))}
	if c.opset < 11 {
		a.Min, a.Max = c.float("min", a.Min), c.float("max", a.Max)
	} else if len(c.n.attrs) > 0 {
		c.fail(source.CodeAttr, "its bounds are inputs since operator set 11, this one has attributes")
	}
	if c.has(1) {
		a.Min = float32(c.scalar(1, "the lower bound"))
	}
	if c.has(2) {
		a.Max = float32(c.scalar(2, "the upper bound"))
	}
	if a.Min != a.Min || a.Max != a.Max {
		c.fail(source.CodeAttr, "a bound is not a number")
	}
	c.result(c.emit("", op.Clip, a, c.data(0)))
}

// convertSoftmax: up to opset 12 all axes from the given one on are taken together.
func convertSoftmax(c *call) {
	shape := c.shape(0)
	if c.opset >= 13 {
		axis := c.axis(c.int("axis", -1), len(shape), 0)
		c.result(c.emit("", op.Softmax, &op.AxisAttrs{Axis: axis}, c.data(0)))
		return
	}
	axis := c.axis(c.int("axis", 1), len(shape), 1)
	if axis == len(shape)-1 {
		c.result(c.emit("", op.Softmax, &op.AxisAttrs{Axis: axis}, c.data(0)))
		return
	}
	flat := []int{elems(shape[:axis]), elems(shape[axis:])}
	n := c.emit("flat", op.Reshape, &op.ReshapeAttrs{Shape: flat}, c.data(0))
	n = c.emit("", op.Softmax, &op.AxisAttrs{Axis: 1}, n)
	c.result(c.emit("shape", op.Reshape, &op.ReshapeAttrs{Shape: shape}, n))
}

func elems(shape []int) int { return ir.Type{Shape: shape}.Elems() }

func convertArgMax(c *call) {
	a := &op.ArgMaxAttrs{
		Axis:     c.axis(c.int("axis", 0), len(c.shape(0)), 0),
		KeepDims: c.int("keepdims", 1) != 0,
		Last:     c.int("select_last_index", 0) != 0,
	}
	n := c.emit("", op.ArgMax, a, c.data(0))
	if c.result(n); n != nil {
		c.values[c.n.out[0]].typ = ir.I64
	}
}
