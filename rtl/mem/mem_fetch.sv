// SPDX-License-Identifier: Apache-2.0
// mem_fetch: the words of a region of a memory outside as a stream, in the order of addresses, over and over. It asks
//   axi_read for bursts as it has room for them, and cuts beats into words or joins them.
//   A set is DEPTH words. A beat holds BITS / WIDTH words, the first in the low bits; a wider word lies in as many
//   beats as it needs, the low bits first. Sets begin at multiples of 4 KiB.
//   parameters  WIDTH    bits of a word
//               DEPTH    words of a set
//               SETS     number of sets
//               TURNS    how often a set is sent before the next one is
//               ONCE     1: the sets are sent once, TURNS times each; 0: over and over
//               BITS     bits of a beat
//               BURST    beats of a burst, a power of two, at most 256 and 4 KiB
//               BUFFER   beats that are held or under way, at least BURST; twice as many hide how long a burst takes
//               AT       first beat of the region
//               AT_W     bits of an address in beats
//               SUM      sum of all words cut into 32-bit limbs, modulo 2^32: other words end the simulation
//   latency: 6   ii: 1   order: words ascending
//   let: PER = WIDTH <= BITS ? BITS / WIDTH : 1; PARTS = (WIDTH + BITS - 1) / BITS
//   lut: AT_W / 2 + 2 * clog2(BUFFER + 1) + 6 + (SETS > 1 ? AT_W + 2 * clog2(SETS) + 8 : 0) + (PER > 1 ? BITS + 2 *
//       clog2(DEPTH) : 0)
//   ff: AT_W + clog2(BUFFER + 1) + 2 + (SETS > 1 ? AT_W + clog2(SETS) : 0) + (PER > 1 ? BITS + clog2(DEPTH) +
//       clog2(PER) : 0)
//   parts: u_buffer + (PARTS > 1 ? u_join : u_skid)
`default_nettype none
module mem_fetch #(
    parameter integer WIDTH = 32,
    parameter integer DEPTH = 16,
    parameter integer SETS  = 1,
    parameter integer TURNS = 1,
    parameter integer ONCE  = 0,
    parameter integer BITS  = 128,
    parameter integer BURST = 16,
    parameter integer BUFFER = 32,
    parameter integer AT    = 0,
    parameter integer AT_W  = 16,
    parameter [31:0]  SUM   = 32'd0
) (
    input  wire             clk,
    input  wire             rst,
    output wire             ask_valid,
    output wire [ AT_W-1:0] ask_at,
    output wire [      7:0] ask_len,
    input  wire             ask_ready,
    input  wire [ BITS-1:0] beat_data,
    input  wire             beat_valid,
    output wire [WIDTH-1:0] out_data,
    output wire             out_valid,
    input  wire             out_ready
);
  localparam integer PER = WIDTH <= BITS ? BITS / WIDTH : 1;
  localparam integer PARTS = (WIDTH + BITS - 1) / BITS;
  localparam integer BEATS = (DEPTH + PER - 1) / PER * PARTS;  // of a set
  localparam integer PAGE = 4096 * 8 / BITS;
  localparam integer STRIDE = (BEATS + PAGE - 1) / PAGE * PAGE;
  localparam integer BURSTS = (BEATS + BURST - 1) / BURST;
  localparam integer LAST = BEATS - (BURSTS - 1) * BURST;
  localparam integer BW = BURSTS > 1 ? $clog2(BURSTS) : 1;
  localparam integer TW = TURNS > 1 ? $clog2(TURNS) : 1;
  localparam integer SW = SETS > 1 ? $clog2(SETS) : 1;
  localparam integer HW = $clog2(BUFFER + 1);

  generate
    if (BURST < 1 || BURST > 256 || BURST > PAGE || (1 << $clog2(BURST)) != BURST || BUFFER < BURST) begin : g_bad
      BURST_must_be_a_power_of_two_up_to_256_and_4_KiB_and_BUFFER_no_less u_bad ();
    end
    if (SETS < 1 || TURNS < 1) begin : g_bad_sets
      SETS_and_TURNS_must_be_at_least_1 u_bad ();
    end
  endgenerate

  // Which burst comes next.
  logic [BW-1:0] burst;
  logic [TW-1:0] turn;
  logic [SW-1:0] set;
  logic [AT_W-1:0] at, start;  // of the burst, of the set
  logic over;
  wire burst_last = burst == BW'(BURSTS - 1);
  wire turn_last = turn == TW'(TURNS - 1);
  wire set_last = set == SW'(SETS - 1);
  wire [AT_W-1:0] next_start = !turn_last ? start : set_last ? AT_W'(AT) : start + AT_W'(STRIDE);
  wire asks = ask_valid && ask_ready;
  logic [HW-1:0] held;  // beats that were asked for and have not left the buffer
  wire leaves;
  assign ask_valid = !over && held <= HW'(BUFFER - BURST);
  assign ask_at = at;
  assign ask_len = burst_last ? 8'(LAST - 1) : 8'(BURST - 1);

  always_ff @(posedge clk) begin
    if (asks) begin
      at    <= burst_last ? next_start : at + AT_W'(BURST);
      burst <= burst_last ? BW'(0) : burst + BW'(1);
      if (burst_last) begin
        start <= next_start;
        turn  <= turn_last ? TW'(0) : turn + TW'(1);
        if (turn_last) set <= set_last ? SW'(0) : set + SW'(1);
        over <= ONCE != 0 && turn_last && set_last;
      end
    end
    held <= held + (asks ? (burst_last ? HW'(LAST) : HW'(BURST)) : HW'(0)) - HW'(leaves);
    if (rst) begin
      at    <= AT_W'(AT);
      start <= AT_W'(AT);
      burst <= BW'(0);
      turn  <= TW'(0);
      set   <= SW'(0);
      over  <= 1'b0;
      held  <= HW'(0);
    end
  end

  wire [BITS-1:0] beat;
  wire there, taken, room;  // room is always there: it was asked for
  assign leaves = there && taken;
  stream_fifo #(
      .WIDTH(BITS),
      .DEPTH(BUFFER)
  ) u_buffer (
      .clk(clk), .rst(rst), .in_data(beat_data), .in_valid(beat_valid), .in_ready(room),
      .out_data(beat), .out_valid(there), .out_ready(taken)
  );
  wire unused_room = &{1'b0, room};

  // Beats become words.
  generate
    if (PARTS > 1) begin : g_join
      wire [PARTS*BITS-1:0] word;
      stream_widen #(
          .WIDTH(BITS),
          .N(PARTS)
      ) u_join (
          .clk(clk), .rst(rst), .in_data(beat), .in_valid(there), .in_ready(taken),
          .out_data(word), .out_valid(out_valid), .out_ready(out_ready)
      );
      assign out_data = word[WIDTH-1:0];
      wire unused = &{1'b0, word};
    end else begin : g_cut
      wire [WIDTH-1:0] word;
      wire word_valid, word_ready;
      if (PER == 1) begin : g_same
        assign word = beat[WIDTH-1:0];
        assign word_valid = there;
        assign taken = word_ready;
        wire unused = &{1'b0, beat};
      end else begin : g_parts
        localparam integer PW = $clog2(PER);
        localparam integer DW = DEPTH > 1 ? $clog2(DEPTH) : 1;
        logic [BITS-1:0] rest;
        logic [PW-1:0] part;
        logic [DW-1:0] place;  // of the word in the set
        logic busy;
        wire place_last = place == DW'(DEPTH - 1);
        wire part_last = part == PW'(PER - 1) || place_last;  // what lies behind the last word is no word
        assign word = rest[WIDTH-1:0];
        assign word_valid = busy;
        assign taken = !busy || (word_ready && part_last);
        always_ff @(posedge clk) begin
          if (taken) rest <= beat;
          else if (word_ready) rest <= rest >> WIDTH;
          if (taken) part <= PW'(0);
          else if (word_ready) part <= part + PW'(1);
          if (taken) busy <= there;
          if (busy && word_ready) place <= place_last ? DW'(0) : place + DW'(1);
          if (rst) begin
            busy  <= 1'b0;
            place <= DW'(0);
          end
        end
      end
      stream_skid #(
          .WIDTH(WIDTH)
      ) u_skid (
          .clk(clk), .rst(rst), .in_data(word), .in_valid(word_valid), .in_ready(word_ready),
          .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
      );
    end
  endgenerate

`ifndef SYNTHESIS
  // The first time that each set comes.
  localparam integer LIMBS = (WIDTH + 31) / 32;
  integer seen_word = 0, seen_turn = 0, seen_set = 0;
  reg [31:0] sum = 32'd0;

  function [31:0] added(input [31:0] old_sum, input [32*LIMBS-1:0] value);
    integer i;
    begin
      added = old_sum;
      for (i = 0; i < LIMBS; i = i + 1) added = added + value[32*i+:32];
    end
  endfunction

  wire [31:0] next_sum = added(sum, (32 * LIMBS)'(out_data));
  always @(posedge clk)
    if (rst) begin
      seen_word <= 0;
      seen_turn <= 0;
      seen_set  <= 0;
      sum       <= 32'd0;
    end else if (out_valid && out_ready && seen_set < SETS) begin
      if (seen_turn == 0) sum <= next_sum;
      seen_word <= seen_word == DEPTH - 1 ? 0 : seen_word + 1;
      if (seen_word == DEPTH - 1) begin
        seen_turn <= seen_turn == TURNS - 1 ? 0 : seen_turn + 1;
        if (seen_turn == TURNS - 1) seen_set <= seen_set + 1;
        if (seen_turn == 0 && seen_set == SETS - 1 && next_sum !== SUM)
          $fatal(1, "%m: weights from memory have checksum %h, not %h: a wrong file or base address", next_sum, SUM);
      end
    end
`endif
endmodule
`default_nettype wire
