// SPDX-License-Identifier: Apache-2.0

package move_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/walk"
)

// TestViews: where strides lead through random moves, they find the elements that the moves do, forwards and backwards.
func TestViews(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sources, targets := 0, 0
	for range 3000 {
		x := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(2, 3, 4, 6)}
		g := &ir.Group{Inputs: []*ir.Node{x}}
		last := x
		sliced := false
		for range 1 + r.IntN(5) {
			n := randomMove(t, r, last)
			_, cut := n.Attrs.(*move.SliceAttrs)
			sliced = sliced || cut
			g.Members = append(g.Members, n)
			last = n
		}
		g.Outputs = []*ir.Node{last}
		positions := evaluate(t, g.Members, ramp(x.Type.Shape))
		if v, ok := move.Source(g, last); ok {
			sources++
			if got := elements(v); v.Base != x || !slices.Equal(got, positions) {
				t.Fatalf("%v of %v: elements %v, not %v", v, ir.ShapeString(last.Type.Shape), got, positions)
			}
		}
		first := g.Members[0]
		v, ok := move.Target(g, first)
		if !ok {
			continue
		}
		targets++
		// Element i of the first move stands at place elements(v)[i] of the result.
		result := evaluate(t, g.Members[1:], ramp(first.Type.Shape))
		for i, at := range elements(v) {
			if result[at] != i {
				t.Fatalf("element %d is at %d, where %d is", i, at, result[at])
			}
		}
		if sliced && slices.ContainsFunc(g.Members[1:], func(n *ir.Node) bool {
			_, cut := n.Attrs.(*move.SliceAttrs)
			return cut
		}) {
			t.Fatal("a slice leaves nothing out")
		}
	}
	if sources < 1000 || targets < 500 {
		t.Errorf("%d views, %d places of 3000", sources, targets)
	}
}

func ramp(shape []int) []int {
	out := make([]int, walk.Size(shape))
	for i := range out {
		out[i] = i
	}
	return out
}

// elements are the places of a view, in row-major order.
func elements(v move.View) []int {
	out := []int{v.Offset}
	for i, n := range v.Shape {
		var next []int
		for _, at := range out {
			for k := range n {
				next = append(next, at+k*v.Strides[i])
			}
		}
		out = next
	}
	return out
}

func evaluate(t *testing.T, moves []*ir.Node, in []int) []int {
	t.Helper()
	v := &ir.Tensor{Type: ir.Float(1)}
	for _, i := range in {
		v.Floats = append(v.Floats, float32(i))
	}
	for _, n := range moves {
		k, err := n.Kernel()
		if err != nil {
			t.Fatal(err)
		}
		v.Type = n.Args[0].Type
		if v, err = k([]*ir.Tensor{v}); err != nil {
			t.Fatal(err)
		}
	}
	var out []int
	for _, x := range v.Floats {
		out = append(out, int(x))
	}
	return out
}

func randomMove(t *testing.T, r *rand.Rand, x *ir.Node) *ir.Node {
	t.Helper()
	shape := x.Type.Shape
	var op *ir.Op
	var attrs any
	switch r.IntN(4) {
	case 0:
		axis := r.IntN(len(shape))
		start := r.IntN(shape[axis])
		step := 1 + r.IntN(2)
		op, attrs = move.Slice, &move.SliceAttrs{Axis: axis, Start: start, Step: step,
			Count: 1 + r.IntN((shape[axis]-1-start)/step+1)}
	case 1, 2:
		op, attrs = move.Transpose, &move.TransposeAttrs{Perm: r.Perm(len(shape))}
	default:
		op, attrs = move.Reshape, &move.ReshapeAttrs{Shape: reshaped(r, shape)}
	}
	n, err := ir.NewNode(op, "m", "", attrs, x)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// reshaped joins or splits axes.
func reshaped(r *rand.Rand, shape []int) []int {
	out := slices.Clone(shape)
	at := r.IntN(len(out))
	if r.IntN(2) == 0 && at+1 < len(out) {
		return slices.Replace(out, at, at+2, out[at]*out[at+1])
	}
	for _, d := range []int{2, 3, 1} {
		if out[at]%d == 0 {
			return slices.Replace(out, at, at+1, out[at]/d, d)
		}
	}
	return out
}
