// SPDX-License-Identifier: Apache-2.0

// Package difftest draws random graphs and runs them on every engine. An operation enters by standing in op.All, with
// its Gen column, and by its definition in the slow evaluator, in exact fractions (slow_*.go); formats are defined a
// second time there too. Operations and formats are also named where random graphs form chains and blocks, and in cases
// of single values.
//
// The tests of this folder compare
//
//	here       the Eval column            with the slow evaluator, over all formats
//	floats     float graphs               with the slow evaluator, and with PJRT within a tolerance
//	programs   StableHLO on PJRT          with the Eval column, code by code
//	hardware   Verilated and Icarus RTL   with the Eval column, code by code, under random stalls
//	kernels    CUDA kernels, emulated     with the Eval column, code by code; float graphs within a tolerance
//
// for every operation alone and for chains. They are packages of their own, since go test runs packages side by side.
// Case i of operation o is the same graph on every machine; a failure names it (linear/17), and
// `go test ./internal/difftest -run 'TestExact/linear/17'` runs it again.
package difftest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op"
	"lathe/ir/op/geometry"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/sum"
	"lathe/ir/op/window"
)

// Rand is the random source of case i of the test called name.
func Rand(name string, i int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(h.Sum64(), uint64(i)))
}

// Case draws graph i of operation o.
func Case(o *ir.Op, i int) (*ir.Graph, *rand.Rand) {
	r := Rand(o.Name, i)
	return o.Gen(r, o), r
}

// Ops are the operations that tests can draw: all but inputs and constants.
func Ops() []*ir.Op {
	var ops []*ir.Op
	for _, o := range op.All {
		if o != leaf.Input && o != leaf.Const {
			ops = append(ops, o)
		}
	}
	return ops
}

// Describe prints the nodes of a graph for a failure: types, attributes, and constants up to 64 elements.
func Describe(g *ir.Graph) string {
	var b strings.Builder
	for _, n := range g.Nodes {
		fmt.Fprintf(&b, "  %s = %s(", n.Name, n.Op.Name)
		for i, a := range n.Args {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(a.Name)
		}
		fmt.Fprintf(&b, ") %s", n.Type)
		if c, ok := n.Attrs.(*ir.Const); ok {
			if ints, err := c.Data.Ints(); err == nil && len(ints) <= 64 {
				fmt.Fprintf(&b, " %v", ints)
			}
		} else if n.Attrs != nil {
			fmt.Fprintf(&b, " %+v", n.Attrs)
		}
		if h := n.HW; h.OutLanes != 0 {
			fmt.Fprintf(&b, " lanes %d (stream %d) to %d, %s %s fifo %d", h.InLanes, h.StreamIn, h.OutLanes, h.Style,
				h.Mem, h.Fifo)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Merge puts graphs side by side into one, node names prefixed by c0_, c1_, ...: many small cases then cost one program
// or one simulation. Outputs are named after their case.
func Merge(name string, graphs []*ir.Graph) *ir.Graph {
	m := &ir.Graph{Name: name, Stage: graphs[0].Stage}
	for i, g := range graphs {
		c := g.Clone()
		for _, n := range c.Nodes {
			n.Name = fmt.Sprintf("c%d_%s", i, n.Name)
		}
		m.Nodes, m.In = append(m.Nodes, c.Nodes...), append(m.In, c.In...)
		for _, o := range c.Out {
			m.Out = append(m.Out, ir.Output{Name: fmt.Sprintf("c%d_%s", i, o.Name), Node: o.Node, Perm: o.Perm})
		}
	}
	return m
}

// Float turns a quantized one-operation graph into a float graph of the same operation: constants become normal
// numbers, images lie channels first in half of the cases, and axes are permuted freely.
func Float(r *rand.Rand, g *ir.Graph) (*ir.Graph, error) {
	f := g.Clone()
	if g.Stage == ir.StageFloat {
		return f, nil
	}
	f.Stage = ir.StageFloat
	first := r.IntN(2) == 0
	for _, n := range f.Nodes {
		if n.Type.IsFloat() {
			continue
		}
		n.Type = ir.Float(n.Type.Shape...)
		switch a := n.Attrs.(type) {
		case *ir.Const:
			a.Data = RandomFloats(r, n.Type.Elems())
		case *move.TransposeAttrs:
			a.Perm = r.Perm(len(a.Perm))
		case *sum.ConvAttrs:
			a.ChannelsLast = !first
		case *geometry.Window:
			a.ChannelsLast = !first
		case *window.AvgAttrs:
			a.ChannelsLast = !first
		case *window.GlobalAttrs:
			a.ChannelsLast = !first
		case *norm.Attrs:
			a.Eps = max(a.Eps, leastEps(n.Type.Shape, a.Axis))
		}
	}
	n := f.Out[0].Node
	if norm.HasGains(n.Op) {
		freeGains(r, f, n)
	}
	switch n.Op {
	case sum.Conv, window.MaxPool, window.AvgPool, window.GlobalAvgPool:
		for i, a := range n.Args {
			if first && i < 2 {
				a.Type.Shape = channelsFirst(a.Type.Shape)
			}
		}
	}
	shape, err := n.Op.Infer(n)
	if err != nil {
		return nil, fmt.Errorf("%s as a float graph: %w", n.Op.Name, err)
	}
	n.Type = ir.Type{Shape: shape, Format: format.FP32}
	return f, nil
}

// leastEps keeps rows of almost equal elements, which are likely where rows are short, from dividing rounding errors of
// float32 by next to nothing.
func leastEps(shape []int, axis int) float32 {
	count := 1
	for _, d := range shape[(axis+len(shape))%len(shape):] {
		count *= d
	}
	if count < 4 {
		return 0.5
	}
	return 1e-2
}

// freeGains makes a quarter of the constants that n multiplies by and adds inputs, as float graphs may have them.
func freeGains(r *rand.Rand, g *ir.Graph, n *ir.Node) {
	for _, a := range n.Args[1:] {
		if a.IsConst() && r.IntN(4) == 0 {
			a.Op, a.Attrs = leaf.Input, &ir.Input{}
			g.In = append(g.In, a)
		}
	}
}

// channelsFirst moves the last axis to place 1.
func channelsFirst(shape []int) []int {
	last := len(shape) - 1
	return append([]int{shape[0], shape[last]}, shape[1:last]...)
}

// RandomFloats are n values from a normal distribution.
func RandomFloats(r *rand.Rand, n int) *ir.Blob {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(r.NormFloat64())
	}
	return ir.FloatBlob(values)
}

// Whole makes a float graph on whole numbers of format f out of a quantized graph of one operation that takes them.
func Whole(r *rand.Rand, g *ir.Graph, f format.Format) *ir.Graph {
	w := g.Clone()
	w.Stage = ir.StageFloat
	for _, n := range w.Nodes {
		n.Type = ir.Type{Shape: n.Type.Shape, Format: f}
		if c, ok := n.Attrs.(*ir.Const); ok {
			codes := make([]int64, n.Type.Elems())
			fillCodes(r, f, codes, nil, 5)
			c.Data = ir.CodeBlob(codes)
		}
	}
	return w
}

// Halved gives inputs and results of a float graph floats of 16 bits in a quarter of the cases, one of them or both.
func Halved(r *rand.Rand, g *ir.Graph) *ir.Graph {
	h := g.Clone()
	if r.IntN(4) > 0 {
		return h
	}
	for _, n := range h.Nodes {
		if n.Type.IsFloat() && !n.IsConst() {
			n.Type.Format = []format.Format{format.FP32, format.BF16, format.F16}[r.IntN(3)]
		}
	}
	return h
}
