// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"testing"

	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/sim/area"
	"lathe/sim/area/paths"
)

// TestBalanced proves balanced designs, and that they take the cycles that were predicted.
func TestBalanced(t *testing.T) {
	for _, c := range []struct{ model, plan string }{{"digits-cnn", "fps"}, {"digits-mlp", "budget"}} {
		t.Run(c.model+"/"+c.plan, func(t *testing.T) {
			t.Parallel()
			e := engines(t)
			j := job(t, c.model, "model.onnx", c.plan, 0)
			check, err := e.Verify(t.Context(), *j)
			if err != nil {
				t.Fatal(err)
			}
			b := j.HW.Schedule.Balance
			if check.Mismatches != 0 || check.II != b.Cycles {
				t.Errorf("%d mismatches, %g cycles a sample, predicted %g", check.Mismatches, check.II, b.Cycles)
			}
			if b.FPS > 0 && b.Reached < b.FPS {
				t.Errorf("%g samples a second, %g were asked for", b.Reached, b.FPS)
			}
		})
	}
}

// TestPredictedArea counts a small design with Yosys.
func TestPredictedArea(t *testing.T) {
	t.Parallel()
	predictedArea(t, job(t, "digits-mlp", "model.onnx", "serial", 0))
}

// predictedArea demands DSPs and block RAMs as predicted, LUTs and FFs nearly.
func predictedArea(t *testing.T, j *driver.Job) {
	t.Helper()
	total, c := j.HW.Schedule.Cost(), counted(t, j)
	if total.DSP != c.DSP || total.BRAM != c.BRAM18+2*c.BRAM36 {
		t.Errorf("predicted %+v, counted %d DSP, %.1f block RAM", total, c.DSP, c.BRAM())
	}
	near := func(what string, predicted, counted int) {
		if d := predicted - counted; 100*max(d, -d) > 15*counted {
			t.Errorf("%d %s predicted, %d counted", predicted, what, counted)
		}
	}
	near("LUT", total.LUT, c.LUT)
	near("FF", total.FF, c.FF)
}

// counted is what Yosys counts of a design, whose paths must be within the limits.
func counted(t testing.TB, j *driver.Job) area.Cells {
	t.Helper()
	tools.Need(t, "yosys")
	dir := t.TempDir() + "/design"
	if err := driver.Write(j.HW.Design, dir); err != nil {
		t.Fatal(err)
	}
	files, top, err := area.Sources(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := area.Count(t.Context(), dir, files, top, area.Options{Paths: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range r.Longest.Over(paths.Limit) {
		t.Error(line)
	}
	return r.Total
}
