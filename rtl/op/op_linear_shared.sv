// SPDX-License-Identifier: Apache-2.0
// op_linear_shared: output lanes of op_linear that share IN_LANES DSPs: as two op_linear_lane with the same x, lane 0
//   low in w, konst and y, see num_mul_pair; four of them where products have up to 8 bits, see num_mul_four. Where
//   LONG is not 0 the DSPs add as well, see num_chain_pair, which says when first and valid come.
//   parameters  IN_LANES, IN_W, IN_SIGNED, W_W, DOT_W, BIAS_W, PSH_W, T_W, M_W, SHIFT, ZERO, OUT_W, OUT_SIGNED, ROUND,
//               OVER, TREE_PIPE  as op_linear
//               ONE_BEAT   1: a vector is one beat, the sum needs no loop
//               LONG       as op_linear
//               SHARE      derived, not to be set
//   latency: (LONG > 0 ? 6 + ((IN_LANES + LONG - 1) / LONG - 1) / 2 : 2 + (clog2(IN_LANES) + TREE_PIPE - 1) /
//       TREE_PIPE) + 2 * min(PSH_W, 1) + (M_W > 0 ? 3 : 1)
//   ii: 1   order: as it comes
//   parts: (LONG > 0 ? u_chain : SHARE == 4 ? u_four : u_dot) + SHARE * u_lane
`default_nettype none
module op_linear_shared #(
    parameter integer IN_LANES   = 4,
    parameter integer IN_W       = 8,
    parameter integer IN_SIGNED  = 1,
    parameter integer W_W        = 8,
    parameter integer DOT_W      = 20,
    parameter integer BIAS_W     = 16,
    parameter integer PSH_W      = 0,
    parameter integer T_W        = 21,
    parameter integer M_W        = 0,
    parameter integer SHIFT      = 7,
    parameter integer ZERO       = 0,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter integer TREE_PIPE  = 1,
    parameter integer ONE_BEAT   = 0,
    parameter integer LONG       = 0,
    parameter integer SHARE      = LONG == 0 && IN_W + W_W < 9 ? 4 : 2
) (
    input  wire                                clk,
    input  wire                                en,
    input  wire [           IN_LANES*IN_W-1:0] x,
    input  wire [      SHARE*IN_LANES*W_W-1:0] w,
    input  wire                                first,
    input  wire                                valid,
    input  wire [SHARE*(M_W+PSH_W+BIAS_W)-1:0] konst,
    output wire [             SHARE*OUT_W-1:0] y
);
  localparam integer KW = M_W + PSH_W + BIAS_W;
  localparam integer ALL_W = PSH_W == 0 ? T_W : DOT_W;  // of the sum over the beats
  localparam integer SUM_W = LONG > 0 ? ALL_W : IN_W + W_W + $clog2(IN_LANES);

  wire [SHARE*SUM_W-1:0] sums;
  generate
    if (LONG > 0) begin : g_chain
      wire [2*BIAS_W-1:0] bias = {konst[KW+:BIAS_W], konst[0+:BIAS_W]};
      num_chain_pair #(
          .N(IN_LANES), .X_W(IN_W), .X_SIGNED(IN_SIGNED), .W_W(W_W), .START_W(BIAS_W), .OUT_W(ALL_W), .LONG(LONG),
          .ONE_BEAT(ONE_BEAT)
      ) u_chain (
          .clk(clk), .en(en), .first(first), .valid(valid), .start(PSH_W == 0 ? bias : (2 * BIAS_W)'(0)), .x(x),
          .a(w[2*IN_LANES*W_W-1:IN_LANES*W_W]), .b(w[IN_LANES*W_W-1:0]), .out(sums)
      );
    end else if (SHARE == 4) begin : g_four
      num_dot_four #(
          .N(IN_LANES), .X_W(IN_W), .X_SIGNED(IN_SIGNED), .W_W(W_W), .PIPE(TREE_PIPE)
      ) u_four (
          .clk(clk), .en(en), .x(x), .w(w), .out(sums)
      );
    end else begin : g_two
      num_dot_pair #(
          .N(IN_LANES), .X_W(IN_W), .X_SIGNED(IN_SIGNED), .W_W(W_W), .PIPE(TREE_PIPE)
      ) u_dot (
          .clk(clk), .en(en), .x(x), .a(w[2*IN_LANES*W_W-1:IN_LANES*W_W]), .b(w[IN_LANES*W_W-1:0]), .out(sums)
      );
    end
  endgenerate

  generate
    for (genvar i = 0; i < SHARE; i++) begin : g_lane
      op_linear_lane #(
          .IN_LANES(1), .IN_W(SUM_W), .W_W(1), .DOT_W(DOT_W), .BIAS_W(BIAS_W), .PSH_W(PSH_W), .T_W(T_W), .M_W(M_W),
          .SHIFT(SHIFT), .ZERO(ZERO), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER),
          .MULT("sum"), .TREE_PIPE(TREE_PIPE), .ONE_BEAT(LONG > 0 ? 2 : ONE_BEAT)
      ) u_lane (
          .clk(clk), .en(en), .x(sums[i*SUM_W+:SUM_W]), .w(1'b0), .first(first), .valid(valid),
          .konst(konst[i*KW+:KW]), .y(y[i*OUT_W+:OUT_W])
      );
    end
  endgenerate
endmodule
`default_nettype wire
