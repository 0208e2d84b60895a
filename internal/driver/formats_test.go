// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"lathe/emit/cuda"
	"lathe/internal/diag"
	"lathe/internal/driver"
	"lathe/internal/driver/proof"
	"lathe/internal/tools"
	"lathe/sim/nvrtc"
)

// withKernels adds the kernels of a graph, on the emulated device, to e.
func withKernels(t testing.TB, e driver.Engines) driver.Engines {
	t.Helper()
	dir := tools.NeedNVRTC(t)
	compiler, err := nvrtc.Open(dir, filepath.Join(dir, "modules"))
	if err != nil {
		t.Fatal(err)
	}
	e.CUDA = proof.Emulated(compiler)
	return e
}

// drawn is how often formats of weights and data are drawn.
const drawn = 40

// TestDrawnFormats compares all engines on networks whose weights and data have formats that are drawn alone.
func TestDrawnFormats(t *testing.T) {
	e := withKernels(t, engines(t))
	data, weights := proof.FormatLists()
	seeds := make([]int, drawn)
	for i := range seeds {
		seeds[i] = i
	}
	for _, i := range tools.Few(2, seeds) {
		r := rand.New(rand.NewPCG(71, uint64(i)))
		model := []string{"digits-mlp", "digits-mlp", "digits-cnn"}[i%3]
		f, j := drawFormats(t, r, model, data, weights)
		t.Run(model+"/"+f.Data+"/"+f.Weight, func(t *testing.T) {
			t.Parallel()
			random, err := driver.RandomSamples(j.HW.Scheduled, 24, uint64(i))
			if err != nil {
				t.Fatal(err)
			}
			j.Samples, j.Stalls, j.Seeds = append(j.Samples[:8], random...), 30, []uint64{1}
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
func drawFormats(t *testing.T, r *rand.Rand, model string, data, weights []string) (proof.Formats, *driver.Job) {
	t.Helper()
	for range 10 {
		f := proof.Formats{Data: data[r.IntN(len(data))], Weight: weights[r.IntN(len(weights))]}
		j, err := f.Job(t.Context(), examples, model)
		if err == nil {
			_, err = cuda.Emit(j.HW.Graph, cuda.Options{}) // StableHLO has sums of up to 64 bits
		}
		if err == nil {
			return f, j
		}
		if !slices.Contains(tooWide, diag.CodeOf(err)) {
			t.Fatalf("%s, data %s, weights %s: %v", model, f.Data, f.Weight, err)
		}
		t.Logf("%s, data %s, weights %s: %v", model, f.Data, f.Weight, err)
	}
	t.Fatal("ten draws in a row are refused")
	return proof.Formats{}, nil
}
