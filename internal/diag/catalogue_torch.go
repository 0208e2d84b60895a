// SPDX-License-Identifier: Apache-2.0

package diag

// programs are errors about archives, and about programs that torch.export saved. internal/clitest makes the files.
var programs = []Entry{
	{UnsafeArchive, "An archive holds a name twice, a path outside its folder, overlapping members, or encrypted ones.",
		"Export the model again with torch.export.save; do not trust the sender of this file.",
		"$ lathe inspect dots.pt2"},
	{Pickle, "The model or one of its weights is a Python pickle; pickles run code when read and are never opened.",
		"Export the model in Python: torch.export.save(torch.export.export(model.eval(), inputs), \"model.pt2\"), " +
			"with plain tensors as weights.",
		"$ lathe inspect pickle.pt"},
	{NoProgram, "The archive holds no exported PyTorch program, or several.",
		"Save exactly one program: torch.export.save(torch.export.export(model.eval(), inputs), \"model.pt2\").",
		"$ lathe inspect no-program.pt2"},
	{ProgramSchema, "A text in the archive of a PyTorch program violates the schema of torch.export.",
		"Export the model again with PyTorch 2.8 or newer, and do not edit the archive.",
		"$ lathe inspect no-graph.pt2"},
	{WeightStorage, "A weight of a PyTorch program does not lie inside its stored data.",
		"Export the model again from PyTorch with contiguous weights (`tensor.contiguous()`); the archive is " +
			"damaged or was edited.",
		"$ lathe inspect long-weight.pt2"},
	{InPlaceMutation, "A PyTorch program reads a value under its old name after an operation changed it in place.",
		"Call model.eval() before torch.export, write the operation without the underscore or +=, or call " +
			"run_decompositions() before saving.",
		"$ lathe inspect in-place.pt2"},
	{ProgramDisagrees, "An operation of a PyTorch program has another shape or type than the archive states.",
		"Export the model again and do not edit the archive. If it happens again, report the model and the " +
			"message: the importer may read the operation wrongly.",
		"$ lathe inspect other-shape.pt2"},
}

// The errors of models as text.
var textImports = []Entry{
	{MLIRSyntax, "The text is not valid MLIR; the place is line and column.",
		"Correct the text at the line and column of the message, or print the module again from the tool that " +
			"made it.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n" +
			"  return %a : tensor<4xf32>\n"},
	{SeveralModules, "A text holds several modules.",
		"Write each module into a file of its own.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nmodule @a {}\n// -----\nmodule @b {}\n"},
	{MLIRBytecode, "The file is MLIR bytecode, the binary form.",
		"Print the module as text: str(exported.mlir_module()), or stablehlo-translate --deserialize.",
		"$ lathe inspect bytecode.mlir"},
	{ElidedConstant, "The elements of a constant were left out when the text was printed.",
		"Print the module again with all elements: as_text() of jax does, and MLIR without " +
			"--mlir-elide-elementsattrs-if-larger.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main() -> tensor<4xf32> {\n" +
			"  %0 = stablehlo.constant dense_resource<__elided__> : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"},
	{ConstantElements, "The elements of a constant do not fit its type.",
		"Correct the list, or the shape and element type behind the colon, or print the module again from the " +
			"tool that made it.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main() -> tensor<4xf32> {\n" +
			"  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"},
	{OperandTypes, "Types of an operation do not fit together, or are not those of its operands.",
		"Correct the types in the text at the place in the message, or print the module again from the tool that " +
			"made it.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main(%a: tensor<4xf32>, %b: tensor<5xf32>) -> tensor<4xf32> {\n" +
			"  %0 = stablehlo.add %a, %b : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"},
	{DynamicShape, "A shape is known only at run time.",
		"Export the module for static shapes: lower the function in JAX for arrays of fixed sizes, so that every " +
			"dimension is a number.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main(%a: tensor<4x6xf32>) -> tensor<?xf32> {\n" +
			"  %0 = stablehlo.reshape %a : (tensor<4x6xf32>) -> tensor<?xf32>\n  return %0 : tensor<?xf32>\n}\n"},
	{UnboundedLoop, "A loop has more rounds than --unroll allows, or its end depends on data.",
		"Pass `--unroll N` with the number of rounds of the loop. A loop whose end depends on data must be " +
			"rewritten with a fixed count.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n" +
			"  %c = stablehlo.constant dense<0> : tensor<i32>\n" +
			"  %0:2 = stablehlo.while(%i = %c, %x = %a) : tensor<i32>, tensor<4xf32>\n  cond {\n" +
			"    %n = stablehlo.constant dense<9> : tensor<i32>\n" +
			"    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n" +
			"    stablehlo.return %1 : tensor<i1>\n  } do {\n" +
			"    %n = stablehlo.constant dense<1> : tensor<i32>\n    %1 = stablehlo.add %i, %n : tensor<i32>\n" +
			"    stablehlo.return %1, %x : tensor<i32>, tensor<4xf32>\n  }\n  return %0#1 : tensor<4xf32>\n}\n"},
	{UnknownFunction, "A function is called that does not exist, or that calls itself.",
		"Put the called function into the same module, with the arguments of the call; replace recursion by a " +
			"loop of a fixed number of rounds.",
		"$ lathe inspect m.mlir\n-- m.mlir --\nfunc.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n" +
			"  %0 = call @relu(%a) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"},
	{QuantizedType, "A quantized type is used where it is not supported.",
		"Export the float model and quantize it with `--calibrate`, or write the quantization with operations " +
			"that docs/stablehlo.md lists.",
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
		"Export the model to ONNX or with torch.export; for a known architecture with an unknown head, choose " +
			"another head by `--task`.",
		folder(`{"model_type": "brt", "architectures": ["BrtModel"]}`, "")},
	{FolderTensors, "The weights of a Hugging Face folder lack tensors that config.json asks for, or hold others.",
		"Fetch the weights and config.json again, from one model and revision; both must describe the same layers.",
		"$ lathe inspect missing-tensors"},
	{FolderSetting, "A setting in the config.json of a Hugging Face folder is not supported.",
		"Take a folder whose config.json has not the setting in the message, such as unquantized weights, or " +
			"export the model to ONNX or with torch.export.",
		folder(`{"model_type": "bert", "quantization_config": {"quant_method": "gptq"}}`, "")},
	{NoWeights, "A Hugging Face folder has no weights in safetensors files.",
		"Save the weights as safetensors: model.save_pretrained(folder) in Python, with the class that " +
			"config.json names.",
		folder(`{"model_type": "bert"}`, "-- hf/pytorch_model.bin --\nnot read\n")},
	{UnofferedChoice, "A Hugging Face model does not offer the chosen task, input, cache or loss.",
		"Leave out the flag that the message is about, or choose a task, input, cache or loss that this kind of " +
			"model has.",
		"$ lathe inspect hf --task image-classification\n-- hf/config.json --\n{\"model_type\": \"bert\"}\n"},
	{AdapterFolder, "A folder of an adapter does not fit the model, or holds a kind of adapter that is not supported.",
		"Merge the adapter in Python with PEFT's merge_and_unload, save the model and import that; or import the " +
			"Hugging Face folder that the adapter was made for.",
		"$ lathe inspect model.onnx --adapter lora\n-- lora/adapter_config.json --\n{\"peft_type\": \"IA3\"}\n"},
}
