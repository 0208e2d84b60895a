// SPDX-License-Identifier: Apache-2.0

//go:build long

package board

import (
	"path/filepath"
	"regexp"
	"testing"

	"lathe/internal/tools"
)

// TestLiteX: LiteX puts twins behind the bus of a system and joins its streams; Verilator finds no port of another
// width, and no input that nothing drives.
func TestLiteX(t *testing.T) {
	tools.Need(t, "verilator")
	python := tools.NeedPeers(t)
	dir := twinsSystem(t, 1)
	script, err := filepath.Abs("testdata/litex_soc.py")
	if err != nil {
		t.Fatal(err)
	}
	in(t, dir, python, "-B", script, "axi", "twins")
	out := in(t, dir, "verilator", "--lint-only", "-Wno-style", "-Wno-lint", "-Wwarn-WIDTH", "-Wwarn-PINMISSING",
		"-Wno-fatal", "--top-module", "sim", "gateware/sim.v", "-f", "axi/sources.f")
	missing := regexp.MustCompile(`missing pin: '(\w+)'|port connection.*`)
	for _, m := range missing.FindAllStringSubmatch(out, -1) {
		if m[1] != "memory_error" && m[1] != "frames_seen" { // outputs that the registers tell of
			t.Error(m[0])
		}
	}
}
