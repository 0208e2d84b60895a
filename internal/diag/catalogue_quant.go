// SPDX-License-Identifier: Apache-2.0

package diag

// The errors of models that bring their own quantization.
var quantImports = []Entry{
	{"L0250", "The model quantizes to codes of a type that is not supported.",
		"$ lathe inspect float8.onnx"},
	{"L0251", "The model quantizes in a form that is not supported, such as scales for each channel of a computed value.",
		"$ lathe inspect codes-out.onnx"},
	{"L0252", "A scale of the model's quantization is no positive finite number.",
		"$ lathe inspect negative-scale.onnx"},
	{"L0253", "A quantized operation takes its scales from the data of each sample, or has no integer form.",
		"$ lathe inspect dynamic.onnx"},
}
