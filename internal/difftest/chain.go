// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/draw"
	"lathe/ir/op/geometry"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/stream"
	"lathe/ir/op/sum"
	"lathe/ir/op/window"
)

// Chains are the shapes of networks that tests draw: operations in a row.
var Chains = []string{
	"linear relu linear",
	"linear cast clip linear",
	"scale relu linear sigmoid",
	"conv relu maxpool reshape linear",
	"conv conv relu global_avgpool reshape linear",
	"conv maxpool leaky_relu conv relu avgpool reshape linear relu linear",
	"maxpool conv tanh scale identity global_avgpool",
}

// chain builds a quantized graph from front to back. Formats follow the size of the values, so that neither everything
// saturates nor everything is zero at the end.
type chain struct {
	r   *rand.Rand
	g   *ir.Graph
	at  *ir.Node
	top int // values are about 2^top at most
	// data draws a format for values up to 2^top, weight one for weights up to 1.
	data, weight func(top int) format.Format
}

// Chain draws a network of the given operations, in fixed formats.
func Chain(r *rand.Rand, ops string) *ir.Graph {
	return finish(newChain(r, ops), ops)
}

// newChain is the input of a network in fixed formats, an image where ops have a convolution.
func newChain(r *rand.Rand, ops string) *chain {
	return chainIn(r, ops, func(top int) format.Format {
		f := draw.Fixed(r, 10)
		f.W = max(f.W, 3)
		f.F = f.W - 1 - top + r.IntN(2)
		return f
	}, func(int) format.Format {
		w := 2 + r.IntN(7)
		return format.Fixed{W: w, F: w - 1, Signed: true}
	})
}

// ChainIn is Chain with formats of the caller's choice.
func ChainIn(r *rand.Rand, ops string, data, weight func(top int) format.Format) *ir.Graph {
	return finish(chainIn(r, ops, data, weight), ops)
}

func chainIn(r *rand.Rand, ops string, data, weight func(top int) format.Format) *chain {
	shape := []int{4 + r.IntN(9)}
	if strings.Contains(ops, "conv") {
		shape = []int{1, 5 + r.IntN(3), 5 + r.IntN(3), 1 + r.IntN(4)}
	}
	c := &chain{r: r, g: &ir.Graph{Name: "chain", Stage: ir.StageQuantized}, data: data, weight: weight}
	c.at = c.add(&ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Type{Shape: shape, Format: data(0)}})
	c.g.In = []*ir.Node{c.at}
	return c
}

func finish(c *chain, ops string) *ir.Graph {
	for _, name := range strings.Fields(ops) {
		c.step(op.Find(name))
	}
	c.g.Out = []ir.Output{{Name: "y", Node: c.at}}
	return c.g
}

// add appends a node under a fresh name.
func (c *chain) add(n *ir.Node) *ir.Node {
	n.Name = c.g.FreshName(n.Name)
	c.g.Nodes = append(c.g.Nodes, n)
	return n
}

// constant draws a constant of values up to 2^top.
func (c *chain) constant(name string, f format.Format, top int, shape ...int) *ir.Node {
	t := ir.Type{Shape: shape, Format: f}
	codes := make([]int64, t.Elems())
	for i := range codes {
		codes[i] = f.Encode(format.FromFloat64(math.Ldexp(2*c.r.Float64()-1, top)))
	}
	return c.add(&ir.Node{Name: name, Op: leaf.Const, Attrs: &ir.Const{Data: ir.CodeBlob(codes)}, Type: t})
}

// step appends one operation.
func (c *chain) step(o *ir.Op) {
	shape := c.at.Type.Shape
	last := shape[len(shape)-1]
	n := &ir.Node{Name: o.Name, Op: o, Args: []*ir.Node{c.at}}
	keep := false
	switch o {
	case sum.Linear:
		c.weights(n, 1+c.r.IntN(8), last)
	case sum.Scale:
		n.Attrs = &column.ScaleAttrs{Axis: len(shape) - 1}
		c.weights(n, last)
	case sum.Conv:
		w := c.window(1+c.r.IntN(3), 1, 1)
		n.Attrs = &sum.ConvAttrs{Window: w, Groups: 1}
		c.weights(n, 1+c.r.IntN(6), w.Kernel[0], w.Kernel[1], last)
	case window.MaxPool:
		w := c.window(2, 1+c.r.IntN(2), 0)
		n.Attrs, keep = &w, true
	case window.AvgPool:
		n.Attrs = &window.AvgAttrs{Window: c.window(min(2, shape[1], shape[2]), 2, 0), IncludePad: true}
	case window.GlobalAvgPool:
		n.Attrs = &window.GlobalAttrs{ChannelsLast: true}
	case move.Reshape:
		n.Attrs, keep = &move.ReshapeAttrs{Shape: []int{c.at.Type.Elems()}}, true
	case move.Identity:
		keep = true
	case pointwise.LeakyRelu:
		n.Attrs = &pointwise.LeakyAttrs{Alpha: 0.1}
	case pointwise.Clip:
		n.Attrs = &pointwise.ClipAttrs{Min: -0.25, Max: float32(math.Ldexp(0.7, c.top))}
	case curve.Sigmoid, curve.Tanh:
		c.top = 0
	}
	n.Type = ir.Type{Format: c.at.Type.Format}
	if !keep {
		n.Type.Format = c.data(c.top)
	}
	if s, err := o.Infer(n); err == nil { // without a shape the graph fails its check
		n.Type.Shape = s
	}
	c.at = c.add(n)
}

