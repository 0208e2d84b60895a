// SPDX-License-Identifier: Apache-2.0

package mem_test

import (
	"bytes"
	"math/big"
	"strings"
	"testing"

	"lathe/emit/bench"
	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/rtltest"
)

// cache is a point of the bench of mem_cache: two of them at one memory, of which one takes every beat one bit turned.
type cache struct {
	width, tokens, heads, groups, beats, lanes int
	bits, burst                                int
	// length is the tokens of a frame, which is a sequence; stalls and delay are those of the memory.
	length, stalls, delay int
}

func (c cache) bench() rtltest.Bench {
	p := rtltest.P
	return rtltest.Bench{
		Module: "cache_bench",
		Params: []rtl.Param{p("WIDTH", c.width), p("TOKENS", c.tokens), p("HEADS", c.heads), p("GROUPS", c.groups),
			p("BEATS", c.beats), p("LANES", c.lanes), p("BITS", c.bits), p("BURST", c.burst), p("STALLS", c.stalls),
			p("DELAY", c.delay)},
		Untimed:  true,
		Files:    cacheFiles(),
		In:       []rtltest.Port{{Name: "in", Beats: c.length * c.groups * c.beats}},
		Out:      []rtltest.Port{{Name: "out"}},
		Frames:   5,
		BigModel: c.model,
	}
}

// model gives for every token, for every head, the tiles up to its own, of both stores.
func (c cache) model(in [][]*big.Int) [][]*big.Int {
	var out []*big.Int
	one := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(c.width)), big.NewInt(1))
	for t := range c.length {
		for h := range c.heads {
			group := h / (c.heads / c.groups)
			for tile := 0; tile*c.lanes <= t; tile++ {
				for k := range c.beats {
					word := new(big.Int)
					for i := range c.lanes {
						if s := tile*c.lanes + i; s <= t {
							x := in[0][(s*c.groups+group)*c.beats+k]
							pair := new(big.Int).Xor(x, one)
							pair.Or(x, pair.Lsh(pair, uint(c.lanes*c.width)))
							word.Or(word, pair.Lsh(pair, uint(i*c.width)))
						}
					}
					out = append(out, word)
				}
			}
		}
	}
	return [][]*big.Int{out}
}

// cacheFiles are the bench, and a memory that synthesis does not see.
func cacheFiles() []rtl.File {
	files := []rtl.File{{Name: "cache_bench.sv", Data: []byte(cacheText)}}
	for _, f := range bench.MemoryParts() {
		text := "`ifndef SYNTHESIS\n// verilator lint_off WIDTH\n// verilator lint_off UNSIGNED\n" + string(f.Data) +
			"// verilator lint_on WIDTH\n// verilator lint_on UNSIGNED\n`endif\n"
		files = append(files, rtl.File{Name: f.Name, Data: []byte(text)})
	}
	return files
}

// TestCache reads what was written: slots that are part of a beat, a beat, and several, words that are part of a beat
// and several; heads that share keys; sequences that end early and whole ones; one token, one lane, many.
func TestCache(t *testing.T) {
	for _, c := range cacheCases()[:4] {
		rtltest.Run(t, c.bench())
	}
}

func cacheCases() []cache {
	return []cache{
		{8, 9, 2, 1, 2, 1, 64, 4, 9, 0, 0},
		{9, 10, 4, 2, 3, 4, 128, 8, 7, 0, 3},
		{16, 7, 1, 1, 1, 5, 64, 2, 7, 20, 9},
		{100, 5, 2, 2, 2, 2, 64, 4, 5, 30, 20},
		{5, 12, 2, 1, 1, 2, 128, 1, 11, 40, 6},
		{128, 4, 1, 1, 3, 1, 128, 16, 1, 0, 0},
		{8, 20, 1, 1, 4, 3, 32, 4, 20, 10, 5},
	}
}

