// SPDX-License-Identifier: Apache-2.0

package difftest

import (
	"fmt"
	"math/rand/v2"

	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/geometry"
	"lathe/ir/op/move"
	"lathe/ir/op/sum"
	"lathe/ir/op/window"
)

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
		}
	}
	n := f.Out[0].Node
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
