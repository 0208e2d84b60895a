// SPDX-License-Identifier: Apache-2.0
// num_mul_pair: registered products a * x and b * x from one DSP: (a * 2^P + b) * x holds both, in P = X_W + W_W bits
//   each. A negative b * x borrows one from the product above, which is given back behind the register.
//   Give it registered operands. 2 * W_W + X_W + 1 bits must fit the 27 of a DSP, x with its sign the other 18.
//   parameters  X_W       bits of x
//               X_SIGNED  1: x is two's complement
//               W_W       bits of a and of b, two's complement
//   out is {a * x, b * x}, X_W + W_W bits each, two's complement.
//   latency: 1   ii: 1   order: as it comes
//   lut: 2
//   ff: 2 * (X_W + W_W)
//   dsp: 1
`default_nettype none
module num_mul_pair #(
    parameter integer X_W      = 8,
    parameter integer X_SIGNED = 1,
    parameter integer W_W      = 8
) (
    input  wire                   clk,
    input  wire                   en,
    input  wire [        X_W-1:0] x,
    input  wire [        W_W-1:0] a,
    input  wire [        W_W-1:0] b,
    output wire [2*(X_W+W_W)-1:0] out
);
  localparam integer PW = X_W + W_W;

  generate
    if (PW + W_W + 1 > 27 || X_W + (X_SIGNED != 0 ? 0 : 1) > 18) begin : g_bad_widths
      two_products_of_these_widths_do_not_fit_one_DSP u_bad ();
    end
  endgenerate

  wire signed [X_W:0] x_s = {X_SIGNED != 0 ? x[X_W-1] : 1'b0, x};
  // a * 2^P + b: below stands b with its sign, above a, less one where b is negative.
  wire [W_W:0] top = {a[W_W-1], a} - (W_W + 1)'(b[W_W-1]);
  wire signed [PW+W_W:0] t = {top, {X_W{b[W_W-1]}}, b};
  wire signed [2*PW-1:0] prod = (2 * PW)'(t) * (2 * PW)'(x_s);
  logic [2*PW-1:0] p;
  always_ff @(posedge clk) if (en) p <= prod;

  assign out = {p[2*PW-1:PW] + PW'(p[PW-1]), p[PW-1:0]};
endmodule
`default_nettype wire
