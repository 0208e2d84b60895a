// SPDX-License-Identifier: Apache-2.0

package lower

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"lathe/frontend"
	"lathe/golden/ref"
	"lathe/internal/npz"
	"lathe/ir"
)

// example is a trained model with its data.
type example struct {
	g      *ir.Graph
	calib  Calibration
	inputs []ref.Sample
	labels []int64
}

// load reads a model of examples/.
func load(t *testing.T, dir, model string) *example {
	t.Helper()
	path := func(name string) string { return filepath.Join("..", "examples", dir, name) }
	g, err := frontend.Load(path(model), frontend.Options{})
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) *npz.File {
		f, err := npz.Read(path(name))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	labels, err := read("labels.npy").Arrays[0].Int64s()
	if err != nil {
		t.Fatal(err)
	}
	e := &example{g: g, labels: labels, calib: Calibration{Samples: map[string][]*ir.Tensor{}}}
	in := g.In[0]
	e.calib.Samples[in.Name] = split(t, in, read("calib.npz"))
	for _, x := range split(t, in, read("inputs.npz")) {
		e.inputs = append(e.inputs, ref.Sample{x})
	}
	if len(e.inputs) != len(labels) {
		t.Fatalf("%d inputs, %d labels", len(e.inputs), len(labels))
	}
	return e
}

// split cuts the array of an input into samples.
func split(t *testing.T, in *ir.Node, f *npz.File) []*ir.Tensor {
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

// accuracy is the percentage of samples whose greatest output is that of their label.
func (e *example) accuracy(t *testing.T, g *ir.Graph) float64 {
	t.Helper()
	out, err := outputs(context.Background(), g, e.inputs)
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
		if int64(best) == e.labels[i] {
			right++
		}
	}
	return 100 * float64(right) / float64(len(out))
}

func mustPlan(t *testing.T, text string) *Plan {
	t.Helper()
	p, err := ParsePlan("plan.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestExampleAccuracy demands that quantization costs little: half a point at 8 bits, less at 16, a few with weights of
// 4 bits.
func TestExampleAccuracy(t *testing.T) {
	plans := []struct {
		name, text string
		loss       float64
	}{
		{"8 bits", "", 0.5},
		{"16 bits", "[quantize]\ndata = \"fixed(16)\"\nweight = \"fixed(16)\"\nbias = \"fixed(32)\"", 0.1},
		{"weights of 4 bits", "[quantize]\nweight = \"fixed(4)\"", 4},
		{"8 bits, minmax", "[quantize]\ncalibrate = \"minmax\"", 1},
		{"blocks", "[quantize]\ndata = \"mxint8\"\nweight = \"mxint8\"", 0.3},
		{"8 bits, percentile", "[quantize]\ncalibrate = \"percentile\"", 1},
	}
	for _, dir := range []string{"digits-mlp", "digits-cnn", "digits-dscnn", "digits-resnet", "jets-mlp"} {
		e := load(t, dir, "model.onnx")
		low, err := Simplify(context.Background(), e.g, Options{Verify: true})
		if err != nil {
			t.Fatal(err)
		}
		float := e.accuracy(t, low)
		for _, p := range plans {
			q, report, err := Quantize(context.Background(), e.g, mustPlan(t, p.text), e.calib)
			if err != nil {
				t.Fatalf("%s: %v", dir, err)
			}
			got := e.accuracy(t, q)
			t.Logf("%s, %s: %.2f %%, float %.2f %%, SQNR %.1f dB", dir, p.name, got, float, report.Outputs[0].SQNR)
			if got < float-p.loss {
				t.Errorf("%s, %s: %.2f %%, float %.2f %%", dir, p.name, got, float)
			}
			if len(report.Warnings) > 0 {
				t.Errorf("%s: %q", dir, report.Warnings)
			}
		}
	}
}

// TestExamplePlans reads every plan that the project ships and quantizes small models by it, quantized ones among them.
func TestExamplePlans(t *testing.T) {
	files, err := filepath.Glob("../examples/plans/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no plans: %v", err)
	}
	examples := map[string]*example{}
	for _, dir := range []string{"digits-qonnx", "digits-qdq-mlp", "jets-mlp"} {
		examples[dir] = load(t, dir, "model.onnx")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := ParsePlan(filepath.Base(file), data)
		if err != nil {
			t.Error(err)
			continue
		}
		for dir, e := range examples {
			if _, _, err := Quantize(t.Context(), e.g, plan, e.calib); err != nil {
				t.Errorf("%s: %v", dir, err)
			}
		}
	}
}
