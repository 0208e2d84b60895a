// SPDX-License-Identifier: Apache-2.0
// op_again: of every TURNS frames all but the last, which it drops, through a queue that holds a frame: what layers
//   that share their units pass on to the next one. The queue takes a frame before the units can read it.
//   parameters  WIDTH  bits of a beat
//               BEATS  beats of a frame
//               TURNS  frames, 2 or more
//   latency: 1 + (BEATS > 64 ? 3 : 1)   ii: TURNS * BEATS   order: as it comes
//   flow: parts
//   parts: u_slice + u_fifo
`default_nettype none
module op_again #(
    parameter integer WIDTH = 8,
    parameter integer BEATS = 4,
    parameter integer TURNS = 2
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH-1:0] in_data,
    input  wire             in_valid,
    output wire             in_ready,
    output wire [WIDTH-1:0] out_data,
    output wire             out_valid,
    input  wire             out_ready
);
  generate
    if (BEATS < 1 || TURNS < 2) begin : g_bad
      BEATS_must_be_at_least_1_and_TURNS_2 u_bad ();
    end
  endgenerate

  wire [WIDTH-1:0] kept;
  wire kept_valid, kept_ready;
  op_slice #(
      .WIDTH(WIDTH), .BEATS(TURNS * BEATS), .FIRST(0), .RUN((TURNS - 1) * BEATS), .EVERY((TURNS - 1) * BEATS),
      .COUNT(1)
  ) u_slice (
      .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready), .out_data(kept),
      .out_valid(kept_valid), .out_ready(kept_ready)
  );
  stream_fifo #(.WIDTH(WIDTH), .DEPTH(BEATS)) u_fifo (
      .clk(clk), .rst(rst), .in_data(kept), .in_valid(kept_valid), .in_ready(kept_ready), .out_data(out_data),
      .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
