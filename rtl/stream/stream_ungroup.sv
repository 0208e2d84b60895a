// SPDX-License-Identifier: Apache-2.0
// stream_ungroup: an output of a core behind stream_group: drops the frames that answer those of zeros. It remembers of
//   up to 64 frames that have begun, and whose answers have not all left, which they are.
//   parameters  WIDTH  bits of the payload
//               BEATS  beats of a frame
//   room, begins, zeros: those of stream_group, which may begin a frame where all outputs have room.
//   latency: 0   ii: BEATS   order: as it comes
//   flow: 0
//   lut: clog2(BEATS) + 5
//   ff: clog2(BEATS)
//   parts: u_begun
`default_nettype none
module stream_ungroup #(
    parameter integer WIDTH = 8,
    parameter integer BEATS = 4
) (
    input  wire             clk,
    input  wire             rst,
    output wire             room,
    input  wire             begins,
    input  wire             zeros,
    input  wire [WIDTH-1:0] in_data,
    input  wire             in_valid,
    output wire             in_ready,
    output wire [WIDTH-1:0] out_data,
    output wire             out_valid,
    input  wire             out_ready
);
  localparam integer CW = BEATS > 1 ? $clog2(BEATS) : 1;
  logic [CW-1:0] count;
  wire beat_last = count == CW'(BEATS - 1);
  wire known, drop;
  assign out_data  = in_data;
  assign out_valid = in_valid && known && !drop;
  assign in_ready  = known && (drop || out_ready);
  wire moves = in_valid && in_ready;

  always_ff @(posedge clk) begin
    if (moves) count <= beat_last ? CW'(0) : count + CW'(1);
    if (rst) count <= CW'(0);
  end

  stream_fifo #(.WIDTH(1), .DEPTH(64)) u_begun (
      .clk(clk), .rst(rst), .in_data(zeros), .in_valid(begins), .in_ready(room), .out_data(drop), .out_valid(known),
      .out_ready(moves && beat_last)
  );
endmodule
`default_nettype wire
