// SPDX-License-Identifier: Apache-2.0
// stream_join: pairs the beats of two streams, b above a. Wires only.
//   parameters  A_WIDTH  bits of the payload of a
//               B_WIDTH  bits of the payload of b
//   latency: 0   ii: 1   order: as it comes
//   flow: steps(1, 3, 1, 0)
//   lut: 2
`default_nettype none
module stream_join #(
    parameter integer A_WIDTH = 8,
    parameter integer B_WIDTH = 8
) (
    input  wire [A_WIDTH-1:0]         a_data,
    input  wire                       a_valid,
    output wire                       a_ready,
    input  wire [B_WIDTH-1:0]         b_data,
    input  wire                       b_valid,
    output wire                       b_ready,
    output wire [A_WIDTH+B_WIDTH-1:0] out_data,
    output wire                       out_valid,
    input  wire                       out_ready
);
  assign out_data  = {b_data, a_data};
  assign out_valid = a_valid && b_valid;
  assign a_ready   = b_valid && out_ready;
  assign b_ready   = a_valid && out_ready;
endmodule
`default_nettype wire
