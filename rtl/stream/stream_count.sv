// SPDX-License-Identifier: Apache-2.0
// stream_count: the lengths of frames of up to TOKENS tokens. Takes one bit a token, 1 for the last one of a frame, and
//   gives the number of tokens of each frame.
//   parameters  TOKENS  the most tokens of a frame
//   latency: TOKENS   ii: TOKENS   order: frames as they come
//   flow: steps(TOKENS, 1, s == TOKENS - 1, 0, s < TOKENS - 1) + u_out
//   lut: clog2(TOKENS + 1) + 4
//   ff: clog2(TOKENS + 1)
//   parts: u_out
`default_nettype none
module stream_count #(
    parameter integer TOKENS = 4,
    parameter integer NW     = $clog2(TOKENS + 1)
) (
    input  wire          clk,
    input  wire          rst,
    input  wire          in_data,
    input  wire          in_valid,
    output wire          in_ready,
    output wire [NW-1:0] out_data,
    output wire          out_valid,
    input  wire          out_ready
);
  logic [NW-1:0] count;  // with the token that comes next
  wire room;
  assign in_ready = room || !in_data;
  always_ff @(posedge clk) begin
    if (in_valid && in_ready) count <= in_data ? NW'(1) : count + NW'(1);
    if (rst) count <= NW'(1);
  end

  stream_skid #(.WIDTH(NW)) u_out (
      .clk(clk), .rst(rst), .in_data(count), .in_valid(in_valid && in_data), .in_ready(room), .out_data(out_data),
      .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
