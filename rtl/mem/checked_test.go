// SPDX-License-Identifier: Apache-2.0

package mem_test

import (
	"math/big"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/rtltest"
)

// checked is a point of the bench of ROMs that are checked.
type checked struct{ width, depth, sets, sweeps int }

func checkedCases() []checked {
	return []checked{{12, 8, 1, 1}, {33, 1, 1, 1}, {100, 5, 1, 1}, {32, 4, 3, 2}, {7, 1, 4, 2}, {1100, 3, 2, 1}}
}

// sign is what mem_checked compares with for an image.
func (c checked) sign(im rtl.Image) string {
	o := rtl.Outside{Module: "mem_checked", Width: c.width, Depth: c.depth, Sets: c.sets, Sweeps: c.sweeps}
	sealed := o.Sealed(im, "")
	return sealed[len(sealed)-1].Value
}

// bench reads a right ROM; of two others, one bit is wrong in one, and a bit of two words in the other. Their checksums
// are those of the wrong words, so simulations go on.
func (c checked) bench() rtltest.Bench {
	words := outside{}.words(c.width, c.depth, c.sets)
	flipped := func(flips ...int) []*big.Int {
		wrong := append([]*big.Int(nil), words...)
		for _, f := range flips {
			i := f / c.width
			wrong[i] = new(big.Int).Xor(wrong[i], new(big.Int).Lsh(big.NewInt(1), uint(f%c.width)))
		}
		return wrong
	}
	image := func(param string, words []*big.Int) rtl.Image {
		return rtl.Image{Param: param, Width: c.width, Words: words}
	}
	all := c.width * len(words)
	p := rtltest.P
	return rtltest.Bench{
		Module: "checked_bench",
		Params: []rtl.Param{p("WIDTH", c.width), p("DEPTH", c.depth), p("SETS", c.sets), p("SWEEPS", c.sweeps),
			{Name: "SIGN", Value: c.sign(image("GOOD", words))}},
		Images: []rtl.Image{image("GOOD", words), image("ONE", flipped(all-1)), image("TWO", flipped(0, all/2))},
		Files:  []rtl.File{{Name: "checked_bench.sv", Data: []byte(checkedBench)}},
		In:     []rtltest.Port{{Name: "in", Beats: c.sets * c.sweeps * c.depth}},
		Out:    []rtltest.Port{{Name: "out"}},
		Frames: 5,
		BigModel: func(in [][]*big.Int) [][]*big.Int {
			var out []*big.Int
			for i, x := range in[0] {
				w := words[i/c.depth/c.sweeps%c.sets*c.depth+i%c.depth]
				out = append(out, new(big.Int).Xor(x, w))
			}
			return [][]*big.Int{out}
		},
	}
}

