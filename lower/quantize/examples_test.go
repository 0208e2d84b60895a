// SPDX-License-Identifier: Apache-2.0

package quantize

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"lathe/lower/float"
	"lathe/lower/lowertest"
	"lathe/lower/pass"
	"lathe/lower/plan"
)

// example is a model of examples/ with its data.
type example struct {
	*lowertest.Example
	calib Calibration
}

func load(t *testing.T, dir, model string) *example {
	t.Helper()
	e := lowertest.Load(t, dir, model)
	return &example{e, Calibration{Samples: e.Samples}}
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
		low, err := float.Simplify(context.Background(), e.Graph, pass.Options{Verify: true})
		if err != nil {
			t.Fatal(err)
		}
		float := e.Accuracy(t, low)
		for _, p := range plans {
			q, report, err := Run(context.Background(), e.Graph, lowertest.Plan(t, p.text), e.calib, Options{})
			if err != nil {
				t.Fatalf("%s: %v", dir, err)
			}
			got := e.Accuracy(t, q)
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
	files, err := filepath.Glob("../../examples/plans/*.toml")
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
		plan, err := plan.Parse(filepath.Base(file), data)
		if err != nil {
			t.Error(err)
			continue
		}
		for dir, e := range examples {
			if _, _, err := Run(t.Context(), e.Graph, plan, e.calib, Options{}); err != nil {
				t.Errorf("%s: %v", dir, err)
			}
		}
	}
}
