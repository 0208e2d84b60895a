// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"slices"

	"lathe/ir/op/pointwise"
	"lathe/ir/op/whole"
)

// spec is what the importer knows of an operation.
type spec struct {
	name string
	// least and most are the number of operands, most -1 for any number.
	least, most int
	convert     func(c *call)
	// mixed: one type behind the colon is not that of all operands. untyped: conversions compare types themselves.
	mixed, untyped bool
	// bare: between operands and colon the text has no words of its own.
	bare bool
}

// table lists the operations.
func table() []spec {
	list := slices.Concat(arithmetic(), functions())
	for i := range list {
		list[i].bare = !slices.Contains(worded, list[i].name)
	}
	return slices.Concat(list, moves(), control())
}

// worded are the operations element by element whose texts have more than operands, attributes and types.
var worded = []string{"stablehlo.constant", "arith.constant", "stablehlo.compare", "stablehlo.reduce_precision"}

// arithmetic are operations of two operands, and conversions.
func arithmetic() []spec {
	return []spec{
		{name: "stablehlo.constant", convert: convertConstant},
		{name: "arith.constant", convert: convertConstant},
		{name: "stablehlo.add", least: 2, most: 2, convert: binary(pointwise.Add, whole.Or)},
		{name: "stablehlo.subtract", least: 2, most: 2, convert: binary(pointwise.Sub, whole.Xor)},
		{name: "stablehlo.multiply", least: 2, most: 2, convert: binary(pointwise.Mul, whole.And)},
		{name: "stablehlo.divide", least: 2, most: 2, convert: convertDivide},
		{name: "stablehlo.remainder", least: 2, most: 2, convert: convertRemainder},
		{name: "stablehlo.power", least: 2, most: 2, convert: binary(whole.Power, nil)},
		{name: "stablehlo.maximum", least: 2, most: 2, convert: binary(pointwise.Max, whole.Or)},
		{name: "stablehlo.minimum", least: 2, most: 2, convert: binary(pointwise.Min, whole.And)},
		{name: "stablehlo.and", least: 2, most: 2, convert: binary(whole.And, nil)},
		{name: "stablehlo.or", least: 2, most: 2, convert: binary(whole.Or, nil)},
		{name: "stablehlo.xor", least: 2, most: 2, convert: binary(whole.Xor, nil)},
		{name: "stablehlo.not", least: 1, most: 1, convert: unary("not")},
		{name: "stablehlo.shift_left", least: 2, most: 2, convert: binary(whole.ShiftLeft, nil)},
		{name: "stablehlo.shift_right_arithmetic", least: 2, most: 2, convert: binary(whole.ShiftRight, nil)},
		{name: "stablehlo.shift_right_logical", least: 2, most: 2, convert: convertShiftLogical},
		{name: "stablehlo.count_leading_zeros", least: 1, most: 1, convert: convertLeadingZeros},
		{name: "stablehlo.compare", least: 2, most: 2, convert: convertCompare},
		{name: "stablehlo.select", least: 3, most: 3, convert: convertSelect, untyped: true},
		{name: "stablehlo.clamp", least: 3, most: 3, convert: convertClamp, untyped: true},
		{name: "stablehlo.convert", least: 1, most: 1, convert: convertConvert, mixed: true},
		{name: "stablehlo.bitcast_convert", least: 1, most: 1, convert: convertBitcast, mixed: true},
		{name: "stablehlo.reduce_precision", least: 1, most: 1, convert: convertReducePrecision},
		{name: "stablehlo.is_finite", least: 1, most: 1, convert: convertIsFinite, mixed: true},
	}
}

// functions are operations of one operand, element by element.
func functions() []spec {
	return []spec{
		{name: "stablehlo.negate", least: 1, most: 1, convert: convertNegate},
		{name: "stablehlo.abs", least: 1, most: 1, convert: unary("abs")},
		{name: "stablehlo.sign", least: 1, most: 1, convert: unary("sign")},
		{name: "stablehlo.exponential", least: 1, most: 1, convert: unary("exp")},
		{name: "stablehlo.exponential_minus_one", least: 1, most: 1, convert: convertExpm1},
		{name: "stablehlo.log", least: 1, most: 1, convert: unary("log")},
		{name: "stablehlo.log_plus_one", least: 1, most: 1, convert: convertLog1p},
		{name: "stablehlo.sqrt", least: 1, most: 1, convert: unary("sqrt")},
		{name: "stablehlo.rsqrt", least: 1, most: 1, convert: convertRsqrt},
		{name: "stablehlo.cbrt", least: 1, most: 1, convert: convertCbrt},
		{name: "stablehlo.tanh", least: 1, most: 1, convert: unary("tanh")},
		{name: "stablehlo.logistic", least: 1, most: 1, convert: unary("sigmoid")},
		{name: "stablehlo.sine", least: 1, most: 1, convert: unary("sin")},
		{name: "stablehlo.cosine", least: 1, most: 1, convert: unary("cos")},
		{name: "stablehlo.tan", least: 1, most: 1, convert: unary("tan")},
		{name: "stablehlo.floor", least: 1, most: 1, convert: unary("floor")},
		{name: "stablehlo.ceil", least: 1, most: 1, convert: unary("ceil")},
		{name: "stablehlo.round_nearest_even", least: 1, most: 1, convert: unary("round")},
		{name: "stablehlo.round_nearest_afz", least: 1, most: 1, convert: convertRoundAway},
		{name: "chlo.erf", least: 1, most: 1, convert: unary("erf")},
		{name: "chlo.erfc", least: 1, most: 1, convert: convertErfc},
		{name: "chlo.square", least: 1, most: 1, convert: convertSquare},
		{name: "chlo.tan", least: 1, most: 1, convert: unary("tan")},
		{name: "chlo.asin", least: 1, most: 1, convert: unary("asin")},
		{name: "chlo.acos", least: 1, most: 1, convert: unary("acos")},
		{name: "chlo.atan", least: 1, most: 1, convert: unary("atan")},
		{name: "chlo.sinh", least: 1, most: 1, convert: unary("sinh")},
		{name: "chlo.cosh", least: 1, most: 1, convert: unary("cosh")},
		{name: "chlo.asinh", least: 1, most: 1, convert: unary("asinh")},
		{name: "chlo.acosh", least: 1, most: 1, convert: unary("acosh")},
		{name: "chlo.atanh", least: 1, most: 1, convert: unary("atanh")},
		{name: "chlo.is_inf", least: 1, most: 1, convert: unary("is_inf"), mixed: true},
		{name: "stablehlo.batch_norm_inference", least: 5, most: 5, convert: convertBatchNorm, mixed: true},
	}
}

