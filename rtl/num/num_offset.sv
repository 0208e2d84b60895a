// SPDX-License-Identifier: Apache-2.0
// num_offset: out = over(ZERO + round(in / 2^SHIFT)), the cast to codes with a zero point: rounded first, then moved,
//   then brought into range.
//   parameters  IN_W        bits of in, two's complement
//               SHIFT       as num_requant
//               ZERO        zero point of the output
//               OUT_W       bits of out
//               OUT_SIGNED  1: out is two's complement
//               ROUND       as num_requant
//               OVER        as num_requant
//               PIPE        1: a register in front of the range, 0: combinational
//   latency: PIPE   ii: 1   order: as it comes
//   lut: ZERO == 0 ? 0 : max(IN_W - SHIFT, 1) + 2
//   ff: PIPE ? (OVER == 2 ? min(SW, OUT_W) : SW) : 0
//   parts: u_round + u_over
`default_nettype none
module num_offset #(
    parameter integer IN_W       = 16,
    parameter integer SHIFT      = 4,
    parameter integer ZERO       = 3,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter integer PIPE       = 1
) (
    input  wire             clk,
    input  wire             en,
    input  wire [ IN_W-1:0] in,
    output wire [OUT_W-1:0] out
);
  localparam integer QW = SHIFT > 0 ? (IN_W > SHIFT ? IN_W - SHIFT : 1) + 1 : IN_W - SHIFT;  // holds every rounded in
  localparam integer SIZE = ZERO < 0 ? -(ZERO + 1) : ZERO;
  localparam integer ZW = $clog2(SIZE + 1) + 1;  // bits of ZERO, two's complement
  localparam integer SW = ZERO == 0 ? QW : (QW > ZW ? QW : ZW) + 1;
  localparam signed [31:0] Z = ZERO;

  wire signed [QW-1:0] q;
  wire signed [SW-1:0] sum = SW'(q) + SW'(Z);
  wire [SW-1:0] near;
  num_requant #(
      .IN_W(IN_W), .SHIFT(SHIFT), .OUT_W(QW), .ROUND(ROUND), .OVER(2)
  ) u_round (
      .in (in),
      .out(q)
  );
  generate
    if (PIPE != 0) begin : g_pipe
      logic [SW-1:0] sum_q;
      always_ff @(posedge clk) if (en) sum_q <= sum;
      assign near = sum_q;
    end else begin : g_now
      assign near = sum;
    end
  endgenerate
  num_requant #(
      .IN_W(SW), .SHIFT(0), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .OVER(OVER)
  ) u_over (
      .in (near),
      .out(out)
  );
  wire unused_top = &{1'b0, Z, clk, en};
endmodule
`default_nettype wire
