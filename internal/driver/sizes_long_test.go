// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"lathe/internal/clitest"
)

// models, if given, is where the models of TestLargeNetworks stay: -args -models FOLDER.
var models = flag.String("models", "", "folder for the models of TestLargeNetworks")

// largePart is a device that both networks fit with DSPs to spare.
const largePart = "[target]\npart = \"xcvu9p-flga2104-2-i\"\n[fold]\nmode = \"balance\"\nmax_dsp = 2000\n"

// TestLargeNetworks emits MobileNetV2 and ResNet-18 of four sizes as a user does, with the default plan and with a
// budget, and prints how long that takes and how much memory. docs/measurements.md has the table.
func TestLargeNetworks(t *testing.T) {
	dir := t.TempDir()
	if err := clitest.Build(dir); err != nil {
		t.Fatal(err)
	}
	plan := filepath.Join(dir, "budget.toml")
	if err := os.WriteFile(plan, []byte(largePart), 0o600); err != nil {
		t.Fatal(err)
	}
	kept := *models
	if kept == "" {
		kept = dir
	}
	for _, name := range []string{"mobilenetv2", "resnet18"} {
		for _, side := range []int{64, 96, 160, 224} {
			model := filepath.Join(kept, fmt.Sprintf("%s_%d.onnx", name, side))
			if err := clitest.ImageNet(model, name, side); err != nil {
				t.Fatal(err)
			}
			emit := []string{"emit-verilog", model, "-o", filepath.Join(dir, "out"), "--vectors", "1"}
			for what, args := range map[string][]string{"inspect": {"inspect", model}, "default plan": emit,
				"budget": append(emit, "--plan", plan)} {
				c := exec.CommandContext(t.Context(), filepath.Join(dir, "lathe"), args...)
				if out, err := c.CombinedOutput(); err != nil {
					t.Fatalf("lathe %v: %v\n%s", args, err, out)
				}
				used := c.ProcessState.SysUsage().(*syscall.Rusage)
				t.Logf("%s %dx%d, %s: %.2f CPU seconds, %d MiB", name, side, side, what,
					(c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), used.Maxrss>>10)
			}
		}
	}
}
