// SPDX-License-Identifier: Apache-2.0

package num_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
)

// dspBench drives a module as synthesis reads it, with a model of the primitive, beside its plain form, in all
// settings, with random operands, stalls and starts.
const dspBench = `
module bench;
  reg clk = 0, en = 1, take = 1, first = 1;
  reg [26:0] a = 0; reg [17:0] b = 0; reg [15:0] c0 = 0, c1 = 0; reg [47:0] in = 0, pcin = 0, c = 0;
  wire [47:0] wrong;
  genvar r, s;
  generate for (r = 0; r < 3; r = r + 1) begin : g
    for (s = 0; s < 16; s = s + 1) begin : h
      wire [47:0] p, q, pcout, qcout;
      assign wrong[16 * r + s] = {p, pcout} !== {q, qcout} || ^q === 1'bx;
      if (s / 8 == 1 && s / 4 % 2 == 0) assign {p, q, pcout, qcout} = 0;
      else begin
        MODULE #(SETTINGS) u_plain (PORTS, .p(p), .pcout(pcout));
        MODULE_real #(SETTINGS) u_real (PORTS, .p(q), .pcout(qcout));
      end
    end
  end endgenerate
  integer i;
  initial begin
    for (i = 0; i < 3000; i = i + 1) begin
      #1 clk = 1; #1 clk = 0;
      en = i < 8 || $random % 4 != 0; take = en && (i < 8 || $random % 3 != 0); first = i < 8 || $random % 5 == 0;
      a = $random; b = $random; pcin = {$random, $random}; c = {$random, $random}; in = {$random, $random};
      c0 = $random; c1 = $random;
      #1 if (i > 8 && wrong != 0) begin $display("differs: %b after %0d", wrong, i); $finish; end
    end
    $display("equal");
  end
endmodule
`

// dsps are the modules that synthesis sees as one DSP48E2, with the settings and ports of the bench.
var dsps = map[string]struct{ settings, ports string }{
	"num_dsp": {".REGS(r), .SUM(s / 8), .P_REG(s / 4 % 2), .M_REG(s / 2 % 2), .ADD(s % 2)",
		".clk(clk), .en(en), .take(take), .a(a), .b(b), .pcin(pcin), .first(first), .c(c)"},
	"num_dsp_pair": {".REGS(r), .P_REG(s / 4 % 2), .W_W(s / 2 % 2 == 1 ? 16 : s < 8 ? 8 : 3), .ADD(s % 2)",
		".clk(clk), .en(en), .x(b), .a(c0[(s / 2 % 2 == 1 ? 16 : s < 8 ? 8 : 3)-1:0]), " +
			".b(c1[(s / 2 % 2 == 1 ? 16 : s < 8 ? 8 : 3)-1:0]), .pcin(pcin)"},
	"num_dsp_two": {".REGS(r), .SUM(s / 8), .P_REG(s / 4 % 2), .ADD(s % 2)",
		".clk(clk), .en(en), .take(take), .in(in), .pcin(pcin), .first(first), .c(c)"},
}

// TestDSPIsPlain holds what synthesis sees of these modules to what simulation sees.
func TestDSPIsPlain(t *testing.T) {
	tools.Need(t, "iverilog")
	for _, c := range []struct{ module, old, changed, want string }{
		{"num_dsp", "", "", "equal"},
		{"num_dsp", ".PREG(P_REG)", ".PREG(1)", "differs"},
		{"num_dsp", ".BREG(REGS)", ".BREG(REGS > 1 ? 1 : REGS)", "differs"},
		{"num_dsp", "SUM != 0, 2'b00", "SUM != 0 && !first, 2'b00", "differs"},
		{"num_dsp", ".CEP(take)", ".CEP(en)", "differs"},
		{"num_dsp_pair", "", "", "equal"},
		{"num_dsp_pair", ".DREG(REGS / 2)", ".DREG(0)", "differs"},
		{"num_dsp_pair", ".ADREG(REGS > 0 ? 1 : 0)", ".ADREG(0)", "differs"},
		{"num_dsp_pair", "{ADD == 0, 3'b000", "{1'b0, 3'b000", "differs"},
		{"num_dsp_pair", ".CED(en)", ".CED(1'b1)", "differs"},
		{"num_dsp_two", "", "", "equal"},
		{"num_dsp_two", `.USE_SIMD("TWO24")`, `.USE_SIMD("ONE48")`, "differs"},
		{"num_dsp_two", "SUM != 0 && first, SUM", "1'b0, SUM", "differs"},
		{"num_dsp_two", ".A(in[47:18])", ".A({6'd0, in[41:18]})", "differs"},
	} {
		dspCompare(t, c.module, c.old, c.changed, c.want)
	}
}

// dspCompare simulates both forms of a module, one text of which is changed, and wants a word of the bench.
func dspCompare(t *testing.T, name, old, changed, want string) {
	t.Helper()
	model, err := os.ReadFile("testdata/DSP48E2.v")
	if err != nil {
		t.Fatal(err)
	}
	files, err := rtl.Files(name)
	if err != nil {
		t.Fatal(err)
	}
	var plain, module string
	for _, f := range files {
		plain += string(f.Data)
		if f.Name == name+".sv" {
			module = string(f.Data)
		}
	}
	if !strings.Contains(module, old) {
		t.Fatalf("%s has no %s", name, old)
	}
	module = strings.Replace(strings.ReplaceAll(module, "module "+name+" ", "module "+name+"_real "), old, changed, 1)
	bench := strings.NewReplacer("MODULE", name, "SETTINGS", dsps[name].settings, "PORTS", dsps[name].ports).
		Replace(dspBench)
	text := string(model) + plain + "`define SYNTHESIS\n" + module + "`default_nettype wire\n" + bench
	dir := t.TempDir()
	source, program := filepath.Join(dir, "bench.sv"), filepath.Join(dir, "bench")
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("iverilog", "-g2012", "-s", "bench", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%s, %q: %v\n%s", name, changed, err, out)
	}
	out, err := exec.Command("vvp", program).CombinedOutput()
	if err != nil || !strings.Contains(string(out), want) {
		t.Errorf("%s, %q in place of %q: %v %s, want %s", name, changed, old, err, out, want)
	}
}
