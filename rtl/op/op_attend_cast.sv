// SPDX-License-Identifier: Apache-2.0
// op_attend_cast: num_requant with a register between rounding and overflow, for wide numbers behind a register.
//   parameters  IN_W SHIFT OUT_W OUT_SIGNED ROUND OVER   see num_requant; in is two's complement
//   latency: 1   ii: 1   order: as it comes
//   ff: QW
//   parts: u_round + u_over
`default_nettype none
module op_attend_cast #(
    parameter integer IN_W       = 16,
    parameter integer SHIFT      = 4,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0
) (
    input  wire             clk,
    input  wire             en,
    input  wire [ IN_W-1:0] in,
    output wire [OUT_W-1:0] out
);
  localparam integer QW = SHIFT > 0 ? (IN_W > SHIFT ? IN_W - SHIFT : 1) + 1 : IN_W - SHIFT;  // holds every rounded in
  wire [QW-1:0] rounded;
  logic [QW-1:0] q;
  always_ff @(posedge clk) if (en) q <= rounded;
  num_requant #(.IN_W(IN_W), .SHIFT(SHIFT), .OUT_W(QW), .ROUND(ROUND), .OVER(2)) u_round (.in(in), .out(rounded));
  num_requant #(.IN_W(QW), .SHIFT(0), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .OVER(OVER)) u_over (.in(q), .out(out));
endmodule
`default_nettype wire
