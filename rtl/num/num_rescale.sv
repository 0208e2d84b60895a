// SPDX-License-Identifier: Apache-2.0
// num_rescale: out = over(ZERO + round(in * m / 2^SHIFT)), the cast between integers whose scales have a real ratio.
//   m is cut into fields of 17 bits, so that each product fits the multipliers of FPGAs; one register each behind the
//   products, their sum, and in the cast.
//   parameters  IN_W        bits of in, two's complement
//               M_W         bits of m, unsigned
//               SHIFT       binary places of m
//               ZERO        zero point of the output
//               OUT_W       bits of out
//               OUT_SIGNED  1: out is two's complement
//               ROUND       as num_requant
//               OVER        as num_requant
//               MULT        "auto", "dsp" or "lut", see num_mul
//   latency: 3   ii: 1   order: as it comes
//   lut: ((M_W + 16) / 17 - 1) * (IN_W + M_W + 1 - 17)
//   ff: IN_W + M_W + 1
//   parts: (M_W + 16) / 17 * u_mul + u_cast
`default_nettype none
module num_rescale #(
    parameter integer IN_W       = 24,
    parameter integer M_W        = 31,
    parameter integer SHIFT      = 36,
    parameter integer ZERO       = 0,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter         MULT       = "auto"
) (
    input  wire             clk,
    input  wire             en,
    input  wire [ IN_W-1:0] in,
    input  wire [  M_W-1:0] m,
    output wire [OUT_W-1:0] out
);
  localparam integer FIELD = 17;
  localparam integer N = (M_W + FIELD - 1) / FIELD;
  localparam integer PW = IN_W + FIELD;
  localparam integer SW = IN_W + M_W + 1;

  generate
    if (M_W < 1 || IN_W < 1) begin : g_bad
      M_W_and_IN_W_must_be_at_least_1 u_bad ();
    end
  endgenerate

  wire [N*FIELD-1:0] fields = (N * FIELD)'(m);
  wire signed [SW-1:0] total;
  generate
    for (genvar i = 0; i < N; i++) begin : g_field
      wire signed [PW-1:0] p;
      num_mul #(
          .A_W(FIELD),
          .A_SIGNED(0),
          .B_W(IN_W),
          .MULT(MULT)
      ) u_mul (
          .clk(clk),
          .en (en),
          .a  (fields[i*FIELD+:FIELD]),
          .b  (in),
          .out(p)
      );
      wire signed [SW-1:0] sum;
      wire unused = &{1'b0, p};  // its high bits, where m is short
      if (i == 0) begin : g_first
        assign sum = SW'(p);
      end else begin : g_more
        assign sum = g_field[i-1].sum + (SW'(p) << (i * FIELD));
      end
    end
  endgenerate
  assign total = g_field[N-1].sum;

  logic [SW-1:0] total_q;
  always_ff @(posedge clk) if (en) total_q <= total;
  num_offset #(
      .IN_W(SW),
      .SHIFT(SHIFT),
      .ZERO(ZERO),
      .OUT_W(OUT_W),
      .OUT_SIGNED(OUT_SIGNED),
      .ROUND(ROUND),
      .OVER(OVER)
  ) u_cast (
      .clk(clk),
      .en (en),
      .in (total_q),
      .out(out)
  );
endmodule
`default_nettype wire
