// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/driver"
	"lathe/internal/tools"
)

// TestFuseSoC: FuseSoC takes the core of a folder: it simulates it with the samples of its testbench, also with other
// stalls, has Verilator read it with all warnings, and makes a project for Vivado.
func TestFuseSoC(t *testing.T) {
	tools.Need(t, "iverilog", "verilator", "make")
	fusesoc := filepath.Join(filepath.Dir(tools.NeedPeers(t)), "fusesoc")
	j := job(t, "digits-mlp", "model.onnx", "", 5)
	if err := j.HW.Complete(t.Context(), "model.onnx", j.Samples); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "design")
	if err := driver.Write(j.HW.Design, dir); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), fusesoc, append([]string{"--cores-root", dir, "run", "--build-root", "build"},
			args...)...)
		cmd.Dir = filepath.Dir(dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	core := "user.org:lathe:" + j.HW.Design.Top + ":1.0"
	for _, c := range []struct {
		want string
		args []string
	}{
		{"PASS: 5 samples, 10 beats compared", []string{"--target", "sim", core}},
		{"seed 3, stalls 60 %", []string{"--target", "sim", core, "--seed", "3", "--stalls", "60"}},
		{"verilator", []string{"--target", "lint", core}},
		{"", []string{"--setup", "--target", "synth", core}},
	} {
		if out := run(c.args...); !strings.Contains(out, c.want) {
			t.Errorf("%q lacks %q:\n%s", c.args, c.want, out)
		}
	}
}
