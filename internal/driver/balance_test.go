// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"strings"
	"testing"

	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
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

// TestBalancedStores proves weights in each memory that bounds move them to: UltraRAM, loaded after reset, LUTs and
// block RAM; and a line buffer in UltraRAM.
func TestBalancedStores(t *testing.T) {
	const base = "[target]\npart = \"xcku5p-ffvb676-2-e\"\n[fold]\nmode = \"balance\"\n"
	cases := []struct {
		side       int
		plan, want string
	}{
		{8, "fps = 3000\nmax_dsp = 4\nmax_bram = 1\n", "weights of conv2 ultra, weights of fc ultra"},
		{8, "fps = 3000\nmax_dsp = 4\nmax_lut = 1000\n", "weights of conv1 block"},
		{8, "fps = 30000\nmax_dsp = 13\nmax_bram = 2\n", "weights of conv2 distributed"},
		{16, "fps = 800\nmax_dsp = 4\nmax_bram = 8\n[memory]\nweights = \"rom\"\n", "line buffer of conv2 ultra"},
	}
	for _, c := range cases[:tools.Sample(1, len(cases))] {
		t.Run(c.want, func(t *testing.T) {
			t.Parallel()
			b := lowertest.New(t, 4)
			x := b.Conv("conv2", b.Conv("conv1", b.Input("x", 1, 4, c.side, c.side), 16, 3, 1, 1, 1, true), 32, 3, 2, 1, 1, true)
			p, err := plan.Parse("plan.toml", []byte(base+c.plan))
			if err != nil {
				t.Fatal(err)
			}
			j := graphJob(t, b.Done(b.Linear("fc", b.Flatten("flat", x), 12, true)), p, 4)
			j.Stalls, j.Seeds = 30, []uint64{1, 2}
			var stores []string
			for _, s := range j.HW.Schedule.Balance.Stores {
				stores = append(stores, s.Holds()+" of "+s.Node+" "+s.Memory)
			}
			if got := strings.Join(stores, ", "); got != c.want {
				t.Errorf("%s; want %s", got, c.want)
			}
			check, err := engines(t).Verify(t.Context(), j)
			if err != nil {
				t.Fatal(err)
			}
			if check.Mismatches != 0 || check.Outputs == 0 || check.II != j.HW.Schedule.Balance.Cycles {
				t.Errorf("%d of %d codes differ: %v; %g cycles a sample", check.Mismatches, check.Outputs, check.First, check.II)
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
	digest, counted := tools.DesignDigest(t, dir, files, top), countedDesign{}
	if !tools.Recorded(t, digest, &counted) {
		r, err := area.Count(t.Context(), dir, files, top, area.Options{Paths: true})
		if err != nil {
			t.Fatal(err)
		}
		counted = countedDesign{r.Total, r.Longest}
		tools.Record(t, digest, counted)
	}
	for _, line := range counted.Longest.Over(paths.Limit) {
		t.Error(line)
	}
	return counted.Total
}

// countedDesign is what is recorded of a design.
type countedDesign struct {
	Total   area.Cells
	Longest *paths.Longest
}
