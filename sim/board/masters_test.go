// SPDX-License-Identifier: Apache-2.0

package board

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/tools"
)

// TestMasters: masters of cocotbext-axi drive twins in the AXI shell.
func TestMasters(t *testing.T) {
	tools.Need(t, "iverilog", "vvp")
	bin := tools.NeedMasters(t)
	dir := twinsSystem(t, 1)
	list, err := os.ReadFile(filepath.Join(dir, "axi", "sources.f"))
	if err != nil {
		t.Fatal(err)
	}
	script := append([]byte("+timescale+1ns/1ps\n"), list...)
	if err := os.WriteFile(filepath.Join(dir, "list.f"), script, 0o644); err != nil {
		t.Fatal(err)
	}
	in(t, dir, "iverilog", "-g2012", "-o", "sim.vvp", "-s", "twins_axi", "-c", "list.f")
	config := func(option ...string) string {
		return strings.TrimSpace(in(t, dir, append([]string{filepath.Join(bin, "cocotb-config")}, option...)...))
	}
	test, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "vvp", "-M", filepath.Join(config("--prefix"), "cocotb", "libs"), "-m",
		config("--lib-name", "vpi", "icarus"), "sim.vvp")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "MODULE=masters", "TOPLEVEL=twins_axi", "TOPLEVEL_LANG=verilog", "PYTHONPATH="+test,
		"PYTHONDONTWRITEBYTECODE=1", "VIRTUAL_ENV="+filepath.Dir(bin), "LIBPYTHON_LOC="+config("--libpython"),
		"RANDOM_SEED=1", fmt.Sprintf("TRANSFERS=%d", masterTransfers), "REGISTERS=axi/registers.json")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "TESTS=3 PASS=3 FAIL=0") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestSchema: component.xml is valid by the schema of IEEE 1685-2009, and without the version it is not.
func TestSchema(t *testing.T) {
	bin := tools.NeedMasters(t)
	path := filepath.Join(twinsSystem(t, 1), "component.xml")
	test, err := filepath.Abs("testdata/schema.py")
	if err != nil {
		t.Fatal(err)
	}
	in(t, filepath.Dir(path), filepath.Join(bin, "python"), "-B", test, path)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(string(text), "<spirit:version>1.0</spirit:version>", "", 1)
	if err := os.WriteFile(path, []byte(broken), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), filepath.Join(bin, "python"), "-B", test, path).Output(); err == nil ||
		!strings.Contains(string(out), "version") {
		t.Errorf("a component without a version: %v\n%s", err, out)
	}
}

// TestRDL: the register map in SystemRDL is that in JSON; another reset value is found.
func TestRDL(t *testing.T) {
	bin := tools.NeedMasters(t)
	folder := filepath.Join(twinsSystem(t, 1), "axi")
	test, err := filepath.Abs("testdata/rdl.py")
	if err != nil {
		t.Fatal(err)
	}
	in(t, folder, filepath.Join(bin, "python"), "-B", test, folder)
	path := filepath.Join(folder, "registers.rdl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "idle[0:0] = 1'h1", "idle[0:0] = 1'h0", 1)
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "python"), "-B", test, folder)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "AssertionError") {
		t.Errorf("another reset value: %v\n%s", err, out)
	}
}
