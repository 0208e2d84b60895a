// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
)

// ImageNet writes a network of the given name, of random weights, for an image of side x side pixels.
func ImageNet(path, name string, side int) error {
	n := &imageNet{r: rand.New(rand.NewPCG(1, 2))}
	n.model.inputs, n.model.outputs = list(value("x", 1, 3, side, side)), list(value("y"))
	n.floats("low", 0, 1)
	n.floats("high", 6, 1)
	switch name {
	case "mobilenetv2":
		n.mobileNetV2()
	case "resnet18":
		n.resNet18()
	case "mobilenetv1-0.25":
		n.mobileNetV1()
	case "resnet8":
		n.resNet8()
	default:
		return fmt.Errorf("no network %q", name)
	}
	return os.WriteFile(path, n.model.encode(), 0o600)
}

type imageNet struct {
	model onnxModel
	r     *rand.Rand
	names int
}

// floats adds a tensor: a single value, or random ones of the given deviation.
func (n *imageNet) floats(name string, v float64, dims ...int64) string {
	count := int64(1)
	for _, d := range dims {
		count *= d
	}
	data := make([]float32, count)
	for i := range data {
		if data[i] = float32(v); count > 1 {
			data[i] = float32(v * n.r.NormFloat64())
		}
	}
	if count == 1 {
		dims = nil
	}
	n.model.tensors = append(n.model.tensors, floats(name, data, dims...))
	return name
}

func (n *imageNet) op(op, ins string, attrs ...message) string {
	n.names++
	out := fmt.Sprintf("%s%d", op, n.names)
	n.model.nodes = append(n.model.nodes, node(out, op, ins, out, attrs...))
	return out
}

// conv is a convolution of groups with a bias.
func (n *imageNet) conv(x string, in, out, kernel, stride, groups int64) string {
	n.names++
	deviation := math.Sqrt(2 / float64(in/groups*kernel*kernel))
	w := n.floats(fmt.Sprint("w", n.names), deviation, out, in/groups, kernel, kernel)
	b := n.floats(fmt.Sprint("b", n.names), 0.1, out)
	pad := kernel / 2
	return n.op("Conv", x+" "+w+" "+b, intsAttr("kernel_shape", kernel, kernel), intsAttr("strides", stride, stride),
		intsAttr("pads", pad, pad, pad, pad), intAttr("group", groups))
}

func (n *imageNet) relu(x string) string { return n.op("Relu", x) }

func (n *imageNet) clip(x string) string { return n.op("Clip", x+" low high") }

// classes ends the network.
func (n *imageNet) classes(x string, in, out int64) {
	x = n.op("Flatten", n.op("GlobalAveragePool", x))
	w, b := n.floats("wy", math.Sqrt(1/float64(in)), out, in), n.floats("by", 0.1, out)
	n.model.nodes = append(n.model.nodes, node("y", "Gemm", x+" "+w+" "+b, "y", intAttr("transB", 1)))
}

func (n *imageNet) mobileNetV2() {
	x, c := n.clip(n.conv("x", 3, 32, 3, 2, 1)), int64(32)
	for _, b := range [][4]int64{{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2},
		{6, 320, 1, 1}} {
		for i := range b[2] {
			y, wide, stride := x, c*b[0], int64(1)
			if b[0] > 1 {
				y = n.clip(n.conv(y, c, wide, 1, 1, 1))
			}
			if i == 0 {
				stride = b[3]
			}
			y = n.conv(n.clip(n.conv(y, wide, wide, 3, stride, wide)), wide, b[1], 1, 1, 1)
			if i > 0 {
				y = n.op("Add", x+" "+y)
			}
			x, c = y, b[1]
		}
	}
	n.classes(n.clip(n.conv(x, c, 1280, 1, 1, 1)), 1280, 1000)
}

// block is two convolutions beside a short cut, which has one of its own where the shape changes.
func (n *imageNet) block(x string, in, out, stride int64) string {
	y := n.conv(n.relu(n.conv(x, in, out, 3, stride, 1)), out, out, 3, 1, 1)
	if stride > 1 || in != out {
		x = n.conv(x, in, out, 1, stride, 1)
	}
	return n.relu(n.op("Add", x+" "+y))
}

func (n *imageNet) resNet18() {
	x := n.op("MaxPool", n.relu(n.conv("x", 3, 64, 7, 2, 1)), intsAttr("kernel_shape", 3, 3), intsAttr("strides", 2, 2),
		intsAttr("pads", 1, 1, 1, 1))
	x = n.block(n.block(x, 64, 64, 1), 64, 64, 1)
	for c := int64(64); c < 512; c *= 2 {
		x = n.block(n.block(x, c, 2*c, 2), 2*c, 2*c, 1)
	}
	n.classes(x, 512, 1000)
}

func (n *imageNet) resNet8() {
	x := n.block(n.relu(n.conv("x", 3, 16, 3, 1, 1)), 16, 16, 1)
	n.classes(n.block(n.block(x, 16, 32, 2), 32, 64, 2), 64, 10)
}

func (n *imageNet) mobileNetV1() {
	x, c := n.relu(n.conv("x", 3, 8, 3, 2, 1)), int64(8)
	for _, b := range [][2]int64{{16, 1}, {32, 2}, {32, 1}, {64, 2}, {64, 1}, {128, 2}, {128, 1}, {128, 1}, {128, 1},
		{128, 1}, {128, 1}, {256, 2}, {256, 1}} {
		x = n.relu(n.conv(x, c, c, 3, b[1], c))
		x, c = n.relu(n.conv(x, c, b[0], 1, 1, 1)), b[0]
	}
	n.classes(x, c, 2)
}