const checkedBench = `// checked_bench: a beat takes a word of a checked ROM; two wrong ones must say so alone.
//   latency: 3   ii: SETS * SWEEPS * DEPTH   order: as it comes
module checked_bench #(
    parameter integer WIDTH = 12,
    parameter integer DEPTH = 10,
    parameter integer SETS = 1,
    parameter integer SWEEPS = 1,
    parameter [31:0] SIGN = 0,
    parameter GOOD = "",
    parameter [31:0] GOOD_SUM = 0,
    parameter ONE = "",
    parameter [31:0] ONE_SUM = 0,
    parameter TWO = "",
    parameter [31:0] TWO_SUM = 0
) (
    input wire clk,
    input wire rst,
    input wire [WIDTH-1:0] in_data,
    input wire in_valid,
    output wire in_ready,
    output wire [WIDTH-1:0] out_data,
    output wire out_valid,
    input wire out_ready
);
  localparam integer DW = DEPTH > 1 ? $clog2(DEPTH) : 1;
  wire [WIDTH-1:0] w, w1, w2;
  wire [2:0] ready, error;
  wire room;
  reg [1:0] v;
  reg [6:0] warm;
  reg told;  // the state of the wrong ones never changes again
  reg [DW-1:0] at;
  wire en = room || !v[1];
  wire take = in_valid && in_ready;
  wire ended = warm == 7'd127;
  assign in_ready = en && ended && ready == 3'b001 && error == 3'b110 && told;
  mem_checked #(.WIDTH(WIDTH), .DEPTH(DEPTH), .SETS(SETS), .SWEEPS(SWEEPS), .IMAGE(GOOD), .IMAGE_SUM(GOOD_SUM),
      .SIGN(SIGN)) u_good (.clk(clk), .rst(rst), .en(en), .step(take), .addr(at), .ready(ready[0]), .data(w),
      .error(error[0]));
  mem_checked #(.WIDTH(WIDTH), .DEPTH(DEPTH), .SETS(SETS), .SWEEPS(SWEEPS), .IMAGE(ONE), .IMAGE_SUM(ONE_SUM),
      .SIGN(SIGN)) u_one (.clk(clk), .rst(rst), .en(en), .step(take), .addr(at), .ready(ready[1]), .data(w1),
      .error(error[1]));
  mem_checked #(.WIDTH(WIDTH), .DEPTH(DEPTH), .SETS(SETS), .SWEEPS(SWEEPS), .IMAGE(TWO), .IMAGE_SUM(TWO_SUM),
      .SIGN(SIGN), .STYLE("block")) u_two (.clk(clk), .rst(rst), .en(en), .step(take), .addr(at), .ready(ready[2]),
      .data(w2), .error(error[2]));
  wire unused = &{1'b0, w1, w2};
  reg [WIDTH-1:0] x0, x1;
  always @(posedge clk) begin
    if (!ended) warm <= warm + 7'd1;
    if (ready[2:1] != 2'b00) told <= 1'b0;
    if (take) at <= at == DW'(DEPTH - 1) ? DW'(0) : at + DW'(1);
    if (en) begin
      x0 <= in_data;
      x1 <= x0;
      v <= {v[0], take};
    end
    if (rst) begin
      v <= 2'b00;
      warm <= 7'd0;
      told <= 1'b1;
      at <= DW'(0);
    end
  end
  stream_skid #(.WIDTH(WIDTH)) u_skid (.clk(clk), .rst(rst), .in_data(x1 ^ w), .in_valid(v[1]), .in_ready(room),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready));
endmodule
`

// TestChecked: a ROM with the right words is used, one with a wrong bit never is, and says so.
func TestChecked(t *testing.T) {
	for _, c := range checkedCases() {
		rtltest.Run(t, c.bench())
	}
}

// TestSign: each single wrong bit of an image changes what mem_checked holds at the end.
func TestSign(t *testing.T) {
	c := checked{70, 4, 2, 3}
	words := outside{}.words(c.width, c.depth, c.sets)
	image := func() rtl.Image { return rtl.Image{Width: c.width, Words: words} }
	right := c.sign(image())
	for i, w := range words {
		for b := range c.width {
			words[i] = new(big.Int).Xor(w, new(big.Int).Lsh(big.NewInt(1), uint(b)))
			if c.sign(image()) == right {
				t.Errorf("bit %d of word %d may be wrong", b, i)
			}
		}
		words[i] = w
	}
}

// TestCheckedBroken plants faults of the check.
func TestCheckedBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	for _, c := range []struct {
		at       int
		old, bad string
	}{
		{2, "LIMBS; j = j + 1", "LIMBS - 1; j = j + 1"},
		{0, "assign ready = checked && right", "assign ready = checked"},
		{3, ".step(checked ? step : reads)", ".step(step)"},
	} {
		b := checkedCases()[c.at].bench()
		b.Files = append(b.Files, broken(t, "mem_checked.sv", c.old, c.bad))
		rtltest.RunBroken(t, c.bad, b)
	}
}
