// SPDX-License-Identifier: Apache-2.0
// op_linear_row: one output of op_linear_unrolled: sum of the terms, shift, bias, requantise.
//   parameters  N           terms
//               TERM_W      bits of each, two's complement
//               T_W, M_W, SHIFT, ZERO, OUT_W, OUT_SIGNED, ROUND, OVER, PIPE  as op_linear_unrolled
//               M           factor, M_W bits, under a bit 0
//               PSH         left shift of the sum
//               BIAS        T_W bits, two's complement
//   latency: (clog2(N) + PIPE - 1) / PIPE + 1 + (M_W > 0 ? 3 : 1)   ii: 1   order: as it comes
//   lut: T_W
//   ff: T_W
//   parts: u_tree + (M_W ? u_rescale : u_cast)
`default_nettype none
module op_linear_row #(
    parameter integer       N          = 4,
    parameter integer       TERM_W     = 15,
    parameter integer       T_W        = 19,
    parameter integer       M_W        = 0,
    parameter     [M_W:0]   M          = 0,
    parameter integer       SHIFT      = 7,
    parameter integer       ZERO       = 0,
    parameter integer       OUT_W      = 8,
    parameter integer       OUT_SIGNED = 1,
    parameter integer       ROUND      = 0,
    parameter integer       OVER       = 0,
    parameter integer       PIPE       = 1,
    parameter integer       PSH        = 0,
    parameter     [T_W-1:0] BIAS       = {T_W{1'b0}}
) (
    input  wire                clk,
    input  wire                en,
    /* verilator lint_off SPLITVAR */  // not possible where this is the top
    input  wire [N*TERM_W-1:0] terms  /*verilator split_var*/,
    /* verilator lint_on SPLITVAR */
    output wire [   OUT_W-1:0] y
);
  wire signed [TERM_W+$clog2(N)-1:0] sum;
  num_add_tree #(
      .N(N),
      .IN_W(TERM_W),
      .IN_SIGNED(1),
      .PIPE(PIPE)
  ) u_tree (
      .clk(clk),
      .en (en),
      .in (terms),
      .out(sum)
  );

  logic [T_W-1:0] t;
  always_ff @(posedge clk) if (en) t <= (T_W'(sum) << PSH) + BIAS;

  generate
    if (M_W == 0) begin : g_cast
      num_offset #(
          .IN_W(T_W), .SHIFT(SHIFT), .ZERO(ZERO), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER)
      ) u_cast (
          .clk(clk),
          .en (en),
          .in (t),
          .out(y)
      );
    end else begin : g_rescale
      num_rescale #(
          .IN_W(T_W), .M_W(M_W), .SHIFT(SHIFT), .ZERO(ZERO), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND),
          .OVER(OVER)
      ) u_rescale (
          .clk(clk),
          .en (en),
          .in (t),
          .m  (M[M_W-1:0]),
          .out(y)
      );
    end
  endgenerate
  wire unused_top = &{1'b0, sum, M};
endmodule
`default_nettype wire
