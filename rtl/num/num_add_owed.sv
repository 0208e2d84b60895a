// SPDX-License-Identifier: Apache-2.0
// num_add_owed: exact sum of N numbers and N bits, by a tree as num_add_tree: out + owed. A bit enters the
//   carry of an adder; one is left.
//   parameters  N          numbers added, >= 1
//               IN_W       bits of each
//               IN_SIGNED  1: two's complement
//               PIPE       as num_add_tree
//   out has IN_W + clog2(N) bits; the sum wraps.
//   latency: min(PIPE, 1) * (clog2(N) + PIPE - 1) / max(PIPE, 1)   ii: 1   order: as it comes
//   lut: sum(l, 1, LEVELS, ((N + (1 << (l - 1)) - 1) >> (l - 1)) / 2 * (IN_W + l))
//   ff: sum(l, 1, LEVELS, PIPE == 1 || (PIPE == 2 && (LEVELS - l) % 2 == 0) ? ((N + (1 << l) - 1) >> l) * (IN_W
//       + l + 1) : 0)
`default_nettype none
module num_add_owed #(
    parameter integer N         = 4,
    parameter integer IN_W      = 8,
    parameter integer IN_SIGNED = 1,
    parameter integer PIPE      = 1
) (
    input  wire                      clk,
    input  wire                      en,
    input  wire [        N*IN_W-1:0] in,
    input  wire [             N-1:0] owes,
    output wire [IN_W+$clog2(N)-1:0] out,
    output wire                      owed
);
  localparam integer LEVELS = $clog2(N);

  generate
    if (N < 1 || PIPE < 0 || PIPE > 2) begin : g_bad
      N_must_be_at_least_1_and_PIPE_0_to_2 u_bad ();
    end

    // A node stands for u + more.
    for (genvar l = 0; l <= LEVELS; l++) begin : g_level
      localparam integer W = IN_W + l;
      localparam integer BELOW = l > 0 ? (N + (1 << (l - 1)) - 1) >> (l - 1) : 0;  // nodes on the level before
      localparam integer REG = l > 0 && (PIPE == 1 || (PIPE == 2 && (LEVELS - l) % 2 == 0)) ? 1 : 0;
      for (genvar i = 0; i < (N + (1 << l) - 1) >> l; i++) begin : g_node
        wire [W-1:0] u;
        wire more;
        wire [W-1:0] made;
        wire left;
        if (l == 0) begin : g_term
          assign made = in[i*IN_W+:IN_W];
          assign left = owes[i];
        end else begin : g_add
          wire [W-2:0] p = g_level[l-1].g_node[2*i].u;
          assign left = g_level[l-1].g_node[2*i].more;
          if (2 * i + 1 < BELOW) begin : g_two
            wire [W-2:0] q = g_level[l-1].g_node[2*i+1].u;
            wire carry = g_level[l-1].g_node[2*i+1].more;
            // p + q + carry, as a subtraction: see num_dot_low.
            wire [W-1:0] other = {IN_SIGNED != 0 && q[W-2], q};
            wire [W:0] sum = {IN_SIGNED != 0 && p[W-2], p, 1'b0} - {~other, !carry};
            assign made = sum[W:1];
            wire unused_sum = &{1'b0, sum[0]};
          end else begin : g_odd
            assign made = {IN_SIGNED != 0 && p[W-2], p};
          end
        end
        if (REG != 0) begin : g_reg
          logic [W:0] q;
          always_ff @(posedge clk) if (en) q <= {left, made};
          assign {more, u} = q;
        end else begin : g_wire
          assign u = made;
          assign more = left;
        end
      end
    end
  endgenerate

  assign out = g_level[LEVELS].g_node[0].u;
  assign owed = g_level[LEVELS].g_node[0].more;
  wire unused_top = &{1'b0, clk, en};
endmodule
`default_nettype wire
