// SPDX-License-Identifier: Apache-2.0

package nvrtc_test

import (
	"slices"
	"testing"

	"lathe/cuda"
	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/sim/nvrtc"
)

// TestFeatures assembles every cell of the table of instructions: all that a target has in one unit, and each that it
// lacks alone, which ptxas must refuse. Without the tag `long` it does so for one target.
func TestFeatures(t *testing.T) {
	programs := nvrtc.Tools{Dir: tools.NeedCUDATools(t)}
	targets := cuda.FeatureTargets()
	if !long {
		targets = targets[4:5]
	}
	for _, target := range targets {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			var there []string
			for _, f := range cuda.Features() {
				if f.On(target) {
					there = append(there, f.PTX...)
					continue
				}
				for _, s := range f.PTX {
					_, err := programs.Assemble(t.Context(), []byte(cuda.FeatureUnit(target, s)), target)
					if diag.CodeOf(err) != "L0938" {
						t.Errorf("%s: %q: %v, ptxas was to refuse it", f.Name, s, err)
					}
				}
			}
			if _, err := programs.Assemble(t.Context(), []byte(cuda.FeatureUnit(target, there...)), target); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFeatureNames looks up what planners ask for.
func TestFeatureNames(t *testing.T) {
	for _, c := range []struct {
		arch, feature string
		want          bool
	}{
		{"sm_80", "cp.async", true}, {"sm_90", "wgmma", false}, {"sm_90a", "wgmma", true}, {"sm_89", "mma.e4m3", true},
		{"sm_86", "mma.e4m3", false}, {"sm_120", "stmatrix", true}, {"sm_80", "no such", false},
	} {
		a, err := cuda.FindArch(c.arch)
		if err != nil || a.Has(c.feature) != c.want {
			t.Errorf("%s on %s: %v, %v", c.feature, c.arch, !c.want, err)
		}
	}
	var names []string
	for _, f := range cuda.Features() {
		if slices.Contains(names, f.Name) || len(f.PTX) == 0 {
			t.Errorf("%s stands twice or has no statement", f.Name)
		}
		names = append(names, f.Name)
	}
}
