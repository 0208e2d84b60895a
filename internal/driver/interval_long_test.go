// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/driver"
	"lathe/internal/driver/proof"
	"lathe/ir/unit"
	"lathe/lower/schedule/tokens"
	"lathe/sim"
)

// quietSamples are those of a run without stalls.
const quietSamples = 16

// TestManyIntervals is TestIntervals of 220 branching networks and 30 recurrent ones.
func TestManyIntervals(t *testing.T) { compareIntervals(t, 220, 10) }

// TestExampleIntervals: every example under every plan takes the cycles a sample that reports promise. Designs that are
// equal but for names are simulated once.
func TestExampleIntervals(t *testing.T) {
	models, err := proof.InHardware(examples, "model.onnx")
	plans, planErr := filepath.Glob(examples + "plans/*.toml")
	if err != nil || planErr != nil || len(models) < 9 || len(plans) < 16 {
		t.Fatalf("%d examples, %d plans, %v, %v", len(models), len(plans), err, planErr)
	}
	known := map[string]float64{}
	for _, m := range models {
		for _, p := range append([]string{""}, plans...) {
			model, plan := filepath.Base(filepath.Dir(m)), strings.TrimSuffix(filepath.Base(p), ".toml")
			if p == "" {
				plan = ""
			}
			t.Run(model+"/"+plan, func(t *testing.T) {
				j := job(t, model, "model.onnx", plan, quietSamples)
				key := circuit(j.HW.Scheduled)
				if known[key] == 0 {
					_, frames, err := tokens.Steady(t.Context(), j.HW.Scheduled, &unit.Cache{})
					if err != nil {
						t.Fatal(err)
					}
					known[key] = quietInterval(t, job(t, model, "model.onnx", plan, max(frames, quietSamples)))
				}
				if got, want := known[key], j.HW.Interval(); got != want {
					t.Errorf("a sample takes %g cycles, %g were promised", got, want)
				}
			})
		}
	}
	t.Logf("%d designs", len(known))
}

// quietInterval simulates all samples without stalls.
func quietInterval(t *testing.T, j *driver.Job) float64 {
	t.Helper()
	m, err := sim.Build(t.Context(), sim.DesignSpec(j.HW.Design, engines(t).Cache, false, false))
	if err != nil {
		t.Fatal(err)
	}
	in := sim.Input{MaxIdle: 1 << 22}
	run, err := sim.RunDesign(t.Context(), m, j.HW.Scheduled, j.HW.Design, j.Samples, in)
	if err != nil {
		t.Fatal(err)
	}
	return run.Result.IICycles
}
