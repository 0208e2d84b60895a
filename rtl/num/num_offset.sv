// SPDX-License-Identifier: Apache-2.0
// num_offset: out = over(ZERO + round(in / 2^SHIFT)), the cast to codes with a zero point: rounded first, then moved,
//   then brought into range. Combinational.
//   parameters  IN_W        bits of in, two's complement
//               SHIFT       as num_requant
//               ZERO        zero point of the output
//               OUT_W       bits of out
//               OUT_SIGNED  1: out is two's complement
//               ROUND       as num_requant
//               OVER        as num_requant
//   latency: 0   ii: 1   order: combinational
//   lut: ZERO == 0 ? 0 : max(IN_W - SHIFT, 1) + 2
//   parts: ZERO == 0 ? u_cast : u_round + u_over
`default_nettype none
module num_offset #(
    parameter integer IN_W       = 16,
    parameter integer SHIFT      = 4,
    parameter integer ZERO       = 3,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0
) (
    input  wire [ IN_W-1:0] in,
    output wire [OUT_W-1:0] out
);
  localparam integer QW = SHIFT > 0 ? (IN_W > SHIFT ? IN_W - SHIFT : 1) + 1 : IN_W - SHIFT;  // holds every rounded in
  localparam integer SIZE = ZERO < 0 ? -(ZERO + 1) : ZERO;
  localparam integer ZW = $clog2(SIZE + 1) + 1;  // bits of ZERO, two's complement
  localparam integer SW = (QW > ZW ? QW : ZW) + 1;
  localparam signed [31:0] Z = ZERO;

  generate
    if (ZERO == 0) begin : g_none
      num_requant #(
          .IN_W(IN_W),
          .IN_SIGNED(1),
          .SHIFT(SHIFT),
          .OUT_W(OUT_W),
          .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND),
          .OVER(OVER)
      ) u_cast (
          .in (in),
          .out(out)
      );
    end else begin : g_zero
      wire signed [QW-1:0] q;
      wire signed [SW-1:0] sum = SW'(q) + SW'(Z);
      num_requant #(
          .IN_W(IN_W),
          .IN_SIGNED(1),
          .SHIFT(SHIFT),
          .OUT_W(QW),
          .OUT_SIGNED(1),
          .ROUND(ROUND),
          .OVER(2)
      ) u_round (
          .in (in),
          .out(q)
      );
      num_requant #(
          .IN_W(SW),
          .IN_SIGNED(1),
          .SHIFT(0),
          .OUT_W(OUT_W),
          .OUT_SIGNED(OUT_SIGNED),
          .OVER(OVER)
      ) u_over (
          .in (sum),
          .out(out)
      );
    end
  endgenerate
  wire unused_top = &{1'b0, Z};
endmodule
`default_nettype wire
