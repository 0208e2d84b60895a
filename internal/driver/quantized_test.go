// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"path/filepath"
	"testing"

	"lathe/emit/verilog"
	"lathe/internal/clitest"
	"lathe/internal/driver"
)

// TestQuantizedResidual proves a quantized network whose branches have scales and zero points of their own, under its
// own formats and under plans that take some of them away.
func TestQuantizedResidual(t *testing.T) {
	dir := t.TempDir()
	if err := clitest.WriteModels(dir); err != nil {
		t.Fatal(err)
	}
	e := engines(t)
	for _, plan := range []string{"", "w4", "b16"} {
		s := driver.Source{Model: filepath.Join(dir, "qdq-residual.onnx")}
		if plan != "" {
			s.Plan = examples + "plans/" + plan + ".toml"
		}
		g, err := s.Import()
		if err != nil {
			t.Fatal(err)
		}
		q, err := s.Quantize(t.Context(), g)
		if err != nil {
			t.Fatalf("%s: %v", plan, err)
		}
		for _, n := range q.Graph.Nodes {
			if n.Op.Name == "cast" && plan == "" {
				t.Errorf("%s from %s to %s: every value has one format in this model", n.Name, n.Args[0].Type.Format, n.Type.Format)
			}
		}
		hw, err := q.Emit(t.Context(), verilog.Options{Version: "test"})
		if err != nil {
			t.Fatalf("%s: %v", plan, err)
		}
		samples, err := driver.RandomSamples(hw.Scheduled, 300, 1)
		if err != nil {
			t.Fatal(err)
		}
		check, err := e.Verify(t.Context(), driver.Job{HW: hw, Samples: samples, Stalls: 30, Seeds: []uint64{1}})
		if err != nil {
			t.Fatal(err)
		}
		if check.Mismatches != 0 || check.Outputs != 1200 {
			t.Errorf("plan %q: %d of %d codes differ: %v", plan, check.Mismatches, check.Outputs, check.First)
		}
	}
}
