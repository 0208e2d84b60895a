// SPDX-License-Identifier: Apache-2.0

package diag

// The errors of models that bring their own quantization.
var quantImports = []Entry{
	{QuantType, "The model quantizes to codes of an unsupported type.",
		"$ lathe inspect float8.onnx"},
	{QuantForm, "The model quantizes in an unsupported form, such as real scales of channels of a computed value.",
		"$ lathe inspect scale-blocks.onnx"},
	{QuantScale, "A scale of the model's quantization is not a positive finite number.",
		"$ lathe inspect negative-scale.onnx"},
	{QuantRefused, "A quantized operation takes its scales from the data of each sample, or has no integer form.",
		"$ lathe inspect dynamic.onnx"},
}

// The errors of real scales.
var realScales = []Entry{
	{FactorRange, "Sums are too wide, or the step of the result is too far from theirs, for an integer factor.",
		"sum.Linear.Eval(n) // 40-bit data, 20-bit weights in steps of 0.3"},
}
