// SPDX-License-Identifier: Apache-2.0

package recognize_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/internal/difftest"
	"lathe/ir"
	"lathe/ir/op/curve"
	"lathe/ir/op/leaf"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
	"lathe/ir/text"
	"lathe/lower/float"
	"lathe/lower/float/recognize"
	"lathe/lower/float/simplify"
	"lathe/lower/pass"
)

// TestExpansions takes random operations apart, by their own expansion, and demands them back, with the error of every
// pass measured.
func TestExpansions(t *testing.T) {
	for _, o := range []*ir.Op{norm.LayerNorm, norm.RMSNorm, norm.LogSoftmax, sequence.Rotary} {
		r := rand.New(rand.NewPCG(7, 7))
		tried, back := 0, 0
		for range 60 {
			g, err := difftest.Float(r, o.Gen(r, o))
			if err != nil {
				t.Fatal(err)
			}
			n := g.Out[0].Node
			if g.Check() != nil || g.Stage != ir.StageFloat || n.Op != o || !plain(n) {
				continue
			}
			parts := g.Clone()
			whole := parts.Out[0].Node
			expansion, err := o.Expand(whole)
			if err != nil {
				t.Fatal(err)
			}
			simplify.Replace(parts, whole, expansion)
			parts.DropDead()
			if slices.ContainsFunc(parts.Nodes, func(n *ir.Node) bool { return n.Op == o }) {
				t.Fatalf("%s is not taken apart", o.Name)
			}
			again, report, err := float.Recognize(context.Background(), parts, pass.Options{Verify: true})
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, text.Print(g), text.Print(parts))
			}
			tried++
			if slices.ContainsFunc(report.Recognized, func(f recognize.Found) bool { return f.Op == o.Name }) {
				back++
			} else {
				t.Logf("%s\n%s\n%s", text.Print(g), text.Print(parts), text.Print(again))
			}
		}
		t.Logf("%s: %d of %d", o.Name, back, tried)
		if tried < 8 || back < tried {
			t.Errorf("%s: %d of %d come back", o.Name, back, tried)
		}
	}
}

// plain leaves out what has no form of its own: rows of one element, whose statistics are constants.
func plain(n *ir.Node) bool {
	for _, d := range n.Args[0].Type.Shape {
		if d == 1 {
			return false
		}
	}
	return true
}

// TestHugePower meets an exponent that no polynomial has, and that one could count to for years.
func TestHugePower(t *testing.T) {
	x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(2)}
	g := &ir.Graph{Name: "g", In: []*ir.Node{x}, Nodes: []*ir.Node{x}}
	add := func(name string, o *ir.Op, attrs any, args ...*ir.Node) *ir.Node {
		n, err := ir.NewNode(o, name, "", attrs, args...)
		if err != nil {
			t.Fatal(err)
		}
		g.Nodes = append(g.Nodes, n)
		return n
	}
	p := add("p", curve.Pow, &curve.PowAttrs{Exponent: 1e18}, x)
	s := add("s", curve.Sigmoid, nil, add("u", pointwise.Add, nil, p, x))
	y := add("y", pointwise.Mul, nil, x, s)
	g.Out = []ir.Output{{Name: "y", Node: y}}
	if _, r, err := float.Recognize(context.Background(), g, pass.Options{}); err != nil || len(r.Recognized) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestManyWays meets values that are squared again and again: they are reached on more ways than there are atoms.
func TestManyWays(t *testing.T) {
	for _, o := range []*ir.Op{pointwise.Mul, pointwise.Add} {
		x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(2)}
		g := &ir.Graph{Name: "g", In: []*ir.Node{x}, Nodes: []*ir.Node{x}}
		for i := range 300 {
			last := g.Nodes[len(g.Nodes)-1]
			n, err := ir.NewNode(o, fmt.Sprint("n", i), "", nil, last, last)
			if err != nil {
				t.Fatal(err)
			}
			g.Nodes = append(g.Nodes, n)
		}
		g.Out = []ir.Output{{Name: "y", Node: g.Nodes[len(g.Nodes)-1]}}
		if _, r, err := float.Recognize(context.Background(), g, pass.Options{}); err != nil || len(r.Recognized) > 0 {
			t.Errorf("%s: %+v, %v", o.Name, r, err)
		}
	}
}
