// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"fmt"
	"math"
	"testing"

	"lathe/golden"
	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/difftest"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/ir/op/curve"
	"lathe/ir/op/leaf"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/whole"
	"lathe/ir/ref"
)

// specials are floats at which functions jump, overflow or stop being defined.
var specials = func() []float32 {
	x := []float32{0, 0.5, 1, 1.5, 2, 2.5, 3, 127.5, 255, 256, 32768, 65504, 65519, 65520, 1 << 24, 1<<31 - 128, 1 << 31,
		1 << 32, 1 << 33, 1 << 63, 1.5 * (1 << 63), 1 << 64, 1e30, 0x1p-14, 0x1.ffcp-15, 0x1p-24, 0x1p-25, 0x1.8p-25,
		0x1.008p0, 0x1.018p0, math.MaxFloat32, 0x1.feffffp127, float32(math.Inf(1)), float32(math.NaN())}
	for _, v := range x[:len(x)-1] {
		x = append(x, -v)
	}
	return append(x, float32(math.Copysign(0, -1)))
}()

// specialOps are the operations of float graphs on the specials, and on each pair of them.
func specialOps(t *testing.T) *ir.Graph {
	t.Helper()
	n := len(specials)
	a, b := input("a", ir.Float(n, 1)), input("b", ir.Float(1, n))
	g := &ir.Graph{Name: "specials", In: []*ir.Node{a, b}, Nodes: []*ir.Node{a, b}}
	add := func(name string, o *ir.Op, attrs any, args ...*ir.Node) { addOut(t, g, name, o, attrs, args...) }
	for _, rel := range []string{"eq", "ne", "lt", "le", "gt", "ge"} {
		add(rel, whole.Compare, &whole.CompareAttrs{Rel: rel}, a, b)
	}
	for _, o := range []*ir.Op{pointwise.Add, pointwise.Sub, pointwise.Mul, whole.Div, pointwise.Min, pointwise.Max,
		whole.Power} {
		add(o.Name, o, nil, a, b)
	}
	add("choice", whole.Where, nil, g.Nodes[2], a, b)
	for _, o := range []*ir.Op{whole.IsNaN, whole.IsInf, curve.Abs, curve.Sign} {
		add(o.Name, o, nil, a)
	}
	for _, to := range []ir.DType{ir.F16, ir.BF, ir.F32, ir.B1, ir.I8, ir.I16, ir.I32, ir.I64, ir.U8, ir.U16, ir.U32} {
		add("to "+string(to), whole.Convert, &whole.ConvertAttrs{To: to}, a)
	}
	add("largest", reduce.ArgMax, &reduce.ArgMaxAttrs{Axis: 0}, a)
	add("least", reduce.ArgMax, &reduce.ArgMaxAttrs{Axis: 0, Least: true}, a)
	for _, largest := range []bool{true, false} {
		add(fmt.Sprint("order ", largest), whole.TopKIndices, &whole.TopKAttrs{K: n, Largest: largest}, a)
	}
	return g
}

func input(name string, t ir.Type) *ir.Node {
	return &ir.Node{Name: name, Op: leaf.Input, Attrs: &ir.Input{}, Type: t}
}

