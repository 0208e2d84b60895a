// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/tools"
)

// TestCircuitsAll compares circuits under every plan of examples/plans.
func TestCircuitsAll(t *testing.T) {
	plans, err := filepath.Glob(examples + "plans/*.toml")
	if err != nil || len(plans) < 8 {
		t.Fatalf("%d plans, %v", len(plans), err)
	}
	for _, p := range plans {
		compareCircuits(t, strings.TrimSuffix(filepath.Base(p), ".toml"))
	}
}

// TestVerifyFormsAll simulates the files that docs/results.md leaves out and that are circuits of their own, on all
// stored samples.
func TestVerifyFormsAll(t *testing.T) {
	tools.Need(t, "verilator", "g++")
	for _, path := range []string{"digits-resnet/model.pt2", "digits-dscnn/model.pt2", "digits-jax/model.stablehlo.mlir",
		"digits-jax/model_export.stablehlo.mlir"} {
		for _, plan := range []string{"", "mx"} {
			t.Run(path+"/"+plan, func(t *testing.T) {
				j, err := compile(t.Context(), filepath.Dir(path), filepath.Base(path), plan)
				if err != nil {
					t.Fatal(err)
				}
				e := engines(t)
				check, err := e.Verify(t.Context(), *j)
				if err != nil {
					t.Fatal(err)
				}
				if check.Mismatches != 0 || check.Outputs == 0 {
					t.Fatalf("%d of %d codes differ: %v", check.Mismatches, check.Outputs, check.First)
				}
			})
		}
	}
}
