// SPDX-License-Identifier: Apache-2.0

// Package lowertest builds small float graphs for the tests of lowering, by hand and at random.
package lowertest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lathe/ir"
	"lathe/ir/op/geometry"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/sum"
)

// Builder makes a graph node by node. Any mistake fails the test at once.
type Builder struct {
	t testing.TB
	r *rand.Rand
	g *ir.Graph
}

// New starts a graph. The seed decides the values of random constants.
func New(t testing.TB, seed uint64) *Builder {
	return &Builder{t: t, r: rand.New(rand.NewPCG(seed, 1)), g: &ir.Graph{Name: "test"}}
}

// Input adds an input of the given shape.
func (b *Builder) Input(name string, shape ...int) *ir.Node {
	n := &ir.Node{Name: name, Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(shape...)}
	b.g.In = append(b.g.In, n)
	b.g.Nodes = append(b.g.Nodes, n)
	return n
}

// Bits adds an input of truth values.
func (b *Builder) Bits(name string, shape ...int) *ir.Node {
	n := b.Input(name, shape...)
	n.Type.Format = ir.Bool
	return n
}

// Const adds a constant with the given values.
func (b *Builder) Const(shape []int, values ...float32) *ir.Node {
	n := &ir.Node{Name: b.g.FreshName("const"), Op: leaf.Const, Attrs: &ir.Const{Data: ir.FloatBlob(values)},
		Type: ir.Float(shape...)}
	b.g.Nodes = append(b.g.Nodes, n)
	return n
}

// Random adds a constant with values uniform in [-scale, scale].
func (b *Builder) Random(scale float64, shape ...int) *ir.Node {
	values := make([]float32, ir.Float(shape...).Elems())
	for i := range values {
		values[i] = float32(scale * (2*b.r.Float64() - 1))
	}
	return b.Const(shape, values...)
}

// Add adds a node; its position in the source model is its name.
func (b *Builder) Add(o *ir.Op, name string, attrs any, args ...*ir.Node) *ir.Node {
	b.t.Helper()
	n, err := ir.NewNode(o, name, "m.onnx: "+name, attrs, args...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.g.Nodes = append(b.g.Nodes, n)
	return n
}

// Linear adds a linear with random weights and, if asked, a bias.
func (b *Builder) Linear(name string, x *ir.Node, out int, bias bool) *ir.Node {
	b.t.Helper()
	in := x.Type.Shape[len(x.Type.Shape)-1]
	args := []*ir.Node{x, b.Random(1, out, in)}
	if bias {
		args = append(args, b.Random(1, out))
	}
	return b.Add(sum.Linear, name, nil, args...)
}

// Window is a square window with equal pads on all sides, for images of the given number of spatial axes.
func Window(spatial, kernel, stride, pad int) geometry.Window {
	w := geometry.Window{Pads: make([]int, 2*spatial)}
	for i := range w.Pads {
		w.Pads[i] = pad
	}
	for range spatial {
		w.Kernel, w.Strides, w.Dilations = append(w.Kernel, kernel), append(w.Strides, stride), append(w.Dilations, 1)
	}
	return w
}

// Conv adds a channels-first convolution with random weights and, if asked, a bias.
func (b *Builder) Conv(name string, x *ir.Node, out, kernel, stride, pad, groups int, bias bool) *ir.Node {
	b.t.Helper()
	spatial := len(x.Type.Shape) - 2
	shape := []int{out, x.Type.Shape[1] / groups}
	for range spatial {
		shape = append(shape, kernel)
	}
	args := []*ir.Node{x, b.Random(0.5, shape...)}
	if bias {
		args = append(args, b.Random(1, out))
	}
	return b.Add(sum.Conv, name, &sum.ConvAttrs{Window: Window(spatial, kernel, stride, pad), Groups: groups}, args...)
}

// BatchNorm adds a batch_norm along axis 1 with random statistics.
func (b *Builder) BatchNorm(name string, x *ir.Node) *ir.Node {
	b.t.Helper()
	c := x.Type.Shape[1]
	variance := make([]float32, c)
	for i := range variance {
		variance[i] = 0.5 + b.r.Float32()
	}
	return b.Add(sum.BatchNorm, name, &sum.BatchNormAttrs{Epsilon: 1e-5, Axis: 1}, x, b.Random(1, c), b.Random(1, c),
		b.Random(1, c), b.Const([]int{c}, variance...))
}

// Flatten adds a reshape to rows of all elements behind the first axis.
func (b *Builder) Flatten(name string, x *ir.Node) *ir.Node {
	b.t.Helper()
	rows := x.Type.Shape[0]
	return b.Add(move.Reshape, name, &move.ReshapeAttrs{Shape: []int{rows, x.Type.Elems() / rows}}, x)
}

// Done ends the graph with the given outputs, named y0, y1, ..., and checks it.
func (b *Builder) Done(outputs ...*ir.Node) *ir.Graph {
	b.t.Helper()
	for i, n := range outputs {
		b.g.Out = append(b.g.Out, ir.Output{Name: fmt.Sprintf("y%d", i), Node: n})
	}
	if err := b.g.Check(); err != nil {
		b.t.Fatal(err)
	}
	return b.g
}
