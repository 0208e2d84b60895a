// SPDX-License-Identifier: Apache-2.0

package route

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/ir/target"
)

// products are multipliers with registers of many kinds around them.
const products = `module products (input wire clk, rst, en, input wire signed [7:0] a, b, c, input wire [9:0] u,
    output reg signed [15:0] p, q, r, s, output reg signed [17:0] t, output wire signed [15:0] v, w);
  reg signed [7:0] a1, b1, c1, c2, d1;
  reg [9:0] u1;
  always @(posedge clk) begin
    if (en) begin a1 <= a; b1 <= a[0] ? b : 8'd90; u1 <= u; c1 <= c; end  // Yosys: a reset
    if (rst) c2 <= 8'd0; else c2 <= c;  // a reset
    d1 <= b;                            // no enable
    if (en) begin
      p <= a1 * b1;                // all registers
      q <= c2 * b1;                // one operand has a reset
      r <= d1 * a1;                // one operand has another enable, and w reads the product, too
      t <= $signed({1'b0, u1}) * c1;
    end
    s <= c1 * b1;                  // the product has another enable than the operands
  end
  assign v = c1 * d1;              // no register behind
  wire signed [15:0] x = d1 * a1;
  reg signed [15:0] x1;
  always @(posedge clk) if (en) x1 <= x;
  assign w = x1 ^ x;
endmodule
`

// bits lists ports from the highest.
func bits(name string, n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint(name, n-1-i))
	}
	return strings.Join(all, ", ")
}

// multiplier is the model of one of ECP5, as far as products go.
func multiplier() string {
	a, b, c, p := bits("A", 18), bits("B", 18), bits("C", 18), bits("P", 36)
	text := "module MULT18X18D (input " + a + ", " + b + ", " + c +
		", SIGNEDA, SIGNEDB, SOURCEA, SOURCEB, CLK0, CE0, RST0, output " + p + ");\n" +
		"  parameter GSR = \"\", SOURCEB_MODE = \"\", MULT_BYPASS = \"\", RESETMODE = \"\", CAS_MATCH_REG = \"\";\n" +
		"  parameter CLK0_DIV = \"\", CLK1_DIV = \"\", CLK2_DIV = \"\", CLK3_DIV = \"\", HIGHSPEED_CLK = \"\";\n"
	for _, register := range []string{"INPUTA", "INPUTB", "INPUTC", "PIPELINE", "OUTPUT"} {
		for _, of := range []string{"CLK", "CE", "RST"} {
			text += "  parameter REG_" + register + "_" + of + " = \"NONE\";\n"
		}
	}
	return text + "  reg [17:0] a1 = 0, b1 = 0;\n  reg [35:0] p1 = 0;\n" +
		"  wire [17:0] a = REG_INPUTA_CLK == \"NONE\" ? {" + a + "} : a1;\n" +
		"  wire [17:0] b = REG_INPUTB_CLK == \"NONE\" ? {" + b + "} : b1;\n" +
		"  wire signed [18:0] ax = {SIGNEDA & a[17], a}, bx = {SIGNEDB & b[17], b};\n" +
		"  wire [35:0] p0 = ax * bx;\n" +
		"  always @(posedge CLK0) if (CE0) begin a1 <= {" + a + "}; b1 <= {" + b + "}; p1 <= p0; end\n" +
		"  assign {" + p + "} = REG_OUTPUT_CLK == \"NONE\" ? p0 : p1;\nendmodule\n"
}

