// SPDX-License-Identifier: Apache-2.0
// op_pick: word number sel of N, by a tree of two-way choices. Combinational.
//   A variable part select costs a multiplier wherever WIDTH is no power of two; this never does.
//   parameters  N      words
//               WIDTH  bits of a word
//   latency: 0   ii: 1   order: combinational
//   lut: N == 1 ? 0 : N <= 4 ? WIDTH : (N * WIDTH + 1) / 3
`default_nettype none
module op_pick #(
    parameter integer N     = 3,
    parameter integer WIDTH = 8,
    parameter integer SW    = N > 1 ? $clog2(N) : 1
) (
    input  wire [N*WIDTH-1:0] in,
    input  wire [     SW-1:0] sel,
    output wire [  WIDTH-1:0] out
);
  localparam integer LEVELS = $clog2(N);
  generate
    for (genvar l = 0; l <= LEVELS; l++) begin : g_level
      localparam integer M = (N + (1 << l) - 1) >> l;  // words on this level
      wire [M*WIDTH-1:0] held;
      if (l == 0) begin : g_in
        assign held = in;
      end else begin : g_half
        localparam integer BM = (N + (1 << (l - 1)) - 1) >> (l - 1);
        for (genvar i = 0; i < M; i++) begin : g_word
          wire [WIDTH-1:0] low = g_level[l-1].held[2*i*WIDTH+:WIDTH];
          if (2 * i + 1 < BM) begin : g_pair
            assign held[i*WIDTH+:WIDTH] = sel[l-1] ? g_level[l-1].held[(2*i+1)*WIDTH+:WIDTH] : low;
          end else begin : g_odd
            assign held[i*WIDTH+:WIDTH] = low;
          end
        end
      end
    end
  endgenerate
  assign out = g_level[LEVELS].held;
  wire unused = &{1'b0, sel};
endmodule
`default_nettype wire
