// SPDX-License-Identifier: Apache-2.0
// num_dot_pair: exact dot products of one x with two vectors: N DSPs, see num_mul_pair, then two adder trees.
//   parameters  N         elements
//               X_W       bits of each x
//               X_SIGNED  1: x is two's complement
//               W_W       bits of each a and b, two's complement
//               PIPE      registers of the trees, see num_add_tree
//   out is {sum of a * x, sum of b * x}, X_W + W_W + clog2(N) bits each, two's complement.
//   latency: 1 + min(PIPE, 1) * (clog2(N) + PIPE - 1) / max(PIPE, 1)   ii: 1   order: as it comes
//   parts: N * u_mul + u_tree_a + u_tree_b
`default_nettype none
module num_dot_pair #(
    parameter integer N        = 4,
    parameter integer X_W      = 8,
    parameter integer X_SIGNED = 1,
    parameter integer W_W      = 8,
    parameter integer PIPE     = 2
) (
    input  wire                             clk,
    input  wire                             en,
    input  wire [                N*X_W-1:0] x,
    input  wire [                N*W_W-1:0] a,
    input  wire [                N*W_W-1:0] b,
    output wire [2*(X_W+W_W+$clog2(N))-1:0] out
);
  localparam integer PW = X_W + W_W;
  localparam integer OW = PW + $clog2(N);
  wire [N*PW-1:0] prod_a, prod_b;

  generate
    for (genvar i = 0; i < N; i++) begin : g_mul
      num_mul_pair #(
          .X_W(X_W),
          .X_SIGNED(X_SIGNED),
          .W_W(W_W)
      ) u_mul (
          .clk(clk),
          .en(en),
          .x(x[i*X_W+:X_W]),
          .a(a[i*W_W+:W_W]),
          .b(b[i*W_W+:W_W]),
          .out({prod_a[i*PW+:PW], prod_b[i*PW+:PW]})
      );
    end
  endgenerate

  num_add_tree #(.N(N), .IN_W(PW), .PIPE(PIPE)) u_tree_a (.clk(clk), .en(en), .in(prod_a), .out(out[2*OW-1:OW]));
  num_add_tree #(.N(N), .IN_W(PW), .PIPE(PIPE)) u_tree_b (.clk(clk), .en(en), .in(prod_b), .out(out[OW-1:0]));
endmodule
`default_nettype wire
