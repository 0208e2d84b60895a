// SPDX-License-Identifier: Apache-2.0

package clitest

import "math"

// mlp is the sound model that the broken ones vary: fc1 of 8 inputs, relu1, fc2 of 4 outputs.
func mlp() onnxModel {
	return onnxModel{
		nodes: list(node("fc1", "Gemm", "x w1 b1", "h", intAttr("transB", 1)), node("relu1", "Relu", "h", "a"),
			node("fc2", "Gemm", "a w2 b2", "y", intAttr("transB", 1))),
		tensors: list(weights("w1", 6, 8), weights("b1", 6), weights("w2", 4, 6), weights("b2", 4)),
		inputs:  list(value("x", 1, 8)), outputs: list(value("y", 1, 4)),
	}
}

// one is a model of a single node with input x and output y.
func one(x, n message, tensors ...message) onnxModel {
	return onnxModel{nodes: list(n), tensors: tensors, inputs: list(x), outputs: list(value("y"))}
}

// vary changes a copy of mlp.
func vary(change func(m *onnxModel)) onnxModel {
	m := mlp()
	change(&m)
	return m
}

// namedModel is a fixture: the file name says what is the matter with it.
type namedModel struct {
	name  string
	model onnxModel
}

// soundModels can be imported; most of them stop a later stage.
func soundModels() []namedModel {
	x, image := value("x", 1, 8), value("x", 1, 2, 6, 6)
	return []namedModel{
		{"model.onnx", mlp()},
		{"qdq-residual.onnx", qdqResidual()},
		{"trained.onnx", trained()},
		{"branches.onnx", branches()},
		{"recurrent.onnx", recurrent()},
		{"counted-ids.onnx", countedIds()},
		{"decoder.onnx", decoder()},
		{"conv.onnx", one(image, node("conv1", "Conv", "x w", "y"), weights("w", 4, 2, 3, 3))},
		{"apart.onnx", one(value("x", 2, 3, 4, 5), node("mean1", "ReduceMean", "x axes", "y", intAttr("keepdims", 0)),
			ints("axes", 0, 2))}, // axes with another one between them
		{"negative-variance.onnx", one(image, node("norm1", "BatchNormalization", "x s b m v", "y"),
			weights("s", 2), weights("b", 2), weights("m", 2), floats("v", []float32{1, -1}, 2))},
		{"sigmoid.onnx", one(x, node("sigmoid1", "Sigmoid", "x", "y"))},
		{"running.onnx", running()},
		{"classifier.onnx", vary(func(m *onnxModel) { // label and probabilities
			m.nodes = append(m.nodes, node("soft", "Softmax", "y", "p"), node("most", "ArgMax", "p", "i", intAttr("axis", 1)),
				node("names", "Gather", "classes i", "label"))
			m.tensors, m.outputs = append(m.tensors, ints("classes", 3, 1, 4, 5)), list(value("label"), value("p"))
		})},
		{"logs.onnx", logs()},
		{"odd-tail.onnx", vary(func(m *onnxModel) { // an operation that is not supported, at the end
			m.nodes, m.outputs = append(m.nodes, node("nms", "Unique", "y", "z")), list(value("z"))
		})},
		{"sklearn.onnx", onnxModel{inputs: list(value("x", 1, 8)), outputs: list(valueOf("label", int64Type), value("p")),
			nodes: list(
				node("Scaler", "Scaler", "x", "s", floatsAttr("offset", 0, 1, 0, -1, 0, 2, 0, 0),
					floatsAttr("scale", 1, 64, 0.5, 1, 2, 1, 0.125, 1)).text(7, "ai.onnx.ml"),
				node("Linear", "LinearClassifier", "s", "label q", floatsAttr("coefficients", weightValues("c", 32)...),
					floatsAttr("intercepts", weightValues("i", 4)...), intsAttr("classlabels_ints", 0, 1, 2, 3),
					textAttr("post_transform", "SOFTMAX")).text(7, "ai.onnx.ml"),
				node("Norm", "Normalizer", "q", "n", textAttr("norm", "L1")).text(7, "ai.onnx.ml"),
				node("ZipMap", "ZipMap", "n", "p", intsAttr("classlabels_int64s", 0, 1, 2, 3)).text(7, "ai.onnx.ml"))}},
		{"trees.onnx", one(x, node("forest", "TreeEnsembleRegressor", "x", "y").text(7, "ai.onnx.ml"))},
		{"sum.onnx", onnxModel{nodes: list(node("add1", "Add", "a b", "y")), inputs: list(value("a", 1, 4), value("b", 1, 4)),
			outputs: list(value("y"))}},
		{"fork.onnx", onnxModel{nodes: list(node("relu1", "Relu", "x", "y"), node("relu2", "Relu", "y", "z")),
			inputs: list(x), outputs: list(value("y"), value("z"))}},
		{"two-ways.onnx", onnxModel{inputs: list(value("a", 1, 8), value("b", 1, 8), value("unread", 1, 4)),
			nodes: list(node("add1", "Add", "a b", "s"), node("fc1", "Gemm", "s w", "h"), node("relu1", "Relu", "h", "y"),
				node("sub1", "Sub", "y s", "z")),
			outputs: list(value("z"), value("y")), tensors: list(weights("w", 8, 8))}},
		{"nan-weights.onnx", one(x, node("fc1", "Gemm", "x w", "y"),
			floats("w", append(make([]float32, 31), float32(math.NaN())), 8, 4))},
		{"constant-output.onnx", onnxModel{nodes: list(node("relu1", "Relu", "x", "y"), node("id1", "Identity", "w", "z")),
			inputs: list(x), outputs: list(value("y"), value("z")), tensors: list(weights("w", 1, 3))}},
		{"fed.onnx", vary(func(m *onnxModel) { // its weights are inputs
			m.tensors = nil
			m.inputs = list(value("x", 1, 8), value("w1", 6, 8), value("b1", 6), value("w2", 4, 6), value("b2", 4))
		})},
		{"no-inputs.onnx", onnxModel{nodes: list(node("add1", "Add", "w w", "y")), outputs: list(value("y")),
			tensors: list(weights("w", 1, 3))}},
		{"unsigned.onnx", onnxModel{nodes: list(node("sub1", "Sub", "a b", "y")), outputs: list(value("y")),
			inputs: list(valueOf("a", uint64Type, 2), valueOf("b", uint64Type, 2))}},
		{"new-opset.onnx", vary(func(m *onnxModel) { m.opset = 99 })},
		{"open-dims.onnx", one(value("x", "batch", "features"), node("relu1", "Relu", "x", "y"))},
	}
}

