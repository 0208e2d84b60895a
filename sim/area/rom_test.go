// SPDX-License-Identifier: Apache-2.0

package area

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
)

// TestRomStyle demands that ROMs of 1 kbit and more lie where the plan says: in block RAM, or in LUTs.
func TestRomStyle(t *testing.T) {
	tools.Need(t, "yosys")
	dir := t.TempDir()
	files, err := rtl.Files("mem_rom")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		write(t, dir, f.Name, string(f.Data))
		names = append(names, f.Name)
	}
	shapes := []struct{ width, depth int }{{32, 32}, {8, 128}, {40, 300}}
	var top strings.Builder
	top.WriteString("module roms (input wire clk, input wire [8:0] a, output wire [159:0] o);\n")
	at := 0
	for i, s := range shapes {
		p := rtl.NewPacked(s.width, s.depth)
		for w := range s.depth {
			p.Set(w, 0, s.width, int64(w+1)*0x9e3779b97f4a7c)
		}
		im := rtl.Image{Param: "IMAGE", Width: s.width, Packed: p}.File(fmt.Sprint("u", i))
		if err := os.WriteFile(filepath.Join(dir, im.Name), im.Data, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, style := range []string{"block", "distributed"} {
			fmt.Fprintf(&top, "  mem_rom #(.WIDTH(%d), .DEPTH(%d), .IMAGE(\"%s\"), .STYLE(\"%s\")) "+
				"u_%s_%d (.clk(clk), .en(1'b1),\n    .addr(a[%d:0]), .data(o[%d:%d]));\n", s.width, s.depth, im.Name,
				style, style, i,
				rtl.Clog2(s.depth)-1, at+s.width-1, at)
			at += s.width
		}
	}
	write(t, dir, "roms.v", top.String()+"endmodule\n")
	r := counted(t, dir, append(names, "roms.v"), "roms", Options{})
	found := 0
	for _, in := range r.Instances[1:] {
		found++
		if block := in.Cells.BRAM() > 0; block != strings.Contains(in.Path, "u_block") || !block && in.Cells.LUT == 0 {
			t.Errorf("%s takes %+v", in.Path, in.Cells)
		}
	}
	if found != 2*len(shapes) {
		t.Errorf("%d memories counted", found)
	}
}
