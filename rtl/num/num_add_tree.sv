// SPDX-License-Identifier: Apache-2.0
// num_add_tree: exact sum of N numbers by a balanced tree.
//   Width grows by one bit a level; an odd number passes a level (and its register) unchanged.
//   Levels are generate iterations, not recursion: Verilator 5.006 drops the output of a recursive top module.
//   parameters  N          numbers added, >= 1
//               IN_W       bits of each
//               IN_SIGNED  1: two's complement, and so is out; 0: unsigned, and so is out
//               PIPE       0 no registers, 1 a register after each level, 2 after every second, the last included
//   out has IN_W + clog2(N) bits.
//   latency: min(PIPE, 1) * (clog2(N) + PIPE - 1) / max(PIPE, 1)   ii: 1   order: as it comes
//   lut: sum(l, 1, LEVELS, ((N + (1 << (l - 1)) - 1) >> (l - 1)) / 2 * (IN_W + l - 1))
//   lut4: sum(l, 1, LEVELS, ((N + (1 << (l - 1)) - 1) >> (l - 1)) / 2 * ((IN_W + l + 1) / 2 * 2))
//   ff: sum(l, 1, LEVELS, PIPE == 1 || (PIPE == 2 && (LEVELS - l) % 2 == 0) ? ((N + (1 << l) - 1) >> l) * (IN_W
//       + l) : 0)
`default_nettype none
module num_add_tree #(
    parameter integer N         = 4,
    parameter integer IN_W      = 8,
    parameter integer IN_SIGNED = 1,
    parameter integer PIPE      = 1
) (
    input  wire                      clk,
    input  wire                      en,
    /* verilator lint_off SPLITVAR */  // not possible where this is the top
    input  wire [        N*IN_W-1:0] in  /*verilator split_var*/,  // keeps simulation free of wide words
    /* verilator lint_on SPLITVAR */
    output wire [IN_W+$clog2(N)-1:0] out
);
  localparam integer LEVELS = $clog2(N);

  generate
    if (N < 1 || PIPE < 0 || PIPE > 2) begin : g_bad
      N_must_be_at_least_1_and_PIPE_0_to_2 u_bad ();
    end
    for (genvar l = 0; l <= LEVELS; l++) begin : g_level
      localparam integer W = IN_W + l;
      localparam integer BELOW = l > 0 ? (N + (1 << (l - 1)) - 1) >> (l - 1) : 0;  // numbers on the level before
      localparam integer REG = l > 0 && (PIPE == 1 || (PIPE == 2 && (LEVELS - l) % 2 == 0)) ? 1 : 0;
      for (genvar i = 0; i < (N + (1 << l) - 1) >> l; i++) begin : g_node
        wire [W-1:0] sum;
        wire [W-1:0] s;
        if (l == 0) begin : g_in
          assign sum = in[i*IN_W+:IN_W];
        end else begin : g_add
          wire signed [W-2:0] a = g_level[l-1].g_node[2*i].s;
          wire [W-1:0] a_x = IN_SIGNED != 0 ? W'(a) : {1'b0, a};
          if (2 * i + 1 < BELOW) begin : g_pair
            wire signed [W-2:0] b = g_level[l-1].g_node[2*i+1].s;
            wire [W-1:0] b_x = IN_SIGNED != 0 ? W'(b) : {1'b0, b};
            assign sum = a_x + b_x;
          end else begin : g_odd
            assign sum = a_x;
          end
        end
        if (REG != 0) begin : g_reg
          logic [W-1:0] q;
          always_ff @(posedge clk) if (en) q <= sum;
          assign s = q;
        end else begin : g_wire
          assign s = sum;
        end
      end
    end
  endgenerate

  assign out = g_level[LEVELS].g_node[0].s;
  wire unused_top = &{1'b0, clk, en};
endmodule
`default_nettype wire
