// SPDX-License-Identifier: Apache-2.0

package driver_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/driver"
	"lathe/internal/tools"
)

// TestTwoClocks runs the testbench of a design whose streams have a clock of their own, at clocks of many ratios and
// phases; without the limit on the beats in a queue it must fail.
func TestTwoClocks(t *testing.T) {
	tools.Need(t, "iverilog", "make")
	folder := func(t *testing.T, edit func(*driver.Job)) string {
		plan := filepath.Join(t.TempDir(), "plan.toml")
		if err := os.WriteFile(plan, []byte("[target]\nstream_clock_mhz = 100\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		dir := examples + "jets-mlp/"
		s := driver.Source{Model: dir + "model.onnx", Calibrate: dir + "calib.npz", Plan: plan}
		j, err := compileAs(t.Context(), s, dir)
		if err != nil {
			t.Fatal(err)
		}
		j.Samples = j.Samples[:20]
		if err := j.HW.Complete(t.Context(), "model.onnx", j.Samples); err != nil {
			t.Fatal(err)
		}
		edit(j)
		dir = filepath.Join(t.TempDir(), "out")
		if err := driver.Write(j.HW.Design, dir); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	runs := func(t *testing.T, dir string, core, seed int) (string, bool) {
		said, err := exec.CommandContext(t.Context(), "make", "-C", dir, "icarus", fmt.Sprint("SEED=", seed),
			fmt.Sprint("CORE=", core), fmt.Sprint("STALLS=", seed*17%90)).CombinedOutput()
		return string(said), err == nil
	}
	dir := folder(t, func(*driver.Job) {})
	cores := []int{7, 49, 50, 51, 230, 1, 13, 25, 100, 33, 77, 149}
	for i, core := range cores[:tools.Sample(5, len(cores))] {
		if said, ok := runs(t, dir, core, i+1); !ok || !strings.Contains(said, "PASS: 20 samples, 100 beats compared") {
			t.Errorf("core_clk %d: %s", core, said)
		}
	}
	dir = folder(t, func(j *driver.Job) {
		replace(t, j, "stream_cross.sv", "wr_gray != {~rd_seen[AW:AW-1], rd_seen[AW-2:0]}", "wr_gray != ~rd_seen")
	})
	if said, ok := runs(t, dir, 230, 1); ok || !strings.Contains(said, "FAIL: ") {
		t.Errorf("without a limit: %s", said)
	}
}
