// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"lathe/emit/verilog"
	"lathe/internal/driver"
	"lathe/lower"
	"lathe/lower/plan"
)

// TestPlanText prints the plans of two examples, and emits the same files by them, with calibration data and without.
func TestPlanText(t *testing.T) {
	fps, bits := 1e5, 10
	for _, s := range []driver.Source{
		{Model: "digits-resnet"},
		{Model: "jets-mlp", Settings: plan.Settings{FPS: &fps, Bits: &bits}},
		{Model: "digits-qdq"}, // has formats of its own
	} {
		dir := examples + s.Model + "/"
		s.Model, s.Calibrate = dir+"model.onnx", dir+"calib.npz"
		if loose := planAgain(t, s); loose != 0 {
			t.Errorf("%s: %d formats are left to calibration", s.Model, loose)
		}
	}
}

// planAgain emits a model, prints its plan, and demands the same files by that plan: with the calibration data and,
// where the report says that the plan decides all, without. It returns how much the plan leaves to calibration.
func planAgain(t *testing.T, s driver.Source) (loose int) {
	t.Helper()
	hw := emitted(t, s)
	text := lower.PlanText(hw.Plan, filepath.Base(s.Model), hw.Graph, hw.Quantized.Report, hw.Schedule)
	again := driver.Source{Model: s.Model, Calibrate: s.Calibrate, Plan: planFile(t, text)}
	sameFiles(t, s.Model+" with calibration", hw, emitted(t, again))
	if again.Calibrate = ""; hw.Quantized.Report.Loose == 0 {
		sameFiles(t, s.Model+" without calibration", hw, emitted(t, again))
	}
	return hw.Quantized.Report.Loose
}

// planFile writes a plan.
func planFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan.toml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// emitted is what emits gives; the test ends where that fails.
func emitted(t *testing.T, s driver.Source) *driver.Hardware {
	t.Helper()
	hw, err := emits(t.Context(), s)
	if err != nil {
		t.Fatalf("%s: %v", s.Model, err)
	}
	return hw
}

// emits imports, quantizes and emits a model.
func emits(ctx context.Context, s driver.Source) (*driver.Hardware, error) {
	g, err := s.Import()
	if err != nil {
		return nil, err
	}
	q, err := s.Quantize(ctx, g)
	if err != nil {
		return nil, err
	}
	return q.Emit(ctx, verilog.Options{Version: "test"})
}

func sameFiles(t *testing.T, what string, a, b *driver.Hardware) {
	t.Helper()
	if len(a.Design.Files) != len(b.Design.Files) {
		t.Errorf("%s: %d files, by the printed plan %d", what, len(a.Design.Files), len(b.Design.Files))
		return
	}
	for i, f := range a.Design.Files {
		if g := b.Design.Files[i]; f.Name != g.Name || !bytes.Equal(f.Data, g.Data) {
			t.Errorf("%s: %s is another by the printed plan", what, f.Name)
		}
	}
}
