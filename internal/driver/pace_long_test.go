// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"path/filepath"
	"testing"

	"lathe/internal/driver/proof"
)

// TestAllPaces is TestPaces and TestBeats of every example under four plans.
func TestAllPaces(t *testing.T) {
	models, err := proof.InHardware(examples, "model.onnx")
	if err != nil || len(models) < 9 {
		t.Fatalf("%d examples, %v", len(models), err)
	}
	for _, m := range models {
		for _, plan := range []string{"", "serial", "uneven", "mx"} {
			model := filepath.Base(filepath.Dir(m))
			t.Run("paces", func(t *testing.T) { comparePaces(t, model, plan) })
			t.Run("beats", func(t *testing.T) { compareBeats(t, model, plan) })
		}
	}
}
