// SPDX-License-Identifier: Apache-2.0
// op_softmax_scale: e * factor, rounded to FO fraction bits, ties up, no more than the greatest code. The product has
//   48 + SPAN fraction bits. The factor is cut into pieces of 17 bits, one multiplier each.
//   parameters  SPAN               its factor has 25 + SPAN bits
//               OUT_W, OUT_SIGNED  bits of y, 1: two's complement
//               FO                 its fraction bits
//   latency: 2   ii: 1   order: as it comes
//   lut: 26 + (OUT_W - OUT_SIGNED > FO ? 0 : OUT_W - OUT_SIGNED) + (SPAN < 10 ? 0 : SPAN < 11 ? 83 : 59)
//   ff: 59 + FO + SPAN + (SPAN < 10 ? 0 : 25)
//   dsp: SPAN < 11 ? 2 : 3
`default_nettype none
module op_softmax_scale #(
    parameter integer SPAN       = 7,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 0,
    parameter integer FO         = 8
) (
    input  wire             clk,
    input  wire             en,
    input  wire [     24:0] e,
    input  wire [24+SPAN:0] factor,
    output wire [OUT_W-1:0] y
);
  localparam integer PIECES = (25 + SPAN + 16) / 17;
  localparam integer P_W = 32 + SPAN;  // of the sum without its last 17 bits
  localparam integer DROP = 31 + SPAN - FO;
  localparam integer MOST = OUT_W - OUT_SIGNED;  // bits of the greatest code, which are ones

  wire [17*PIECES-1:0] wide = (17 * PIECES)'(factor);
  logic [42*PIECES-1:0] prods;
  generate
    for (genvar i = 0; i < PIECES; i++) begin : g_piece
      wire signed [43:0] prod = $signed({1'b0, e}) * $signed({1'b0, wide[17*i+:17]});
      always_ff @(posedge clk) if (en) prods[42*i+:42] <= prod[41:0];
      wire unused = &{1'b0, prod[43:42]};
    end
  endgenerate

  logic [P_W-1:0] sum;
  generate
    if (PIECES == 2) begin : g_two
      always_ff @(posedge clk) if (en) sum <= P_W'(prods[83:42]) + P_W'(prods[41:17]);
    end else begin : g_three
      always_ff @(posedge clk)
        if (en) sum <= (P_W'(prods[125:84]) << 17) + P_W'(prods[83:42]) + P_W'(prods[41:17]);
    end
  endgenerate
  wire unused = &{1'b0, prods, sum};  // their last bits

  wire [FO:0] near = sum[DROP+:FO+1] + (FO + 1)'(sum[DROP-1]);
  generate
    if (MOST > FO) begin : g_all
      assign y = OUT_W'(near);
    end else begin : g_clamp
      assign y = near[FO:MOST] != (FO + 1 - MOST)'(0) ? {OUT_W{1'b1}} >> OUT_SIGNED : OUT_W'(near);
    end
  endgenerate
endmodule
`default_nettype wire
