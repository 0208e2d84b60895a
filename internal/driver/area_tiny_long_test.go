// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"path/filepath"
	"testing"
	"time"

	"lathe/internal/clitest"
	"lathe/internal/driver"
	"lathe/internal/tools"
	"lathe/sim/area"
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
			files, top, err := area.Sources(dir)
			if err != nil {
				t.Fatal(err)
			}
			r, err := area.Count(t.Context(), dir, files, top, area.Options{Timeout: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			said, counted := hw.Schedule.Cost().BRAM, r.Total.BRAM18+2*r.Total.BRAM36
			t.Logf("%d blocks of 18 Kbit predicted, %d counted", said, counted)
			if off := said - counted; 10*max(off, -off) > counted {
				t.Errorf("%d of %d off", off, counted)
			}
		})
	}
}
