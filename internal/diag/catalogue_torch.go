// SPDX-License-Identifier: Apache-2.0

package diag

// programs are errors about archives, and about programs that torch.export saved. internal/clitest makes the files.
var programs = []Entry{
	{UnsafeArchive, "An archive holds a name twice, a path outside its folder, overlapping members, or encrypted ones.",
		"$ lathe inspect dots.pt2"},
	{Pickle, "The model or one of its weights is a Python pickle; pickles run code when read and are never opened.",
		"$ lathe inspect pickle.pt"},
	{NoProgram, "The archive holds no exported PyTorch program, or several.",
		"$ lathe inspect no-program.pt2"},
	{ProgramSchema, "A text in the archive of a PyTorch program violates the schema of torch.export.",
		"$ lathe inspect no-graph.pt2"},
	{WeightStorage, "A weight of a PyTorch program does not lie inside its stored data.",
		"$ lathe inspect long-weight.pt2"},
	{InPlaceMutation, "A PyTorch program reads a value under its old name after an operation changed it in place.",
		"$ lathe inspect in-place.pt2"},
	{ProgramDisagrees, "An operation of a PyTorch program has another shape or type than the archive states.",
		"$ lathe inspect other-shape.pt2"},
}

// The errors of models as text.
var textImports = []Entry{
	{MLIRSyntax, "The text is not valid MLIR; the place is line and column.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n" +
			"  return %a : tensor<4xf32>\n"},
	{SeveralModules, "A text holds several modules.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nmodule @a {}\n// -----\nmodule @b {}\n"},
	{MLIRBytecode, "The file is MLIR bytecode, the binary form.", "$ lathe inspect bytecode.mlir"},
	{ElidedConstant, "The elements of a constant were left out when the text was printed.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main() -> tensor<4xf32> {\n" +
			"  %0 = stablehlo.constant dense_resource<__elided__> : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"},
	{ConstantElements, "The elements of a constant do not fit its type.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main() -> tensor<4xf32> {\n" +
			"  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"},
	{OperandTypes, "Types of an operation do not fit together, or are not those of its operands.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main(%a: tensor<4xf32>, %b: tensor<5xf32>) -> tensor<4xf32> {\n" +
			"  %0 = stablehlo.add %a, %b : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"},
	{DynamicShape, "A shape is known only at run time.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main(%a: tensor<4x6xf32>) -> tensor<?xf32> {\n" +
			"  %0 = stablehlo.reshape %a : (tensor<4x6xf32>) -> tensor<?xf32>\n  return %0 : tensor<?xf32>\n}\n"},
	{UnboundedLoop, "A loop has more rounds than --unroll allows, or its end depends on data.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n" +
			"  %c = stablehlo.constant dense<0> : tensor<i32>\n" +
			"  %0:2 = stablehlo.while(%i = %c, %x = %a) : tensor<i32>, tensor<4xf32>\n  cond {\n" +
			"    %n = stablehlo.constant dense<9> : tensor<i32>\n" +
			"    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n" +
			"    stablehlo.return %1 : tensor<i1>\n  } do {\n" +
			"    %n = stablehlo.constant dense<1> : tensor<i32>\n    %1 = stablehlo.add %i, %n : tensor<i32>\n" +
			"    stablehlo.return %1, %x : tensor<i32>, tensor<4xf32>\n  }\n  return %0#1 : tensor<4xf32>\n}\n"},
	{UnknownFunction, "A function is called that does not exist, or that calls itself.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n" +
			"  %0 = call @relu(%a) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"},
	{QuantizedType, "A quantized type is used where it is not supported.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main(%a: tensor<4x!quant.uniform<i8:f32, 0.1>>)" +
			" -> tensor<4x!quant.uniform<i8:f32, 0.1>> {\n  return %a : tensor<4x!quant.uniform<i8:f32, 0.1>>\n}\n"},
}

// folder is `lathe inspect` of a Hugging Face folder of the given config.json; further files follow.
func folder(config, more string) string {
	return "$ lathe inspect hf\n-- hf/config.json --\n" + config + "\n" + more
}

// The errors of Hugging Face folders.
var folders = []Entry{
	{UnknownArchitecture,
		"The architecture of a Hugging Face folder, or its head, is not supported; those that are known are listed.",
		folder(`{"model_type": "brt", "architectures": ["BrtModel"]}`, "")},
	{FolderTensors, "The weights of a Hugging Face folder lack tensors that config.json asks for, or hold others.",
		"$ lathe inspect missing-tensors"},
	{FolderSetting, "A setting in the config.json of a Hugging Face folder is not supported.",
		folder(`{"model_type": "bert", "quantization_config": {"quant_method": "gptq"}}`, "")},
	{NoWeights, "A Hugging Face folder has no weights in safetensors files.",
		folder(`{"model_type": "bert"}`, "-- hf/pytorch_model.bin --\nnot read\n")},
	{UnofferedChoice, "A Hugging Face model does not offer the chosen task, input, cache or loss.",
		"$ lathe inspect hf --task image-classification\n-- hf/config.json --\n{\"model_type\": \"bert\"}\n"},
	{AdapterFolder, "A folder of an adapter does not fit the model, or holds a kind of adapter that is not supported.",
		"$ lathe inspect model.onnx --adapter lora\n-- lora/adapter_config.json --\n{\"peft_type\": \"IA3\"}\n"},
}
