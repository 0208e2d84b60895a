// SPDX-License-Identifier: Apache-2.0
// num_table_dec: codes of few bits to the values that a table lists. Tables are logic: of one or two bits, wires.
//   parameters  LANES   elements a beat
//               IN_W    bits of a code, up to 8
//               OUT_W   bits of a value
//               VALUES  value of code k at bit k * OUT_W
//               BEATS   beats of a frame
//   latency: 1   ii: BEATS   order: as it comes
//   lut: LANES * OUT_W * (IN_W > 6 ? 1 << IN_W - 6 : 1)
//   parts: u_skid
`default_nettype none
module num_table_dec #(
    parameter integer LANES = 2,
    parameter integer IN_W  = 2,
    parameter integer OUT_W = 8,
    parameter [(OUT_W<<IN_W)-1:0] VALUES = 0,
    parameter integer BEATS = 1
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
    if (LANES < 1 || BEATS < 1 || IN_W < 1 || IN_W > 8 || OUT_W < 1) begin : g_bad
      LANES_BEATS_and_OUT_W_must_be_at_least_1_and_IN_W_1_to_8 u_bad ();
    end
  endgenerate

  wire [LANES*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      wire [IN_W-1:0] code = in_data[i*IN_W+:IN_W];
      assign y[i*OUT_W+:OUT_W] = VALUES[code*OUT_W+:OUT_W];
    end
  endgenerate

  stream_skid #(.WIDTH(LANES * OUT_W)) u_skid (
      .clk(clk), .rst(rst), .in_data(y), .in_valid(in_valid), .in_ready(in_ready),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
