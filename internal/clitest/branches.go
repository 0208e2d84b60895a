// SPDX-License-Identifier: Apache-2.0

package clitest

// branches is a network whose values part and meet: a residual, a gate for each channel, a split of which one part goes
// through a convolution, a shuffle of channels, pixels from depth, and constants for each element.
func branches() onnxModel {
	pads := intsAttr("pads", 1, 1, 1, 1)
	return onnxModel{
		inputs: list(value("x", 1, 2, 6, 6)), outputs: list(value("y")),
		nodes: list(
			node("conv1", "Conv", "x w1", "c1", pads), node("relu1", "Relu", "c1", "r1"),
			node("conv2", "Conv", "r1 w2", "c2", pads), node("add1", "Add", "r1 c2", "a1"),
			node("pool1", "GlobalAveragePool", "a1", "g1"), node("gate1", "Conv", "g1 w3", "g2"),
			node("sigmoid1", "Sigmoid", "g2", "g3"), node("mul1", "Mul", "a1 g3", "m1"),
			node("split1", "Split", "m1", "p q", intAttr("axis", 1)), node("conv3", "Conv", "p w4", "p3", pads),
			node("concat1", "Concat", "q p3", "j", intAttr("axis", 1)),
			node("cut1", "Reshape", "j groups", "j1"), node("swap1", "Transpose", "j1", "j2", intsAttr("perm", 0, 2, 1, 3, 4)),
			node("join1", "Reshape", "j2 whole", "j3"), node("deep1", "DepthToSpace", "j3", "d1", intAttr("blocksize", 2)),
			node("add2", "Add", "d1 map", "d2"), node("max1", "Max", "d2 map", "d3"),
			node("pool2", "MaxPool", "d3", "e", intsAttr("kernel_shape", 2, 2), intsAttr("strides", 2, 2)),
			node("flat1", "Flatten", "e", "f"), node("fc1", "Gemm", "f w5", "y")),
		tensors: list(weights("w1", 8, 2, 3, 3), weights("w2", 8, 8, 3, 3), weights("w3", 8, 8, 1, 1),
			weights("w4", 4, 4, 3, 3), ints("groups", 1, 2, 4, 6, 6), ints("whole", 1, 8, 6, 6),
			weights("map", 1, 2, 12, 12), weights("w5", 72, 4)),
	}
}

// countedIds adds rows that ids look up to rows at positions, which it counts from the ids that are not 1.
func countedIds() onnxModel {
	return onnxModel{
		inputs: list(valueOf("ids", int64Type, 1, 4)), outputs: list(value("y", 1, 4, 2)),
		nodes: list(node("pads", "Equal", "ids pad", "p"), node("real", "Not", "p", "r"),
			node("ones", "Cast", "r", "o", intAttr("to", int64Type)), node("count", "CumSum", "o axis", "c"),
			node("words", "Gather", "table ids", "w"), node("places", "Gather", "table c", "q"), node("sum", "Add", "w q", "y")),
		tensors: list(weights("table", 8, 2), ints("pad", 1), ints("axis", 1)),
	}
}

// recurrent goes over four steps of two values with an LSTM, and with a GRU over what that gives.
func recurrent() onnxModel {
	return onnxModel{
		nodes: list(node("cut", "Reshape", "x steps", "xs"),
			node("lstm", "LSTM", "xs w1 r1 b1", "hs", intAttr("hidden_size", 2)), node("join", "Reshape", "hs steps", "h"),
			node("gru", "GRU", "h w2 r2 b2", "gs last", intAttr("hidden_size", 2), intAttr("linear_before_reset", 1)),
			node("flat", "Reshape", "last row", "y")),
		tensors: list(weights("w1", 1, 8, 2), weights("r1", 1, 8, 2), weights("b1", 1, 16), weights("w2", 1, 6, 2),
			weights("r2", 1, 6, 2), weights("b2", 1, 12), ints("steps", 4, 1, 2), ints("row", 1, 2)),
		inputs: list(value("x", 1, 8)), outputs: list(value("y", 1, 2)),
	}
}

// decoder makes images larger again, in all ways: a transposed convolution with overlaps, one of each channel by
// itself, repeated and interpolated pixels; then it pads by the edge, cuts a border off and convolves.
func decoder() onnxModel {
	pads, two := intsAttr("pads", 1, 1, 1, 1), intsAttr("strides", 2, 2)
	linear := textAttr("mode", "linear")
	return onnxModel{
		inputs: list(value("x", 1, 2, 6, 6)), outputs: list(value("y")),
		nodes: list(
			node("conv1", "Conv", "x w1", "c1", pads), node("relu1", "Relu", "c1", "r1"),
			node("pool1", "MaxPool", "r1", "p", intsAttr("kernel_shape", 2, 2), two),
			node("up1", "ConvTranspose", "p w2", "u0", pads, two), node("norm1", "BatchNormalization", "u0 s b b v", "u1"),
			node("relu2", "Relu", "u1", "u2"),
			node("up2", "ConvTranspose", "p w3", "u3", intsAttr("pads", 1, 1, 1, 1), two, intAttr("group", 4),
				intsAttr("output_padding", 1, 1)),
			node("near1", "Resize", "p _ twice", "n1", textAttr("coordinate_transformation_mode", "asymmetric"),
				textAttr("nearest_mode", "floor")),
			node("smooth1", "Resize", "p _ twice", "l1", linear),
			node("corners1", "Resize", "p _ twice", "l2", linear,
				textAttr("coordinate_transformation_mode", "align_corners")),
			node("join1", "Concat", "r1 u2 u3 n1 l1 l2", "j", intAttr("axis", 1)),
			node("edge1", "Pad", "j wider", "j1", textAttr("mode", "edge")), node("crop1", "Pad", "j1 less", "j2"),
			node("conv2", "Conv", "j2 w4", "y")),
		tensors: list(weights("w1", 4, 2, 3, 3), weights("w2", 4, 4, 4, 4), weights("w3", 4, 1, 3, 3),
			weights("w4", 3, 24, 3, 3), weights("s", 4), weights("b", 4), floats("v", []float32{1, 2, 0.5, 1}, 4),
			floats("twice", []float32{1, 1, 2, 2}, 4), ints("wider", 0, 0, 1, 2, 0, 0, 2, 1),
			ints("less", 0, 0, -1, 0, 0, 0, 0, -1)),
	}
}
