// SPDX-License-Identifier: Apache-2.0
// stream_last: marks the final beat of each frame. Wires and a counter: no register between the two sides.
//   parameters  WIDTH  bits of the payload
//               BEATS  beats of a frame
//   latency: 0   ii: BEATS   order: as it comes
//   flow: 0
//   lut: clog2(BEATS) > 5 ? clog2(BEATS) * 3 / 2 : clog2(BEATS) + 1
//   ff: max(clog2(BEATS), 1)
`default_nettype none
module stream_last #(
    parameter integer WIDTH = 8,
    parameter integer BEATS = 4
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH-1:0] in_data,
    input  wire             in_valid,
    output wire             in_ready,
    output wire [WIDTH-1:0] out_data,
    output wire             out_last,
    output wire             out_valid,
    input  wire             out_ready
);
  localparam integer CW = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam integer LAST_INT = BEATS - 1;
  localparam [CW-1:0] LAST = LAST_INT[CW-1:0];
  reg [CW-1:0] count;

  assign out_data  = in_data;
  assign out_last  = count == LAST;
  assign out_valid = in_valid;
  assign in_ready  = out_ready;

  always_ff @(posedge clk) begin
    if (in_valid && out_ready) count <= out_last ? {CW{1'b0}} : count + 1'b1;
    if (rst) count <= {CW{1'b0}};
  end
endmodule
`default_nettype wire
