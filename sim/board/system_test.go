// SPDX-License-Identifier: Apache-2.0

package board

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/emit"
	"lathe/emit/shell"
	"lathe/emit/shell/host"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/format"
)

// twinsSystem writes twins in the AXI shell with drivers and a simulated system, which compute so many samples.
func twinsSystem(t *testing.T, samples int) string {
	t.Helper()
	core := twinsOn(t)
	d := &emit.Design{Name: "twins", Top: "twins", Version: "0"}
	for _, p := range []struct {
		name        string
		bits, beats int
	}{{"a", 8, 6}, {"b", 24, 2}, {"c", 8, 6}, {"d", 24, 2}} {
		typ := ir.Type{Shape: []int{p.beats}, Format: format.Fixed{W: p.bits}}
		d.Ports = append(d.Ports, emit.Port{Name: p.name, Input: p.name < "c", Type: typ, Lanes: 1, Beats: p.beats})
	}
	var given host.Samples
	for _, s := range draw(samples, 4) {
		values := make([]float32, 8)
		for i := range 6 {
			values[i] = float32(s[i])
		}
		for i := range 2 {
			values[6+i] = float32(int(s[6+3*i]) | int(s[7+3*i])<<8 | int(s[8+3*i])<<16)
		}
		given.Values, given.Frames = append(given.Values, values), append(given.Frames, result(s)...)
	}
	programs, err := host.Files(d, core, given)
	if err != nil {
		t.Fatal(err)
	}
	files, err := shell.Folder(core, shell.Options{Version: "0"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range slices.Concat(core.Files, files, programs) {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// in runs a command in a folder and demands that it ends well.
func in(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestSystem: drivers in C and Python have twins compute in the simulated system. Samples that do not come out as they
// should are reported, and those behind them are right.
func TestSystem(t *testing.T) {
	tools.Need(t, "verilator", "g++", "gcc", "make")
	python := tools.NeedNumPy(t)
	dir := twinsSystem(t, 30)
	driver := filepath.Join(dir, "axi", "driver")
	test, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	const want = "30 samples, 240 codes compared, 0 mismatches\n"
	for _, target := range []string{"system", "system-python"} {
		out := in(t, driver, "make", "-s", target, "CC=gcc", "PYTHON="+python, "CFLAGS=-O1 -Werror", "SYSTEM_CFLAGS=-O0")
		if !strings.HasSuffix(out, want) {
			t.Errorf("make %s prints\n%s, want %s", target, out, want)
		}
	}
	in(t, driver, "gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I.", "-o", "faults", filepath.Join(test, "system.c"),
		"twins_driver.c", "twins_ports.c", "hal_system.c", "-lm")
	for seed := range 3 {
		in(t, dir, "axi/build/system", "socket", fmt.Sprint(seed+1), "axi/driver/faults", "socket")
		in(t, dir, "axi/build/system", "socket", fmt.Sprint(seed+1), python, "-B", filepath.Join(test, "system.py"),
			"axi/driver", "socket")
	}
	// Results that are not those of the design are found.
	results := filepath.Join(driver, "results.bin")
	wrong, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	wrong[100] ^= 4
	if err := os.WriteFile(results, wrong, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"system", "system-python"} {
		cmd := exec.CommandContext(t.Context(), "make", "-s", "-C", driver, target, "PYTHON="+python)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "1 mismatches") {
			t.Errorf("make %s with a wrong result: %v\n%s", target, err, out)
		}
	}
}
