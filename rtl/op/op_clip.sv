// SPDX-License-Identifier: Apache-2.0
// op_clip: y = min(max(x, lo), hi) in threshold form, element by element: CODE_LO below XLO, CODE_HI above XHI,
//   between them over(round(x, SHIFT)). The codes are those of the bounds in the output format, so every rounding and
//   overflow is exact; the upper bound wins where both thresholds hold.
//   parameters  LANES              elements a beat
//               IN_W, IN_SIGNED    bits of x, 1: two's complement
//               SHIFT, OUT_W, OUT_SIGNED, ROUND, OVER   the cast to the output, see num_requant
//               XLO, XHI           thresholds, codes of x in its own signedness
//               CODE_LO, CODE_HI   results beyond them
//               BEATS              beats of a frame
//   latency: 1   ii: BEATS   order: as it comes
//   lut: LANES * (IN_W + OUT_W + 2)
//   parts: LANES * u_cast + u_out
`default_nettype none
module op_clip #(
    parameter integer LANES      = 4,
    parameter integer IN_W       = 8,
    parameter integer IN_SIGNED  = 1,
    parameter integer SHIFT      = 0,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter [IN_W-1:0] XLO     = 0,
    parameter [IN_W-1:0] XHI     = 127,
    parameter [OUT_W-1:0] CODE_LO = 0,
    parameter [OUT_W-1:0] CODE_HI = 127,
    parameter integer BEATS      = 1
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [ LANES*IN_W-1:0] in_data,
    input  wire                   in_valid,
    output wire                   in_ready,
    output wire [LANES*OUT_W-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  generate
    if (LANES < 1 || BEATS < 1) begin : g_bad
      LANES_and_BEATS_must_be_at_least_1 u_bad ();
    end
  endgenerate

  wire [LANES*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      wire [IN_W-1:0] x = in_data[IN_W*i+:IN_W];
      // One more bit makes both kinds of numbers signed.
      wire signed [IN_W:0] xs = {IN_SIGNED != 0 ? x[IN_W-1] : 1'b0, x};
      wire signed [IN_W:0] lo = {IN_SIGNED != 0 ? XLO[IN_W-1] : 1'b0, XLO};
      wire signed [IN_W:0] hi = {IN_SIGNED != 0 ? XHI[IN_W-1] : 1'b0, XHI};
      wire [OUT_W-1:0] inside_code;
      num_requant #(
          .IN_W(IN_W),
          .IN_SIGNED(IN_SIGNED),
          .SHIFT(SHIFT),
          .OUT_W(OUT_W),
          .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND),
          .OVER(OVER)
      ) u_cast (
          .in (x),
          .out(inside_code)
      );
      assign y[OUT_W*i+:OUT_W] = xs > hi ? CODE_HI : xs < lo ? CODE_LO : inside_code;
    end
  endgenerate

  stream_skid #(
      .WIDTH(LANES * OUT_W)
  ) u_out (
      .clk(clk),
      .rst(rst),
      .in_data(y),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
