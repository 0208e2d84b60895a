// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/leaf"
	"lathe/ir/op/whole"
	"lathe/ir/ref"
)

// lookup is a graph that looks elements of x up at positions.
func lookup(t *testing.T, o *ir.Op, attrs any, x, at []int, positions []int64) *ir.Graph {
	t.Helper()
	var bytes []byte
	for _, p := range positions {
		bytes = binary.LittleEndian.AppendUint64(bytes, uint64(p))
	}
	in := &ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(x...)}
	index := &ir.Node{Name: "at", Op: leaf.Const, Attrs: &ir.Const{Data: &ir.Blob{DType: ir.I64, Bytes: bytes}},
		Type: ir.Type{Shape: at, Format: ir.Int64}}
	n, err := ir.NewNode(o, "y", "", attrs, in, index)
	if err != nil {
		t.Fatal(err)
	}
	return &ir.Graph{Name: "g", In: []*ir.Node{in}, Nodes: []*ir.Node{in, index, n},
		Out: []ir.Output{{Name: "y", Node: n}}}
}

// elementsOf are the results of a graph on counting numbers.
func elementsOf(t *testing.T, g *ir.Graph) []float32 {
	t.Helper()
	p, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	x := ir.NewTensor(g.In[0].Type)
	for i := range x.Floats {
		x.Floats[i] = float32(i)
	}
	out, err := p.Run(t.Context(), []ref.Sample{{x}})
	if err != nil {
		t.Fatal(err)
	}
	return out[0][0].Floats
}

// TestPlaces: lookups at random positions give the same elements as moves, and none is left; one of too many pieces is.
func TestPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		x := []int{1 + r.IntN(4), 1 + r.IntN(6), 1 + r.IntN(4)}
		axis, count := r.IntN(3), 1+r.IntN(7)
		at := make([]int64, count)
		for i := range at {
			at[i] = int64(r.IntN(2*x[axis]) - x[axis])
		}
		if r.IntN(3) == 0 {
			slices.Sort(at)
		}
		var g *ir.Graph
		switch r.IntN(3) {
		case 0:
			g = lookup(t, whole.Gather, &column.AxisAttrs{Axis: axis - 3*r.IntN(2)}, x, []int{count}, at)
		case 1:
			shape := slices.Clone(x)
			shape[axis] = count
			var same []int64 // the same positions in all lines of the axis
			for i := range (ir.Type{Shape: shape}).Elems() {
				same = append(same, at[i/(ir.Type{Shape: shape[axis+1:]}).Elems()%count])
			}
			g = lookup(t, whole.GatherElements, &column.AxisAttrs{Axis: axis}, x, shape, same)
		case 2:
			var pairs []int64
			for range count {
				pairs = append(pairs, int64(r.IntN(2*x[0])-x[0]), int64(r.IntN(x[1])))
			}
			g = lookup(t, whole.GatherND, &whole.GatherNDAttrs{}, x, []int{count, 2}, pairs)
		}
		want := elementsOf(t, g)
		if err := Places(g); err != nil {
			t.Fatal(err)
		}
		if err := g.Check(); err != nil {
			t.Fatal(err)
		}
		y := g.Out[0].Node
		if got := elementsOf(t, g); !slices.Equal(got, want) || len(y.Args) == 2 && y.Args[1].IsConst() {
			t.Fatalf("%v at %v of axis %d: %v, want %v", x, at, axis, got, want)
		}
	}
	far := make([]int64, 2*maxPieces)
	for i := range far {
		far[i] = int64(len(far) - 1 - i)
	}
	g := lookup(t, whole.Gather, &column.AxisAttrs{}, []int{len(far)}, []int{len(far)}, far)
	if err := Places(g); err != nil || g.Out[0].Node.Op != whole.Gather {
		t.Errorf("%d pieces became %s, %v", len(far), g.Out[0].Node.Op.Name, err)
	}
}
