// SPDX-License-Identifier: Apache-2.0
// op_twice: y = x + x, element by element, in one bit more.
//   parameters  LANES  elements a beat
//               W      bits of x
//               BEATS  beats of a frame
//   latency: 1   ii: BEATS   order: as it comes
//   lut: 0
//   parts: u_out
`default_nettype none
module op_twice #(
    parameter integer LANES = 4,
    parameter integer W     = 8,
    parameter integer BEATS = 1
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [    LANES*W-1:0] in_data,
    input  wire                   in_valid,
    output wire                   in_ready,
    output wire [LANES*(W+1)-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  generate
    if (LANES < 1 || BEATS < 1) begin : g_bad
      LANES_and_BEATS_must_be_at_least_1 u_bad ();
    end
  endgenerate

  wire [LANES*(W+1)-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      assign y[i*(W+1)+:W+1] = {in_data[i*W+:W], 1'b0};
    end
  endgenerate

  stream_skid #(.WIDTH(LANES * (W + 1))) u_out (
      .clk(clk), .rst(rst), .in_data(y), .in_valid(in_valid), .in_ready(in_ready),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
