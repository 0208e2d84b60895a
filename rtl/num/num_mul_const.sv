// SPDX-License-Identifier: Apache-2.0
// num_mul_const: out = in * K, by shifts and adders: one term for each digit of K that is not 0, where digits are -1, 0
//   and 1, and no two neighbours are other than 0. Combinational.
//   parameters  IN_W       bits of in
//               IN_SIGNED  1: in is two's complement
//               K          the factor, 1 to 2^24
//   out is two's complement, of IN_W + clog2(K) + 1 bits.
//   latency: 0   ii: 1   order: combinational
//   let: TERMS = sum(i, 1, 26, ((K >> i) + (3 * K >> i)) % 2)
//   lut: (TERMS - 1) * (IN_W + 1) + max(TERMS - 2, 0) * 6
`default_nettype none
module num_mul_const #(
    parameter integer IN_W      = 8,
    parameter integer IN_SIGNED = 1,
    parameter integer K         = 192
) (
    input  wire [           IN_W-1:0] in,
    output wire [IN_W+$clog2(K):0] out
);
  localparam integer OUT_W = IN_W + $clog2(K) + 1;
  localparam integer DIGITS = $clog2(K) + 2;
  localparam [31:0] ONE = K;
  localparam [31:0] TRIPLE = 3 * K;
  localparam [31:0] PLUS = (TRIPLE & ~ONE) >> 1;  // digits 1: 2 * K = 3 * K - K, bit by bit
  localparam [31:0] MINUS = (ONE & ~TRIPLE) >> 1;  // digits -1

  generate
    if (K < 1 || K > 1 << 24) begin : g_bad
      K_must_be_1_to_16777216 u_bad ();
    end
    // The highest digit is 1, so every sum begins with a shift.
    for (genvar i = DIGITS - 1; i >= 0; i = i - 1) begin : g_digit
      wire signed [OUT_W-1:0] sum;
      wire signed [IN_W:0] x = {IN_SIGNED != 0 ? in[IN_W-1] : 1'b0, in};
      wire signed [OUT_W-1:0] term = OUT_W'(x) <<< i;
      if (i == DIGITS - 1) begin : g_high
        assign sum = PLUS[i] ? term : {OUT_W{1'b0}};
      end else if (PLUS[i]) begin : g_plus
        assign sum = PLUS >> (i + 1) == 32'd0 ? term : g_digit[i+1].sum + term;
      end else if (MINUS[i]) begin : g_minus
        assign sum = g_digit[i+1].sum - term;
      end else begin : g_zero
        assign sum = g_digit[i+1].sum;
      end
      wire unused_term = &{1'b0, term};
    end
  endgenerate
  assign out = g_digit[0].sum;
endmodule
`default_nettype wire
