// SPDX-License-Identifier: Apache-2.0
// num_dot: exact dot product of N pairs: registered products, then an adder tree. Both operands vary.
//   parameters  N         pairs
//               A_W       bits of each a
//               A_SIGNED  1: a is two's complement
//               B_W       bits of each b, two's complement
//               MULT      "auto", "dsp" or "lut", see num_mul
//               PIPE      registers of the tree, see num_add_tree
//   out has A_W + B_W + clog2(N) bits, two's complement.
//   latency: 1 + min(PIPE, 1) * (clog2(N) + PIPE - 1) / max(PIPE, 1)   ii: 1   order: as it comes
//   parts: N * u_mul + u_tree
`default_nettype none
module num_dot #(
    parameter integer N        = 4,
    parameter integer A_W      = 8,
    parameter integer A_SIGNED = 1,
    parameter integer B_W      = 8,
    parameter         MULT     = "auto",
    parameter integer PIPE     = 2
) (
    input  wire                         clk,
    input  wire                         en,
    input  wire [            N*A_W-1:0] a,
    input  wire [            N*B_W-1:0] b,
    output wire [A_W+B_W+$clog2(N)-1:0] out
);
  localparam integer PW = A_W + B_W;
  wire [N*PW-1:0] prod;

  generate
    for (genvar i = 0; i < N; i++) begin : g_mul
      num_mul #(
          .A_W(A_W),
          .A_SIGNED(A_SIGNED),
          .B_W(B_W),
          .MULT(MULT)
      ) u_mul (
          .clk(clk),
          .en (en),
          .a  (a[i*A_W+:A_W]),
          .b  (b[i*B_W+:B_W]),
          .out(prod[i*PW+:PW])
      );
    end
  endgenerate

  num_add_tree #(
      .N(N),
      .IN_W(PW),
      .IN_SIGNED(1),
      .PIPE(PIPE)
  ) u_tree (
      .clk(clk),
      .en (en),
      .in (prod),
      .out(out)
  );
endmodule
`default_nettype wire