// TestSpecials compares the Eval columns with PJRT where floats are special: the same truth values, whole numbers and
// infinities, and no number where there is none.
func TestSpecials(t *testing.T) {
	g := specialOps(t)
	sample := ref.Sample{}
	for _, in := range g.In {
		sample = append(sample, &ir.Tensor{Type: in.Type, Floats: specials})
	}
	want, err := difftest.Evaluate(t.Context(), g, []ref.Sample{sample})
	if err != nil {
		t.Fatal(err)
	}
	got, err := golden.RunPJRT(t.Context(), pjrttest.Engine(t), g, []ref.Sample{sample}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, o := range g.Out {
		bad := 0
		for i := range o.Node.Type.Elems() {
			x, y := specials[i%len(specials)], specials[i%len(specials)]
			if o.Node.Type.Elems() > len(specials) {
				x = specials[i/len(specials)]
			}
			same := false
			w, v := 0.0, 0.0
			if o.Node.Type.IsFloat() {
				w, v = float64(want[0][k].Floats[i]), float64(got[0][k].Floats[i])
				same = w == v || w != w && v != v || math.Abs(w-v) <= 1e-6*math.Abs(w) ||
					v == 0 && math.Abs(w) < 0x1p-126 // numbers below the least normal one are 0 on PJRT
			} else {
				w, v = float64(want[0][k].Codes[i]), float64(got[0][k].Codes[i])
				same = want[0][k].Codes[i] == got[0][k].Codes[i]
			}
			if !same && bad < 5 {
				t.Errorf("%s of %g and %g: pjrt %g, ref %g", o.Name, x, y, v, w)
				bad++
			}
		}
	}
}

// TestExtremes compares the operations on whole numbers with the slow evaluator and PJRT on each pair of extreme codes.
func TestExtremes(t *testing.T) {
	for _, f := range wholes {
		t.Run(f.String(), func(t *testing.T) {
			w := f.(format.Fixed)
			codes := []int64{0, 1, 2, 3, 7, 8, 31, 32, 63, 64, -1, -2, -3, -7, -64, w.Min(), w.Min() + 1, w.Max(), w.Max() - 1,
				w.Max() / 2, w.Min() / 2}
			var inside []int64
			for _, c := range codes {
				if c >= w.Min() && c <= w.Max() {
					inside = append(inside, c)
				}
			}
			n := len(inside)
			a, b := input("a", ir.Type{Shape: []int{n, 1}, Format: f}), input("b", ir.Type{Shape: []int{1, n}, Format: f})
			g := &ir.Graph{Name: "extremes", In: []*ir.Node{a, b}, Nodes: []*ir.Node{a, b}}
			for _, o := range []*ir.Op{pointwise.Add, pointwise.Sub, pointwise.Mul, pointwise.Min, pointwise.Max, whole.Div,
				whole.Power, whole.And, whole.Or, whole.Xor,
				whole.ShiftLeft, whole.ShiftRight} {
				addOut(t, g, o.Name, o, nil, a, b)
			}
			addOut(t, g, "mod", whole.Mod, &whole.ModAttrs{}, a, b)
			addOut(t, g, "floor mod", whole.Mod, &whole.ModAttrs{Floor: true}, a, b)
			addOut(t, g, "abs", curve.Abs, nil, a)
			addOut(t, g, "sign", curve.Sign, nil, a)
			addOut(t, g, "not", whole.Not, nil, a)
			for _, to := range []ir.DType{ir.F32, ir.F16, ir.BF, ir.B1, ir.I8, ir.I32, ir.I64, ir.U8, ir.U32} {
				addOut(t, g, "to "+string(to), whole.Convert, &whole.ConvertAttrs{To: to}, a)
			}
			s := []ref.Sample{{{Type: a.Type, Codes: inside}, {Type: b.Type, Codes: inside}}}
			want, err := difftest.Evaluate(t.Context(), g, s)
			if err != nil {
				t.Fatal(err)
			}
			slow, err := difftest.Slow(g, s[0])
			if err != nil {
				t.Fatal(err)
			}
			got, err := golden.RunPJRT(t.Context(), pjrttest.Engine(t), g, s, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			if d := difftest.Differ(g, slow, want[0], 0); d != "" {
				t.Error("ref beside the slow evaluator:", d, inside)
			}
			if d := difftest.Differ(g, want[0], got[0], 0); d != "" {
				t.Error("pjrt beside ref:", d, inside)
			}
		})
	}
}

// addOut adds a node and makes it an output.
func addOut(t *testing.T, g *ir.Graph, name string, o *ir.Op, attrs any, args ...*ir.Node) {
	t.Helper()
	y, err := ir.NewNode(o, name, "", attrs, args...)
	if err != nil {
		t.Fatal(err)
	}
	g.Nodes, g.Out = append(g.Nodes, y), append(g.Out, ir.Output{Name: name, Node: y})
}

// TestRoots compares norms where the root of a row is decided by one unit.
func TestRoots(t *testing.T) {
	graphs, sample := difftest.Roots()
	for i := 0; i < len(graphs); i += PerProgram {
		t.Run(fmt.Sprint(i/PerProgram), func(t *testing.T) {
			t.Parallel()
			end := min(i+PerProgram, len(graphs))
			CompareSamples(t, difftest.Merge("roots", graphs[i:end]), []ref.Sample{sample[i:end]}, 0)
		})
	}
}
