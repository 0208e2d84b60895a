// SPDX-License-Identifier: Apache-2.0

package fuse_test

import (
	"testing"

	"lathe/ir"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/sequence"
	"lathe/lower/kernels/fuse"
)

// TestOtherHeads: rotary nodes stay apart where the heads of a position are not columns of one row.
func TestOtherHeads(t *testing.T) {
	for _, c := range []struct {
		shape []int // of heads
		nodes int   // that turn
	}{{[]int{1, 6, 2, 4}, 1}, {[]int{1, 3, 4, 4}, 2}} {
		x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(1, 6, 16)}
		g := &ir.Graph{Name: "g", In: []*ir.Node{x}, Nodes: []*ir.Node{x}}
		add := func(o *ir.Op, name string, attrs any, args ...*ir.Node) *ir.Node {
			n, err := ir.NewNode(o, name, "", attrs, args...)
			if err != nil {
				t.Fatal(err)
			}
			g.Nodes = append(g.Nodes, n)
			return n
		}
		angles := make([]*ir.Node, 2)
		for i, name := range []string{"cos", "sin"} {
			angles[i] = &ir.Node{Name: name, Op: leaf.Const, Type: ir.Float(c.shape[1], 2),
				Attrs: &ir.Const{Data: ir.FloatBlob(make([]float32, 2*c.shape[1]))}}
			g.Nodes = append(g.Nodes, angles[i])
		}
		for i, name := range []string{"q", "k"} {
			n := add(move.Slice, name+".part", &move.SliceAttrs{Axis: 2, Start: 8 * i, Count: 8, Step: 1}, x)
			n = add(move.Reshape, name+".heads", &move.ReshapeAttrs{Shape: c.shape}, n)
			n = add(move.Transpose, name+".rows", &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, n)
			n = add(sequence.Rotary, name, &sequence.RotaryAttrs{}, n, angles[0], angles[1])
			g.Out = append(g.Out, ir.Output{Name: name, Node: n})
		}
		if err := fuse.Rotaries(g); err != nil {
			t.Fatal(err)
		}
		turned := 0
		for _, n := range g.Nodes {
			if n.Op == sequence.Rotary {
				turned++
			}
		}
		if turned != c.nodes {
			t.Errorf("heads %v: %d nodes turn, want %d", c.shape, turned, c.nodes)
		}
	}
}
