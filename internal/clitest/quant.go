// SPDX-License-Identifier: Apache-2.0

package clitest

// element types of codes.
const (
	int8Type   = 3
	float8Type = 17
)

// brokenQuantModels bring a quantization that cannot be imported.
func brokenQuantModels() []namedModel {
	x := value("x", 1, 8)
	scale, zero := floats("s", []float32{0.5}), head("z", int8Type).text(9, "\x03")
	quantize, back := node("q1", "QuantizeLinear", "x s z", "q"), node("dq1", "DequantizeLinear", "q s z", "y")
	model := func(nodes []message, tensors ...message) onnxModel {
		return onnxModel{nodes: nodes, tensors: tensors, inputs: list(x), outputs: list(value("y")), opset: 19}
	}
	return []namedModel{
		{"float8.onnx", model(list(quantize, back), scale, head("z", float8Type).text(9, "\x00"))},
		{"codes-out.onnx", model(list(node("q1", "QuantizeLinear", "x s z", "y")), scale, zero)},
		{"negative-scale.onnx", model(list(quantize, back), floats("s", []float32{-0.5}), zero)},
		{"dynamic.onnx", model(list(node("q1", "DynamicQuantizeLinear", "x", "q s z"), back))},
	}
}
