// SPDX-License-Identifier: Apache-2.0
// my_pair_max: the greater one of every two elements.
//   parameters  LANES   elements a beat on the way in, even; half as many on the way out
//               W       bits of an element, two's complement
//               BEATS   beats of a frame
//   latency: 1   ii: BEATS   order: as it comes
module my_pair_max #(
    parameter integer LANES = 2,
    parameter integer W     = 8,
    parameter integer BEATS = 1
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [    LANES*W-1:0] in_data,
    input  wire                   in_valid,
    output wire                   in_ready,
    output wire [LANES*W/2-1:0]   out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  wire [LANES*W/2-1:0] y;
  generate
    for (genvar i = 0; i < LANES / 2; i++) begin : g_pair
      wire signed [W-1:0] a = in_data[2*i*W+:W];
      wire signed [W-1:0] b = in_data[(2*i+1)*W+:W];
      assign y[i*W+:W] = a > b ? a : b;
    end
  endgenerate

  stream_skid #(
      .WIDTH(LANES * W / 2)
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
