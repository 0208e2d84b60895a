// SPDX-License-Identifier: Apache-2.0
// mem_cache_words: the words of mem_cache, cut from beats of the memory or joined from them. The last beat of a row may
//   hold fewer words.
//   parameters  WIDTH  bits of a word, its lanes in slots
//               HEADS BEATS LANES BITS   see mem_cache
//               TILES  the most tiles of a row
//               PER PARTS   see mem_cache_put
//   idle: no word is left.
//   latency: PER > 1 ? 2 : PARTS   ii: PER > 1 ? 1 : PARTS   order: as it comes
//   let: NW = clog2(TILES * BEATS + 1)
//   lut: PER > 1 ? BITS + 4 * NW + clog2(HEADS) + clog2(LANES) + 12 : 0
//   ff: PER > 1 ? BITS + clog2(PER) + 2 * NW + clog2(HEADS) + clog2(LANES) + 1 : 0
//   parts: PER > 1 ? u_skid : u_join
`default_nettype none
module mem_cache_words #(
    parameter integer WIDTH = 16,
    parameter integer HEADS = 2,
    parameter integer BEATS = 2,
    parameter integer LANES = 1,
    parameter integer TILES = 4,
    parameter integer BITS  = 128,
    parameter integer PER   = 8,
    parameter integer PARTS = 1
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [ BITS-1:0] in_data,
    input  wire             in_valid,
    output wire             in_ready,
    output wire [WIDTH-1:0] out_data,
    output wire             out_valid,
    input  wire             out_ready,
    output wire             idle
);
  generate
    if (PER > 1) begin : g_cut
      localparam integer PW = $clog2(PER);
      localparam integer NW = $clog2(TILES * BEATS + 1);
      localparam integer HW = HEADS > 1 ? $clog2(HEADS) : 1;
      localparam integer RW = LANES > 1 ? $clog2(LANES) : 1;
      logic [BITS-1:0] rest;
      logic [PW-1:0] part;
      logic busy;
      logic [NW-1:0] length, left;  // words of a row, and how many of this one follow the word that stands there
      logic [HW-1:0] head;
      logic [RW-1:0] lane;
      wire room;
      wire moves = busy && room;
      wire row_last = left == NW'(0);
      wire part_last = part == PW'(PER - 1) || row_last;
      wire token_ends = row_last && head == HW'(HEADS - 1);
      wire lane_last = lane == RW'(LANES - 1);
      wire [NW-1:0] next_length = token_ends && lane_last ? length + NW'(BEATS) : length;
      assign in_ready = !busy || (room && part_last);
      assign idle = !busy && !out_valid;
      always_ff @(posedge clk) begin
        if (in_ready) rest <= in_data;
        else if (room) rest <= rest >> (BITS / PER);
        if (in_ready) part <= PW'(0);
        else if (room) part <= part + PW'(1);
        if (in_ready) busy <= in_valid;
        if (moves) begin
          left <= row_last ? next_length - NW'(1) : left - NW'(1);
          if (row_last) head <= token_ends ? HW'(0) : head + HW'(1);
          if (token_ends) lane <= lane_last ? RW'(0) : lane + RW'(1);
          length <= next_length;
        end
        if (rst) begin
          busy   <= 1'b0;
          length <= NW'(BEATS);
          left   <= NW'(BEATS - 1);
          head   <= HW'(0);
          lane   <= RW'(0);
        end
      end
      stream_skid #(
          .WIDTH(WIDTH)
      ) u_skid (
          .clk(clk), .rst(rst), .in_data(rest[WIDTH-1:0]), .in_valid(busy), .in_ready(room), .out_data(out_data),
          .out_valid(out_valid), .out_ready(out_ready)
      );
    end else begin : g_join
      wire [PARTS*BITS-1:0] word;
      stream_widen #(
          .WIDTH(BITS),
          .N(PARTS)
      ) u_join (
          .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready), .out_data(word),
          .out_valid(out_valid), .out_ready(out_ready)
      );
      assign out_data = word[WIDTH-1:0];
      assign idle = !out_valid;
      wire unused = &{1'b0, word};
    end
  endgenerate
endmodule
`default_nettype wire
