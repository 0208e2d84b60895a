// SPDX-License-Identifier: Apache-2.0
// stream_mark: says in band where frames of changing length end. Stream a is tokens of BEATS beats, stream b one bit a
//   token: 1 for the last one of a frame. The result is a with one more bit above it: 1 on the last beat of a frame. A
//   token does not wait for its bit, but for its last beat.
//   parameters  WIDTH  bits of a beat of a
//               BEATS  beats of a token
//   latency: 1   ii: BEATS   order: as it comes
//   flow: steps(BEATS, s == BEATS - 1 ? 3 : 1, 1, 0) + u_out
//   lut: clog2(BEATS) * 3 / 2 + 4
//   ff: clog2(BEATS)
//   parts: u_out
`default_nettype none
module stream_mark #(
    parameter integer WIDTH = 8,
    parameter integer BEATS = 2
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH-1:0] a_data,
    input  wire             a_valid,
    output wire             a_ready,
    input  wire             b_data,
    input  wire             b_valid,
    output wire             b_ready,
    output wire [WIDTH:0]   out_data,
    output wire             out_valid,
    input  wire             out_ready
);
  localparam integer CW = BEATS > 1 ? $clog2(BEATS) : 1;
  logic [CW-1:0] count;
  wire room;
  wire ends = count == CW'(BEATS - 1);  // the last beat of the token
  wire there = a_valid && (b_valid || !ends);
  assign a_ready = room && (b_valid || !ends);
  assign b_ready = room && a_valid && ends;

  always_ff @(posedge clk) begin
    if (there && room) count <= ends ? CW'(0) : count + CW'(1);
    if (rst) count <= CW'(0);
  end

  stream_skid #(.WIDTH(WIDTH + 1)) u_out (
      .clk(clk), .rst(rst), .in_data({ends && b_data, a_data}), .in_valid(there), .in_ready(room), .out_data(out_data),
      .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
