// SPDX-License-Identifier: Apache-2.0

package train_test

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"lathe/golden/pjrt/pjrttest"
	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/hlo"
	"lathe/ir/op/leaf"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
	"lathe/lower/plan"
	"lathe/train"
	"lathe/train/model"
)

// BenchmarkStep takes whole steps of AdamW with cross-entropy in floats, and has PyTorch take steps of networks of the
// same shape (testdata/torch_steps.py), on as many threads: the python3 in PATH must have it.
func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		name           string
		batch, classes int
		model          func(testing.TB) *ir.Graph
	}{
		{"mlp", 32, 10, example("digits-mlp", "model.onnx")},
		{"wide-mlp", 128, 10, wideMLP},
		{"cnn", 64, 10, example("digits-cnn", "model.onnx")},
		{"bert-tiny", 32, 3, example("bert-tiny-like", "model.onnx")},
	} {
		b.Run(c.name, func(b *testing.B) {
			python := tools.NeedTorch(b)
			m, err := model.Float(c.model(b))
			if err != nil {
				b.Fatal(err)
			}
			ours, theirs := time.Hour, time.Hour
			for b.Loop() {
				ours = min(ours, step(b, m, c.batch, c.classes))
				theirs = min(theirs, torchStep(b, python, c.name, c.batch))
			}
			b.ReportMetric(ours.Seconds()*1e3, "ms/step")
			b.ReportMetric(theirs.Seconds()*1e3, "torch-ms/step")
			b.ReportMetric(ours.Seconds()/theirs.Seconds(), "x-torch")
		})
	}
}

func example(name, file string) func(testing.TB) *ir.Graph {
	return func(t testing.TB) *ir.Graph {
		g, err := driver.Source{Model: filepath.Join("..", "examples", name, file)}.Import()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
}

// wideMLP is 784-1024-1024-10.
func wideMLP(t testing.TB) *ir.Graph {
	r := rand.New(rand.NewPCG(1, 2))
	g := &ir.Graph{Name: "wide"}
	add := func(n *ir.Node, err error) *ir.Node {
		if err != nil {
			t.Fatal(err)
		}
		g.Nodes = append(g.Nodes, n)
		return n
	}
	weights := func(name string, shape ...int) *ir.Node {
		x := make([]float32, ir.Type{Shape: shape}.Elems())
		for i := range x {
			x[i] = float32(r.NormFloat64() / 32)
		}
		return add(&ir.Node{Name: name, Op: leaf.Const, Type: ir.Float(shape...),
			Attrs: &ir.Const{Data: ir.FloatBlob(x)}}, nil)
	}
	x := add(&ir.Node{Name: "x", Op: leaf.Input, Attrs: &ir.Input{}, Type: ir.Float(1, 784)}, nil)
	g.In = []*ir.Node{x}
	width := 784
	for i, out := range []int{1024, 1024, 10} {
		if i > 0 {
			x = add(ir.NewNode(pointwise.Relu, fmt.Sprintf("relu%d", i), "bench", nil, x))
		}
		w, bias := weights(fmt.Sprintf("w%d", i), out, width), weights(fmt.Sprintf("b%d", i), out)
		x = add(ir.NewNode(sum.Linear, fmt.Sprintf("fc%d", i), "bench", nil, x, w, bias))
		width = out
	}
	g.Out = []ir.Output{{Name: "y", Node: x}}
	return g
}

// step is how long a step takes, behind the first call, which compiles nothing but fills caches.
func step(b *testing.B, m *model.Model, batch, classes int) time.Duration {
	b.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	n := 40 * batch
	labels := make([]int64, n)
	for i := range labels {
		labels[i] = r.Int64N(int64(classes))
	}
	set := &train.Set{Name: "random", N: n, Labels: hlo.FromInt64s(hlo.I32, []int{n}, labels)}
	for _, in := range m.Graph().In {
		dims := append([]int{n}, in.Type.Shape...)
		elems := n * in.Type.Elems()
		if in.Type.IsFloat() {
			x := make([]float32, elems)
			for i := range x {
				x[i] = float32(r.NormFloat64())
			}
			set.Inputs = append(set.Inputs, hlo.FromFloat32s(dims, x))
			continue
		}
		ids := make([]int64, elems)
		for i := range ids {
			ids[i] = 1
			if in.Name == "input_ids" {
				ids[i] = r.Int64N(2000)
			}
		}
		set.Inputs = append(set.Inputs, hlo.FromInt64s(hlo.I64, dims, ids))
	}
	p := plan.Default().Train
	p.Batch, p.Epochs = batch, 4
	var from, at time.Time
	first, last := 0, 0
	o := &train.Options{Train: p, Watch: func(p train.Progress) {
		if at, last = time.Now(), p.Step; first == 0 {
			from, first = at, last
		}
	}}
	t, err := train.New(m, set, o)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := t.Run(b.Context(), train.OnPJRT(pjrttest.Engine(b))); err != nil {
		b.Fatal(err)
	}
	return at.Sub(from) / time.Duration(last-first)
}

// torchStep is how long a step of PyTorch takes.
func torchStep(b *testing.B, python, name string, batch int) time.Duration {
	b.Helper()
	out, err := exec.CommandContext(b.Context(), python, "testdata/torch_steps.py", name, strconv.Itoa(batch),
		strconv.Itoa(runtime.GOMAXPROCS(0))).CombinedOutput()
	if err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(seconds * float64(time.Second))
}
