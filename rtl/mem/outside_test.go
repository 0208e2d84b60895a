// SPDX-License-Identifier: Apache-2.0

package mem_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/rtltest"
)

// outside is a point of the bench of weights from outside: two memories of words at one axi_read, in front of what adds
// a word of each to what comes in.
type outside struct {
	module                string
	width, depth          int
	sets, turns, all      int
	bits, burst, pause    int
	otherWidth, otherDeep int
}

// words are the contents, drawn.
func (o outside) words(width, depth, sets int) []*big.Int {
	r := rand.New(rand.NewPCG(uint64(width), uint64(depth)))
	var list []*big.Int
	for range depth * sets {
		w := new(big.Int)
		for w.BitLen() < width+64 {
			w.Lsh(w, 64).Or(w, new(big.Int).SetUint64(r.Uint64()|1))
		}
		list = append(list, w.Rsh(w, uint(w.BitLen()-width)))
	}
	return list
}

// bench is the bench; a frame is what all sets take with all their turns.
func (o outside) bench() rtltest.Bench {
	words, other := o.words(o.width, o.depth, o.sets), o.words(o.otherWidth, o.otherDeep, 1)
	image := func(width int, words []*big.Int) rtl.Image {
		return rtl.Image{Param: "SUM", Width: width, Words: words}
	}
	var lines []*big.Int
	regions := func(width, depth int, words []*big.Int) (first int) {
		first = len(lines)
		for ; len(words) > 0; words = words[depth:] {
			lines = append(lines, beatsOf(width, o.bits, words[:depth])...)
			page := 4096 * 8 / o.bits
			for len(lines)%page != 0 {
				lines = append(lines, new(big.Int))
			}
		}
		return first
	}
	regions(o.width, o.depth, words)
	at := regions(o.otherWidth, o.otherDeep, other)
	p := rtltest.P
	frame := o.sets * o.turns * o.depth
	return rtltest.Bench{
		Module: "outside_bench",
		Params: []rtl.Param{p("WIDTH", o.width), p("DEPTH", o.depth), p("SETS", o.sets), p("TURNS", o.turns),
			p("ALL", o.all), p("BITS", o.bits), p("BURST", o.burst), p("PAUSE", o.pause), p("BEATS", len(lines)),
			p("W2", o.otherWidth),
			p("D2", o.otherDeep), p("AT2", at),
			{Name: "S1", Value: fmt.Sprintf("32'h%08x", image(o.width, words).Sum())},
			{Name: "S2", Value: fmt.Sprintf("32'h%08x", image(o.otherWidth, other).Sum())}},
		Images: []rtl.Image{{Param: "CONTENTS", Width: o.bits, Words: lines}},
		Files: []rtl.File{{Name: "outside_bench.sv",
			Data: []byte(o.text())}},
		In:     []rtltest.Port{{Name: "in", Beats: frame}},
		Out:    []rtltest.Port{{Name: "out"}},
		Frames: 2 * max(o.otherDeep, 4), // both memories meet all their words, and begin again
		BigModel: func(in [][]*big.Int) [][]*big.Int {
			var out []*big.Int
			for i, x := range in[0] {
				sweep := i / o.depth
				w := words[sweep/o.turns*o.depth+i%o.depth]
				v := new(big.Int).Xor(x, w)
				mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(o.width)), big.NewInt(1))
				out = append(out, v.Xor(v, new(big.Int).And(other[i%o.otherDeep], mask)))
			}
			return [][]*big.Int{out}
		},
	}
}

// text is the bench with the module; ALL is a parameter of mem_hold alone.
func (o outside) text() string {
	t := strings.ReplaceAll(outsideBench, "MEMORY", o.module)
	if o.module != "mem_hold" {
		t = strings.ReplaceAll(t, ".ALL(ALL), ", "")
	}
	return t
}

// beatsOf cuts words into beats, or beats into words, as docs/memory.md says.
func beatsOf(width, bits int, words []*big.Int) (beats []*big.Int) {
	mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(bits)), big.NewInt(1))
	per := bits / width
	for i, w := range words {
		if per == 0 {
			for at := 0; at < width; at += bits {
				part := new(big.Int).Rsh(w, uint(at))
				beats = append(beats, part.And(part, mask))
			}
			continue
		}
		if i%per == 0 {
			beats = append(beats, new(big.Int))
		}
		last := beats[len(beats)-1]
		last.Or(last, new(big.Int).Lsh(w, uint(i%per*width)))
	}
	return beats
}

