// SPDX-License-Identifier: Apache-2.0
// num_max_tree: the greatest of N numbers by a balanced tree.
//   parameters  N       numbers compared, >= 1
//               W       bits of each, and of out
//               SIGNED  1: two's complement
//               PIPE    0 no registers, 1 a register after each level, 2 after every second, the last included
//   latency: min(PIPE, 1) * (clog2(N) + PIPE - 1) / max(PIPE, 1)   ii: 1   order: as it comes
//   lut: sum(l, 1, LEVELS, ((N + (1 << (l - 1)) - 1) >> (l - 1)) / 2 * (W * 3 / 2))
//   ff: sum(l, 1, LEVELS, PIPE == 1 || (PIPE == 2 && (LEVELS - l) % 2 == 0) ? ((N + (1 << l) - 1) >> l) * W : 0)
`default_nettype none
module num_max_tree #(
    parameter integer N      = 4,
    parameter integer W      = 8,
    parameter integer SIGNED = 1,
    parameter integer PIPE   = 0
) (
    input  wire           clk,
    input  wire           en,
    input  wire [N*W-1:0] in,
    output wire [  W-1:0] out
);
  localparam integer LEVELS = $clog2(N);

  generate
    if (N < 1 || PIPE < 0 || PIPE > 2) begin : g_bad
      N_must_be_at_least_1_and_PIPE_0_to_2 u_bad ();
    end
    for (genvar l = 0; l <= LEVELS; l++) begin : g_level
      localparam integer M = (N + (1 << l) - 1) >> l;  // numbers on this level
      localparam integer REG = l > 0 && (PIPE == 1 || (PIPE == 2 && (LEVELS - l) % 2 == 0)) ? 1 : 0;
      wire [M*W-1:0] held;
      if (l == 0) begin : g_in
        assign held = in;
      end else begin : g_max
        localparam integer BM = (N + (1 << (l - 1)) - 1) >> (l - 1);
        wire [M*W-1:0] best;
        for (genvar i = 0; i < M; i++) begin : g_best
          wire [W-1:0] a = g_level[l-1].held[2*i*W+:W];
          if (2 * i + 1 < BM) begin : g_pair
            wire [W-1:0] b = g_level[l-1].held[(2*i+1)*W+:W];
            wire signed [W:0] a_x = {SIGNED != 0 ? a[W-1] : 1'b0, a};
            wire signed [W:0] b_x = {SIGNED != 0 ? b[W-1] : 1'b0, b};
            assign best[i*W+:W] = a_x < b_x ? b : a;
          end else begin : g_odd
            assign best[i*W+:W] = a;
          end
        end
        if (REG != 0) begin : g_reg
          logic [M*W-1:0] best_q;
          always_ff @(posedge clk) if (en) best_q <= best;
          assign held = best_q;
        end else begin : g_wire
          assign held = best;
        end
      end
    end
  endgenerate

  assign out = g_level[LEVELS].held;
  wire unused_top = &{1'b0, clk, en};
endmodule
`default_nettype wire
