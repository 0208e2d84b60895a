// SPDX-License-Identifier: Apache-2.0

package golden_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"lathe/golden"
	"lathe/golden/pjrt/pjrttest"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/leaf"
	"lathe/ir/op/move"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sequence"
	"lathe/ir/op/sum"
	"lathe/ir/op/whole"
	"lathe/ir/ref"
)

// The size of bert-base, without its head: 109 million parameters, 11.2 G products a sample.
const (
	bertLayers, bertTokens, bertHidden, bertHeads, bertInner = 12, 128, 768, 12, 3072
	bertWords                                                = 30522
)

// encoder builds a transformer encoder with random weights.
type encoder struct {
	t testing.TB
	g *ir.Graph
	r uint32
}

func (e *encoder) weights(name string, size float32, mean float32, shape ...int) *ir.Node {
	values := make([]float32, ir.Type{Shape: shape}.Elems())
	for i := range values { // as Lehmer draws: rand takes a second for all
		e.r = e.r*1664525 + 1013904223
		values[i] = mean + (float32(e.r>>8)/(1<<23)-1)*size
	}
	n := &ir.Node{Name: name, Op: leaf.Const, Type: ir.Float(shape...), Attrs: &ir.Const{Data: ir.FloatBlob(values)}}
	e.g.Nodes = append(e.g.Nodes, n)
	return n
}

func (e *encoder) node(o *ir.Op, name string, attrs any, args ...*ir.Node) *ir.Node {
	e.t.Helper()
	n, err := ir.NewNode(o, name, "bench: "+name, attrs, args...)
	if err != nil {
		e.t.Fatal(err)
	}
	e.g.Nodes = append(e.g.Nodes, n)
	return n
}

func (e *encoder) linear(name string, x *ir.Node, in, out int) *ir.Node {
	size := float32(math.Sqrt(3 / float64(in)))
	w := e.weights(name+".weight", size, 0, out, in)
	return e.node(sum.Linear, name, nil, x, w, e.weights(name+".bias", .1, 0, out))
}

func (e *encoder) norm(name string, x *ir.Node) *ir.Node {
	return e.node(norm.LayerNorm, name, &norm.Attrs{Axis: -1, Eps: 1e-12}, x, e.weights(name+".weight", .1, 1, bertHidden),
		e.weights(name+".bias", .1, 0, bertHidden))
}

// heads cuts the hidden axis: [1, heads, tokens, hidden/heads].
func (e *encoder) heads(name string, x *ir.Node) *ir.Node {
	shape := []int{1, bertTokens, bertHeads, bertHidden / bertHeads}
	x = e.node(move.Reshape, name+".cut", &move.ReshapeAttrs{Shape: shape}, x)
	return e.node(move.Transpose, name+".heads", &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, x)
}

func (e *encoder) layer(name string, x *ir.Node) *ir.Node {
	var qkv []*ir.Node
	for _, part := range []string{"query", "key", "value"} {
		qkv = append(qkv, e.heads(name+part, e.linear(name+part, x, bertHidden, bertHidden)))
	}
	a := e.node(sequence.Attention, name+"attention", &sequence.AttentionAttrs{}, qkv...)
	a = e.node(move.Transpose, name+"tokens", &move.TransposeAttrs{Perm: []int{0, 2, 1, 3}}, a)
	a = e.node(move.Reshape, name+"context", &move.ReshapeAttrs{Shape: []int{1, bertTokens, bertHidden}}, a)
	x = e.norm(name+"norm1",
		e.node(pointwise.Add, name+"sum1", nil, e.linear(name+"output", a, bertHidden, bertHidden), x))
	h := e.node(curve.Gelu, name+"gelu", nil, e.linear(name+"up", x, bertHidden, bertInner))
	return e.norm(name+"norm2",
		e.node(pointwise.Add, name+"sum2", nil, e.linear(name+"down", h, bertInner, bertHidden), x))
}

