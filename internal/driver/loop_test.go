// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"fmt"
	"strings"
	"testing"

	"lathe/emit/verilog"
	"lathe/internal/driver"
	"lathe/internal/npz"
	"lathe/ir"
	"lathe/ir/op/ring"
	"lathe/lower"
	"lathe/lower/lowertest"
	"lathe/lower/plan"
	"lathe/lower/quantize"
)

// loopPlan has layers share units; more follows in the plan.
func loopPlan(t *testing.T, mode, more string) *plan.Plan {
	t.Helper()
	p, err := plan.Parse("loop.toml", fmt.Appendf(nil, "[fold]\nlayers = \"loop\"\nmode = %q\n%s", mode, more))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// proves compares the hardware of a job with the other engines, every value of every layer too, and its cycles with
// those that were predicted.
func proves(t *testing.T, j driver.Job) {
	t.Helper()
	if units := ring.Units(j.HW.Scheduled); len(units.Nodes) >= len(j.HW.Scheduled.Nodes) {
		t.Fatal("no layers share units")
	}
	if j.Stalls, j.Trace = 30, true; len(j.Seeds) == 0 {
		j.Seeds = []uint64{1}
	}
	check, err := engines(t).Verify(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	if check.Mismatches != 0 || check.Outputs == 0 {
		t.Fatalf("%d of %d codes differ: %v", check.Mismatches, check.Outputs, check.First)
	}
	for _, w := range check.Warnings {
		if strings.Contains(w, "predicted") {
			t.Error(w)
		}
	}
}

// coded has values between layers in codes that are no integers: sums are exact in front of that, in all layers.
const coded = "[quantize]\ndata = \"e4m3\"\nweight = \"log(5)\"\n"

// TestLoop proves random networks whose layers share units.
func TestLoop(t *testing.T) {
	for seed := range uint64(loops) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			p := loopPlan(t, []string{"lean", "fold"}[seed%2], []string{coded, coded, "", "", ""}[seed%5])
			p.Fold.Images = 1 + int(seed+1)%3
			proves(t, layered(t, seed, p))
		})
	}
}

// layered is a job of a random network of layers that are alike.
func layered(t *testing.T, seed uint64, p *plan.Plan) driver.Job {
	t.Helper()
	g, _ := lowertest.Layers(t, seed)
	return graphJob(t, g, p, seed)
}

// graphJob is a job of a float graph under a plan, with random samples.
func graphJob(t *testing.T, g *ir.Graph, p *plan.Plan, seed uint64) driver.Job {
	t.Helper()
	q, report, err := lower.Quantize(t.Context(), g, p, quantize.Calibration{}, quantize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hw, err := (&driver.Quantized{Plan: p, Float: g, Graph: q, Report: report}).Emit(t.Context(),
		verilog.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	j := driver.Job{HW: hw}
	if j.Samples, err = driver.RandomSamples(hw.Scheduled, 11, seed); err != nil {
		t.Fatal(err)
	}
	return j
}

// TestLoopTransformers proves blocks of transformers that are there once for all layers, with a sample or two in them.
func TestLoopTransformers(t *testing.T) {
	for _, c := range loopModels {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			for _, images := range c.images {
				proves(t, c.job(t, fmt.Sprintf("[fold]\nlayers = \"loop\"\nimages = %d\n", images)))
			}
		})
	}
}

// job is a job of the example under a plan.
func (c loopModel) job(t *testing.T, plan string) driver.Job {
	t.Helper()
	arrays := examples + c.model + "/inputs.npz"
	s := driver.Source{Model: examples + c.model + "/" + c.file, Plan: planFile(t, plan), Calibrate: arrays,
		Arrays: arrays}
	hw := emitted(t, s)
	f, err := npz.Read(arrays)
	if err != nil {
		t.Fatal(err)
	}
	j := driver.Job{HW: hw}
	if j.Samples, _, err = driver.Samples(hw.Scheduled, f); err != nil {
		t.Fatal(err)
	}
	j.Samples = j.Samples[len(j.Samples)-c.samples:]
	return j
}

// loopModel is an example with layers that are alike.
type loopModel struct {
	model, file string
	samples     int
	images      []int
}
