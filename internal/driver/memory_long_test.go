// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"testing"

	"lathe/internal/driver"
	"lathe/internal/tools"
)

// TestMemoryLong proves larger designs with weights outside, and what a synthesizer makes of one.
func TestMemoryLong(t *testing.T) {
	for _, c := range []struct {
		model, plan string
		second      driver.Second
	}{{"digits-mlp", "streamed", driver.Second{Gates: 2}}, {"digits-vit", "external", driver.Second{Frames: 1}},
		{"digits-dscnn", "external", driver.Second{Frames: 1}}, {"digits-resnet", "streamed", driver.Second{}}} {
		t.Run(c.model+"/"+c.plan, func(t *testing.T) {
			t.Parallel()
			e := engines(t)
			j := outside(t, c.model, c.plan, 20)
			j.Seeds, j.Second = []uint64{4, 5, 6, 7}, c.second
			check, err := e.Verify(t.Context(), *j)
			if err != nil || check.Mismatches != 0 {
				t.Fatalf("%v: %+v", err, check)
			}
			for _, w := range check.Warnings {
				t.Error(w)
			}
		})
	}
}

// TestMemoryArea counts the cells of a design with a memory port, which are as predicted.
func TestMemoryArea(t *testing.T) {
	tools.Need(t, "yosys")
	predictedArea(t, outside(t, "digits-cnn", "external", 1))
}
