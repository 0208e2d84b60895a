// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"path/filepath"
	"testing"

	"lathe/emit/verilog"
	"lathe/internal/driver"
)

// TestPlanTexts prints the plans of all examples that have hardware, under all plans, and emits the same files by them.
func TestPlanTexts(t *testing.T) {
	models, _ := filepath.Glob(examples + "*/model.onnx")
	plans, _ := filepath.Glob(examples + "plans/*.toml")
	tried, loose := 0, 0
	for _, model := range models {
		for _, plan := range append([]string{""}, plans...) {
			s := driver.Source{Model: model, Calibrate: filepath.Dir(model) + "/calib.npz", Plan: plan}
			g, err := s.Import()
			if err != nil {
				t.Fatal(err)
			}
			q, err := s.Quantize(t.Context(), g)
			if err == nil {
				_, err = q.Emit(t.Context(), verilog.Options{Version: "test"})
			}
			if err != nil {
				continue
			}
			tried++
			t.Run(filepath.Base(filepath.Dir(model))+"_"+filepath.Base(plan), func(t *testing.T) {
				if n := planAgain(t, s); n > 0 {
					t.Logf("%d formats are left to calibration", n)
					loose++
				}
			})
		}
	}
	t.Logf("%d plans, %d of them leave formats to calibration", tried, loose)
	if tried < 100 {
		t.Errorf("only %d plans were tried", tried)
	}
}
