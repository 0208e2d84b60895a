// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/rtl"
	"lathe/rtl/num"
	"lathe/rtl/rtltest"
)

// fedBench is a bench of op_linear_fed whose words of weights come as a stream, beside that of the vectors: as they
// pause, the unit waits.
func fedBench(m *matrix, inLanes, outLanes int) rtltest.Bench {
	b := linearBench(m, inLanes, outLanes)
	words := m.in / inLanes * (m.out / outLanes)
	b.Module = "linear_fed_bench"
	b.Files = []rtl.File{{Name: "linear_fed_bench.sv", Data: []byte(fedModule(b.Params))}}
	b.Images = b.Images[1:]
	b.In = append(b.In, rtltest.Port{Name: "w", Lanes: outLanes * inLanes, Signed: true, Beats: words})
	b.Gen = func(r *rand.Rand, port, frame int) []int64 {
		if port == 0 {
			return m.gen(r, port, frame)
		}
		var codes []int64
		for row := 0; row < m.out; row += outLanes {
			for from := 0; from < m.in; from += inLanes {
				for p := range outLanes {
					codes = append(codes, m.weights[row+p][from:from+inLanes]...)
				}
			}
		}
		return codes
	}
	return b
}

// fedModule is op_linear_fed with a stream in the place of its memory.
func fedModule(params []rtl.Param) string {
	var declared, bound []string
	for _, p := range params {
		declared = append(declared, fmt.Sprintf("    parameter integer %s = %s,\n", p.Name, p.Value))
		bound = append(bound, fmt.Sprintf(".%s(%s), ", p.Name, p.Name))
	}
	return strings.NewReplacer("DECLARED", strings.Join(declared, ""), "BOUND", strings.Join(bound, "")).Replace(`
// linear_fed_bench: op_linear_fed whose words come as a stream.
//   latency: IN / IN_LANES + 4 + (IN_W + W_W > 8 ? 1 : 0) + clog2(IN_LANES) + 2 * min(PSH_W, 1) + (M_W > 0 ? 3 : 1)
//   ii: (IN / IN_LANES) * (OUT / OUT_LANES)   order: elements ascending
module linear_fed_bench #(
DECLARED    parameter         CONSTS     = "",
    parameter [31:0]  CONSTS_SUM = 32'd0
) (
    input  wire                              clk,
    input  wire                              rst,
    input  wire [         IN_LANES*IN_W-1:0] in_data,
    input  wire                              in_valid,
    output wire                              in_ready,
    input  wire [OUT_LANES*IN_LANES*W_W-1:0] w_data,
    input  wire                              w_valid,
    output wire                              w_ready,
    output wire [       OUT_LANES*OUT_W-1:0] out_data,
    output wire                              out_valid,
    input  wire                              out_ready
);
  localparam integer WORDS = (IN / IN_LANES) * (OUT / OUT_LANES);
  wire en, step;
  wire [(WORDS > 1 ? $clog2(WORDS) : 1)-1:0] addr;
  reg [OUT_LANES*IN_LANES*W_W-1:0] q0, q1;
  always @(posedge clk)
    if (en) begin
      q0 <= w_data;
      q1 <= q0;
    end
  assign w_ready = en && step;
  op_linear_fed #(BOUND .CONSTS(CONSTS), .CONSTS_SUM(CONSTS_SUM)) dut (
      .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready), .w_en(en), .w_step(step),
      .w_addr(addr), .w_ready(w_valid), .w_data(q1), .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready));
  wire unused = &{1'b0, addr};
endmodule
`)[1:]
}

func fedCases() []rtltest.Bench {
	var list []rtltest.Bench
	for i, c := range []struct {
		m       matrix
		in, out int
	}{
		{matrix{in: 8, out: 6, inW: 6, inSigned: true, wW: 5, biasW: 12, cast: num.Cast{Shift: 5, Width: 8, Signed: true}},
			2, 3},
		{matrix{in: 4, out: 4, inW: 8, wW: 8, biasW: 14, pshW: 2, cast: num.Cast{Shift: 9, Width: 8}}, 4, 1},
		{matrix{in: 6, out: 2, inW: 5, wW: 4, biasW: 9, cast: num.Cast{Shift: 3, Width: 9, Signed: true}}, 3, 2},
	} {
		c.m.fill(rand.New(rand.NewPCG(uint64(i), 77)))
		list = append(list, fedBench(&c.m, c.in, c.out))
	}
	return list
}

// TestLinearFed has vectors, weights and results pause independently: with several folds, with one beat a vector, with
// one use of each vector.
func TestLinearFed(t *testing.T) {
	for _, b := range fedCases() {
		rtltest.Run(t, b)
	}
}

// TestLinearFedBroken plants what goes wrong only where weights are late.
func TestLinearFedBroken(t *testing.T) {
	for _, c := range []struct{ file, good, bad string }{
		{"op_linear_walk.sv", "(!fresh || valid) && ready", "!fresh || valid && ready"},
		{"op_linear_fed.sv", "en && fresh && w_ready", "en && fresh"},
	} {
		broken(t, c.file, c.good, c.bad, func() rtltest.Bench { return fedCases()[0] }, "op_linear_fed")
	}
}
