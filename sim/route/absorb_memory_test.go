// SPDX-License-Identifier: Apache-2.0

package route

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/tools"
)

// stores are memories with registers behind: of words in both widths of a block RAM, under an enable of their own, and
// one whose first register others read, too; and a ROM.
const stores = `module stores (input wire clk, we, en, out, input wire [9:0] waddr, raddr, input wire [35:0] d,
    output reg [15:0] p, output reg [35:0] q, output reg [15:0] r, output wire [15:0] s, output reg [35:0] t);
  (* no_rw_check *) reg [15:0] a [0:1023], c [0:1023];
  (* no_rw_check *) reg [35:0] b [0:511];
  (* rom_style = "block" *) reg [35:0] e [0:511];
  reg [15:0] a1, c1;
  reg [35:0] b1, e1;
  integer i;
  initial for (i = 0; i < 512; i = i + 1) e[i] = 36'h123456789 * i;
  always @(posedge clk) begin
    if (we) begin a[waddr] <= d[15:0]; b[waddr[8:0]] <= d; c[waddr] <= ~d[15:0]; end
    if (en) begin a1 <= a[raddr]; b1 <= b[raddr[8:0]]; c1 <= c[raddr]; end
    if (en) e1 <= e[raddr[8:0]];
    if (out) begin p <= a1; q <= b1; r <= c1; t <= e1; end
  end
  assign s = c1;
endmodule
`

// blockRAM is the model of one of ECP5 as far as stores go: words of 18 and 36 bits.
func blockRAM() string {
	var text strings.Builder
	text.WriteString("module DP16KD #(parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18, REGMODE_A = \"NOREG\", " +
		"REGMODE_B = \"NOREG\", RESETMODE = \"\", ASYNC_RESET_RELEASE = \"\", CSDECODE_A = \"\", CSDECODE_B = \"\", " +
		"CLKAMUX = \"\", CLKBMUX = \"\", WRITEMODE_A = \"\", WRITEMODE_B = \"\", GSR = \"\"")
	for i := range 64 {
		fmt.Fprintf(&text, ", INITVAL_%02X = 0", i)
	}
	text.WriteString(") (input " + bits("DIA", 18) + ", " + bits("DIB", 18) + ", " + bits("ADA", 14) + ", " +
		bits("ADB", 14) + ", CEA, OCEA, CLKA, WEA, RSTA, CSA0, CSA1, CSA2, CEB, OCEB, CLKB, WEB, RSTB, CSB0, CSB1, " +
		"CSB2, output " + bits("DOA", 18) + ", " + bits("DOB", 18) + ");\n" +
		"  reg [17:0] m [0:1023];\n" +
		"  wire [13:0] ada = {" + bits("ADA", 14) + "}, adb = {" + bits("ADB", 14) + "};\n" +
		"  wire [17:0] dia = {" + bits("DIA", 18) + "}, dib = {" + bits("DIB", 18) + "};\n" +
		"  reg [17:0] a0, b0, low, a1, b1;\n  integer i;\n")
	for i := range 64 {
		fmt.Fprintf(&text, "  initial for (i = 0; i < 16; i = i + 1) "+
			"m[%d + i] = (INITVAL_%02X >> 20 * i);\n", 16*i, i)
	}
	text.WriteString(
		"  localparam wide_a = DATA_WIDTH_A == 36, wide_b = DATA_WIDTH_B == 36;\n" +
			"  always @(posedge CLKA) if (CEA && WEA) begin\n" +
			"    if (ada[0]) m[{ada[13:5], ada[4] & !wide_a}][8:0] <= dia[8:0];\n" +
			"    if (ada[1]) m[{ada[13:5], ada[4] & !wide_a}][17:9] <= dia[17:9];\n" +
			"    if (wide_a && ada[2]) m[{ada[13:5], 1'b1}][8:0] <= dib[8:0];\n" +
			"    if (wide_a && ada[3]) m[{ada[13:5], 1'b1}][17:9] <= dib[17:9];\n" +
			"  end\n" +
			"  always @(posedge CLKA) if (CEA && !WEA) a0 <= m[ada[13:4]];\n" +
			"  always @(posedge CLKB) if (CEB) begin\n" +
			"    b0 <= m[wide_b ? {adb[13:5], 1'b1} : adb[13:4]];\n" +
			"    low <= m[{adb[13:5], 1'b0}];\n" +
			"  end\n" +
			"  wire [17:0] a = wide_b ? low : a0;\n" +
			"  always @(posedge CLKA) if (OCEA) a1 <= a;\n" +
			"  always @(posedge CLKB) if (OCEB) b1 <= b0;\n" +
			"  assign {" + bits("DOA", 18) + "} = REGMODE_A == \"OUTREG\" ? a1 : a;\n" +
			"  assign {" + bits("DOB", 18) + "} = REGMODE_B == \"OUTREG\" ? b1 : b0;\nendmodule\n")
	return text.String()
}

// storeBench compares both for random inputs that never read what is being written, after all words are.
const storeBench = `module bench;
  reg clk = 0, we = 1, en = 1, out = 1;
  reg [9:0] waddr = 0, raddr = 0;
  reg [35:0] d = 0;
  wire [119:0] want, got;
  integer i, wrong = 0;
  stores one (clk, we, en, out, waddr, raddr, d, want[15:0], want[51:16], want[67:52], want[83:68],
      want[119:84]);
  mapped two (.clk(clk), .we(we), .en(en), .out(out), .waddr(waddr), .raddr(raddr), .d(d), .p(got[15:0]),
      .q(got[51:16]), .r(got[67:52]), .s(got[83:68]), .t(got[119:84]));
  initial begin
    for (i = 0; i < 3050; i = i + 1) begin
      #1 clk = 1;
      #1 clk = 0;
      {d, raddr} = {$random, $random};
      waddr = i < 1024 ? i : $random;
      {we, en, out} = i < 1050 ? 3'b111 : $random;
      if (raddr[8:0] == waddr[8:0]) raddr[0] = ~waddr[0];
      #1 if (i >= 1050 && got !== want) wrong = wrong + 1;
    end
    if (wrong == 0) $display("2000 cycles alike"); else $display("%0d cycles differ", wrong);
  end
endmodule
`

// TestAbsorbStored compares a netlist whose block RAMs have taken registers with its source, cycle by cycle.
func TestAbsorbStored(t *testing.T) {
	tools.Need(t, "yosys", "iverilog")
	f := absorbed(t, "stores", stores)
	var modes []string
	for _, c := range cellsOf(t, filepath.Join(f.dir, "netlist.json"), "stores") {
		if c.Type == storing {
			modes = append(modes, c.Parameters["REGMODE_A"]+" "+c.Parameters["REGMODE_B"])
		}
	}
	slices.Sort(modes)
	if want := []string{"NOREG NOREG", "NOREG OUTREG", "OUTREG OUTREG", "OUTREG OUTREG"}; !slices.Equal(modes, want) {
		t.Errorf("registers %q, want %q", modes, want)
	}
	f.alike("stores", blockRAM(), storeBench)
}