// running are sums along an axis that is too long for a unit.
func running() onnxModel {
	return onnxModel{inputs: list(value("x", 1, 8)), outputs: list(value("y")),
		tensors: list(ints("axis", 1), ints("pads", 0, 0, 0, 128)),
		nodes:   list(node("pad1", "Pad", "x pads", "h"), node("sum1", "CumSum", "h axis", "y"))}
}

// logs is a classifier that gives logarithms of probabilities.
func logs() onnxModel {
	return vary(func(m *onnxModel) {
		m.nodes, m.outputs = append(m.nodes, node("logs", "LogSoftmax", "y", "p")), list(value("p"))
	})
}

// brokenModels cannot be imported.
func brokenModels() []namedModel {
	x, image := value("x", 1, 8), value("x", 1, 2, 6, 6)
	relu := node("relu1", "Relu", "x", "y")
	return []namedModel{
		{"many-axes.onnx", one(x, node("reshape1", "Reshape", "x s", "y"), ints("s", make([]int64, 17)...))},
		{"old-opset.onnx", vary(func(m *onnxModel) { m.opset = 3 })},
		{"unknown-ops.onnx", onnxModel{inputs: list(x), outputs: list(value("y")),
			nodes: list(node("warp1", "DeformConv", "x", "h"), node("relu1", "Relu", "h", "a"), node("nms1", "Unique", "a", "b"),
				node("warp2", "DeformConv", "b", "y"))}},
		{"own.onnx", one(x, node("gain1", "Gain", "x", "y").text(7, "com.example"))},
		{"training.onnx", one(image, node("norm1", "BatchNormalization", "x s b m v", "y", intAttr("training_mode", 1)),
			weights("s", 2), weights("b", 2), weights("m", 2), weights("v", 2))},
		{"odd-attribute.onnx", one(x, node("relu1", "Relu", "x", "y", intAttr("slope", 1)))},
		{"strings.onnx", one(valueOf("x", stringType, 1, 8), relu)},
		{"short-data.onnx", one(x, node("fc1", "Gemm", "x w", "y"), floats("w", make([]float32, 31), 8, 4))},
		{"external.onnx", one(x, node("fc1", "Gemm", "x w", "y"), external("w", "../secret.bin", 8, 4))},
		{"external-missing.onnx", one(x, node("fc1", "Gemm", "x w", "y"), external("w", "weights.bin", 8, 4))},
		{"negative-dims.onnx", one(x, node("fc1", "Gemm", "x w", "y"), head("w", float32Type, -8, 4).text(9, ""))},
		{"huge-dims.onnx", one(x, node("fc1", "Gemm", "x w", "y"), head("w", float32Type, 1<<40, 1<<40).text(9, ""))},
		{"missing-weights.onnx", vary(func(m *onnxModel) { m.tensors = m.tensors[:3] })},
		{"cyclic.onnx", onnxModel{inputs: list(x), outputs: list(value("y")),
			nodes: list(node("add1", "Add", "x b", "a"), node("relu1", "Relu", "a", "b"), node("relu2", "Relu", "b", "y"))}},
		{"shuffled.onnx", vary(func(m *onnxModel) { m.nodes[0], m.nodes[1] = m.nodes[1], m.nodes[0] })},
		{"defined-twice.onnx", vary(func(m *onnxModel) { m.nodes = append(m.nodes, m.nodes[2]) })},
		{"computed-weights.onnx", onnxModel{inputs: list(image, value("w", 4, 2, 3, 3)), outputs: list(value("y")),
			nodes: list(node("conv1", "Conv", "x w", "y"))}},
		{"data-shape.onnx", one(x, node("reshape1", "Reshape", "x x", "y"))},
		{"shape-clash.onnx", one(x, node("fc1", "Gemm", "x w", "y"), weights("w", 9, 4))},
		{"bad-index.onnx", onnxModel{inputs: list(x), outputs: list(value("y")),
			tensors: list(ints("n", 8), ints("z", 5)),
			nodes:   list(node("gather1", "Gather", "n z", "s"), node("reshape1", "Reshape", "x s", "y"))}},
		{"extra-input.onnx", one(x, node("relu1", "Relu", "x x", "y"))},
		{"sparse.onnx", vary(func(m *onnxModel) { m.sparse = true })},
		{"conv4d.onnx", one(value("x", 1, 2, 6, 6, 6, 6), node("conv1", "Conv", "x w", "y"),
			weights("w", 4, 2, 3, 3, 3, 3))},
		{"no-outputs.onnx", vary(func(m *onnxModel) { m.outputs = nil })},
		{"recursive.onnx", onnxModel{inputs: list(x), outputs: list(value("y")),
			nodes: list(node("call1", "Loop", "x", "y").text(7, "local")), functions: list(recursive())}},
		{"pool-indices.onnx", onnxModel{inputs: list(image), outputs: list(value("y"), value("i")),
			nodes: list(node("pool1", "MaxPool", "x", "y i", intsAttr("kernel_shape", 2, 2)))}},
	}
}

// recursive is a function that calls itself.
func recursive() message {
	return message(nil).text(1, "Loop").text(10, "local").text(4, "a").text(5, "b").
		sub(7, node("again", "Loop", "a", "b").text(7, "local"))
}

// external is a float tensor whose data lie in a file of their own.
func external(name, location string, dims ...int64) message {
	return head(name, float32Type, dims...).sub(13, message(nil).text(1, "location").text(2, location)).number(14, 1)
}
