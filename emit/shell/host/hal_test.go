// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lathe/emit"
	"lathe/internal/tools"
	"lathe/ir"
	"lathe/ir/format"
	"lathe/rtl"
)

// one is a port of bytes.
var one = []emit.Port{{Name: "x", Type: ir.Type{Shape: []int{4}, Format: format.Fixed{W: 8}}, Lanes: 1, Beats: 4}}

// TestLinux: registers and memory are those of the files, and files that are not there are named.
func TestLinux(t *testing.T) {
	tools.Need(t, "gcc")
	dir, facts := folder(t, one), "sys/class/u-dma-buf/memory/"
	write(t, dir, []rtl.File{{Name: "uio0", Data: make([]byte, 4096)}, {Name: "uio1", Data: make([]byte, 4096)},
		{Name: "memory", Data: make([]byte, 4096)}, {Name: facts + "phys_addr", Data: []byte("0x0000000812340000\n")},
		{Name: facts + "size", Data: []byte("4096\n")}})
	test, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("LATHE_SYSFS", filepath.Join(dir, "sys"))
	run(t, dir, append(append([]string{"gcc"}, strict...), "-I.", "-o", "hal", filepath.Join(test, "hal.c"),
		"hal_linux.c")...)
	if out := run(t, dir, "./hal", "uio0", "uio1", "memory"); out != "812340080\n" {
		t.Errorf("the second buffer is at %s", out)
	}
	for name, at := range map[string]int{"uio0": 0x0c, "uio1": 0x28, "memory": 128 + 56} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if want := map[string]uint32{"uio0": 0x01020304, "uio1": 77, "memory": 9 << 24}[name]; err != nil ||
			binary.LittleEndian.Uint32(data[at:]) != want {
			t.Errorf("%s: %v, %x", name, err, data[at:at+4])
		}
	}
	for _, args := range [][]string{{"uio0", "uio2", "memory"}, {"uio0", "uio1", "nothing"}, {"uio0", "memory"}} {
		cmd := exec.CommandContext(t.Context(), "./hal", args...)
		cmd.Dir = dir
		word := map[string]string{"uio2": "cannot map uio2", "uio1": "nothing/phys_addr",
			"memory": "name the UIO files"}[args[1]]
		if out, err := cmd.Output(); err == nil || !strings.Contains(string(out), word) {
			t.Errorf("%q: %v, %s, want %q", args, err, out, word)
		}
	}
}

// TestBare: the same without an operating system, on arrays.
func TestBare(t *testing.T) {
	tools.Need(t, "gcc", "make")
	dir := folder(t, one)
	test, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	header := "#include <stdint.h>\nextern uint32_t design[64], engine[64];\nextern uint8_t memory[4096];\n"
	write(t, dir, []rtl.File{{Name: "memory.h", Data: []byte(header)}})
	run(t, dir, append(append([]string{"gcc"}, strict...), "-I.", "-include", "memory.h",
		"-DLATHE_DESIGN=(uintptr_t)design", "-DLATHE_DMAS=(uintptr_t)engine", "-DLATHE_MEMORY=(uintptr_t)memory",
		"-DLATHE_MEMORY_BYTES=sizeof memory", "-o",
		"hal", filepath.Join(test, "hal.c"), filepath.Join(test, "memory.c"), "hal_bare.c")...)
	run(t, dir, "./hal")
	run(t, dir, "make", "bare", "CC=gcc", "CFLAGS=-O1 -Werror")
	cmd := exec.CommandContext(t.Context(), "gcc", "-c", "hal_bare.c")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "define LATHE_DESIGN") {
		t.Errorf("without addresses: %v\n%s", err, out)
	}
}
