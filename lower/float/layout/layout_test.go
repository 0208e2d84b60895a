// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/sequence"
	"lathe/ir/op/sum"
	"lathe/ir/op/window"
	"lathe/ir/ref"
	"lathe/lower/lowertest"
)

func text(g *ir.Graph) string {
	var names []string
	for _, n := range g.Nodes {
		if n.IsConst() {
			continue
		}
		name := n.Op.Name
		if p := permOf(n); p != nil {
			name += fmt.Sprint(p)
		}
		names = append(names, name)
	}
	for _, o := range g.Out {
		if o.Perm != nil {
			names = append(names, fmt.Sprint("out", o.Perm))
		}
	}
	for _, n := range g.In {
		if p := n.Attrs.(*ir.Input).Perm; p != nil {
			names = append(names, fmt.Sprint("in", p))
		}
	}
	return strings.Join(names, " ")
}

// lower runs all functions of the package in the order of the pipeline.
func lower(t *testing.T, g *ir.Graph) {
	t.Helper()
	for _, f := range []func(*ir.Graph) error{ChannelsLast, Sink, Absorb, Hoist, Inputs, Free} {
		if err := f(g); err != nil {
			t.Fatal(err)
		}
		if err := g.Check(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhereTransposesGo(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(b *lowertest.Builder) *ir.Node
		want  string
	}{
		{"classifier", func(b *lowertest.Builder) *ir.Node {
			w := lowertest.Window(2, 2, 2, 0)
			x := b.Add(pointwise.Relu, "relu", nil, b.Conv("conv", b.Input("x", 1, 2, 6, 4), 3, 3, 1, 1, 1, true))
			x = b.Add(window.MaxPool, "pool", &w, x)
			return b.Linear("fc", b.Add(curve.Tanh, "tanh", nil, b.Flatten("flat", x)), 2, true)
		}, "input conv relu maxpool reshape tanh linear in[0 2 3 1]"},
		{"image to image", func(b *lowertest.Builder) *ir.Node {
			return b.Conv("conv", b.Add(curve.Sigmoid, "s", nil, b.Input("x", 1, 2, 6, 4)), 3, 3, 1, 1, 1, true)
		}, "input sigmoid conv out[0 3 1 2] in[0 2 3 1]"},
		{"one spatial axis", func(b *lowertest.Builder) *ir.Node {
			return b.Conv("conv", b.Input("x", 1, 2, 6), 3, 3, 1, 1, 1, true)
		}, "input conv out[0 2 1] in[0 2 1]"},
		{"an input that two branches read", func(b *lowertest.Builder) *ir.Node {
			x := b.Input("x", 1, 2, 4, 4)
			return b.Add(pointwise.Add, "add", nil, b.Conv("c1", x, 2, 1, 1, 0, 1, true), b.Conv("c2", x, 2, 3, 1, 1, 1, true))
		}, "input conv conv add out[0 3 1 2] in[0 2 3 1]"},
		{"a skip connection from the input", func(b *lowertest.Builder) *ir.Node {
			x := b.Input("x", 1, 2, 4, 4)
			return b.Add(pointwise.Sub, "sub", nil, x, b.Conv("c", x, 2, 3, 1, 1, 1, true))
		}, "input conv sub out[0 3 1 2] in[0 2 3 1]"},
		{"global pool before a flatten", func(b *lowertest.Builder) *ir.Node {
			x := b.Conv("c", b.Input("x", 1, 2, 4, 4), 3, 3, 1, 1, 1, true)
			return b.Flatten("flat", b.Add(window.GlobalAvgPool, "gap", &window.GlobalAttrs{}, x))
		}, "input conv global_avgpool reshape in[0 2 3 1]"},
		{"softmax and argmax follow their axis", func(b *lowertest.Builder) *ir.Node {
			x := b.Add(norm.Softmax, "soft", &column.AxisAttrs{Axis: -3},
				b.Conv("c", b.Input("x", 1, 2, 4, 3), 3, 3, 1, 1, 1, true))
			return b.Add(reduce.ArgMax, "arg", &reduce.ArgMaxAttrs{Axis: 1}, x)
		}, "input conv softmax argmax in[0 2 3 1]"},
		{"argmax over a row moves the axes that are left", func(b *lowertest.Builder) *ir.Node {
			x := b.Conv("c", b.Input("x", 1, 2, 4, 3), 3, 3, 1, 1, 1, true)
			return b.Add(reduce.ArgMax, "arg", &reduce.ArgMaxAttrs{Axis: 2}, x)
		}, "input conv argmax out[0 2 1] in[0 2 3 1]"},
		{"reductions follow their axes", func(b *lowertest.Builder) *ir.Node {
			x := b.Conv("c", b.Input("x", 1, 2, 4, 3), 3, 3, 1, 1, 1, true)
			x = b.Add(reduce.Max, "max", &reduce.Attrs{Axes: []int{2}}, x)
			return b.Add(reduce.Sum, "sum", &reduce.Attrs{Axes: []int{1, 3}}, x)
		}, "input conv reduce_max reduce_sum out[0 3 1 2] in[0 2 3 1]"},
		{"a flatten that is an output keeps its transpose", func(b *lowertest.Builder) *ir.Node {
			return b.Flatten("flat", b.Conv("c", b.Input("x", 1, 2, 4, 3), 3, 3, 1, 1, 1, true))
		}, "input conv transpose[0 3 1 2] reshape in[0 2 3 1]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := lowertest.New(t, 1)
			g := b.Done(c.build(b))
			before := g.Clone()
			lower(t, g)
			if got := text(g); got != c.want {
				t.Errorf("got:  %s\nwant: %s", got, c.want)
			}
			compare(t, before, g)
		})
	}
}

// TestSlopesStayLast keeps the channels of a prelu along the last axis, where the slopes are.
func TestSlopesStayLast(t *testing.T) {
	b := lowertest.New(t, 1)
	x := b.Add(pointwise.PRelu, "prelu", &column.ScaleAttrs{Axis: 1}, b.Input("x", 1, 2, 4, 3), b.Random(1, 2))
	g := b.Done(b.Add(move.Slice, "cut", &move.SliceAttrs{Axis: 3, Start: 1, Count: 2, Step: 1}, x))
	before := g.Clone()
	lower(t, g)
	if got := text(g); got != "input prelu slice out[0 3 1 2] in[0 2 3 1]" {
		t.Error(got)
	}
	compare(t, before, g)
}

// compare evaluates both graphs on the same array; b takes and gives it in its own layouts.
func compare(t *testing.T, a, b *ir.Graph) {
	t.Helper()
	x := ir.NewTensor(a.In[0].Type)
	for i := range x.Floats {
		x.Floats[i] = float32(i*i%11) - 5
	}
	want := run(t, a, x)
	if p := b.In[0].Attrs.(*ir.Input).Perm; p != nil {
		x = &ir.Tensor{Type: b.In[0].Type, Floats: gather(x.Floats, ir.TransposeIndex(x.Type.Shape, p))}
	}
	got := run(t, b, x)
	if p := b.Out[0].Perm; p != nil {
		got = &ir.Tensor{Type: want.Type, Floats: gather(got.Floats, ir.TransposeIndex(got.Type.Shape, p))}
	}
	for i, v := range got.Floats {
		if d := v - want.Floats[i]; d > 1e-4 || d < -1e-4 {
			t.Fatalf("element %d: %g, want %g", i, v, want.Floats[i])
		}
	}
}

func run(t *testing.T, g *ir.Graph, x *ir.Tensor) *ir.Tensor {
	t.Helper()
	p, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(context.Background(), []ref.Sample{{x}})
	if err != nil {
		t.Fatal(err)
	}
	y := out[0][0]
	if !y.Type.IsFloat() { // positions
		for _, c := range y.Codes {
			y.Floats = append(y.Floats, float32(c))
		}
	}
	return y
}

// TestThrough composes permutations: reading axis outer[i] of what inner made.
func TestThrough(t *testing.T) {
	inner, outer := []int{0, 2, 3, 1}, []int{2, 0, 1, 3}
	if got := through(inner, outer); !slices.Equal(got, []int{3, 0, 2, 1}) {
		t.Errorf("got %v", got)
	}
	if got := through(inner, []int{0, 3, 1, 2}); got != nil {
		t.Errorf("inverse permutations leave %v", got)
	}
}

// TestColumns reads an element order as a permutation of columns only where every row has the same.
func TestColumns(t *testing.T) {
	index := ir.TransposeIndex
	if got := columnsOf(index([]int{2, 2, 3}, []int{0, 2, 1}), []int{2, 6}); !slices.Equal(got, []int{0, 3, 1, 4, 2, 5}) {
		t.Errorf("rows kept: %v", got)
	}
	if got := columnsOf(index([]int{2, 2, 3}, []int{1, 0, 2}), []int{2, 6}); got != nil {
		t.Errorf("rows mixed: %v", got)
	}
	if got := columnsOf(index([]int{2, 3}, []int{1, 0}), []int{6}); !slices.Equal(got, []int{0, 3, 1, 4, 2, 5}) {
		t.Errorf("one row: %v", got)
	}
}

func gather(x []float32, index []int) []float32 {
	out := make([]float32, len(index))
	for i, j := range index {
		out[i] = x[j]
	}
	return out
}

// TestTokensFirst leaves no transpose between attention, whose queries and keys are turned, and its linear layers.
func TestTokensFirst(t *testing.T) {
	b := lowertest.New(t, 1)
	x := b.Input("x", 1, 3, 8)
	cos, sin := b.Random(1, 3, 2), b.Random(1, 3, 2)
	heads := func(name string, n int) *ir.Node {
		y := b.Add(move.Reshape, name+"_heads", &move.ReshapeAttrs{Shape: []int{1, 3, n, 4}}, b.Linear(name, x, 4*n, true))
		return b.Add(move.Transpose, name+"_turned", &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, y)
	}
	turn := func(name string, y *ir.Node, a sequence.RotaryAttrs) *ir.Node {
		return b.Add(sequence.Rotary, name, &a, y, cos, sin)
	}
	q := turn("rq", heads("q", 4), sequence.RotaryAttrs{})
	k := turn("rk", heads("k", 2), sequence.RotaryAttrs{Interleaved: true})
	y := b.Add(sequence.Attention, "a", &sequence.AttentionAttrs{Causal: true}, q, k, heads("v", 2))
	y = b.Add(move.Transpose, "back", &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, y)
	y = b.Add(move.Reshape, "rows", &move.ReshapeAttrs{Shape: []int{1, 3, 16}}, y)
	g := b.Done(b.Linear("o", y, 8, true))
	before := g.Clone()
	for _, f := range []func(*ir.Graph) error{TokensFirst, Cancel, Free, Sink, Absorb, Hoist, Join, Free} {
		if err := f(g); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	want := "input linear reshape rotate linear reshape rotate linear reshape attend_scores attend_weights attend_sum " +
		"reshape linear"
	if got := text(g); got != want {
		t.Errorf("got:  %s\nwant: %s", got, want)
	}
	compare(t, before, g)
}

// TestConstantQueries makes linear layers out of products with constants, on either side, and of queries that are
// learned.
func TestConstantQueries(t *testing.T) {
	for name, build := range map[string]func(b *lowertest.Builder, x *ir.Node) *ir.Node{
		"queries": func(b *lowertest.Builder, x *ir.Node) *ir.Node { // [1,2,3,4] of 4 heads on keys of 2 groups
			return b.Add(sequence.Attention, "a", &sequence.AttentionAttrs{}, b.Random(1, 1, 4, 2, 4), x, x)
		},
		"in front": func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(sum.MatMul, "m", nil, b.Random(1, 1, 2, 5, 3), x)
		},
		"in front, one for all": func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(sum.MatMul, "m", nil, b.Random(1, 5, 3), x)
		},
		"behind": func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(sum.MatMul, "m", nil, x, b.Random(1, 1, 2, 4, 5))
		},
		"behind, one for all": func(b *lowertest.Builder, x *ir.Node) *ir.Node {
			return b.Add(sum.MatMul, "m", nil, x, b.Random(1, 4, 5))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := lowertest.New(t, 1)
			x := b.Input("x", 1, 2, 3, 4)
			g := b.Done(build(b, x))
			before := g.Clone()
			for _, f := range []func(*ir.Graph) error{TokensFirst, Products} {
				if err := f(g); err != nil {
					t.Fatal(err)
				}
			}
			if err := g.Check(); err != nil {
				t.Fatal(err)
			}
			if got := text(g); !strings.Contains(got, "linear") || strings.Contains(got, "matmul") {
				t.Errorf("got: %s", got)
			}
			compare(t, before, g)
		})
	}
}