const cacheText = `// cache_bench: two stores in a memory outside, one of which holds every beat inverted.
//   latency: 1   ii: 1   order: token, head, tile, beat
module cache_bench #(
    parameter integer WIDTH = 8,
    parameter integer TOKENS = 4,
    parameter integer HEADS = 2,
    parameter integer GROUPS = 1,
    parameter integer BEATS = 2,
    parameter integer LANES = 1,
    parameter integer BITS = 64,
    parameter integer BURST = 4,
    parameter integer STALLS = 0,
    parameter integer DELAY = 0
) (
    input wire clk,
    input wire rst,
    input wire [WIDTH-1:0] in_data,
    input wire in_valid,
    input wire in_last,
    output wire in_ready,
    output wire [2*LANES*WIDTH-1:0] out_data,
    output wire out_valid,
    input wire out_ready
);
  localparam integer CACHE = 65536;
  localparam integer AT_W = $clog2(CACHE * 8 / BITS);
  localparam integer AT2 = CACHE * 4 / BITS;
  localparam [63:0] BASE = 64'h12345f000;
  wire core_rst, core_valid;
  wire core_ready;
  wire [1:0] key_valid, key_ready, idle, put_valid, put_ready, done, ask_valid, ask_ready, beat_valid;
  wire [2*AT_W-1:0] put_at, ask_at;
  wire [2*BITS-1:0] put_data;
  wire [2*BITS/8-1:0] put_strb;
  wire [15:0] ask_len;
  wire [BITS-1:0] beat_data, rdata, wdata;
  wire [BITS/8-1:0] wstrb;
  wire [63:0] araddr, awaddr;
  wire [7:0] arlen, awlen;
  wire [2:0] arsize, awsize;
  wire [1:0] arburst, awburst, rresp, bresp;
  wire arvalid, arready, rlast, rvalid, rready, awvalid, awready, wlast, wvalid, wready, bvalid, bready;
  wire read_error, write_error;
  wire [$clog2(TOKENS+1)-1:0] position;
  wire [2:0] unused_session;
  stream_session #(.TOKENS(TOKENS), .BEATS(GROUPS * BEATS), .OUTS(3)) session (.clk(clk), .rst(rst), .in_last(in_last),
      .in_valid(in_valid), .in_ready(in_ready), .core_valid(core_valid), .core_ready(core_ready), .core_rst(core_rst),
      .token(unused_session[0]), .closing(unused_session[1]), .idle({idle, !out_valid}),
      .position(position), .error(unused_session[2]));
  axi_read #(.CLIENTS(2), .BITS(BITS), .AT_W(AT_W), .QUEUE(4)) u_read (.clk(clk), .rst(rst), .base(BASE), .late(BASE),
      .ask_valid(ask_valid), .ask_at(ask_at), .ask_len(ask_len), .ask_ready(ask_ready), .beat_data(beat_data),
      .beat_valid(beat_valid), .araddr(araddr), .arlen(arlen), .arsize(arsize), .arburst(arburst), .arvalid(arvalid),
      .arready(arready), .rdata(rdata), .rresp(rresp), .rlast(rlast), .rvalid(rvalid), .rready(rready),
      .error(read_error));
  axi_write #(.CLIENTS(2), .BITS(BITS), .AT_W(AT_W), .QUEUE(4)) u_write (.clk(clk), .rst(rst), .base(BASE),
      .put_valid(put_valid), .put_at(put_at), .put_data(put_data), .put_strb(put_strb), .put_ready(put_ready),
      .done(done), .awaddr(awaddr), .awlen(awlen), .awsize(awsize), .awburst(awburst), .awvalid(awvalid),
      .awready(awready), .wdata(wdata), .wstrb(wstrb), .wlast(wlast), .wvalid(wvalid), .wready(wready), .bresp(bresp),
      .bvalid(bvalid), .bready(bready), .error(write_error));
` + "`ifdef SYNTHESIS" + `
  assign {arready, rdata, rresp, rlast, rvalid, awready, wready, bresp, bvalid} = 0;
` + "`else" + `
  tb_memory #(.BITS(BITS), .BYTES(0), .CACHE(CACHE), .CACHE_BASE(BASE)) memory (.clk(clk), .rst_n(!rst), .seed(32'd5),
      .stalls(STALLS), .latency(DELAY), .araddr(araddr), .arlen(arlen), .arsize(arsize), .arburst(arburst),
      .arvalid(arvalid), .arready(arready), .rdata(rdata), .rresp(rresp), .rlast(rlast), .rvalid(rvalid),
      .rready(rready), .awaddr(awaddr), .awlen(awlen), .awsize(awsize), .awburst(awburst), .awvalid(awvalid),
      .awready(awready), .wdata(wdata), .wstrb(wstrb), .wlast(wlast), .wvalid(wvalid), .wready(wready), .bresp(bresp),
      .bvalid(bvalid), .bready(bready));
  always @(posedge clk) if (!rst && (read_error !== 1'b0 || write_error !== 1'b0)) $fatal(1, "error is set");
` + "`endif" + `
  wire [2*LANES*WIDTH-1:0] words;
  wire [1:0] there;
  wire moves = (&there) && room;
  wire room;
  wire [WIDTH-1:0] held, key;
  wire held_valid, held_ready;
  stream_skid #(.WIDTH(WIDTH)) u_hold (.clk(clk), .rst(core_rst), .in_data(in_data), .in_valid(core_valid),
      .in_ready(core_ready), .out_data(held), .out_valid(held_valid), .out_ready(held_ready));
  stream_fork #(.WIDTH(WIDTH), .N(2)) u_fork (.clk(clk), .rst(core_rst), .in_data(held), .in_valid(held_valid),
      .in_ready(held_ready), .out_data(key), .out_valid(key_valid), .out_ready(key_ready));
  genvar i;
  generate
    for (i = 0; i < 2; i = i + 1) begin : g_store
      mem_cache #(.WIDTH(WIDTH), .TOKENS(TOKENS), .HEADS(HEADS), .GROUPS(GROUPS), .BEATS(BEATS), .LANES(LANES),
          .BITS(BITS), .BURST(BURST), .AT(i * AT2), .AT_W(AT_W)) u_store (.clk(clk), .rst(core_rst),
          .in_data(i == 0 ? key : ~key), .in_valid(key_valid[i]), .in_ready(key_ready[i]),
          .put_valid(put_valid[i]), .put_at(put_at[i*AT_W+:AT_W]), .put_data(put_data[i*BITS+:BITS]),
          .put_strb(put_strb[i*BITS/8+:BITS/8]), .put_ready(put_ready[i]), .done(done[i]), .ask_valid(ask_valid[i]),
          .ask_at(ask_at[i*AT_W+:AT_W]), .ask_len(ask_len[i*8+:8]), .ask_ready(ask_ready[i]), .beat_data(beat_data),
          .beat_valid(beat_valid[i]), .out_data(words[i*LANES*WIDTH+:LANES*WIDTH]), .out_valid(there[i]),
          .out_ready(moves), .idle(idle[i]));
    end
  endgenerate

  // Lanes of later tokens hold anything.
  reg [31:0] token, head, tile, beat;
  wire row_last = beat == BEATS - 1 && tile == token / LANES;
  reg [2*LANES*WIDTH-1:0] seen;
  always @* begin
    seen = words;
    for (int k = 0; k < LANES; k++)
      if (tile * LANES + k > token) begin
        seen[k*WIDTH+:WIDTH] = {WIDTH{1'b0}};
        seen[(LANES+k)*WIDTH+:WIDTH] = {WIDTH{1'b0}};
      end
  end
  always @(posedge clk) begin
    if (moves) begin
      beat <= beat == BEATS - 1 ? 32'd0 : beat + 32'd1;
      if (beat == BEATS - 1) tile <= row_last ? 32'd0 : tile + 32'd1;
      if (row_last) head <= head == HEADS - 1 ? 32'd0 : head + 32'd1;
      if (row_last && head == HEADS - 1) token <= token + 32'd1;
    end
    if (core_rst) begin
      beat <= 32'd0;
      tile <= 32'd0;
      head <= 32'd0;
      token <= 32'd0;
    end
  end
  stream_skid #(.WIDTH(2 * LANES * WIDTH)) u_skid (.clk(clk), .rst(core_rst), .in_data(seen), .in_valid(&there),
      .in_ready(room), .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready));
  wire unused = &{1'b0, position, unused_session};
endmodule
`

