// SPDX-License-Identifier: Apache-2.0

package nvrtc_test

import (
	"slices"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/tools"
	"lathe/sim/nvrtc"
)

// TestFeatures assembles every cell of the table of instructions: all that a target has in one unit, and each that it
// lacks alone, which ptxas must refuse. Without the tag `long` it does so for one target.
func TestFeatures(t *testing.T) {
	programs := nvrtc.Tools{Dir: tools.NeedCUDATools(t)}
	targets := featureTargets()
	if !tools.Long {
		targets = targets[4:5]
	}
	for _, target := range targets {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			var there []string
			for _, f := range features {
				if f.on(target) {
					there = append(there, f.ptx...)
					continue
				}
				for _, s := range f.ptx {
					_, err := programs.Assemble(t.Context(), []byte(featureUnit(target, s)), target)
					if diag.CodeOf(err) != "L0938" {
						t.Errorf("%s: %q: %v, ptxas was to refuse it", f.name, s, err)
					}
				}
			}
			if _, err := programs.Assemble(t.Context(), []byte(featureUnit(target, there...)), target); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFeatureNames finds rows that stand twice or say nothing.
func TestFeatureNames(t *testing.T) {
	var names []string
	for _, f := range features {
		if slices.Contains(names, f.name) || len(f.ptx) == 0 {
			t.Errorf("%s stands twice or has no statement", f.name)
		}
		names = append(names, f.name)
	}
}
