// SPDX-License-Identifier: Apache-2.0

package fold

import (
	"slices"

	"lathe/ir"
	"lathe/ir/op"
)

// BatchNorms turns every batch_norm into scale: y = x*m[c] + b[c].
func BatchNorms(g *ir.Graph) error {
	for _, n := range slices.Clone(g.Nodes) {
		a, ok := n.Attrs.(*op.BatchNormAttrs)
		if !ok {
			continue
		}
		mul, add, err := op.BatchNormFactors(n)
		if err != nil {
			return err
		}
		toScale(g, n, n.Args[0], a.Axis, mul, add)
	}
	g.DropDead()
	return nil
}

// toScale makes n, in place, the scale of x along axis.
func toScale(g *ir.Graph, n, x *ir.Node, axis int, mul, add []float64) {
	m := newConst(g, n, n.Name+".mul", n.Pos, []int{len(mul)}, narrow(mul))
	b := newConst(g, n, n.Name+".add", n.Pos, []int{len(add)}, narrow(add))
	n.Op, n.Attrs, n.Args = op.Scale, &op.ScaleAttrs{Axis: axis}, []*ir.Node{x, m, b}
}

func narrow(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

// Arithmetic turns addition, subtraction and multiplication of a value and a constant into scale where the constant
// is one number or one number a channel.
func Arithmetic(g *ir.Graph) error {
	axes := channelAxes(g)
	for _, n := range slices.Clone(g.Nodes) {
		if n.Op != op.Add && n.Op != op.Sub && n.Op != op.Mul || n.Args[0].IsConst() == n.Args[1].IsConst() {
			continue
		}
		x, c, flipped := n.Args[0], n.Args[1], false
		if x.IsConst() {
			x, c, flipped = c, x, true
		}
		axis, ok := constAxis(c.Type.Shape, x.Type.Shape, axes[x])
		if !ok {
			continue
		}
		t, err := c.Value()
		if err != nil {
			return err
		}
		mul, add := factors(n.Op, flipped, t.Floats, x.Type.Shape[axis])
		toScale(g, n, x, axis, mul, add)
	}
	g.DropDead()
	return nil
}

// factors writes x op c (flipped: c op x) as x*mul + add; c has one value or one a channel.
func factors(o *ir.Op, flipped bool, c []float32, channels int) (mul, add []float64) {
	mul, add = make([]float64, channels), make([]float64, channels)
	for i := range channels {
		v := float64(c[i%len(c)])
		switch {
		case o == op.Mul:
			mul[i] = v
		case o == op.Add:
			mul[i], add[i] = 1, v
		case flipped:
			mul[i], add[i] = -1, v
		default:
			mul[i], add[i] = 1, -v
		}
	}
	return mul, add
}

// constAxis finds the axis of x along which a constant of shape c varies; a single number takes prefer. ok is false
// where the constant varies along several axes or broadcasts x to another shape.
func constAxis(c, x []int, prefer int) (axis int, ok bool) {
	axis = -1
	for i, d := range c {
		if d == 1 {
			continue
		}
		at := len(x) - len(c) + i
		if at < 0 || axis >= 0 || x[at] != d {
			return 0, false
		}
		axis = at
	}
	if len(c) > len(x) || len(x) == 0 {
		return 0, false
	}
	if axis < 0 {
		axis = prefer
	}
	return axis, true
}

// channelAxes gives the channel axis of every value: 1 where an image in channels-first order came from an operation
// with such channels or goes to one, otherwise the last. Operations that keep the shape hand it on, both ways.
func channelAxes(g *ir.Graph) map[*ir.Node]int {
	image := make(map[*ir.Node]bool, len(g.Nodes))
	for _, n := range g.Nodes {
		image[n] = channelsFirst(n)
		for _, a := range n.Args {
			image[n] = image[n] || keepsShape(n) && image[a] && len(a.Type.Shape) == len(n.Type.Shape)
		}
	}
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := g.Nodes[i]
		for _, a := range n.Args {
			if channelsFirst(n) || keepsShape(n) && image[n] {
				image[a] = image[a] || len(a.Type.Shape) == len(n.Type.Shape) && !a.IsConst()
			}
		}
	}
	axes := make(map[*ir.Node]int, len(g.Nodes))
	for _, n := range g.Nodes {
		axes[n] = len(n.Type.Shape) - 1
		if image[n] {
			axes[n] = 1
		}
	}
	return axes
}

// channelsFirst says that n works on N, C, ... images: a window operation, or one with a constant a channel.
func channelsFirst(n *ir.Node) bool {
	switch a := n.Attrs.(type) {
	case *op.BatchNormAttrs:
		return a.Axis == 1
	case *op.ScaleAttrs:
		return a.Axis == 1
	case *op.ConvAttrs:
		return !a.ChannelsLast
	case *op.Window:
		return !a.ChannelsLast
	case *op.AvgAttrs:
		return !a.ChannelsLast
	case *op.GlobalAttrs:
		return !a.ChannelsLast
	}
	return false
}

// keepsShape says that n is element by element on its first argument.
func keepsShape(n *ir.Node) bool {
	switch n.Op {
	case op.Relu, op.LeakyRelu, op.Clip, op.Sigmoid, op.Tanh, op.Scale, op.BatchNorm:
		return true
	case op.Add, op.Sub, op.Mul:
		return true
	}
	return false
}
