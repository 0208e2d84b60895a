// SPDX-License-Identifier: Apache-2.0
// mem_hold: weights that are read from a memory outside after reset and then stay in the chip: a RAM in the place of a
//   ROM. Of several sets, which are used by turns, it holds all or two: then the next one comes while one is used.
//   parameters  WIDTH DEPTH SETS TURNS BITS BURST BUFFER AT AT_W SUM   see mem_fetch; TURNS: how often a set is used
//               ALL    1: all sets stay in the chip
//               STYLE  "auto", "block", "distributed" or "ultra": the RAM
//   ready: the set that is used is there; with ALL, all are. step: its next word is used in this cycle if en; data has
//   it two cycles of en later.
//   latency: 2   ii: 1   order: words ascending
//   lut: DW + TO_W + (SETS > 1 ? 2 * TW + (ALL ? 2 * AW : 0) : 0) + 6
//   ff: DW + TO_W + (SETS > 1 ? TW + (ALL ? AW + 1 : 4) : 1)
//   parts: u_fetch + u_ram
`default_nettype none
module mem_hold #(
    parameter integer WIDTH  = 32,
    parameter integer DEPTH  = 16,
    parameter integer SETS   = 1,
    parameter integer TURNS  = 1,
    parameter integer ALL    = 0,
    parameter integer BITS   = 128,
    parameter integer BURST  = 16,
    parameter integer BUFFER = 32,
    parameter integer AT     = 0,
    parameter integer AT_W   = 16,
    parameter [31:0]  SUM    = 32'd0,
    parameter         STYLE  = "auto"
) (
    input  wire             clk,
    input  wire             rst,
    output wire             ask_valid,
    output wire [ AT_W-1:0] ask_at,
    output wire [      7:0] ask_len,
    input  wire             ask_ready,
    input  wire [ BITS-1:0] beat_data,
    input  wire             beat_valid,
    input  wire             en,
    input  wire             step,
    output wire             ready,
    output wire [WIDTH-1:0] data
);
  localparam integer DW = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam integer TW = TURNS > 1 ? $clog2(TURNS) : 1;
  localparam integer KEPT = SETS == 1 || ALL != 0 ? SETS : 2;  // sets in the chip
  localparam integer AW = KEPT * DEPTH > 1 ? $clog2(KEPT * DEPTH) : 1;
  localparam integer PLACES = ALL != 0 ? SETS * DEPTH : DEPTH;  // words until something is full
  localparam integer TO_W = ALL != 0 ? AW : DW;

  wire [WIDTH-1:0] word;
  wire comes, room;
  mem_fetch #(
      .WIDTH(WIDTH), .DEPTH(DEPTH), .SETS(SETS), .TURNS(1), .ONCE(SETS > 1 && ALL == 0 ? 0 : 1), .BITS(BITS),
      .BURST(BURST), .BUFFER(BUFFER), .AT(AT), .AT_W(AT_W), .SUM(SUM)
  ) u_fetch (
      .clk(clk), .rst(rst), .ask_valid(ask_valid), .ask_at(ask_at), .ask_len(ask_len), .ask_ready(ask_ready),
      .beat_data(beat_data), .beat_valid(beat_valid), .out_data(word), .out_valid(comes), .out_ready(room)
  );

  logic [TO_W-1:0] to;
  logic [DW-1:0] from;  // place in a set
  wire write = comes && room;
  wire to_last = to == TO_W'(PLACES - 1);
  wire use_word = en && step;
  wire from_last = from == DW'(DEPTH - 1);
  wire [AW-1:0] write_at, read_at;
  always_ff @(posedge clk) begin
    if (write) to <= to_last ? TO_W'(0) : to + TO_W'(1);
    if (use_word) from <= from_last ? DW'(0) : from + DW'(1);
    if (rst) begin
      to   <= TO_W'(0);
      from <= DW'(0);
    end
  end

  generate
    wire set_used;  // for the last time in a row
    if (SETS == 1) begin : g_always
      assign set_used = 1'b0;
    end else begin : g_turns
      logic [TW-1:0] turn;
      wire turn_last = turn == TW'(TURNS - 1);
      assign set_used = use_word && from_last && turn_last;
      always_ff @(posedge clk) begin
        if (use_word && from_last) turn <= turn_last ? TW'(0) : turn + TW'(1);
        if (rst) turn <= TW'(0);
      end
    end
    if (SETS == 1 || ALL != 0) begin : g_all
      logic full;
      always_ff @(posedge clk) begin
        if (write && to_last) full <= 1'b1;
        if (rst) full <= 1'b0;
      end
      assign room = !full;
      assign ready = full;
      assign write_at = AW'(to);
      if (SETS == 1) begin : g_one
        assign read_at = from;
        wire unused = &{1'b0, set_used};
      end else begin : g_sets
        logic [AW-1:0] base;  // of the set
        always_ff @(posedge clk) begin
          if (set_used) base <= base == AW'((SETS - 1) * DEPTH) ? AW'(0) : base + AW'(DEPTH);
          if (rst) base <= AW'(0);
        end
        assign read_at = DEPTH == 1 ? base : base + AW'(from);
        wire unused = &{1'b0, from};  // of one word there is no place
      end
    end else begin : g_two
      logic [1:0] full;
      logic into, out;  // halves
      wire fills = write && to_last;
      always_ff @(posedge clk) begin
        into <= into ^ fills;
        out  <= out ^ set_used;
        full <= (full | {fills && into, fills && !into}) & ~{set_used && out, set_used && !out};
        if (rst) begin
          into <= 1'b0;
          out  <= 1'b0;
          full <= 2'b00;
        end
      end
      assign room = into ? !full[1] : !full[0];
      assign ready = out ? full[1] : full[0];
      if (DEPTH == 1) begin : g_word
        assign write_at = into;
        assign read_at = out;
      end else begin : g_words
        assign write_at = AW'(to) + (into ? AW'(DEPTH) : AW'(0));
        assign read_at = AW'(from) + (out ? AW'(DEPTH) : AW'(0));
      end
    end
  endgenerate

  mem_ram #(
      .WIDTH(WIDTH), .DEPTH(KEPT * DEPTH), .STYLE(STYLE), .LATENCY(2)
  ) u_ram (
      .clk(clk), .we(write), .waddr(write_at), .wdata(word), .en(en), .raddr(read_at), .rdata(data)
  );
endmodule
`default_nettype wire
