// SPDX-License-Identifier: Apache-2.0

package errortest

import (
	"slices"
	"testing"

	"lathe/emit/cuda"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/group"
	"lathe/ir/hlo"
	"lathe/ir/op/leaf"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
	"lathe/ir/op/sum"
)

// graphKernelFaults are those of graphs that become kernels.
var graphKernelFaults = map[diag.Code]func(t *testing.T) error{
	"L0945": func(*testing.T) error {
		odd := *pointwise.Relu
		odd.HLO = func(b *hlo.Builder, _ *ir.Node, args []hlo.Value) (hlo.Value, error) {
			return b.ShiftRightLogical(b.Convert(args[0], hlo.I1), b.Convert(args[0], hlo.I1)), b.Err()
		}
		_, err := cuda.Emit(reluGraph(&odd, 8), cuda.Options{Generic: true})
		return err
	},
	"L0946": func(*testing.T) error {
		_, err := cuda.Emit(reluGraph(pointwise.Relu, 1<<29), cuda.Options{})
		return err
	},
	"L0947": func(*testing.T) error {
		g := reluGraph(pointwise.Relu, 8)
		a, b := *g.Nodes[1], *g.Nodes[1]
		b.Name, b.Args = "z", []*ir.Node{&a}
		a.Name, a.Args = "between", []*ir.Node{g.Nodes[1]}
		g.Nodes, g.Out[0].Node = append(g.Nodes, &a, &b), &b
		_, err := group.New(g, map[*ir.Node]*ir.Node{&b: g.Nodes[1]})
		return err
	},
	"L0948": func(*testing.T) error {
		g := reluGraph(pointwise.Relu, 1024)
		w := &ir.Node{Name: "w", Op: leaf.Const, Type: ir.Float(1024, 1024),
			Attrs: &ir.Const{Data: ir.FloatBlob(make([]float32, 1<<20))}}
		g.Nodes[1].Op, g.Nodes[1].Args = sum.Linear, []*ir.Node{g.Nodes[0], w}
		g.Nodes = slices.Insert(g.Nodes, 1, w)
		_, err := cuda.Emit(g, cuda.Options{})
		return err
	},
	"L0949": func(*testing.T) error {
		var in []*ir.Node
		for _, name := range []string{"cache", "rows", "position"} {
			in = append(in, &ir.Node{Name: name, Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(1, 2, 4, 8)})
		}
		in[1].Type, in[2].Type = ir.Float(1, 2, 1, 8), ir.Type{Shape: []int{1}, Format: ir.Int32}
		y := &ir.Node{Name: "y", Op: sequence.Append, Args: in, Type: in[0].Type}
		g := &ir.Graph{Name: "cache", In: in, Nodes: append(slices.Clone(in), y), Out: []ir.Output{{Name: "y", Node: y}}}
		_, err := cuda.EmitSteps(g, g, cuda.Options{})
		return err
	},
}

// reluGraph is one operation on a float vector.
func reluGraph(o *ir.Op, elems int) *ir.Graph {
	x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(elems)}
	y := &ir.Node{Name: "y", Op: o, Args: []*ir.Node{x}, Type: x.Type}
	return &ir.Graph{Name: "relu", In: []*ir.Node{x}, Nodes: []*ir.Node{x, y}, Out: []ir.Output{{Name: "y", Node: y}}}
}
