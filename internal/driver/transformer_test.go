// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"slices"
	"testing"

	"lathe/emit/verilog"
	"lathe/internal/driver"
	"lathe/internal/npz"
)

// TestTransformers proves folders of Hugging Face: an encoder with a mask of keys, a decoder with rotary positions and
// shared keys.
func TestTransformers(t *testing.T) {
	for _, c := range []struct {
		model            string
		seq              int
		samples, outputs int
	}{{"bert-tiny-like", 24, 6, 18}, {"tiny-llama", 16, 2, 8192}} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			e := engines(t)
			arrays := examples + c.model + "/inputs.npz"
			s := driver.Source{Model: examples + c.model + "/hf", Calibrate: arrays, Arrays: arrays}
			g, err := s.Import()
			if err != nil {
				t.Fatal(err)
			}
			q, err := s.Quantize(t.Context(), g)
			if err != nil {
				t.Fatal(err)
			}
			hw, err := q.Emit(t.Context(), verilog.Options{Version: "test"})
			if err != nil {
				t.Fatal(err)
			}
			f, err := npz.Read(arrays)
			if err != nil {
				t.Fatal(err)
			}
			j := driver.Job{HW: hw, Stalls: 30, Seeds: []uint64{1}}
			if j.Samples, _, err = driver.Samples(hw.Scheduled, f); err != nil {
				t.Fatal(err)
			}
			// The last samples, as their masks show few keys.
			slices.Reverse(j.Samples)
			j.Samples = j.Samples[:c.samples]
			check, err := e.Verify(t.Context(), j)
			if err != nil {
				t.Fatal(err)
			}
			if check.Mismatches != 0 || check.Outputs != c.outputs {
				t.Fatalf("%d of %d codes differ: %v", check.Mismatches, check.Outputs, check.First)
			}
			if check.Stalls.Starved == 0 || check.Stalls.Blocked == 0 {
				t.Errorf("a kind of stall never happened: %+v", check.Stalls)
			}
		})
	}
}
