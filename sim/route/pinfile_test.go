// SPDX-License-Identifier: Apache-2.0

package route

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/tools"
)

// pinned routes the design of folder with a file of pins, one line at a time in it.
func pinned(t *testing.T, toolFolder, part string, lines ...string) (*Report, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "board.txt")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{Part: part, Tools: toolFolder, LogDir: t.TempDir(), Seeds: 1, PinFile: file}
	return Route(t.Context(), folder(t), o)
}

// TestPinFile: a name that is no port is an error that names its line and the nearest port; nothing runs then.
func TestPinFile(t *testing.T) {
	tools := t.TempDir()
	for _, family := range []string{"ecp5", "ice40"} {
		if err := os.Mkdir(filepath.Join(tools, "yowasp_nextpnr_"+family), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const clock = `LOCATE COMP "clk" SITE "P3";`
	for _, c := range []struct {
		part, lines, want string
	}{
		{"ecp5-25k", clock + "\nIOBUF PORT \"clc\" IO_TYPE=LVCMOS33;", `board.txt:2: L0781: tiny has no port "clc"`},
		{"ecp5-25k", clock + "\nIOBUF PORT \"clc\" IO_TYPE=LVCMOS33;", `did you mean "clk"?`},
		{"ecp5-25k", `locate comp "y[12]" site "A2";`, `tiny has no port "y[12]"`},
		{"ecp5-25k", `LOCATE COMP "y" SITE "A2";`, `tiny has no port "y"`}, // a port of several bits
		{"ecp5-25k", "# COMP \"led\"\n// PORT \"led\"\nset_io clk 35", "names no port"},
		{"ice40-up5k", clock, "names no port"},
		{"ice40-up5k", "set_io -pullup yes a[11] 3 # led 4\nset_io -nowarn led 4", `:2: L0781: tiny has no port "led"`},
		{"ice40-up5k", "set_frequency ap_clk 12", `no port "ap_clk"`},
	} {
		_, err := pinned(t, tools, c.part, c.lines)
		if diag.CodeOf(err) != diag.PinFile || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.lines, err, c.want)
		}
	}
	_, err := Route(t.Context(), folder(t), Options{Part: "ecp5-25k", Tools: tools, PinFile: filepath.Join(tools, "none")})
	if diag.CodeOf(err) != diag.PinFile || !strings.Contains(err.Error(), "cannot be read") {
		t.Error(err)
	}
}

// TestFixedPins: nextpnr takes pins of the package, and refuses others.
func TestFixedPins(t *testing.T) {
	for _, c := range []struct{ family, part, clock, other string }{
		{"ecp5", "ecp5-25k", `LOCATE COMP "clk" SITE "P3";`, `LOCATE COMP "a[3]" SITE "ZZ9";`},
		{"ice40", "ice40-up5k", "set_io clk 35", "set_io a[3] 77"},
	} {
		dir := tools.NeedRoute(t, c.family)
		r, err := pinned(t, dir, c.part, c.clock)
		if err != nil || r.Pins != Fixed || r.MHz <= 0 {
			t.Errorf("%s: %+v, %v", c.family, r, err)
		}
		if _, err := pinned(t, dir, c.part, c.clock, c.other); diag.CodeOf(err) != diag.RouteFailed {
			t.Errorf("%s: %v", c.family, err)
		}
	}
}
