// SPDX-License-Identifier: Apache-2.0
// num_dot: exact dot product of N pairs: registered products, then an adder tree. Both operands vary.
//   parameters  N         pairs
//               A_W       bits of each a
//               A_SIGNED  1: a is two's complement
//               B_W       bits of each b, two's complement
//               A_E, A_NAN, B_E   of codes of floats in place of integers, see num_mul_float; 0: integers
//               MULT      "auto", "dsp" or "lut", see num_mul
//               PIPE      registers of the tree, see num_add_tree
//   out has the bits of both integers and clog2(N), two's complement.
//   latency: 1 + (A_E + B_E ? 1 : 0) + min(PIPE, 1) * (clog2(N) + PIPE - 1) / max(PIPE, 1)
//   ii: 1   order: as it comes
//   parts: N * (A_E + B_E ? u_mul_float : u_mul) + u_tree
`default_nettype none
module num_dot #(
    parameter integer N        = 4,
    parameter integer A_W      = 8,
    parameter integer A_SIGNED = 1,
    parameter integer B_W      = 8,
    parameter integer A_E      = 0,
    parameter integer A_NAN    = 0,
    parameter integer B_E      = 0,
    parameter         MULT     = "auto",
    parameter integer PIPE     = 2,
    parameter integer PW       = (A_E > 0 ? A_W - 1 - A_E + (1 << A_E) : A_W) +
                                 (B_E > 0 ? B_W - 1 - B_E + (1 << B_E) : B_W)
) (
    input  wire                    clk,
    input  wire                    en,
    input  wire [       N*A_W-1:0] a,
    input  wire [       N*B_W-1:0] b,
    output wire [PW+$clog2(N)-1:0] out
);
  wire [N*PW-1:0] prod;

  generate
    for (genvar i = 0; i < N; i++) begin : g_mul
      if (A_E > 0 || B_E > 0) begin : g_float
        num_mul_float #(
            .A_W(A_W), .A_SIGNED(A_SIGNED), .A_E(A_E), .A_NAN(A_NAN), .B_W(B_W), .B_E(B_E), .MULT(MULT)
        ) u_mul_float (
            .clk(clk), .en(en), .a(a[i*A_W+:A_W]), .b(b[i*B_W+:B_W]), .out(prod[i*PW+:PW])
        );
      end else begin : g_int
        num_mul #(
            .A_W(A_W), .A_SIGNED(A_SIGNED), .B_W(B_W), .MULT(MULT)
        ) u_mul (
            .clk(clk), .en(en), .a(a[i*A_W+:A_W]), .b(b[i*B_W+:B_W]), .out(prod[i*PW+:PW])
        );
      end
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
