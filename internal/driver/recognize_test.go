// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"path/filepath"
	"testing"

	"lathe/internal/driver"
	"lathe/ir"
	"lathe/ir/survey/diff"
)

// TestFormsAreOne recognizes what the exporters of every form of a vision transformer have decomposed. All forms then
// are the same graph, with the same weights.
func TestFormsAreOne(t *testing.T) {
	dir := filepath.Join("..", "..", "examples", "digits-vit")
	forms := map[string]map[string]int{ // what each exporter has taken apart
		"model.onnx":        {"gelu": 2, "linear": 8, "attention": 2}, // operator set 18
		"model_dyn.onnx":    {"gelu": 2, "linear": 8, "attention": 2},
		"model_legacy.onnx": {"gelu": 2, "linear": 8, "attention": 2},
		"model_opset20.onnx": {
			"linear": 8, "attention": 2,
		},
		"model.pt2":      {"attention": 2},
		"model_dyn.pt2":  {"attention": 2},
		"model_sdpa.pt2": {},
	}
	var first *ir.Graph
	var of string
	for _, name := range []string{"model.pt2", "model.onnx", "model_dyn.onnx", "model_legacy.onnx", "model_opset20.onnx",
		"model_dyn.pt2", "model_sdpa.pt2"} {
		s := driver.Source{Model: filepath.Join(dir, name)}
		g, err := s.Import()
		if err != nil {
			t.Fatal(err)
		}
		whole, report, err := s.Recognize(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for _, f := range report.Recognized {
			counts[f.Op] += len(f.Nodes)
		}
		for _, op := range []string{"gelu", "linear", "attention", "layer_norm", "softmax"} {
			if counts[op] != forms[name][op] {
				t.Errorf("%s: %d %s are recognized, want %d", name, counts[op], op, forms[name][op])
			}
		}
		if first == nil {
			first, of = whole, name
			continue
		}
		r, err := diff.Of(first, whole, diff.Options{Tolerance: 1e-6})
		if err != nil || !r.Same {
			t.Errorf("%s and %s: %+v, %v", of, name, r, err)
		}
	}
}
