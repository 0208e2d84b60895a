// SPDX-License-Identifier: Apache-2.0
// op_rotate_lane: one lane of op_rotate: y = over(round((own * c - other * s) / 2^SHIFT)), or with a sum where the
//   element is the second one of its pair.
//   parameters  X_W X_SIGNED C_W SHIFT OUT_W OUT_SIGNED ROUND OVER MULT   as op_rotate
//   c and s must be there two cycles behind own and other, second three.
//   latency: 4   ii: 1   order: as it comes
//   lut: 3 + P_W + P_W * 5 / 6
//   ff: 1 + X_W + C_W
//   parts: u_own + u_other + u_c + u_s + u_y
`default_nettype none
module op_rotate_lane #(
    parameter integer X_W        = 8,
    parameter integer X_SIGNED   = 1,
    parameter integer C_W        = 16,
    parameter integer SHIFT      = 14,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter         MULT       = "auto"
) (
    input  wire             clk,
    input  wire             en,
    input  wire [  X_W-1:0] own,
    input  wire [  X_W-1:0] other,
    input  wire             second,
    input  wire [  C_W-1:0] c,
    input  wire [  C_W-1:0] s,
    output wire [OUT_W-1:0] y
);
  localparam integer P_W = X_W + C_W;

  wire [X_W-1:0] own_q, other_q;
  wire signed [P_W-1:0] by_c, by_s;
  num_delay #(.WIDTH(X_W), .DEPTH(2)) u_own (.clk(clk), .en(en), .in(own), .out(own_q));
  num_delay #(.WIDTH(X_W), .DEPTH(2)) u_other (.clk(clk), .en(en), .in(other), .out(other_q));
  num_mul #(.A_W(X_W), .A_SIGNED(X_SIGNED), .B_W(C_W), .MULT(MULT)) u_c (
      .clk(clk), .en(en), .a(own_q), .b(c), .out(by_c)
  );
  num_mul #(.A_W(X_W), .A_SIGNED(X_SIGNED), .B_W(C_W), .MULT(MULT)) u_s (
      .clk(clk), .en(en), .a(other_q), .b(s), .out(by_s)
  );

  // One adder for sum and difference: the bit below them is the carry that negates.
  logic [P_W:0] sum;
  wire signed [P_W:0] c_x = (P_W + 1)'(by_c);
  wire signed [P_W:0] s_x = (P_W + 1)'(by_s);
  wire [P_W+1:0] both = {c_x, 1'b1} + {s_x ^ {(P_W + 1) {!second}}, !second};
  wire unused_low = &{1'b0, both[0]};
  always_ff @(posedge clk) if (en) sum <= both[P_W+1:1];
  num_requant #(
      .IN_W(P_W + 1), .SHIFT(SHIFT), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER)
  ) u_y (
      .in(sum), .out(y)
  );
endmodule
`default_nettype wire
