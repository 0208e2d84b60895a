// SPDX-License-Identifier: Apache-2.0

package diag

// The errors of models as text.
var textImports = []Entry{
	{"L0270", "The text is no MLIR; the place is line and column.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n" +
			"  return %a : tensor<4xf32>\n"},
	{"L0271", "A text holds several modules.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nmodule @a {}\n// -----\nmodule @b {}\n"},
	{"L0272", "The file is MLIR in its binary form.", "$ lathe inspect bytecode.mlir"},
	{"L0273", "The elements of a constant were left out when the text was printed.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main() -> tensor<4xf32> {\n" +
			"  %0 = stablehlo.constant dense_resource<__elided__> : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"},
	{"L0274", "The elements of a constant do not fit its type.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main() -> tensor<4xf32> {\n" +
			"  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"},
	{"L0275", "Types of an operation do not fit together, or are not those of its operands.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main(%a: tensor<4xf32>, %b: tensor<5xf32>) -> tensor<4xf32> {\n" +
			"  %0 = stablehlo.add %a, %b : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"},
	{"L0276", "A shape is known at run time only.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main(%a: tensor<4x6xf32>) -> tensor<?xf32> {\n" +
			"  %0 = stablehlo.reshape %a : (tensor<4x6xf32>) -> tensor<?xf32>\n  return %0 : tensor<?xf32>\n}\n"},
	{"L0278", "A function is called that is not there, or that calls itself.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n" +
			"  %0 = call @relu(%a) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"},
	{"L0279", "A quantized type is used where it is not supported.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main(%a: tensor<4x!quant.uniform<i8:f32, 0.1>>)" +
			" -> tensor<4x!quant.uniform<i8:f32, 0.1>> {\n  return %a : tensor<4x!quant.uniform<i8:f32, 0.1>>\n}\n"},
}