// weights adds weights and bias; a sum of random signs grows like the root of its terms.
func (c *chain) weights(n *ir.Node, shape ...int) {
	terms := 1
	for _, d := range shape[1:] {
		terms *= d
	}
	n.Args = append(n.Args, c.constant("w", c.weight(0), 0, shape...))
	if n.Op == sum.Scale || c.r.IntN(5) > 0 {
		bias := format.Fixed{W: 6 + c.r.IntN(8), F: 4 - c.top + c.r.IntN(6), Signed: true}
		n.Args = append(n.Args, c.constant("b", bias, c.top-1, shape[0]))
	}
	for ; terms > 1; terms /= 4 {
		c.top++
	}
}

// window draws a window of k x k elements over the current image, reduced where the image is smaller.
func (c *chain) window(k, stride, pad int) geometry.Window {
	h, w := c.at.Type.Shape[1], c.at.Type.Shape[2]
	kernel := []int{min(k, h), min(k, w)}
	pads := make([]int, 4)
	for i := range pads {
		if pad > 0 && kernel[i%2] > 1 {
			pads[i] = c.r.IntN(pad + 1)
		}
	}
	return geometry.Window{Kernel: kernel, Strides: []int{stride, stride}, Pads: pads, Dilations: []int{1, 1},
		ChannelsLast: true}
}

// Residuals is the number of shapes of networks whose values fork and meet again.
const Residuals = 6

// Residual draws a quantized network of the given shape (0 to Residuals-1): an identity beside two convolutions, stride
// 2 beside a projection, a mean over the image that scales the image, a dense layer with a short cut, branches of three
// kinds that are joined, and two such blocks of which the value in between is an output.
func Residual(r *rand.Rand, kind int) *ir.Graph {
	ops := "conv" // for an image
	if kind == 3 {
		ops = "linear"
	}
	c := newChain(r, ops)
	x := c.at
	switch kind {
	case 0:
		c.short(x, c.conv(c.map1(pointwise.Relu, c.conv(x, c.channels(x), 3, 1)), c.channels(x), 3, 1))
	case 1:
		out := 1 + r.IntN(6)
		c.short(c.conv(x, out, 1, 2), c.conv(c.map1(pointwise.Relu, c.conv(x, out, 3, 2)), out, 3, 1))
	case 2:
		mean := c.node(window.GlobalAvgPool, &window.GlobalAttrs{ChannelsLast: true}, x)
		c.top = 0
		gate := c.map1(curve.Sigmoid, c.conv(mean, c.channels(x), 1, 1))
		c.at = c.node(pointwise.Mul, nil, x, gate)
	case 3:
		wide := c.map1(pointwise.Relu, c.dense(x, 3+r.IntN(9)))
		c.short(x, c.dense(wide, c.channels(x)))
	case 4:
		f := x.Type.Format
		branches := []*ir.Node{c.conv(x, 2, 1, 1), c.conv(x, 4, 3, 1), c.node(curve.Tanh, nil, x)}
		for _, b := range branches {
			b.Type.Format = f
		}
		c.at = c.conv(c.node(move.Concat, &move.ConcatAttrs{Axis: 3}, branches...), 3, 1, 1)
	case 5:
		first := c.short(x, c.conv(x, c.channels(x), 3, 1))
		c.g.Out = append(c.g.Out, ir.Output{Name: "y0", Node: first})
		inner := c.short(c.map1(pointwise.Relu, first), c.conv(first, c.channels(first), 3, 1))
		c.short(inner, c.conv(c.conv(first, 2, 1, 1), c.channels(inner), 3, 1))
	}
	c.g.Out = append(c.g.Out, ir.Output{Name: "y", Node: c.at})
	return c.g
}

func (c *chain) channels(x *ir.Node) int { return x.Type.Shape[len(x.Type.Shape)-1] }

// node appends one operation on given arguments, in a format drawn for values up to the current size.
func (c *chain) node(o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	n := &ir.Node{Name: o.Name, Op: o, Attrs: attrs, Args: args, Type: ir.Type{Format: c.data(c.top)}}
	if o == move.Concat {
		n.Type.Format = args[0].Type.Format
	}
	if s, err := o.Infer(n); err == nil {
		n.Type.Shape = s
	}
	c.at = c.add(n)
	return n
}

func (c *chain) map1(o *ir.Op, x *ir.Node) *ir.Node { return c.node(o, nil, x) }

// conv is a convolution whose padding keeps the size of the image at stride 1.
func (c *chain) conv(x *ir.Node, out, k, stride int) *ir.Node {
	p := k / 2
	w := geometry.Window{Kernel: []int{k, k}, Strides: []int{stride, stride}, Pads: []int{p, p, p, p},
		Dilations:    []int{1, 1},
		ChannelsLast: true}
	weights := c.constant("w", c.weight(0), 0, out, k, k, c.channels(x))
	return c.node(sum.Conv, &sum.ConvAttrs{Window: w, Groups: 1}, x, weights)
}

func (c *chain) dense(x *ir.Node, out int) *ir.Node {
	return c.node(sum.Linear, nil, x, c.constant("w", c.weight(0), 0, out, c.channels(x)))
}

// short adds two values of one shape.
func (c *chain) short(a, b *ir.Node) *ir.Node {
	if c.r.IntN(2) == 0 {
		a, b = b, a
	}
	return c.node(pointwise.Add, nil, a, b)
}

// DescribeFifos lists the FIFOs of a graph for a failure.
func DescribeFifos(g *ir.Graph) (text string) {
	for _, n := range g.Nodes {
		if n.Op == stream.Fifo {
			text += fmt.Sprintf("  %s behind %s: %d beats\n", n.Name, n.Args[0].Name, n.HW.Fifo)
		}
	}
	return text
}
