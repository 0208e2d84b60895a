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

// dspBench drives num_dsp as synthesis reads it, with a model of the primitive, beside its plain form, in all settings,
// with random operands, stalls and starts.
const dspBench = `
module pair #(parameter integer REGS = 0, M_REG = 0, P_REG = 0, ADD = 0, SUM = 0) (
  input clk, en, take, first, input [26:0] a, input [17:0] b, input [47:0] pcin, c, output wrong);
  wire [47:0] p, q, pcout, qcout;
  num_dsp #(.REGS(REGS), .M_REG(M_REG), .P_REG(P_REG), .ADD(ADD), .SUM(SUM)) u_plain (.clk(clk), .en(en), .take(take),
    .a(a), .b(b), .pcin(pcin), .first(first), .c(c), .p(p), .pcout(pcout));
  num_dsp_real #(.REGS(REGS), .M_REG(M_REG), .P_REG(P_REG), .ADD(ADD), .SUM(SUM)) u_real (.clk(clk), .en(en),
    .take(take), .a(a), .b(b), .pcin(pcin), .first(first), .c(c), .p(q), .pcout(qcout));
  assign wrong = {p, pcout} !== {q, qcout} || ^q === 1'bx;
endmodule
module bench;
  reg clk = 0, en = 1, take = 1, first = 1;
  reg [26:0] a = 0; reg [17:0] b = 0; reg [47:0] pcin = 0, c = 0;
  wire [47:0] wrong;
  genvar r, s;
  generate for (r = 0; r < 3; r = r + 1) begin : g
    for (s = 0; s < 16; s = s + 1) begin : h
      if (s / 8 == 1 && s / 4 % 2 == 0) assign wrong[16 * r + s] = 0;
      else pair #(.REGS(r), .SUM(s / 8), .P_REG(s / 4 % 2), .M_REG(s / 2 % 2), .ADD(s % 2)) u (.clk(clk), .en(en),
        .take(take), .first(first), .a(a), .b(b), .pcin(pcin), .c(c), .wrong(wrong[16 * r + s]));
    end
  end endgenerate
  integer i;
  initial begin
    for (i = 0; i < 3000; i = i + 1) begin
      #1 clk = 1; #1 clk = 0;
      en = i < 8 || $random % 4 != 0; take = en && (i < 8 || $random % 3 != 0); first = i < 8 || $random % 5 == 0;
      a = $random; b = $random; pcin = {$random, $random}; c = {$random, $random};
      #1 if (i > 8 && wrong != 0) begin $display("differs: %b after %0d", wrong, i); $finish; end
    end
    $display("equal");
  end
endmodule
`

// TestDSPIsPlain holds what synthesis sees of num_dsp to what simulation sees.
func TestDSPIsPlain(t *testing.T) {
	tools.Need(t, "iverilog")
	model, err := os.ReadFile("testdata/DSP48E2.v")
	if err != nil {
		t.Fatal(err)
	}
	files, err := rtl.Files("num_dsp")
	if err != nil {
		t.Fatal(err)
	}
	var plain, module string
	for _, f := range files {
		plain += string(f.Data)
		if f.Name == "num_dsp.sv" {
			module = string(f.Data)
		}
	}
	for _, c := range []struct{ old, changed, want string }{
		{"", "", "equal"},
		{".PREG(P_REG)", ".PREG(1)", "differs"},
		{".BREG(REGS)", ".BREG(REGS > 1 ? 1 : REGS)", "differs"},
		{"SUM != 0, 2'b00", "SUM != 0 && !first, 2'b00", "differs"},
		{".CEP(take)", ".CEP(en)", "differs"},
	} {
		if !strings.Contains(module, c.old) {
			t.Fatalf("num_dsp has no %s", c.old)
		}
		changed := strings.Replace(strings.ReplaceAll(module, "module num_dsp ", "module num_dsp_real "), c.old, c.changed, 1)
		text := string(model) + plain + "`define SYNTHESIS\n" + changed + "`default_nettype wire\n" + dspBench
		dir := t.TempDir()
		source, program := filepath.Join(dir, "bench.sv"), filepath.Join(dir, "bench")
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("iverilog", "-g2012", "-s", "bench", "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		out, err := exec.Command("vvp", program).CombinedOutput()
		if err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%q in place of %q: %v %s, want %s", c.changed, c.old, err, out, c.want)
		}
	}
}