// bert is an encoder of the given number of layers over the ids of as many words.
func bert(t testing.TB, layers, words int) *ir.Graph {
	t.Helper()
	e := &encoder{t: t, g: &ir.Graph{Name: "bert"}, r: 1}
	ids := &ir.Node{Name: "ids", Op: leaf.Input, Attrs: &ir.Input{},
		Type: ir.Type{Shape: []int{1, bertTokens}, Format: ir.Int64}}
	e.g.Nodes, e.g.In = append(e.g.Nodes, ids), []*ir.Node{ids}
	x := e.node(whole.Gather, "words", &column.AxisAttrs{Axis: 0}, e.weights("word_embeddings", 1, 0, words, bertHidden),
		ids)
	x = e.node(pointwise.Add, "places", nil, x, e.weights("position_embeddings", 1, 0, bertTokens, bertHidden))
	x = e.norm("norm", x)
	for i := range layers {
		x = e.layer(fmt.Sprintf("layer.%d.", i), x)
	}
	e.g.Out = []ir.Output{{Name: "hidden", Node: x}}
	if err := e.g.Check(); err != nil {
		t.Fatal(err)
	}
	return e.g
}

func bertSample(words int64) ref.Sample {
	r := rand.New(rand.NewPCG(8, 8))
	ids := ir.NewTensor(ir.Type{Shape: []int{1, bertTokens}, Format: ir.Int64})
	for i := range ids.Codes {
		ids.Codes[i] = r.Int64N(words)
	}
	return ref.Sample{ids}
}

// TestBertLayer compares one layer of the benchmark on both engines.
func TestBertLayer(t *testing.T) {
	g, samples := bert(t, 1, 99), []ref.Sample{bertSample(99)}
	p, err := ref.New(g)
	if err != nil {
		t.Fatal(err)
	}
	want, err := p.Run(t.Context(), samples)
	if err != nil {
		t.Fatal(err)
	}
	got, err := golden.RunPJRT(t.Context(), pjrttest.Engine(t), g, samples, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	worst := 0.0
	for i, v := range got[0][0].Floats {
		worst = max(worst, math.Abs(float64(v-want[0][0].Floats[i])))
	}
	if t.Logf("greatest difference %g", worst); worst > 1e-5 {
		t.Errorf("the engines differ by %g", worst)
	}
}

// TestBertAlone: a sample gives the same bits alone and among others, on one processor and on several.
func TestBertAlone(t *testing.T) {
	p, err := ref.New(bert(t, 1, 99))
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want []float32
	for _, procs := range []int{1, 3} {
		runtime.GOMAXPROCS(procs)
		for _, count := range []int{1, 4} {
			out, err := p.Run(t.Context(), slices.Repeat([]ref.Sample{bertSample(99)}, count))
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range out {
				if want == nil {
					want = s[0].Floats
				}
				if !slices.Equal(s[0].Floats, want) {
					t.Errorf("sample %d of %d on %d processors differs", i, count, procs)
				}
			}
		}
	}
}

// BenchmarkBert evaluates one sample of a model of the size of bert-base by turns with the reference engine and on
// PJRT, and reports the best times and their ratio.
func BenchmarkBert(b *testing.B) {
	g, samples := bert(b, bertLayers, bertWords), []ref.Sample{bertSample(bertWords)}
	program, err := ref.New(g)
	if err != nil {
		b.Fatal(err)
	}
	printed, err := golden.Print(g, 1, false)
	if err != nil {
		b.Fatal(err)
	}
	compiled, err := pjrttest.Engine(b).Compile(b.Context(), printed)
	if err != nil {
		b.Fatal(err)
	}
	defer compiled.Drop(b.Context())
	input := golden.Batch(golden.Form{Samples: 1}, g, samples)
	best := [2]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		for i, run := range []func() error{
			func() error { _, err := program.Run(b.Context(), samples); return err },
			func() error { _, err := compiled.Run(b.Context(), input); return err },
		} {
			start := time.Now()
			if err := run(); err != nil {
				b.Fatal(err)
			}
			best[i] = min(best[i], time.Since(start))
		}
	}
	b.ReportMetric(best[0].Seconds(), "s-ref")
	b.ReportMetric(best[1].Seconds(), "s-pjrt")
	b.ReportMetric(best[0].Seconds()/best[1].Seconds(), "x-pjrt")
}
