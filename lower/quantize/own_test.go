// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"context"
	"path/filepath"
	"testing"

	"lathe/internal/npz"
	"lathe/ir"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
)

// quantizedExamples bring their own formats. accuracy is that of the model itself on the stored samples, in percent.
var quantizedExamples = []struct {
	dir, out string
	accuracy float64
}{
	{"digits-qdq", "int(8,z=27)*0.15791836", 98}, {"digits-qdq-perchannel", "int(8,z=27)*0.15791836", 98},
	{"digits-qdq-mlp", "int(8)*0.32402763", 97.7778}, {"digits-qonnx", "fixed(11,5)", 98.6667},
	{"digits-widths", "fixed(18,10)", 97.1111},
}

// storedOutputs are the values that the model yields by the runtime that quantized it.
func storedOutputs(t *testing.T, dir string, n int) []float32 {
	t.Helper()
	f, err := npz.Read(filepath.Join("..", "..", "examples", dir, "outputs.npz"))
	if err != nil {
		t.Fatal(err)
	}
	x := f.Arrays[0].Float32s()
	if len(x) != n {
		t.Fatalf("%s: %d stored outputs, want %d", dir, len(x), n)
	}
	return x
}

// TestQuantizedModels needs neither plan nor calibration: at least 99.9 % of the output codes are those of the stored
// outputs, the others differ by one step, and accuracy stays within 0.3 points.
func TestQuantizedModels(t *testing.T) {
	for _, c := range quantizedExamples {
		e := load(t, c.dir, "model.onnx")
		q, report, err := Run(context.Background(), e.Graph, plan.Default(), Calibration{}, Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.dir, err)
		}
		out := q.Out[0].Node.Type
		if out.Format.String() != c.out || len(report.Warnings) > 0 {
			t.Errorf("%s: output in %s, want %s; warnings %q", c.dir, out.Format, c.out, report.Warnings)
		}
		for _, n := range q.Nodes {
			if n.Type.IsFloat() || n.Op.Name == "quant" {
				t.Errorf("%s: %s (%s) is left over", c.dir, n.Name, n.Op.Name)
			}
		}
		got := outputs(t, q, e.Inputs)
		want := storedOutputs(t, c.dir, len(got)*out.Elems())
		differ := 0
		for i, s := range got {
			stored := ir.EncodeFloats(out, want[i*out.Elems():(i+1)*out.Elems()])
			for k, code := range s[0].Codes {
				if d := code - stored.Codes[k]; d != 0 {
					if differ++; d != 1 && d != -1 {
						t.Errorf("%s, sample %d, output %d: code %d, stored %d", c.dir, i, k, code, stored.Codes[k])
					}
				}
			}
		}
		t.Logf("%s: %d of %d output codes differ", c.dir, differ, len(want))
		if 1000*differ > len(want) {
			t.Errorf("%s: %d of %d output codes differ", c.dir, differ, len(want))
		}
		if a := e.Accuracy(t, q); a < c.accuracy-0.3 || a > c.accuracy+0.3 {
			t.Errorf("%s: accuracy %.2f %%, that of the model is %.2f %%", c.dir, a, c.accuracy)
		}
	}
}

// TestQuantizedModelsUnderPlans lets a plan decide what it names, and leaves the rest to the model.
func TestQuantizedModelsUnderPlans(t *testing.T) {
	for _, c := range quantizedExamples {
		e := load(t, c.dir, "model.onnx")
		for _, p := range []struct {
			text          string
			data, weights bool // of the model
			loss          float64
		}{
			{"[quantize]\nweight = \"fixed(4)\"", true, false, 5},
			{"[quantize]\nweight = \"fixed(8)\"", true, false, 1},
			{"[quantize]\ndata = \"fixed(16)\"", false, true, 0.7},
			{"[quantize]\ndata = \"fixed(16)\"\nweight = \"fixed(16)\"\nbias = \"fixed(32)\"", false, false, 0.7},
			{"[quantize]\ndata = \"uint(8,z=100)*0.17\"", false, true, 100},
		} {
			q, report, err := Run(context.Background(), e.Graph, lowertest.Plan(t, p.text), e.calib, Options{})
			if err != nil {
				t.Fatalf("%s, %s: %v", c.dir, p.text, err)
			}
			if a := e.Accuracy(t, q); a < c.accuracy-p.loss {
				t.Errorf("%s, %s: accuracy %.2f %%, that of the model is %.2f %%", c.dir, p.text, a, c.accuracy)
			}
			for _, s := range report.Slots {
				model := len(s.From) > 10 && s.From[:10] == "the model:"
				if s.Slot == "weight" && model != p.weights || s.Slot == "data_out" && s.Op == "linear" && model && !p.data {
					t.Errorf("%s, %s: %s of %s is %s by %s", c.dir, p.text, s.Slot, s.Node, s.Format, s.From)
				}
			}
		}
	}
}