// TestOutside reads words that are a beat, parts of one and several, in bursts of one and more, whole and broken off;
// one set and several.
func TestOutside(t *testing.T) {
	for _, o := range outsideCases() {
		rtltest.Run(t, o.bench())
	}
}

func outsideCases() []outside {
	return []outside{
		{"mem_stream", 12, 8, 1, 1, 0, 64, 4, 0, 20, 4},
		{"mem_stream", 60, 9, 1, 1, 0, 128, 4, 0, 9, 3},
		{"mem_hold", 64, 6, 1, 1, 0, 64, 4, 0, 9, 3},
		{"mem_stream", 21, 5, 3, 2, 0, 64, 1, 0, 64, 5},
		{"mem_hold", 12, 10, 1, 2, 0, 64, 4, 3, 20, 5},
		{"mem_hold", 100, 7, 1, 1, 0, 64, 8, 1, 13, 7},
		{"mem_hold", 30, 8, 3, 2, 0, 128, 2, 0, 12, 4},
		{"mem_hold", 16, 1, 2, 3, 0, 64, 2, 0, 8, 2},
		{"mem_hold", 40, 5, 3, 2, 1, 64, 2, 0, 10, 3},
		{"mem_hold", 21, 1, 4, 2, 1, 64, 4, 0, 8, 2},
	}
}

const outsideBench = `// outside_bench: a memory of weights and a held one at one port; a beat takes a word of each.
//   latency: 3   ii: SETS * TURNS * DEPTH   order: as it comes
module outside_bench #(
    parameter integer WIDTH = 12,
    parameter integer DEPTH = 10,
    parameter integer SETS = 1,
    parameter integer TURNS = 1,
    parameter integer ALL = 0,
    parameter integer BITS = 64,
    parameter integer BURST = 4,
    parameter integer PAUSE = 0,
    parameter integer BEATS = 16,
    parameter integer W2 = 20,
    parameter integer D2 = 5,
    parameter integer AT2 = 8,
    parameter [31:0] S1 = 0,
    parameter [31:0] S2 = 0,
    parameter CONTENTS = "",
    parameter [31:0] CONTENTS_SUM = 0
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
  localparam integer AT_W = $clog2(BEATS) + 1;
  localparam [63:0] BASE = 64'h123457000;
  wire [1:0] ask_valid, ask_ready, beat_valid, ready;
  wire [2*AT_W-1:0] ask_at;
  wire [15:0] ask_len;
  wire [BITS-1:0] beat_data;
  wire [63:0] araddr;
  wire [7:0] arlen;
  wire [2:0] arsize;
  wire [1:0] arburst;
  wire arvalid, rready, failed, room;
  reg rvalid, rlast;
  reg [BITS-1:0] rdata;
  wire arready;
  axi_read #(.CLIENTS(2), .BITS(BITS), .AT_W(AT_W), .QUEUE(4)) u_port (.clk(clk), .rst(rst), .base(BASE), .late(BASE),
      .ask_valid(ask_valid), .ask_at(ask_at), .ask_len(ask_len), .ask_ready(ask_ready), .beat_data(beat_data),
      .beat_valid(beat_valid), .araddr(araddr), .arlen(arlen), .arsize(arsize), .arburst(arburst), .arvalid(arvalid),
      .arready(arready), .rdata(rdata), .rresp(2'b00), .rlast(rlast), .rvalid(rvalid), .rready(rready), .error(failed));

  // Bursts one after the other, PAUSE cycles between beats; what is held is there before anything goes in.
  reg [BITS-1:0] m[0:BEATS-1];
  initial if (CONTENTS != "") $readmemh(CONTENTS, m);
  reg busy;
  reg [63:0] at;
  reg [7:0] left;
  reg [7:0] pause;
  reg [9:0] warm;
  reg bad;  // nothing moves any more
  assign arready = !busy;
  // verilator lint_off WIDTH
  always @(posedge clk) begin
    rvalid <= 1'b0;
    rlast <= 1'b0;
    rdata <= {BITS{1'bx}};
    if (!busy && arvalid) begin
      busy <= 1'b1;
      at <= (araddr - BASE) / (BITS / 8);
      left <= arlen;
      pause <= 8'd0;
      if (arsize != $clog2(BITS / 8) || arburst != 2'b01 || (araddr & 64'd4095) + (64'(arlen) + 1) * (BITS / 8) > 4096)
        bad <= 1'b1;
    end else if (busy && pause == 8'd0) begin
      rvalid <= 1'b1;
      rlast <= left == 8'd0;
      rdata <= m[at[AT_W-1:0]];
      at <= at + 64'd1;
      left <= left - 8'd1;
      busy <= left != 8'd0;
      pause <= 8'(PAUSE);
    end else pause <= pause - 8'd1;
    if (warm != 10'd1023) warm <= warm + 10'd1;
    if (rst) begin
      busy <= 1'b0;
      rvalid <= 1'b0;
      rlast <= 1'b0;
      warm <= 10'd0;
      bad <= 1'b0;
    end
  end

  // verilator lint_on WIDTH
  wire [WIDTH-1:0] w1;
  wire [W2-1:0] w2;
  wire en = room || !v[1];
  wire take = in_valid && in_ready;
  assign in_ready = en && ready == 2'b11 && warm == 10'd1023 && !bad && !failed;
  MEMORY #(.WIDTH(WIDTH), .DEPTH(DEPTH), .SETS(SETS), .TURNS(TURNS), .ALL(ALL), .BITS(BITS), .BURST(BURST),
      .BUFFER(4*BURST), .AT(0), .AT_W(AT_W), .SUM(S1)) u_one (.clk(clk), .rst(rst), .ask_valid(ask_valid[0]),
      .ask_at(ask_at[0+:AT_W]),
      .ask_len(ask_len[7:0]), .ask_ready(ask_ready[0]), .beat_data(beat_data), .beat_valid(beat_valid[0]), .en(en),
      .step(take), .ready(ready[0]), .data(w1));
  mem_hold #(.WIDTH(W2), .DEPTH(D2), .BITS(BITS), .BURST(1), .BUFFER(2), .AT(AT2), .AT_W(AT_W), .SUM(S2)) u_two (
      .clk(clk), .rst(rst), .ask_valid(ask_valid[1]), .ask_at(ask_at[AT_W+:AT_W]), .ask_len(ask_len[15:8]),
      .ask_ready(ask_ready[1]), .beat_data(beat_data), .beat_valid(beat_valid[1]), .en(en), .step(take),
      .ready(ready[1]), .data(w2));
  // verilator lint_off WIDTH
  wire [WIDTH-1:0] w2_x = w2;
  // verilator lint_on WIDTH
  reg [WIDTH-1:0] x0, x1;
  reg [1:0] v;
  always @(posedge clk) begin
    if (en) begin
      x0 <= in_data;
      x1 <= x0;
      v <= {v[0], take};
    end
    if (rst) v <= 2'b00;
  end
  stream_skid #(.WIDTH(WIDTH)) u_skid (.clk(clk), .rst(rst), .in_data(x1 ^ w1 ^ w2_x), .in_valid(v[1]),
      .in_ready(room), .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready));
  wire unused = &{1'b0, rready, at, w2, CONTENTS_SUM, ALL};
endmodule
`

