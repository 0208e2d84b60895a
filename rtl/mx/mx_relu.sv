// SPDX-License-Identifier: Apache-2.0
// mx_relu: max(q, 0) on the codes of blocks; scales stay.
//   parameters  LANES     elements a beat
//               W         bits of a code, two's complement
//               SCALE_W   bits of a scale
//               BEATS     beats of a frame
//   A beat is {scale, codes}.
//   latency: 1   ii: BEATS   order: as it comes
//   lut: LANES * (W - 1)
//   parts: u_skid
`default_nettype none
module mx_relu #(
    parameter integer LANES   = 4,
    parameter integer W       = 8,
    parameter integer SCALE_W = 8,
    parameter integer BEATS   = 1
) (
    input  wire                 clk,
    input  wire                 rst,
    input  wire [LANES*W+SCALE_W-1:0] in_data,
    input  wire                 in_valid,
    output wire                 in_ready,
    output wire [LANES*W+SCALE_W-1:0] out_data,
    output wire                 out_valid,
    input  wire                 out_ready
);
  wire [LANES*W+SCALE_W-1:0] y;
  assign y[LANES*W+:SCALE_W] = in_data[LANES*W+:SCALE_W];
  generate
    if (LANES < 1 || BEATS < 1) begin : g_bad
      LANES_and_BEATS_must_be_at_least_1 u_bad ();
    end
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      assign y[i*W+:W] = in_data[i*W+W-1] ? W'(0) : in_data[i*W+:W];
    end
  endgenerate

  stream_skid #(.WIDTH(LANES * W + SCALE_W)) u_skid (
      .clk(clk), .rst(rst), .in_data(y), .in_valid(in_valid), .in_ready(in_ready),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
