// SPDX-License-Identifier: Apache-2.0

//go:build long

package driver_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lathe/internal/clitest"
	"lathe/internal/diag"
	"lathe/internal/driver"
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
				t.Logf("%s %dx%d, %s: %s", name, side, side, what, spent(t, dir, args...))
			}
		}
	}
}

// TestUltra fits ResNet-18 at 8 bits, whose weights are more than all block RAMs of the part hold, with UltraRAM.
func TestUltra(t *testing.T) {
	model := filepath.Join(t.TempDir(), "resnet18.onnx")
	if err := clitest.ImageNet(model, "resnet18", 224); err != nil {
		t.Fatal(err)
	}
	const plan = "[target]\npart = \"xcvu9p-flga2104-2-i\"\n[fold]\nmode = \"balance\"\n"
	for _, more := range []string{"", "fps = 100\n", "fps = 100\n[memory]\nweights = \"rom\"\n"} {
		s := driver.Source{Model: model, Plan: planFile(t, plan+more)}
		r, err := quantized(t, s).Schedule(t.Context())
		if strings.Contains(more, "rom") {
			if diag.CodeOf(err) != "L0456" || !strings.Contains(err.Error(), "block RAM more than xcvu9p-flga2104-2-i has") {
				t.Errorf("ROMs: %v", err)
			}
			t.Log(err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		c := r.Cost()
		if c.BRAM > 2*2160 || c.URAM > 960 || c.URAM == 0 || r.Balance.Cost != c {
			t.Errorf("%s: %+v", more, c)
		}
		t.Logf("%s: %+v, %g samples a second, %+v", more, c, r.Balance.Reached, r.Balance.Stores)
	}
}

// TestVerifyLarge verifies one image of MobileNetV1-0.25 for 96x96 pixels and of ResNet-8, as MLPerf Tiny has them, and
// prints how long that takes with an empty cache of simulators.
func TestVerifyLarge(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LATHE_PJRT_PLUGIN", engines(t).PJRT.Plugin)
	t.Setenv("LATHE_CACHE", filepath.Join(dir, "cache"))
	if err := clitest.Build(dir); err != nil {
		t.Fatal(err)
	}
	for name, side := range map[string]int{"mobilenetv1-0.25": 96, "resnet8": 32} {
		model, result := filepath.Join(dir, name+".onnx"), filepath.Join(dir, "v.json")
		if err := clitest.ImageNet(model, name, side); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		used := spent(t, dir, "verify", model, "--samples", "1", "--json", result)
		var check driver.Check
		data, err := os.ReadFile(result)
		if err == nil {
			err = json.Unmarshal(data, &check)
		}
		if err != nil || check.Mismatches != 0 || check.Compared["rtl"] == 0 || check.Missed != "" {
			t.Errorf("%s: %v, %+v", name, err, check)
		}
		t.Logf("%s: %.0f seconds, %s, %g cycles a sample", name, time.Since(start).Seconds(), used, check.II)
	}
}

// spent runs lathe, which lies in dir, and says how much processor time and memory it took, what it started included.
func spent(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), filepath.Join(dir, "lathe"), args...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("lathe %v: %v\n%s", args, err, out)
	}
	used := c.ProcessState.SysUsage().(*syscall.Rusage)
	return fmt.Sprintf("%.2f CPU seconds, %d MiB", (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(),
		used.Maxrss>>10)
}
