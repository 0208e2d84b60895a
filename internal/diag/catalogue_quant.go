// SPDX-License-Identifier: Apache-2.0

package diag

// The errors of models that bring their own quantization.
var quantImports = []Entry{
	{QuantType, "The model quantizes to codes of an unsupported type.",
		"Quantize to integers of 4, 8, 16 or 32 bits (QuantType.QInt8 of onnxruntime), or pass the float model " +
			"and let `--calibrate` quantize it.",
		"$ lathe inspect float8.onnx"},
	{QuantForm, "The model quantizes in an unsupported form, such as real scales of channels of a computed value.",
		"Quantize activations per tensor and weights per channel and symmetrically, or pass the float model with " +
			"`--calibrate`.",
		"$ lathe inspect scale-blocks.onnx"},
	{QuantScale, "A scale of the model's quantization is not a positive finite number.",
		"Calibrate the quantizer that made the model again, with samples that reach every layer; a scale must be " +
			"positive and finite.",
		"$ lathe inspect negative-scale.onnx"},
	{QuantRefused, "A quantized operation takes its scales from the data of each sample, or has no integer form.",
		"Quantize the model statically (quantize_static of onnxruntime, QONNX), or pass the float model and let " +
			"`--calibrate` quantize it.",
		"$ lathe inspect dynamic.onnx"},
}

// The errors of real scales.
var realScales = []Entry{
	{FactorRange, "Sums are too wide, or the step of the result is too far from theirs, for an integer factor.",
		"Use fewer bits for data, weights or bias, or a result whose step is closer to that of the products; " +
			"scales must be above 0.",
		"sum.Linear.Eval(n) // 40-bit data, 20-bit weights in steps of 0.3"},
}
