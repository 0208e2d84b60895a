// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/op"
)

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
		c.short(x, c.conv(c.map1(op.Relu, c.conv(x, c.channels(x), 3, 1)), c.channels(x), 3, 1))
	case 1:
		out := 1 + r.IntN(6)
		c.short(c.conv(x, out, 1, 2), c.conv(c.map1(op.Relu, c.conv(x, out, 3, 2)), out, 3, 1))
	case 2:
		mean := c.node(op.GlobalAvgPool, &op.GlobalAttrs{ChannelsLast: true}, x)
		c.top = 0
		gate := c.map1(op.Sigmoid, c.conv(mean, c.channels(x), 1, 1))
		c.at = c.node(op.Mul, nil, x, gate)
	case 3:
		wide := c.map1(op.Relu, c.dense(x, 3+r.IntN(9)))
		c.short(x, c.dense(wide, c.channels(x)))
	case 4:
		f := x.Type.Format
		branches := []*ir.Node{c.conv(x, 2, 1, 1), c.conv(x, 4, 3, 1), c.node(op.Tanh, nil, x)}
		for _, b := range branches {
			b.Type.Format = f
		}
		c.at = c.conv(c.node(op.Concat, &op.ConcatAttrs{Axis: 3}, branches...), 3, 1, 1)
	case 5:
		first := c.short(x, c.conv(x, c.channels(x), 3, 1))
		c.g.Out = append(c.g.Out, ir.Output{Name: "y0", Node: first})
		inner := c.short(c.map1(op.Relu, first), c.conv(first, c.channels(first), 3, 1))
		c.short(inner, c.conv(c.conv(first, 2, 1, 1), c.channels(inner), 3, 1))
	}
	c.g.Out = append(c.g.Out, ir.Output{Name: "y", Node: c.at})
	return c.g
}

func (c *chain) channels(x *ir.Node) int { return x.Type.Shape[len(x.Type.Shape)-1] }

// node appends one operation on given arguments, in a format drawn for values up to the current size.
func (c *chain) node(o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
	n := &ir.Node{Name: o.Name, Op: o, Attrs: attrs, Args: args, Type: ir.Type{Format: c.data(c.top)}}
	if o == op.Concat {
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
	w := op.Window{Kernel: []int{k, k}, Strides: []int{stride, stride}, Pads: []int{p, p, p, p}, Dilations: []int{1, 1},
		ChannelsLast: true}
	weights := c.constant("w", c.weight(0), 0, out, k, k, c.channels(x))
	return c.node(op.Conv, &op.ConvAttrs{Window: w, Groups: 1}, x, weights)
}

func (c *chain) dense(x *ir.Node, out int) *ir.Node {
	return c.node(op.Linear, nil, x, c.constant("w", c.weight(0), 0, out, c.channels(x)))
}

// short adds two values of one shape.
func (c *chain) short(a, b *ir.Node) *ir.Node {
	if c.r.IntN(2) == 0 {
		a, b = b, a
	}
	return c.node(op.Add, nil, a, b)
}

// describeFifos lists the FIFOs of a graph for a failure.
func describeFifos(g *ir.Graph) (text string) {
	for _, n := range g.Nodes {
		if n.Op == op.Fifo {
			text += fmt.Sprintf("  %s behind %s: %d beats\n", n.Name, n.Args[0].Name, n.HW.Fifo)
		}
	}
	return text
}
