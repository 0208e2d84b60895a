// SPDX-License-Identifier: Apache-2.0

package clitest

import "strings"

// element types of codes.
const (
	uint8Type  = 2
	int8Type   = 3
	float8Type = 17
)

// qdqResidual is a quantized network with a residual addition: real scales, zero points, uint8 and int8, weights with a
// scale a channel, a mean, and a skip that reads the same codes as the convolution beside it.
func qdqResidual() onnxModel {
	m := onnxModel{inputs: list(value("x", 1, 2, 6, 6)), outputs: list(value("y"))}
	add := func(n ...message) { m.nodes = append(m.nodes, n...) }
	keep := func(t ...message) { m.tensors = append(m.tensors, t...) }
	codes := func(name string, elem int64, data string, dims ...int64) {
		keep(head(name, elem, dims...).text(9, data))
	}
	// coded quantizes value v and makes it v_d.
	coded := func(v string, scale float32, elem int64, zero byte) {
		keep(floats(v+"_s", []float32{scale}))
		codes(v+"_z", elem, string([]byte{zero}))
		add(node(v+"_quant", "QuantizeLinear", v+" "+v+"_s "+v+"_z", v+"_q"),
			node(v+"_deq", "DequantizeLinear", v+"_q "+v+"_s "+v+"_z", v+"_d"))
	}
	weight := func(name string, scales []float32, dims ...int64) {
		n := int64(1)
		for _, d := range dims {
			n *= d
		}
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(i*i*37 + i*11 + len(name))
		}
		keep(floats(name+"_s", scales, int64(len(scales))))
		codes(name+"_q", int8Type, string(data), dims...)
		add(node(name+"_deq", "DequantizeLinear", name+"_q "+name+"_s", name, intAttr("axis", 0)))
	}
	pads := intsAttr("pads", 1, 1, 1, 1)
	coded("x", 0.0157, uint8Type, 128)
	weight("w1", []float32{0.011, 0.007, 0.009}, 3, 2, 3, 3)
	add(node("conv1", "Conv", "x_d w1", "c1", pads))
	coded("c1", 0.031, uint8Type, 3)
	weight("w2", []float32{0.004, 0.0055, 0.0071}, 3, 3, 3, 3)
	add(node("conv2", "Conv", "c1_d w2", "c2", pads))
	coded("c2", 0.043, int8Type, 0xf0)
	add(node("add1", "Add", "c1_d c2_d", "s"))
	coded("s", 0.05, uint8Type, 40)
	add(node("mean1", "GlobalAveragePool", "s_d", "g"))
	coded("g", 0.02, int8Type, 0xec)
	add(node("flat1", "Flatten", "g_d", "f"))
	weight("w3", []float32{0.01, 0.02, 0.008, 0.013}, 4, 3)
	add(node("fc1", "Gemm", "f w3", "l", intAttr("transB", 1)))
	coded("l", 0.037, int8Type, 7)
	m.nodes[len(m.nodes)-1] = node("l_deq", "DequantizeLinear", "l_q l_s l_z", "y")
	return m
}

// trained is a network of quantization-aware training as exporters write it: codes of few bits by a Clip between
// QuantizeLinear and DequantizeLinear, and by Quant of QONNX; real scales, a scale a channel; batch norms and a sum of
// branches that nobody quantizes.
func trained() onnxModel {
	m := onnxModel{inputs: list(value("x", 1, 8)), outputs: list(value("y"))}
	add := func(n ...message) { m.nodes = append(m.nodes, n...) }
	keep := func(t ...message) { m.tensors = append(m.tensors, t...) }
	// coded makes v_d of value v: codes from lo to hi in storage of 8 bits.
	coded := func(v string, scale float32, elem int64, lo, hi byte) {
		keep(floats(v+"_s", []float32{scale}), head(v+"_z", elem).text(9, "\x00"),
			head(v+"_lo", elem).text(9, string([]byte{lo})),
			head(v+"_hi", elem).text(9, string([]byte{hi})))
		add(node(v+"_quant", "QuantizeLinear", v+" "+v+"_s "+v+"_z", v+"_q"),
			node(v+"_clip", "Clip", v+"_q "+v+"_lo "+v+"_hi", v+"_c"),
			node(v+"_deq", "DequantizeLinear", v+"_c "+v+"_s "+v+"_z", v+"_d"))
	}
	// quant makes q of v by Quant.
	quant := func(v, q string, scales []float32, bits float32, dims ...int64) {
		keep(floats(q+"_s", scales, dims...), floats(q+"_w", []float32{bits}))
		add(node(q+"_quant", "Quant", v+" "+q+"_s zero "+q+"_w", q).text(7, "qonnx.custom_op.general"))
	}
	norm := func(v, to string) {
		keep(weights(to+"_g", 3), weights(to+"_b", 3), weights(to+"_m", 3), floats(to+"_v", []float32{0.4, 1.5, 0.9}, 3))
		add(node(to+"_norm", "BatchNormalization", v+" "+to+"_g "+to+"_b "+to+"_m "+to+"_v", to))
	}
	pads := intsAttr("pads", 1, 1, 1, 1)
	keep(ints("image", 1, 2, 2, 2), floats("zero", []float32{0}), weights("k2", 3, 3, 3, 3), weights("k3", 2, 12),
		floats("k1_s", []float32{0.3, 0.17, 0.26}, 3), head("k1_lo", int8Type).text(9, "\xff"),
		head("k1_hi", int8Type).text(9, "\x01"),
		head("k1_q", int8Type, 3, 2, 3, 3).text(9, strings.Repeat("\x01\xff\x00\xff\x01\x01", 9)))
	coded("x", 0.11, int8Type, 0xf8, 0x07)
	add(node("image1", "Reshape", "x_d image", "i"), node("k1_clip", "Clip", "k1_q k1_lo k1_hi", "k1_c"),
		node("k1_deq", "DequantizeLinear", "k1_c k1_s", "k1", intAttr("axis", 0)), node("conv1", "Conv", "i k1", "c1", pads))
	norm("c1", "n1")
	add(node("relu1", "Relu", "n1", "r1"))
	coded("r1", 0.09, uint8Type, 0, 7)
	quant("k2", "k2_q", []float32{0.4, 0.21, 0.33}, 3, 3, 1, 1, 1)
	add(node("conv2", "Conv", "r1_d k2_q", "c2", pads))
	norm("c2", "n2")
	add(node("add1", "Add", "n2 r1_d", "s"))
	quant("s", "t", []float32{0.23}, 4)
	quant("k3", "k3_q", []float32{0.14}, 4)
	add(node("flat1", "Flatten", "t", "f"), node("fc1", "Gemm", "f k3_q", "y", intAttr("transB", 1)))
	return m
}

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
		{"scale-blocks.onnx", model(list(node("q1", "QuantizeLinear", "x s", "y", intAttr("block_size", 4))),
			floats("s", []float32{0.5, 0.25}, 2))},
		{"negative-scale.onnx", model(list(quantize, back), floats("s", []float32{-0.5}), zero)},
		{"dynamic.onnx", model(list(node("fc1", "DynamicQuantizeMatMul", "x w s", "y").text(7, "com.microsoft")),
			head("w", int8Type, 8, 2).text(9, strings.Repeat("\x05\xfb", 8)), scale)},
	}
}
