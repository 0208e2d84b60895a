// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"math"
	"path/filepath"
	"testing"

	"lathe/internal/clitest"
	"lathe/internal/driver"
	"lathe/internal/tools"
)

// TestPredictedBlocks counts the four networks of MLPerf Tiny at a rate with Yosys: block RAMs within a tenth of what
// is predicted.
func TestPredictedBlocks(t *testing.T) {
	tools.Need(t, "yosys")
	for _, name := range []string{"autoencoder", "ds-cnn", "resnet8", "mobilenetv1-0.25"} {
		t.Run(name, func(t *testing.T) {
			model := filepath.Join(t.TempDir(), name+".onnx")
			if err := clitest.TinyNet(model, name); err != nil {
				t.Fatal(err)
			}
			hw := emitted(t, driver.Source{Model: model, Plan: planFile(t, "[fold]\nmode = \"balance\"\nfps = 1000\n")})
			dir := t.TempDir() + "/design"
			if err := driver.Write(hw.Design, dir); err != nil {
				t.Fatal(err)
			}
			counts, _, err := cells(t, dir, false)
			if err != nil {
				t.Fatal(err)
			}
			said := hw.Schedule.Cost().BRAM
			t.Logf("%d blocks of 18 Kbit predicted, %d counted", said, counts.BRAM)
			if math.Abs(off(said, counts.BRAM)) > 10 {
				t.Errorf("%+.1f %% off", off(said, counts.BRAM))
			}
		})
	}
}
