// SPDX-License-Identifier: Apache-2.0
// axi_gate: lets frames of BEATS beats into a design while run is high, and whole ones only: it opens and closes
//   between frames, and never takes back a beat that it has shown. frame is high for a cycle behind the last beat of
//   each, misplaced behind a beat whose in_last is not where the frame ends; inside: the frame has begun.
//   parameters  BEATS  beats of a frame
//   latency: 0   ii: 1   order: as it comes
//   flow: 0
//   lut: 2 * clog2(BEATS) + 8
//   ff: clog2(BEATS) + 3
`default_nettype none
module axi_gate #(
    parameter integer BEATS = 64
) (
    input  wire clk,
    input  wire rst,
    input  wire run,
    input  wire in_valid,
    output wire in_ready,
    input  wire in_last,
    output wire out_valid,
    input  wire out_ready,
    output reg  frame,
    output reg  misplaced,
    output wire inside_frame
);
  localparam integer CW = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam integer LAST = BEATS - 1;
  reg open;
  reg [CW-1:0] at;
  wire last = at == LAST[CW-1:0];
  wire moves = in_valid && in_ready;

  generate
    if (BEATS < 1) begin : bad
      BEATS_must_be_at_least_1 u ();
    end
  endgenerate
  assign out_valid = in_valid && open;
  assign in_ready = out_ready && open;
  assign inside_frame = at != {CW{1'b0}};

  always_ff @(posedge clk) begin
    frame     <= moves && last;
    misplaced <= moves && in_last != last;
    if (moves) at <= last ? {CW{1'b0}} : at + 1'b1;
    if (!open || (moves ? last : !inside_frame && !in_valid)) open <= run;
    if (rst) begin
      frame     <= 1'b0;
      misplaced <= 1'b0;
      at        <= {CW{1'b0}};
      open      <= 1'b0;
    end
  end
endmodule
`default_nettype wire
