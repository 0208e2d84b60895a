// SPDX-License-Identifier: Apache-2.0

package clitest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
)

// TinyNet writes one of the four networks of MLPerf Tiny, of random weights: resnet8, mobilenetv1-0.25, ds-cnn or
// autoencoder, for the inputs that the benchmark has.
func TinyNet(path, name string) error {
	n := newImageNet()
	switch name {
	case "resnet8":
		return ImageNet(path, name, 32)
	case "mobilenetv1-0.25":
		return ImageNet(path, name, 96)
	case "ds-cnn":
		n.model.inputs = list(value("x", 1, 1, 49, 10))
		n.dsCNN()
	case "autoencoder":
		n.model.inputs = list(value("x", 1, 640))
		n.autoencoder()
	default:
		return fmt.Errorf("no network %q", name)
	}
	return os.WriteFile(path, n.model.encode(), 0o600)
}

// ImageNet writes a network of the given name, of random weights, for an image of side x side pixels.
func ImageNet(path, name string, side int) error {
	n := newImageNet()
	n.model.inputs = list(value("x", 1, 3, side, side))
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

func newImageNet() *imageNet {
	n := &imageNet{r: rand.New(rand.NewPCG(1, 2))}
	n.model.outputs = list(value("y"))
	return n
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

// conv is a convolution of groups with a bias and a square kernel.
func (n *imageNet) conv(x string, in, out, kernel, stride, groups int64) string {
	pad := kernel / 2
	return n.convolve(x, in, out, kernel, kernel, stride, groups, pad, pad, pad, pad)
}

func (n *imageNet) convolve(x string, in, out, high, wide, stride, groups int64, pads ...int64) string {
	n.names++
	deviation := math.Sqrt(2 / float64(in/groups*high*wide))
	w := n.floats(fmt.Sprint("w", n.names), deviation, out, in/groups, high, wide)
	b := n.floats(fmt.Sprint("b", n.names), 0.1, out)
	return n.op("Conv", x+" "+w+" "+b, intsAttr("kernel_shape", high, wide), intsAttr("strides", stride, stride),
		intsAttr("pads", pads...), intAttr("group", groups))
}

func (n *imageNet) relu(x string) string { return n.op("Relu", x) }

func (n *imageNet) clip(x string) string { return n.op("Clip", x+" low high") }

// classes ends the network.
func (n *imageNet) classes(x string, in, out int64) {
	n.linear(n.op("Flatten", n.op("GlobalAveragePool", x)), "y", in, out)
}

func (n *imageNet) linear(x, y string, in, out int64) string {
	w, b := n.floats("w"+y, math.Sqrt(1/float64(in)), out, in), n.floats("b"+y, 0.1, out)
	n.model.nodes = append(n.model.nodes, node(y, "Gemm", x+" "+w+" "+b, y, intAttr("transB", 1)))
	return y
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

func (n *imageNet) dsCNN() {
	x := n.relu(n.convolve("x", 1, 64, 10, 4, 2, 1, 4, 1, 5, 1))
	for range 4 {
		x = n.relu(n.conv(n.relu(n.conv(x, 64, 64, 3, 1, 64)), 64, 64, 1, 1, 1))
	}
	n.classes(x, 64, 12)
}

func (n *imageNet) autoencoder() {
	x, c := "x", int64(640)
	for i, out := range []int64{128, 128, 128, 128, 8, 128, 128, 128, 128} {
		x, c = n.relu(n.linear(x, fmt.Sprint("fc", i), c, out)), out
	}
	n.linear(x, "y", c, 640)
}
