// SPDX-License-Identifier: Apache-2.0

package board

import (
	_ "embed" // the bench
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lathe/emit/shell"
	"lathe/internal/tools"
	"lathe/sim"
)

//go:embed testdata/axi.cc
var axiBench []byte

// TestAXI: a processor in C++ reads every register of the AXI shell around twins, writes some, has frames pass with
// pauses on all ports, and sees counts, errors and the interrupt.
func TestAXI(t *testing.T) {
	tools.Need(t, "verilator", "g++", "make", "iverilog")
	core := twinsOn(t)
	files, top, err := shell.AXI(core, shell.Options{Version: "0"})
	if err != nil {
		t.Fatal(err)
	}
	files = append(core.Files[:len(core.Files):len(core.Files)], files...)
	if err := sim.Lint(t.Context(), tools.CacheDir(t), top, files); err != nil {
		t.Error(err)
	}
	if err := sim.Elaborate(t.Context(), tools.CacheDir(t), top, files); err != nil {
		t.Error(err)
	}
	program, err := sim.Program(t.Context(), tools.CacheDir(t), top, files, "Vaxi", axiBench)
	if err != nil {
		t.Fatal(err)
	}
	var expected []string // offset, access, value after reset
	for _, r := range shell.Registers(core) {
		expected = append(expected, fmt.Sprintf("%d %s %d", r.Offset, r.Access, r.Reset))
	}
	for seed := range 12 {
		cmd := exec.CommandContext(t.Context(), program, fmt.Sprint(seed+1))
		cmd.Stdin = strings.NewReader(strings.Join(expected, "\n") + "\n")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed+1, err, out)
		}
		t.Logf("%s", out)
	}
}

// TestRegisterFiles: the register map is JSON, and the header a C compiler takes.
func TestRegisterFiles(t *testing.T) {
	tools.Need(t, "g++")
	core := twinsOn(t)
	files, err := shell.Folder(core, shell.Options{Version: "0"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "axi", "registers.json"))
	var m struct {
		ID        string           `json:"design_id"`
		Registers []shell.Register `json:"registers"`
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil || m.ID != core.Digest() || len(m.Registers) != len(shell.Registers(core)) {
		t.Errorf("%+v, %v", m, err)
	}
	main := fmt.Sprintf("#include \"twins_axi.h\"\nint main() { return TWINS_ID != UINT64_C(0x%s) || "+
		"TWINS_CONTROL_OFFSET != 12 || TWINS_ERRORS_STALLED != 4 || TWINS_IN_BYTES != %d; }\n", core.Digest(), frameBytes)
	if err := os.WriteFile(filepath.Join(dir, "axi", "main.c"), []byte(main), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"g++", "-x", "c", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "main.c",
		"-o", "main"}, {"./main"}} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = filepath.Join(dir, "axi")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
}
