// SPDX-License-Identifier: Apache-2.0
// num_mul_four: registered products of x with four weights from one DSP, for products of up to 8 bits. The DSP takes
//   the weights side by side: weight 3 as it is, on top; the others with 2^(W_W-1) added, so that none borrows from the
//   one above. Where four products do not fit otherwise, products 1 and 2 share a bit: the lowest of product 2 is known
//   beside the DSP.
//   Give it registered operands.
//   parameters  X_W       bits of x
//               X_SIGNED  1: x is two's complement
//               W_W       bits of a weight, two's complement; weight 0 is low in w
//   Product k is out[k] + owes[k], less x * 2^(W_W-1) but for product 3. Where x is unsigned and a bit is shared, 1
//   less for product 2. out[3] is two's complement, the others where x is.
//   latency: 1   ii: 1   order: as it comes
//   let: SHARED = 3 * X_W + 4 * W_W > 27 ? 1 : 0
//   lut: 3 + SHARED
//   ff: 4 * (X_W + W_W)
//   dsp: 1
`default_nettype none
module num_mul_four #(
    parameter integer X_W      = 4,
    parameter integer X_SIGNED = 1,
    parameter integer W_W      = 4
) (
    input  wire                   clk,
    input  wire                   en,
    input  wire [        X_W-1:0] x,
    input  wire [      4*W_W-1:0] w,
    output wire [4*(X_W+W_W)-1:0] out,
    output wire [            3:0] owes
);
  localparam integer PW = X_W + W_W;
  localparam integer SHARED = 3 * PW + W_W > 27 ? 1 : 0;
  localparam integer AT = 2 * PW - SHARED;  // of product 2

  generate
    if (W_W < 2 || PW > 8 || AT + PW + W_W > 27) begin : g_bad_widths
      four_products_of_these_widths_do_not_fit_one_DSP u_bad ();
    end
  endgenerate

  wire signed [X_W:0] x_s = {X_SIGNED != 0 ? x[X_W-1] : 1'b0, x};
  wire [3*W_W-1:0] up = w[3*W_W-1:0] ^ {3{1'b1, {W_W - 1{1'b0}}}};
  wire signed [AT+PW+W_W-1:0] t = {
    w[4*W_W-1:3*W_W], {PW - W_W{1'b0}}, up[3*W_W-1:2*W_W], {X_W - SHARED{1'b0}}, up[2*W_W-1:W_W],
    {X_W{1'b0}}, up[W_W-1:0]
  };
  wire signed [AT+2*PW-1:0] prod = (AT + 2 * PW)'(t) * (AT + 2 * PW)'(x_s);
  logic [AT+2*PW-1:0] p;
  logic lowest;  // bit of product 2
  always_ff @(posedge clk)
    if (en) begin
      p      <= prod;
      lowest <= SHARED != 0 && w[2*W_W] && x[0];
    end

  wire top = p[2*PW-1] ^ lowest;  // bit of product 1
  assign out = {p[AT+PW+:PW], p[AT+:PW], top, p[PW+:PW-1], p[PW-1:0]};
  assign owes = X_SIGNED != 0 ? {p[AT+PW-1], top, p[PW-1], 1'b0} : {1'b0, SHARED != 0 && !top, 2'b00};
endmodule
`default_nettype wire