// TestCacheBroken plants faults: among them a token that its own query does not wait for, and a read before its write.
func TestCacheBroken(t *testing.T) {
	tools.Need(t, "verilator", "g++", "iverilog", "yosys")
	for _, c := range cacheFaults[:2] {
		c.found(t)
	}
}

// cacheFault is a fault of one of the modules, which the bench of a case sees.
type cacheFault struct {
	at             int
	file, old, bad string
}

var cacheFaults = []cacheFault{
	{1, "mem_cache_walk.sv", "(!gated || rows != LW'(0))", "(!gated || !rows[0] || rows[0])"},
	{3, "mem_cache_walk.sv", "at >> BURST_W >= own", "at >> BURST_W > own"},
	{2, "mem_cache_walk.sv", "row_last <= (passed + BW'(2 * STEP - 1))", "row_last <= (passed + BW'(STEP - 1))"},
	{4, "mem_cache_walk.sv", "held <= HW'(BUFFER - BURST)", "held <= HW'(BUFFER)"},
	{1, "mem_cache_put.sv", "lane_last ? tile + U_W'(BEATS * STEP) : tile", "tile + U_W'(BEATS * STEP)"},
	{3, "mem_cache_put.sv", "count == NW'(ROW - 1)", "count == NW'(0)"},
	{0, "mem_cache_words.sv", "part == PW'(PER - 1) || row_last", "part == PW'(PER - 1)"},
	{1, "axi_write.sv", "owner == CW'(i)", "(owner[0] || !owner[0])"},
	{1, "axi_write.sv", "base[63:12] + offset[63:12]", "base[63:12] | offset[63:12]"},
	{2, "axi_write.sv", "(!wvalid || wready);", "1'b1;"},
}

func (c cacheFault) found(t *testing.T) {
	t.Helper()
	b := cacheCases()[c.at].bench()
	b.Files = append(b.Files, broken(t, c.file, c.old, c.bad))
	rtltest.RunBroken(t, c.file+": "+c.bad, b)
}

// broken is a file of the library with a fault.
func broken(t *testing.T, name, old, bad string) rtl.File {
	t.Helper()
	files, err := rtl.Files(strings.TrimSuffix(name, ".sv"))
	if err != nil {
		t.Fatal(err)
	}
	f := files[len(files)-1]
	if f.Name != name || bytes.Count(f.Data, []byte(old)) != 1 {
		t.Fatalf("%s does not hold %q once", f.Name, old)
	}
	f.Data = bytes.Replace(f.Data, []byte(old), []byte(bad), 1)
	return f
}
