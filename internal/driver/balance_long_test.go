// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"fmt"
	"math"
	"testing"

	"lathe/emit/verilog"
	"lathe/internal/driver"
	"lathe/sim"
)

// TestRates asks five models for rates, four to the octave or so, over the range that they can have. Every rate is met;
// where a step of some folding lies near, hardly more than asked is spent. Of those within 3 % a dozen are simulated,
// and take exactly the cycles that were predicted.
func TestRates(t *testing.T) {
	near, simulated := 0, 0
	for _, model := range []string{"digits-mlp", "digits-cnn", "jets-mlp", "digits-dscnn", "digits-resnet"} {
		for k := range 24 {
			fps := math.Round(2e4 * math.Pow(2, float64(k)/4))
			hw, err := atRate(t, model, fps)
			if err != nil {
				t.Logf("%s: %g samples a second: %v", model, fps, err)
				break
			}
			b := hw.Schedule.Balance
			above := 100 * (b.Reached/fps - 1)
			t.Logf("%s: %g asked for, %.6g reached (%.2f %% above), %g cycles, %+v", model, fps, b.Reached, above, b.Cycles,
				b.Cost)
			if above < 0 {
				t.Errorf("%s: %g samples a second, %g asked for", model, b.Reached, fps)
			}
			if above > 3 {
				continue
			}
			near++
			if simulated < 12 {
				simulated++
				if ii := measured(t, model, hw); ii != b.Cycles {
					t.Errorf("%s at %g: %g cycles a sample, predicted %g", model, fps, ii, b.Cycles)
				}
			}
		}
	}
	t.Logf("%d pairs within 3 %%, %d of them simulated", near, simulated)
	if near < 10 {
		t.Errorf("%d pairs of model and rate within 3 %%", near)
	}
}

// atRate is a model balanced for a rate at 250 MHz.
func atRate(t *testing.T, model string, fps float64) (*driver.Hardware, error) {
	text := fmt.Sprintf("[fold]\nmode = \"balance\"\nfps = %.1f\n", fps)
	dir := examples + model + "/"
	s := driver.Source{Model: dir + "model.onnx", Calibrate: dir + "calib.npz", Plan: planFile(t, text)}
	return quantized(t, s).Emit(t.Context(), verilog.Options{Version: "test"})
}

// measured simulates random samples without stalls.
func measured(t *testing.T, model string, hw *driver.Hardware) float64 {
	samples, err := driver.RandomSamples(hw.Scheduled, 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	built, err := sim.Build(t.Context(), sim.DesignSpec(hw.Design, engines(t).Cache, false, false))
	if err != nil {
		t.Fatalf("%s: %v", model, err)
	}
	run, err := sim.RunDesign(t.Context(), built, hw.Scheduled, hw.Design, samples, sim.Input{})
	if err != nil {
		t.Fatal(err)
	}
	return run.Result.IICycles
}
