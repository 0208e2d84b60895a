// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"testing"

	"lathe/internal/difftest"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op"
	"lathe/ir/op/column"
	"lathe/ir/op/draw"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
)

// row is a chain of nodes on vectors, all lanes at once; the last nodes are unrolled.
func row(t *testing.T, unrolled int, nodes ...*ir.Node) *ir.Graph {
	t.Helper()
	g := &ir.Graph{Name: "row", Stage: ir.StageScheduled, In: nodes[:1]}
	for i, n := range nodes {
		if i > 0 {
			g.Nodes, n.Args = append(g.Nodes, n.Args...), append([]*ir.Node{nodes[i-1]}, n.Args...)
			shape, err := n.Op.Infer(n)
			if err != nil {
				t.Fatal(err)
			}
			n.Type.Shape = shape
			d, err := op.LanesOf(n)
			if err != nil {
				t.Fatal(err)
			}
			lanes := nodes[i-1].Type.Elems()
			d.Set(&n.HW, lanes, n.Type.Elems(), lanes)
		} else {
			n.HW.InLanes, n.HW.OutLanes, n.HW.StreamIn = n.Type.Elems(), n.Type.Elems(), n.Type.Elems()
		}
		if g.Nodes = append(g.Nodes, n); i >= len(nodes)-unrolled {
			n.HW.Style = ir.StyleUnroll
		}
	}
	g.Out = []ir.Output{{Name: "y", Node: nodes[len(nodes)-1]}}
	return g
}

func vector(name string, f format.Format, codes ...int64) *ir.Node {
	return draw.Const(name, ir.Type{Shape: []int{len(codes)}, Format: f}, codes)
}

// layer is a linear layer of one input for each weight of a row, without its data. Scales are those of its rows.
func layer(name string, to, of format.Format, scales []float32, rows int, codes ...int64) *ir.Node {
	w := draw.Const(name+"_w", ir.Type{Shape: []int{rows, len(codes) / rows}, Format: of, Scales: scales}, codes)
	return &ir.Node{Name: name, Op: sum.Linear, Args: []*ir.Node{w}, Type: ir.Type{Format: to}}
}

// TestUnrolledEdges runs unrolled layers where ranges, shifts and zero points are at their ends: behind factors of
// channels; dead channels, which shift by more bits than sums have, beside living ones, also in front of another layer;
// shifts to the left; ranges that leave bits of a vector constant; rows with codes of their own, one of them of no
// bits.
func TestUnrolledEdges(t *testing.T) {
	i4, i8 := format.Fixed{W: 4, Signed: true}, format.Fixed{W: 8, Signed: true}
	affine := func(w int, signed bool, scale float32, zero int64) format.Format {
		return format.Affine{W: w, Signed: signed, Axis: format.PerTensor, Scale: scale, Zero: zero}
	}
	rows := format.Affine{W: 4, Signed: true, Axis: 0}
	input := func(f format.Format) *ir.Node { return draw.Input("x", ir.Type{Shape: []int{1}, Format: f}) }
	small := affine(8, true, 0.9, 0)
	dead := func(by float32) []float32 { return []float32{1, 1.5 / by} }
	factors := &ir.Node{Name: "s", Op: sum.Scale, Attrs: &column.ScaleAttrs{Axis: 0}, Type: ir.Type{Format: i8},
		Args: []*ir.Node{vector("m", i4, 1, 1), vector("b", i4, 0, 0)}}
	codes := pointwise.QuantEachAttrs{Format: "fixed(7,0)", Bits: []int{3, 0, 2, 7}, Drop: []int{2, 0, 5, 0}}
	each := func() *ir.Node {
		n := layer("e", format.Fixed{W: 7, Signed: true}, i4, nil, 4, 7, 3, -5, 6)
		n.Op, n.Attrs = sum.LinearEach, &sum.LinearEachAttrs{QuantEachAttrs: codes}
		return n
	}
	alone := &ir.Node{Name: "q", Op: pointwise.QuantEach, Attrs: &codes, Type: ir.Type{Format: format.Fixed{W: 7,
		Signed: true}}}
	graphs := []*ir.Graph{
		row(t, 2, input(i4), each(), layer("z", i8, i4, nil, 2, 3, 7, -4, 1, -1, 0, 1, 2)),
		row(t, 1, input(i4), layer("l", i8, i4, nil, 4, 7, -7, 5, 1), alone, layer("z", i8, i4, nil, 1, 3, 7, -4, 1)),
		row(t, 1, input(i4), layer("l", i8, i4, nil, 2, 0, 1), factors, layer("z", i8, i4, nil, 1, 1, 1)),
		row(t, 1, input(small), layer("l", affine(8, false, 200, 128), rows, dead(1<<19), 2, 7, 7),
			layer("z", affine(10, true, 200, 0), affine(4, true, 1, 0), nil, 1, 1, 1)),
		row(t, 1, input(small), layer("z", affine(8, false, 200, 128), rows, dead(1<<20), 2, 7, 7)),
		row(t, 1, input(small), layer("z", affine(8, true, 200, 0), rows, dead(1<<27), 2, 7, 7)),
		row(t, 2, input(i4), layer("l", i8, i4, nil, 2, 0, 1), layer("z", i8, i4, nil, 1, 1, 1)),
		row(t, 2, input(i4), layer("l", i8, i4, nil, 2, 1, 1), layer("z", i8, i4, nil, 1, 0, 1)),
		row(t, 1, input(i4), layer("z", format.Fixed{W: 8, F: 20, Signed: true}, i4, nil, 1, 1)),
	}
	compareRTL(t, difftest.Rand("unrolled", 1), graphs, 24, true)
}
