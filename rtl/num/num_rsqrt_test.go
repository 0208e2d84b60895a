// SPDX-License-Identifier: Apache-2.0

package num_test

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/rtltest"
)

// rsqrtStream puts num_rsqrt between two streams; one request at a time.
const rsqrtStream = `// rsqrt_stream: num_rsqrt between two streams.
//   latency: 33 + 2 * FAR   ii: 34 + 2 * FAR   order: as it comes
module rsqrt_stream #(
    parameter integer V_W   = 64,
    parameter integer R_W   = 52,
    parameter integer FAR   = 3,
    parameter integer AHEAD = 0
) (
    input  wire           clk,
    input  wire           rst,
    input  wire [V_W-1:0] in_data,
    input  wire           in_valid,
    output wire           in_ready,
    output wire [R_W-1:0] out_data,
    output wire           out_valid,
    input  wire           out_ready
);
  logic busy, held;
  wire done, late;
  assign in_ready = !busy;
  assign out_valid = late || held;
  generate
    if (AHEAD == 0) begin : g_now
      assign late = done;
    end else begin : g_later
      logic [AHEAD-1:0] later;
      always_ff @(posedge clk) later <= rst ? {AHEAD{1'b0}} : AHEAD'({later, done});
      assign late = later[AHEAD-1];
    end
  endgenerate
  always_ff @(posedge clk) begin
    if (in_valid && in_ready) busy <= 1'b1;
    if (out_valid) held <= 1'b1;
    if (rst || (out_valid && out_ready)) {busy, held} <= 2'b00;
  end
  num_rsqrt #(.V_W(V_W), .R_W(R_W), .FAR(FAR), .AHEAD(AHEAD)) u_root (
      .clk(clk), .rst(rst), .start(in_valid && in_ready), .v(in_data), .r(out_data), .done(done)
  );
endmodule
`

// rsqrt is the definition: 1 / sqrt(v) = r * 2^(-31-k).
func rsqrt(v *big.Int) (r *big.Int, k int) {
	k = (v.BitLen() - 23) >> 1
	w := new(big.Int).Lsh(v, 32) // any even number of bits will do
	w.Rsh(w, uint(32+2*k))
	q := new(big.Int).Div(new(big.Int).Lsh(big.NewInt(1), 62), w)
	r = new(big.Int).Sqrt(q)
	if rest := new(big.Int).Mul(r, r); rest.Sub(q, rest).Cmp(r) > 0 {
		r.Add(r, big.NewInt(1))
	}
	return r, k
}

// rsqrtInput draws numbers of all lengths up to width bits, powers of two, and those whose root is next to a tie.
func rsqrtInput(r *rand.Rand, width, least, frame int) int64 {
	length := least + frame%(width-least+1)
	low := int64(1) << (length - 1)
	switch frame / (width - least + 1) % 4 {
	case 0:
		return low
	case 1:
		return 2*low - 1
	case 2:
		return low + r.Int64N(low)
	}
	v := near[r.IntN(len(near))] + r.Int64N(3) - 1
	if up := (width - 24) / 2; up > 0 {
		return v << (2 * r.IntN(up+1))
	}
	return low
}

// near are all numbers from 2^22 to 2^24 for which a root of one bit more, cut, is not the nearest one.
var near = []int64{4194308, 4376552, 4430632, 6009113, 6153332, 8124862, 11990313, 13255555, 13589532, 14137440,
	15350590}

// rsqrtBench computes roots of numbers of least to width bits.
func rsqrtBench(width, least, far, ahead, frames int) rtltest.Bench {
	p := rtltest.P
	bits := max(24, width+width%2)
	return rtltest.Bench{
		Module: "rsqrt_stream", Files: []rtl.File{{Name: "rsqrt_stream.sv", Data: []byte(rsqrtStream)}},
		Params: []rtl.Param{p("V_W", bits), p("R_W", 21+max(1, (bits-least)/2)), p("FAR", far), p("AHEAD", ahead)},
		In:     []rtltest.Port{{Name: "in"}},
		Out:    []rtltest.Port{{Name: "out"}},
		Gen: func(r *rand.Rand, _, frame int) []int64 {
			return []int64{rsqrtInput(r, width, least, frame)}
		},
		BigModel: func(in [][]*big.Int) [][]*big.Int {
			r, k := rsqrt(in[0][0])
			return [][]*big.Int{{r.Lsh(r, uint((bits-24)/2-k))}}
		},
		Frames: frames,
	}
}

// TestRsqrt covers all lengths of 63 bits, and ranges that need fewer shifts.
func TestRsqrt(t *testing.T) {
	for v, want := range map[int64][2]int64{1: {1048576, -11}, 2: {741455, -11}, 1000: {530542, -7},
		1e12: {549756, 8}, 1<<62 - 1: {524288, 19}} {
		if r, k := rsqrt(big.NewInt(v)); r.Int64() != want[0] || int64(k) != want[1] {
			t.Errorf("rsqrt of %d: %d, %d, want %v", v, r, k, want)
		}
	}
	rtltest.Run(t, rsqrtBench(63, 1, 3, 0, 2000))
	rtltest.Run(t, rsqrtBench(49, 20, 1, 3, 1000))
	rtltest.Run(t, rsqrtBench(52, 6, 2, 4, 500))
	rtltest.Run(t, rsqrtBench(23, 10, 1, 1, 500))
}

// TestRsqrtBroken changes the root where few numbers tell.
func TestRsqrtBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	files, err := rtl.Files("num_rsqrt")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"r[0] && (|rest[WW-1:26] || !beyond[26])", "r[0]"},
		{"!(|x[V_W-1-:16])", "!(|x[V_W-1-:15])"},
		{"phase <= 5'd3", "phase <= 5'd2"},
		{"^ {WW{begins}}", "^ {{WW - 1{begins}}, 1'b0}"},
	} {
		b := rsqrtBench(63, 1, 3, 0, 2000)
		text := bytes.Replace(files[0].Data, []byte(c[0]), []byte(c[1]), 1)
		if bytes.Equal(text, files[0].Data) {
			t.Fatalf("%q does not occur", c[0])
		}
		b.Files = append(b.Files, rtl.File{Name: "num_rsqrt.sv", Data: text})
		rtltest.RunBroken(t, c[1], b)
	}
}