// bench compares both for random inputs.
const bench = `module bench;
  reg clk = 0, rst = 1, en = 1;
  reg [7:0] a = 0, b = 0, c = 0;
  reg [9:0] u = 0;
  wire [113:0] want, got;
  integer i, wrong = 0;
  products one (clk, rst, en, a, b, c, u, want[15:0], want[31:16], want[47:32], want[63:48], want[81:64],
      want[97:82], want[113:98]);
  mapped two (.clk(clk), .rst(rst), .en(en), .a(a), .b(b), .c(c), .u(u), .p(got[15:0]), .q(got[31:16]), .r(got[47:32]),
      .s(got[63:48]), .t(got[81:64]), .v(got[97:82]), .w(got[113:98]));
  initial begin
    for (i = 0; i < 2010; i = i + 1) begin
      #1 clk = 1;
      #1 clk = 0;
      {rst, en, a, b, c, u} = {$random, $random};
      if (i < 10) {rst, en} = 2'b11;
      #1 if (i >= 10 && got !== want) wrong = wrong + 1;
    end
    if (wrong == 0) $display("2000 cycles alike"); else $display("%0d cycles differ", wrong);
  end
endmodule
`

// cellsOf are those of a netlist's module.
func cellsOf(t *testing.T, file, module string) map[string]*mapped {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Modules map[string]struct{ Cells map[string]*mapped }
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all.Modules[module].Cells
}

// registersOf lists which registers each multiplier has, sorted.
func registersOf(t *testing.T, file string) (list []string) {
	t.Helper()
	for _, c := range cellsOf(t, file, "products") {
		if c.Type != absorbing {
			continue
		}
		var on []string
		for _, r := range []struct{ name, short string }{{"INPUTA", "A"}, {"INPUTB", "B"}, {"OUTPUT", "P"}} {
			if c.Parameters["REG_"+r.name+"_CLK"] == "CLK0" {
				on = append(on, r.short)
			}
		}
		list = append(list, strings.Join(on, " "))
	}
	slices.Sort(list)
	return list
}

// workshop is where a source, its netlist and a bench lie.
type workshop struct {
	*testing.T
	dir string
}

func (f workshop) run(name string, args ...string) string {
	f.Helper()
	cmd := exec.CommandContext(f.Context(), name, args...)
	cmd.Dir = f.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func (f workshop) put(name, text string) {
	f.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o644); err != nil {
		f.Fatal(err)
	}
}

// absorbed is a folder with the netlist of a module that has taken registers.
func absorbed(t *testing.T, module, source string) workshop {
	t.Helper()
	f := workshop{t, t.TempDir()}
	f.put("source.v", source)
	d, err := target.Find("ecp5-85k")
	if err != nil {
		t.Fatal(err)
	}
	router := d.Family.Router
	f.put("run.ys", "read_verilog -sv source.v\n"+synthesis(router.Synth, router.Clocks, module))
	f.run("yosys", "-q", "-s", "run.ys")
	if err := absorb(filepath.Join(f.dir, "netlist.json"), module); err != nil {
		t.Fatal(err)
	}
	return f
}

// alike runs the netlist, with models of cells, beside the source.
func (f workshop) alike(module, models, bench string) {
	f.Helper()
	f.put("models.v", models)
	f.put("bench.v", bench)
	f.run("yosys", "-q", "-p", "read_json netlist.json; read_verilog -overwrite +/ecp5/cells_sim.v models.v; hierarchy "+
		"-top "+module+"; proc; flatten; opt_clean; rename "+module+" mapped; write_verilog -noattr mapped.v")
	f.run("iverilog", "-g2012", "-s", "bench", "-o", "bench.vvp", "bench.v", "source.v", "mapped.v")
	if said := f.run("vvp", "-n", "bench.vvp"); !strings.Contains(said, "2000 cycles alike") {
		f.Error(said)
	}
}

// TestAbsorb compares a netlist whose multipliers have taken registers with its source, cycle by cycle.
func TestAbsorb(t *testing.T) {
	tools.Need(t, "yosys", "iverilog")
	f := absorbed(t, "products", products)
	want := []string{"", "", "A B P", "A B P", "P", "P"}
	if got := registersOf(t, filepath.Join(f.dir, "netlist.json")); !slices.Equal(got, want) {
		t.Errorf("registers %q, want %q", got, want)
	}
	f.alike("products", multiplier(), bench)
}
