// SPDX-License-Identifier: Apache-2.0

package lowertest

import (
	"os"
	"path/filepath"
	"testing"

	"lathe/frontend"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/sum"
	"lathe/ir/op/window"
	"lathe/ir/ref"
	"lathe/lower/pass"
	"lathe/lower/plan"
)

// Plan reads the text of a plan.
func Plan(t testing.TB, text string) *plan.Plan {
	t.Helper()
	p, err := plan.Parse("plan.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Example is a trained model with its data.
type Example struct {
	Graph *ir.Graph
	// Samples are those of calibration, by input name.
	Samples map[string][]*ir.Tensor
	Inputs  []ref.Sample
	Labels  []int64
}

// Path is a file of examples/, wherever the test runs.
func Path(t testing.TB, parts ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(append([]string{dir, "examples"}, parts...)...)
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
	}
}

// Load reads a model of examples/.
func Load(t testing.TB, dir, model string) *Example {
	t.Helper()
	g, err := frontend.Load(Path(t, dir, model), frontend.Options{})
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) *npz.File {
		f, err := npz.Read(Path(t, dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	labels, err := read("labels.npy").Arrays[0].Int64s()
	if err != nil {
		t.Fatal(err)
	}
	in := g.In[0]
	e := &Example{Graph: g, Labels: labels, Samples: map[string][]*ir.Tensor{in.Name: Split(t, in, read("calib.npz"))}}
	for _, x := range Split(t, in, read("inputs.npz")) {
		e.Inputs = append(e.Inputs, ref.Sample{x})
	}
	if len(e.Inputs) != len(labels) {
		t.Fatalf("%d inputs, %d labels", len(e.Inputs), len(labels))
	}
	return e
}

// Split cuts the array of an input into samples.
func Split(t testing.TB, in *ir.Node, f *npz.File) []*ir.Tensor {
	t.Helper()
	a, err := f.Get(in.Name)
	if err != nil {
		t.Fatal(err)
	}
	values, size := a.Float32s(), in.Type.Elems()
	var list []*ir.Tensor
	for i := 0; i < len(values); i += size {
		list = append(list, &ir.Tensor{Type: in.Type, Floats: values[i : i+size]})
	}
	return list
}

// Accuracy is the percentage of samples whose greatest output is that of their label.
func (e *Example) Accuracy(t testing.TB, g *ir.Graph) float64 {
	t.Helper()
	out, err := pass.Outputs(t.Context(), g, e.Inputs)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, s := range out {
		values, err := s[0].Decode()
		if err != nil {
			t.Fatal(err)
		}
		best := 0
		for k, v := range values {
			if v > values[best] {
				best = k
			}
		}
		if int64(best) == e.Labels[i] {
			right++
		}
	}
	return 100 * float64(right) / float64(len(out))
}

// Network is x -> fc1 -> relu -> fc2 -> y with 4 inputs in [-1, 1].
func Network(t testing.TB) *ir.Graph {
	b := New(t, 1)
	x := b.Input("x", 1, 4)
	w := b.Const([]int{2, 4}, 1, -1, 0.5, 0, 0.01, 0.02, -0.015, 0)
	fc1 := b.Add(sum.Linear, "fc1", nil, x, w, b.Const([]int{2}, 0.25, -8))
	relu := b.Add(pointwise.Relu, "relu", nil, fc1)
	return b.Done(b.Add(sum.Linear, "fc2", nil, relu, b.Const([]int{2, 2}, 1, 1, -1, 1)))
}

// Classifier is a small convolutional network on 8x8 images.
func Classifier(t testing.TB) *ir.Graph {
	b := New(t, 1)
	w := Window(2, 2, 2, 0)
	x := b.Add(pointwise.Relu, "relu1", nil, b.Conv("conv1", b.Input("x", 1, 3, 8, 8), 6, 3, 1, 1, 1, true))
	x = b.Conv("conv2", b.Add(window.MaxPool, "pool", &w, x), 10, 3, 1, 0, 1, true)
	x = b.Flatten("flat", b.Add(pointwise.Clip, "relu6", &pointwise.ClipAttrs{Max: 6}, x))
	return b.Done(b.Linear("fc", x, 7, true))
}
