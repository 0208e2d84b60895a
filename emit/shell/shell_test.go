// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/ir/target"
)

const wrapper = `module m (
    (* X_INTERFACE_INFO = "clock" *)
    input wire ap_clk,
    input wire ap_rst_n,
    input wire [15:0] s_axis_tdata,
    input wire s_axis_tvalid,
    output wire s_axis_tready,
    input wire s_axis_tlast,
    output wire [7:0] m_axis_tdata,
    output wire m_axis_tvalid,
    input wire m_axis_tready,
    output wire m_axis_tlast%s
);
endmodule
`

const description = `{"name": "m", "lathe": "0", "top": "m", "core": "m_core", "sources": ["m.v"], "files": ["w.mem"],
"units": [{"node": "y", "cycles": 100, "latency": 5, "images": [{"file": "w.mem", "words": 30}]}], "ports": [
{"name": "x", "direction": "in", "stream": "s_axis", "format": "fixed(8,4)", "beats": 3, "tdata_width": 16},
{"name": "y", "direction": "out", "stream": "m_axis", "format": "fixed(8,4)", "beats": 2, "tdata_width": 8}]}
`

// folder writes a design with further ports, in which parts of the texts are replaced.
func folder(t *testing.T, ports string, replace ...string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"m.v": strings.Replace(wrapper, "%s", ports, 1), "design.json": description,
		"w.mem": "00\n"} {
		data := []byte(strings.NewReplacer(replace...).Replace(text))
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestRead: what a shell knows of a folder; and the ID changes with what a design means or holds, not with its names.
func TestRead(t *testing.T) {
	c, err := Read(folder(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	if c.Bytes(true) != 6 || c.Bytes(false) != 2 || c.Streams[0].Bytes != 2 || c.Timeout < 1<<16+16*135 {
		t.Errorf("%+v", c)
	}
	for name, o := range map[string]struct {
		dir  string
		same bool
	}{
		"comment":  {folder(t, "", "endmodule", "endmodule // end"), true},
		"format":   {folder(t, "", `"fixed(8,4)", "beats": 2`, `"fixed(8,5)", "beats": 2`), false},
		"circuit":  {folder(t, "", "endmodule", "assign m_axis_tvalid = 1;\nendmodule"), false},
		"contents": {folder(t, "", "00", "01"), false},
	} {
		other, err := Read(o.dir)
		if err != nil {
			t.Fatal(name, err)
		}
		if (other.ID == c.ID) != o.same {
			t.Errorf("%s: %s and %s", name, c.Digest(), other.Digest())
		}
	}
}

// TestRefused: designs that no board serves, and folders of no design.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		dir  string
		code diag.Code
	}{
		"decoder": {folder(t, "", `"units"`, `"tokens": 4, "units"`), diag.BoardCore},
		"lengths": {folder(t, "", `"units"`, `"lengths": 4, "units"`), diag.BoardCore},
		"memory":  {folder(t, "", `"units"`, `"memory": {"bytes": 1}, "units"`), diag.BoardCore},
		"large":   {folder(t, "", `"beats": 3`, `"beats": 3000000`), diag.BoardCore},
		"empty":   {t.TempDir(), diag.RouteFolder},
		"broken":  {folder(t, "", `"units"`, `units`), diag.RouteFolder},
		"lost":    {folder(t, "", `"w.mem"]`, `"v.mem"]`), diag.RouteFolder},
	} {
		core, err := Read(c.dir)
		if err == nil {
			err = core.OnBoard()
		}
		if diag.CodeOf(err) != c.code || !strings.Contains(err.Error(), "hint: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, err := Read(folder(t, ",\n    input wire enable"))
	if err != nil {
		t.Fatal(err)
	}
	b := target.Boards()[0]
	if _, _, err := Board(c, Options{Board: &b, Setting: target.Setting{MHz: 50}}); diag.CodeOf(err) != diag.BoardCore {
		t.Errorf("an input that nothing drives: %v", err)
	}
}

// TestNearest: the usual clock, one that the PLL makes, one that it does not, and one too slow for the line.
func TestNearest(t *testing.T) {
	b, err := target.FindBoard("ulx3s-85f")
	if err != nil {
		t.Fatal(err)
	}
	for mhz, hint := range map[float64]string{0: "", 100: "", 62.5: "", 900: "--clock 400", 77.123: "--clock 78.125",
		20: "--clock 25", 24: "--clock 25", math.NaN(): "--clock"} {
		s, err := Nearest(b, mhz)
		switch {
		case hint == "" && err != nil, hint == "" && mhz > 0 && s.MHz != mhz:
			t.Errorf("%g MHz: %+v, %v", mhz, s, err)
		case hint != "" && (diag.CodeOf(err) != diag.BoardClock || !strings.Contains(err.Error(), hint)):
			t.Errorf("%g MHz: %+v, %v", mhz, s, err)
		}
	}
	page, err := os.ReadFile("../../docs/silicon.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Registers(&Core{}) {
		if text := string(page); !strings.Contains(text, fmt.Sprintf("0x%02x", r.Offset)) ||
			!strings.Contains(text, "`"+r.Name+"`") {
			t.Errorf("docs/silicon.md does not list %s at %02x", r.Name, r.Offset)
		}
	}
	for _, s := range All() {
		if s.Name == "" || s.Doc == "" || s.Wrap == nil {
			t.Errorf("%+v", s)
		}
	}
}
