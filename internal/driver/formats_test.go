// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"lathe/emit/cuda"
	"lathe/golden"
	"lathe/golden/ref"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/lower"
	"lathe/lower/kernels"
	"lathe/lower/plan"
	"lathe/sim/gpu"
	"lathe/sim/nvrtc"
)

// job compiles an example under the plan and reads its samples.
func (f formats) job(ctx context.Context, model string) (*driver.Job, error) {
	plan, err := plan.Parse("plan", []byte(f.plan()))
	if err != nil {
		return nil, err
	}
	dir := examples + model + "/"
	s := driver.Source{Model: dir + "model.onnx", Calibrate: dir + "calib.npz"}
	g, err := s.Import()
	if err != nil {
		return nil, err
	}
	q, err := s.QuantizeUnder(ctx, g, plan)
	if err != nil {
		return nil, err
	}
	j, _, err := jobOf(ctx, q, dir)
	return j, err
}

// withKernels adds the kernels of a graph, on the emulated device, to e.
func withKernels(t testing.TB, e driver.Engines) driver.Engines {
	t.Helper()
	dir := tools.NeedNVRTC(t)
	compiler, err := nvrtc.Open(dir, filepath.Join(dir, "modules"))
	if err != nil {
		t.Fatal(err)
	}
	e.CUDA = func(ctx context.Context, g *ir.Graph, samples []ref.Sample) ([]ref.Sample, error) {
		g, _, err := lower.Kernels(ctx, g, kernels.Precision{}, kernels.Options{})
		if err != nil {
			return nil, err
		}
		d, err := cuda.Emit(g, cuda.Options{})
		if err != nil {
			return nil, err
		}
		binaries, err := driver.CompileCUDA(ctx, compiler, d, nil, nil)
		if err != nil {
			return nil, err
		}
		device := gpu.Emulated(gpu.EmulatedOptions{})
		defer device.Close()
		return golden.RunCUDA(ctx, device, d, driver.ProgramOf(d, binaries), samples, false, nil)
	}
	return e
}

// drawn is how often formats of weights and data are drawn.
const drawn = 40

// TestDrawnFormats compares all engines on networks whose weights and data have formats that are drawn alone.
func TestDrawnFormats(t *testing.T) {
	e := withKernels(t, engines(t))
	data, weights := formatLists()
	seeds := make([]int, drawn)
	for i := range seeds {
		seeds[i] = i
	}
	for _, i := range tools.Few(2, seeds) {
		r := rand.New(rand.NewPCG(71, uint64(i)))
		model := []string{"digits-mlp", "digits-mlp", "digits-cnn"}[i%3]
		f, j := drawFormats(t, r, model, data, weights)
		t.Run(model+"/"+f.data+"/"+f.weight, func(t *testing.T) {
			t.Parallel()
			random, err := driver.RandomSamples(j.HW.Scheduled, 24, uint64(i))
			if err != nil {
				t.Fatal(err)
			}
			j.Samples = append(j.Samples[:8], random...)
			check, err := e.Verify(t.Context(), *j)
			if err != nil {
				t.Fatal(err)
			}
			for _, engine := range []string{"pjrt", "cuda", "rtl"} {
				if check.Mismatches != 0 || check.Compared[engine] < check.Outputs || check.Outputs != 320 {
					t.Fatalf("%d of %d codes differ, %s has %d: %v", check.Mismatches, check.Outputs, engine,
						check.Compared[engine], check.First)
				}
			}
		})
	}
}

// tooWide are the codes of errors that refuse formats for the bits that exact sums of both need.
var tooWide = []diag.Code{"L0311", "L0317", "L0406", "L0450"}

// drawFormats draws formats until both are taken.
func drawFormats(t *testing.T, r *rand.Rand, model string, data, weights []string) (formats, *driver.Job) {
	t.Helper()
	for range 10 {
		f := formats{data: data[r.IntN(len(data))], weight: weights[r.IntN(len(weights))]}
		j, err := f.job(t.Context(), model)
		if err == nil {
			_, err = cuda.Emit(j.HW.Graph, cuda.Options{}) // StableHLO has sums of up to 64 bits
		}
		if err == nil {
			return f, j
		}
		if !slices.Contains(tooWide, diag.CodeOf(err)) {
			t.Fatalf("%s, data %s, weights %s: %v", model, f.data, f.weight, err)
		}
		t.Logf("%s, data %s, weights %s: %v", model, f.data, f.weight, err)
	}
	t.Fatal("ten draws in a row are refused")
	return formats{}, nil
}
