// SPDX-License-Identifier: Apache-2.0
// stream_follow: a further input of a core whose first one stands behind stream_group. Where that has a frame of zeros,
//   so has this one; its other frames are those that come. It remembers of up to 64 frames that have begun at the first
//   input, and are not over here, which they are.
//   parameters  WIDTH  bits of the payload
//               BEATS  beats of a frame
//   room, begins, zeros: those of stream_group, which may begin a frame where all that follow it have room.
//   latency: 0   ii: BEATS   order: as it comes
//   flow: 0
//   lut: WIDTH + clog2(BEATS) * 3 / 2 + 7
//   ff: clog2(BEATS)
//   parts: u_begun
`default_nettype none
module stream_follow #(
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
  // The oldest frame is in the queue, or begins in this cycle.
  wire waits, kind;
  wire known = waits || begins;
  wire fill = waits ? kind : zeros;
  assign out_data  = fill ? WIDTH'(0) : in_data;
  assign out_valid = known && (fill || in_valid);
  assign in_ready  = known && !fill && out_ready;
  wire moves = out_valid && out_ready;
  wire ends = moves && beat_last;

  always_ff @(posedge clk) begin
    if (moves) count <= beat_last ? CW'(0) : count + CW'(1);
    if (rst) count <= CW'(0);
  end

  stream_fifo #(.WIDTH(1), .DEPTH(64)) u_begun (
      .clk(clk), .rst(rst), .in_data(zeros), .in_valid(begins && (waits || !ends)), .in_ready(room), .out_data(kind),
      .out_valid(waits), .out_ready(ends)
  );
endmodule
`default_nettype wire
