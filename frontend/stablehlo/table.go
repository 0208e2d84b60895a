// SPDX-License-Identifier: Apache-2.0

package stablehlo

// spec is what the importer knows of an operation.
type spec struct {
	name string
	// least and most are the number of operands, most -1 for any number.
	least, most int
	convert     func(c *call)
	// mixed: one type behind the colon is not that of all operands. untyped: conversions compare types themselves.
	mixed, untyped bool
}

// table lists the operations.
func table() []spec {
	return []spec{
		{name: "stablehlo.constant", convert: convertConstant},
		{name: "arith.constant", convert: convertConstant},

		{name: "stablehlo.add", least: 2, most: 2, convert: binary(addition)},
		{name: "stablehlo.subtract", least: 2, most: 2, convert: binary(subtraction)},
		{name: "stablehlo.multiply", least: 2, most: 2, convert: binary(multiplication)},
		{name: "stablehlo.divide", least: 2, most: 2, convert: convertDivide},
		{name: "stablehlo.maximum", least: 2, most: 2, convert: binary(greatest)},
		{name: "stablehlo.minimum", least: 2, most: 2, convert: binary(smallest)},
		{name: "stablehlo.negate", least: 1, most: 1, convert: convertNegate},
		{name: "stablehlo.abs", least: 1, most: 1, convert: unary("abs")},
		{name: "stablehlo.sign", least: 1, most: 1, convert: unary("sign")},
		{name: "stablehlo.exponential", least: 1, most: 1, convert: unary("exp")},
		{name: "stablehlo.log", least: 1, most: 1, convert: unary("log")},
		{name: "stablehlo.sqrt", least: 1, most: 1, convert: unary("sqrt")},
		{name: "stablehlo.tanh", least: 1, most: 1, convert: unary("tanh")},
		{name: "stablehlo.logistic", least: 1, most: 1, convert: unary("sigmoid")},
		{name: "stablehlo.floor", least: 1, most: 1, convert: unary("floor")},
		{name: "stablehlo.ceil", least: 1, most: 1, convert: unary("ceil")},
		{name: "stablehlo.round_nearest_even", least: 1, most: 1, convert: unary("round")},
		{name: "chlo.erf", least: 1, most: 1, convert: unary("erf")},
		{name: "stablehlo.rsqrt", least: 1, most: 1, convert: convertRsqrt},
		{name: "chlo.square", least: 1, most: 1, convert: convertSquare},
		{name: "stablehlo.clamp", least: 3, most: 3, convert: convertClamp, untyped: true},

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
