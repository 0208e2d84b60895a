// SPDX-License-Identifier: Apache-2.0
// stream_group: the first input of a core that takes frames in groups. in_last on the last beat of a frame says that no
//   more frames of its group come: frames of zeros, which it makes itself, complete the group. stream_follow does the
//   same at the other inputs, and stream_ungroup drops what the core answers to them. in_last within a frame says
//   nothing. Wires and counters: no register between the two sides.
//   parameters  WIDTH  bits of the payload
//               BEATS  beats of a frame
//               GROUP  frames of a group
//   room: a frame may begin. begins: it does in this cycle, in which its first beat may leave or later; zeros: it is
//   one that is made here.
//   latency: 0   ii: BEATS   order: as it comes
//   flow: 0
//   lut: WIDTH + clog2(BEATS) * 3 / 2 + clog2(GROUP) + 6
//   ff: clog2(BEATS) + max(clog2(GROUP), 1) + 2
`default_nettype none
module stream_group #(
    parameter integer WIDTH = 8,
    parameter integer BEATS = 4,
    parameter integer GROUP = 2
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH-1:0] in_data,
    input  wire             in_last,
    input  wire             in_valid,
    output wire             in_ready,
    output wire [WIDTH-1:0] out_data,
    output wire             out_valid,
    input  wire             out_ready,
    input  wire             room,
    output wire             begins,
    output reg              zeros
);
  localparam integer CW = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam integer GW = GROUP > 1 ? $clog2(GROUP) : 1;

  generate
    if (BEATS < 1 || GROUP < 1) begin : g_bad
      BEATS_and_GROUP_must_be_at_least_1 u_bad ();
    end
  endgenerate

  logic [CW-1:0] count;
  logic [GW-1:0] frame;
  wire first = count == CW'(0);
  wire beat_last = count == CW'(BEATS - 1);
  wire frame_last = frame == GW'(GROUP - 1);
  logic begun;  // the first beat was told of, and waits
  wire pass = room || begun || !first;
  assign out_data = zeros ? WIDTH'(0) : in_data;
  assign out_valid = (in_valid || zeros) && pass;
  assign in_ready = out_ready && pass && !zeros;
  wire moves = out_valid && out_ready;
  assign begins = out_valid && first && !begun;

  always_ff @(posedge clk) begin
    begun <= out_valid && first && !moves;
    if (moves) count <= beat_last ? CW'(0) : count + CW'(1);
    if (moves && beat_last) begin
      frame <= frame_last ? GW'(0) : frame + GW'(1);
      zeros <= (zeros || in_last) && !frame_last;
    end
    if (rst) begin
      count <= CW'(0);
      frame <= GW'(0);
      zeros <= 1'b0;
      begun <= 1'b0;
    end
  end
endmodule
`default_nettype wire
