// SPDX-License-Identifier: Apache-2.0

package simplify

import (
	"context"
	"math"
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/move"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
	"lathe/ir/op/window"
	"lathe/ir/ref"
	"lathe/lower/lowertest"
)

// ops lists the operations of a graph, constants left out.
func ops(g *ir.Graph) string {
	var names []string
	for _, n := range g.Nodes {
		if !n.IsConst() {
			names = append(names, n.Op.Name)
		}
	}
	return strings.Join(names, " ")
}

// value is the constant argument i of n.
func value(t *testing.T, n *ir.Node, i int) []float32 {
	t.Helper()
	v, err := n.Args[i].Value()
	if err != nil {
		t.Fatal(err)
	}
	return v.Floats
}

// all runs the rewrites in the order of the pipeline and demands equal outputs.
func all(t *testing.T, g *ir.Graph) {
	t.Helper()
	ctx := context.Background()
	sample := ref.Sample{ir.NewTensor(g.In[0].Type)}
	for i := range sample[0].Floats {
		sample[0].Floats[i] = float32(i%7) - 2.5
	}
	run := func() []float32 {
		p, err := ref.New(g)
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Run(ctx, []ref.Sample{sample})
		if err != nil {
			t.Fatal(err)
		}
		return out[0][0].Floats
	}
	step := func(f func(*ir.Graph) error) {
		t.Helper()
		if err := f(g); err != nil {
			t.Fatal(err)
		}
		if err := g.Check(); err != nil {
			t.Fatal(err)
		}
	}
	step(ref.Compute)
	want := run()
	for _, f := range []func(*ir.Graph) error{Identities, Arithmetic, Composites, Scales} {
		step(f)
	}
	for i, v := range run() {
		if d := math.Abs(float64(v - want[i])); d > 1e-5*(1+math.Abs(float64(want[i]))) {
			t.Errorf("output %d: %g, before %g", i, v, want[i])
		}
	}
}

func TestChains(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(b *lowertest.Builder) *ir.Node
		want  string
	}{
		{"conv and everything behind it", func(b *lowertest.Builder) *ir.Node {
			x := b.Conv("conv", b.Input("x", 1, 2, 5, 5), 3, 3, 1, 1, 1, false)
			x = b.BatchNorm("bn", b.Add(move.Identity, "drop", nil, x))
			x = b.Add(pointwise.Mul, "mul", nil, b.Const(nil, 3), x)
			return b.Add(pointwise.Sub, "sub", nil, b.Random(1, 3, 1, 1), x)
		}, "input conv"},
		{"bias behind a matrix product", func(b *lowertest.Builder) *ir.Node {
			w := b.Add(move.Transpose, "wt", &move.TransposeAttrs{Perm: []int{1, 0}}, b.Random(1, 6, 4))
			x := b.Add(sum.Linear, "mm", nil, b.Input("x", 2, 6), w)
			return b.Add(pointwise.Add, "bias", nil, x, b.Random(1, 4))
		}, "input linear"},
		{"scales without a linear", func(b *lowertest.Builder) *ir.Node {
			x := b.BatchNorm("bn", b.Input("x", 1, 3, 4))
			x = b.Add(pointwise.Add, "add", nil, x, b.Const([]int{1}, 2))
			return b.Add(pointwise.Relu, "relu", nil, b.Add(pointwise.Mul, "mul", nil, x, b.Random(1, 3, 1)))
		}, "input scale relu"},
		{"a second reader keeps the scale", func(b *lowertest.Builder) *ir.Node {
			x := b.Linear("fc", b.Input("x", 1, 4), 4, true)
			y := b.Add(pointwise.Mul, "mul", nil, x, b.Random(1, 4))
			return b.Add(pointwise.Add, "join", nil, x, y)
		}, "input linear scale add"},
		{"a constant an element stays", func(b *lowertest.Builder) *ir.Node {
			return b.Add(pointwise.Add, "add", nil, b.Input("x", 1, 2, 3), b.Random(1, 2, 3))
		}, "input add"},
		{"a constant that broadcasts the value stays", func(b *lowertest.Builder) *ir.Node {
			return b.Add(pointwise.Add, "add", nil, b.Input("x", 4), b.Random(1, 3, 4))
		}, "input add"},
		{"a constant along another axis stays", func(b *lowertest.Builder) *ir.Node {
			x := b.Linear("fc", b.Input("x", 3, 4), 5, true)
			return b.Add(pointwise.Mul, "mul", nil, x, b.Random(1, 3, 1))
		}, "input linear mul"},
		{"pools of one element go", func(b *lowertest.Builder) *ir.Node {
			w := lowertest.Window(2, 1, 1, 0)
			x := b.Add(window.MaxPool, "pool", &w, b.Input("x", 1, 2, 3, 3))
			return b.Add(move.Reshape, "same", &move.ReshapeAttrs{Shape: []int{1, 2, 3, 3}}, x)
		}, "input"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := lowertest.New(t, 1)
			g := b.Done(c.build(b))
			all(t, g)
			if got := ops(g); got != c.want {
				t.Errorf("left: %s, want: %s", got, c.want)
			}
		})
	}
}

// TestSharedWeights folds a scale into one of two convolutions that share weights: the other must keep its own.
func TestSharedWeights(t *testing.T) {
	b := lowertest.New(t, 2)
	x := b.Input("x", 1, 2, 4, 4)
	w := b.Random(1, 2, 2, 1, 1)
	attrs := func() *sum.ConvAttrs { return &sum.ConvAttrs{Window: lowertest.Window(2, 1, 1, 0), Groups: 1} }
	first := b.Add(sum.Conv, "first", attrs(), x, w)
	scaled := b.Add(pointwise.Mul, "mul", nil, first, b.Const(nil, 10))
	second := b.Add(sum.Conv, "second", attrs(), scaled, w)
	g := b.Done(second)
	plain := value(t, second, 1)
	all(t, g)
	if got := ops(g); got != "input conv conv" {
		t.Fatalf("left: %s", got)
	}
	for i, v := range value(t, g.Find("first"), 1) {
		if v != 10*plain[i] || value(t, g.Find("second"), 1)[i] != plain[i] {
			t.Errorf("weight %d: %g and %g, from %g", i, v, value(t, g.Find("second"), 1)[i], plain[i])
		}
	}
}

// TestScalarAxis wants the channel axis for a constant of one number: 1 among images, else the last.
func TestScalarAxis(t *testing.T) {
	b := lowertest.New(t, 3)
	image := b.Add(pointwise.Mul, "image", nil, b.Input("x", 1, 2, 4, 4), b.Const(nil, 2))
	relu := b.Add(pointwise.Relu, "relu", nil, image)
	conv := b.Conv("conv", relu, 2, 3, 1, 0, 1, true)
	flat := b.Add(pointwise.Relu, "mid", nil, b.Flatten("flat", conv))
	g := b.Done(b.Add(pointwise.Mul, "row", nil, flat, b.Const(nil, 3)))
	if err := Arithmetic(g); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"image": 1, "row": 1} {
		if got := g.Find(name).Attrs.(*column.ScaleAttrs).Axis; got != want {
			t.Errorf("%s: axis %d, want %d", name, got, want)
		}
	}
	if n := len(value(t, g.Find("image"), 1)); n != 2 {
		t.Errorf("image has %d factors", n)
	}
}
