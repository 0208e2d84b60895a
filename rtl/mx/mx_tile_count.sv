// SPDX-License-Identifier: Apache-2.0
// mx_tile_count: where a beat stands in frames of TOKENS tokens of LINE beats, cut into tiles of K tokens and a shorter
//   tail.
//   parameters  LINE TOKENS K   as above
//   step: on to the next beat. at: of the token. first, last: the token is the first or the last of its tile. ends: the
//   beat is the last of its tile.
//   latency: 0   ii: 1   order: counters
//   lut: ((LINE > 1 ? AT_W : 0) + (BLOCK > 1 ? T_W : 0) + (TAIL ? N_W : 0)) * 4 / 3
//   ff: (LINE > 1 ? AT_W : 0) + (BLOCK > 1 ? T_W : 0) + (TAIL ? N_W : 0)
`default_nettype none
module mx_tile_count #(
    parameter integer LINE   = 4,
    parameter integer TOKENS = 6,
    parameter integer K      = 4,
    parameter integer AT_W   = LINE > 1 ? $clog2(LINE) : 1
) (
    input  wire            clk,
    input  wire            rst,
    input  wire            step,
    output wire [AT_W-1:0] at,
    output wire            first,
    output wire            last,
    output wire            ends
);
  localparam integer BLOCK = TOKENS < K ? TOKENS : K;
  localparam integer TAIL = TOKENS % BLOCK;
  localparam integer T_W = BLOCK > 1 ? $clog2(BLOCK) : 1;
  localparam integer N_W = TOKENS > 1 ? $clog2(TOKENS) : 1;
  logic [AT_W-1:0] beat;
  logic [T_W-1:0] token;  // of the tile
  wire beat_last = beat == AT_W'(LINE - 1);
  wire frame_last;
  assign at = beat;
  assign first = token == T_W'(0);
  assign last = token == T_W'(BLOCK - 1) || frame_last;
  assign ends = beat_last && last;
  always_ff @(posedge clk) begin
    if (step) beat <= beat_last ? AT_W'(0) : beat + AT_W'(1);
    if (step && beat_last) token <= last ? T_W'(0) : token + T_W'(1);
    if (rst) begin
      beat  <= AT_W'(0);
      token <= T_W'(0);
    end
  end
  generate
    if (TAIL != 0) begin : g_tail
      logic [N_W-1:0] total;
      assign frame_last = total == N_W'(TOKENS - 1);
      always_ff @(posedge clk) begin
        if (step && beat_last) total <= frame_last ? N_W'(0) : total + N_W'(1);
        if (rst) total <= N_W'(0);
      end
    end else begin : g_even
      assign frame_last = 1'b0;
    end
  endgenerate
endmodule
`default_nettype wire