// moves are operations that move elements, or join many.
func moves() []spec {
	return []spec{
		{name: "stablehlo.reshape", least: 1, most: 1, convert: convertReshape, mixed: true},
		{name: "stablehlo.transpose", least: 1, most: 1, convert: convertTranspose, mixed: true},
		{name: "stablehlo.broadcast_in_dim", least: 1, most: 1, convert: convertBroadcast, mixed: true},
		{name: "stablehlo.broadcast", least: 1, most: 1, convert: convertLeading, mixed: true},
		{name: "stablehlo.slice", least: 1, most: 1, convert: convertSlice, mixed: true},
		{name: "stablehlo.concatenate", least: 1, most: -1, convert: convertConcat, mixed: true},
		{name: "stablehlo.pad", least: 2, most: 2, convert: convertPad, mixed: true},
		{name: "stablehlo.iota", convert: convertIota},
		{name: "stablehlo.reverse", least: 1, most: 1, convert: convertReverse, mixed: true},
		{name: "stablehlo.dot_general", least: 2, most: 2, convert: convertDotGeneral, mixed: true},
		{name: "stablehlo.dot", least: 2, most: 2, convert: convertDot, mixed: true},
		{name: "stablehlo.convolution", least: 2, most: 2, convert: convertConv, mixed: true},
		{name: "stablehlo.reduce", least: 2, most: -1, convert: convertReduce, untyped: true},
		{name: "stablehlo.reduce_window", least: 2, most: -1, convert: convertReduceWindow, untyped: true},
		{name: "stablehlo.sort", least: 1, most: -1, convert: convertSort, untyped: true},
		{name: "chlo.top_k", least: 1, most: 1, convert: convertTopK, mixed: true},
		{name: "stablehlo.gather", least: 2, most: 2, convert: convertGather, mixed: true},
		{name: "stablehlo.dynamic_gather", least: 3, most: 3, convert: convertGather, mixed: true},
		{name: "stablehlo.scatter", least: 3, most: -1, convert: convertScatter, mixed: true},
		{name: "stablehlo.dynamic_slice", least: 1, most: -1, convert: convertDynamicSlice, mixed: true},
		{name: "stablehlo.dynamic_update_slice", least: 2, most: -1, convert: convertDynamicUpdate, mixed: true},
		{name: "stablehlo.get_dimension_size", least: 1, most: 1, convert: convertDimension, mixed: true},
		{name: "stablehlo.dynamic_broadcast_in_dim", least: 2, most: 2, convert: convertDynamicBroadcast, mixed: true},
		{name: "stablehlo.dynamic_reshape", least: 2, most: 2, convert: convertDynamicReshape, mixed: true},
		{name: "stablehlo.dynamic_iota", least: 1, most: 1, convert: convertDynamicIota, mixed: true},
		{name: "stablehlo.real_dynamic_slice", least: 4, most: 4, convert: convertSliceByValues, mixed: true},
		{name: "stablehlo.dynamic_pad", least: 5, most: 5, convert: convertDynamicPad, mixed: true},
	}
}

// control are operations on shapes, calls, loops, and what says nothing of values.
func control() []spec {
	return []spec{
		{name: "stablehlo.while", most: -1, convert: convertWhile, untyped: true},
		{name: "stablehlo.if", least: 1, most: 1, convert: convertIf, untyped: true},
		{name: "stablehlo.case", least: 1, most: 1, convert: convertCase, untyped: true},
		{name: "call", most: -1, convert: convertCall},
		{name: "func.call", most: -1, convert: convertCall},
		{name: "stablehlo.composite", most: -1, convert: convertComposite},
		{name: "stablehlo.custom_call", most: -1, convert: convertCustom, untyped: true},
		{name: "stablehlo.optimization_barrier", least: 1, most: -1, convert: convertSame, untyped: true},
		{name: "sdy.sharding_constraint", least: 1, most: 1, convert: convertSame, untyped: true},
	}
}

// opNames are the names of all operations, for suggestions.
func opNames() []string {
	all := table()
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.name
	}
	return names
}
