// SPDX-License-Identifier: Apache-2.0

package lowertest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/window"
)

// RandomCNN builds a small channels-first network on images of one or two spatial axes: convolutions, pools, constants
// per channel, batch norms, activations, dropouts, sometimes a branch that joins again, then a flatten and linears, or
// an image as output.
func RandomCNN(t testing.TB, seed uint64) *ir.Graph {
	b := New(t, seed)
	shape := []int{1, 1 + b.r.IntN(3), 5 + b.r.IntN(4), 4 + b.r.IntN(4)}[:3+b.r.IntN(2)]
	x := b.Input("x", shape...)
	for i := range 2 + b.r.IntN(5) {
		x = b.step(fmt.Sprintf("n%d", i), x)
	}
	if b.r.IntN(4) == 0 {
		return b.Done(x)
	}
	x = b.Flatten("flat", x)
	if b.r.IntN(3) == 0 {
		x = b.activation("act", x)
	}
	if b.r.IntN(3) == 0 {
		x = b.BatchNorm("bn", x)
	}
	x = b.Linear("fc", x, 1+b.r.IntN(5), b.r.IntN(2) == 0)
	return b.Done(x)
}

// step adds one or a few nodes behind the image x.
func (b *Builder) step(name string, x *ir.Node) *ir.Node {
	spatial := len(x.Type.Shape) - 2
	smallest := slices.Min(x.Type.Shape[2:])
	kernel := 1 + b.r.IntN(min(3, smallest))
	win := Window(spatial, kernel, 1+b.r.IntN(2), b.r.IntN(min(2, kernel)))
	switch b.r.IntN(12) {
	case 0, 1, 2:
		groups, out := 1, 1+b.r.IntN(4)
		if c := x.Type.Shape[1]; c > 1 && b.r.IntN(3) == 0 {
			groups, out = c, c*(1+b.r.IntN(2))
		}
		y := b.Conv(name, x, out, kernel, win.Strides[0], win.Pads[0], groups, b.r.IntN(2) == 0)
		if b.r.IntN(2) == 0 {
			y = b.BatchNorm(name+"_bn", y)
		}
		return y
	case 3:
		return b.Add(window.MaxPool, name, &win, x)
	case 4:
		return b.Add(window.AvgPool, name, &window.AvgAttrs{Window: win, IncludePad: b.r.IntN(2) == 0}, x)
	case 5:
		return b.Add(window.GlobalAvgPool, name, &window.GlobalAttrs{}, x)
	case 6:
		return b.BatchNorm(name, x)
	case 7:
		return b.arithmetic(name, x)
	case 8: // a branch that joins again
		y := b.Conv(name+"_branch", x, x.Type.Shape[1], 1, 1, 0, 1, true)
		return b.Add([]*ir.Op{pointwise.Add, pointwise.Sub, pointwise.Mul}[b.r.IntN(3)], name, nil, x,
			b.activation(name+"_act", y))
	case 9:
		return b.Add(move.Identity, name, nil, x)
	case 10: // the same image seen with its axes exchanged and back
		perm := []int{0, 2, 3, 1}[:0]
		for i := 2; i < len(x.Type.Shape); i++ {
			perm = append(perm, i)
		}
		there := append(append([]int{0}, perm...), 1)
		back := append([]int{0, len(there) - 1}, perm...)
		for i := range perm {
			back[2+i] = 1 + i
		}
		y := b.Add(move.Transpose, name+"_there", &move.TransposeAttrs{Perm: there}, x)
		return b.Add(move.Transpose, name, &move.TransposeAttrs{Perm: back}, b.activation(name+"_act", y))
	}
	return b.activation(name, x)
}

func (b *Builder) activation(name string, x *ir.Node) *ir.Node {
	switch b.r.IntN(5) {
	case 0:
		return b.Add(pointwise.LeakyRelu, name, &pointwise.LeakyAttrs{Alpha: 0.125}, x)
	case 1:
		return b.Add(pointwise.Clip, name, &pointwise.ClipAttrs{Min: -0.5, Max: 2}, x)
	case 2:
		return b.Add(curve.Sigmoid, name, nil, x)
	case 3:
		return b.Add(curve.Tanh, name, nil, x)
	}
	return b.Add(pointwise.Relu, name, nil, x)
}

// arithmetic combines x with a constant: one number, one a channel, or one an element.
func (b *Builder) arithmetic(name string, x *ir.Node) *ir.Node {
	shape := []int{}
	switch b.r.IntN(4) {
	case 0:
		shape = append(shape, x.Type.Shape[1])
		for range len(x.Type.Shape) - 2 {
			shape = append(shape, 1)
		}
	case 1:
		shape = append(append(shape, 1, x.Type.Shape[1]), slices.Repeat([]int{1}, len(x.Type.Shape)-2)...)
	case 2:
		shape = slices.Clone(x.Type.Shape[1:])
	}
	args := []*ir.Node{x, b.Random(1, shape...)}
	if b.r.IntN(2) == 0 {
		slices.Reverse(args)
	}
	return b.Add([]*ir.Op{pointwise.Add, pointwise.Sub, pointwise.Mul}[b.r.IntN(3)], name, nil, args...)
}

// Shuffle puts the nodes into a random other topological order.
func Shuffle(r *rand.Rand) func(g *ir.Graph) {
	return func(g *ir.Graph) {
		placed := make(map[*ir.Node]bool, len(g.Nodes))
		left := slices.Clone(g.Nodes)
		g.Nodes = g.Nodes[:0:0]
		for len(left) > 0 {
			i := r.IntN(len(left))
			if slices.ContainsFunc(left[i].Args, func(a *ir.Node) bool { return !placed[a] }) {
				continue
			}
			placed[left[i]] = true
			g.Nodes = append(g.Nodes, left[i])
			left = slices.Delete(left, i, i+1)
		}
	}
}