// TestOutsideBroken plants faults of all three modules.
func TestOutsideBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	for _, c := range []struct {
		at             int
		file, old, bad string
	}{
		{0, "mem_fetch.sv", "part == PW'(PER - 1) || place_last", "part == PW'(PER - 1)"},
		{3, "mem_fetch.sv", "!turn_last ? start :", "set_last && !turn_last ? start :"},
		{1, "mem_fetch.sv", "held <= HW'(BUFFER - BURST)", "held <= HW'(BUFFER)"},
		{6, "mem_hold.sv", "turn == TW'(TURNS - 1);", "turn == TW'(0);"},
		{8, "mem_hold.sv", "base == AW'((SETS - 1) * DEPTH)", "base == AW'(SETS * DEPTH - 1)"},
		{8, "mem_hold.sv", "ALL != 0 ? SETS * DEPTH : DEPTH;", "DEPTH;"},
		{6, "mem_hold.sv", "into <= into ^ fills;", "into <= into;"},
		{4, "axi_read.sv", "owner == CW'(i)", "owner != CW'(i)"},
		{4, "axi_read.sv", "from[63:12] + offset[63:12]", "from[63:12] | offset[63:12]"},
	} {
		b := outsideCases()[c.at].bench()
		b.Files = append(b.Files, broken(t, c.file, c.old, c.bad))
		rtltest.RunBroken(t, c.file+": "+c.bad, b)
	}
}