// TestConstantMasks adds what hides keys from some tokens to their scores. A token that sees no key has the weights 0,
// or all keys alike where finite numbers hide them; attention is left alone where those differ.
func TestConstantMasks(t *testing.T) {
	inf := float32(math.Inf(-1))
	for name, c := range map[string]struct {
		mask  []float32 // of 3 tokens and keys
		taken bool
	}{
		"band":      {[]float32{0, 0, inf, 0, 0, 0, inf, 0, 0}, true},
		"bias":      {[]float32{0.5, 0, -3e38, 1, -1, 2, -1e9, 0, 0}, true},
		"no key":    {[]float32{0, 0, 0, inf, inf, inf, 0, 0, 0}, true},
		"all alike": {[]float32{0, 0, 0, -3e38, -3e38, -3e38, 0, 0, 0}, true},
		"some rows": {[]float32{inf, inf, inf, -3e38, -3e38, -3e38, 0, 0, 0}, true},
		"uneven":    {[]float32{0, 0, 0, inf, inf, -2e9, 0, 0, 0}, false},
		"infinite":  {[]float32{0, 0, 0, float32(math.Inf(1)), 0, 0, 0, 0, 0}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := lowertest.New(t, 1)
			x := b.Input("x", 1, 2, 3, 4)
			mask := b.Random(1, 3, 3)
			mask.Attrs.(*ir.Const).Data = ir.FloatBlob(c.mask)
			g := b.Done(b.Add(sequence.Attention, "a", &sequence.AttentionAttrs{}, x, x, x, mask))
			before := g.Clone()
			if err := TokensFirst(g); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(text(g), "attend_weights"); got != c.taken {
				t.Errorf("taken apart: %v, want %v", got, c.taken)
			}
			compare(t, before, g)
		})
	}
}
