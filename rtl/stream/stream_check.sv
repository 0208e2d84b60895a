// SPDX-License-Identifier: Apache-2.0
// stream_check: frames of BEATS beats, whatever comes in. A frame ends where in_last says so. Zeros complete one that
//   ends too early; of one that ends too late the first beats pass, and the rest is taken and dropped. Wires and
//   counters: no register between the two sides.
//   parameters  WIDTH  bits of the payload
//               BEATS  beats of a frame
//   ends: the last beat of a frame leaves. bad: that frame did not come so.
//   error, count: since reset there was such a frame, and how many; the most that count can hold stands for more.
//   latency: 0   ii: BEATS   order: as it comes
//   flow: 0
//   lut: (BEATS > 1 ? WIDTH + clog2(BEATS) * 3 / 2 + 1 : 0) + 10
//   ff: BEATS > 1 ? clog2(BEATS) + 19 : 18
`default_nettype none
module stream_check #(
    parameter integer WIDTH = 8,
    parameter integer BEATS = 4
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
    output wire             ends,
    output wire             bad,
    output reg              error,
    output reg  [     15:0] count
);
  localparam integer CW = BEATS > 1 ? $clog2(BEATS) : 1;

  generate
    if (BEATS < 1) begin : g_bad
      BEATS_must_be_at_least_1 u_bad ();
    end
  endgenerate

  logic [CW-1:0] beat;
  logic fill, drop;  // zeros up to the end of the frame; what comes up to in_last
  wire beat_last = beat == CW'(BEATS - 1);
  assign out_data  = fill ? WIDTH'(0) : in_data;
  assign out_valid = fill || (in_valid && !drop);
  assign in_ready  = drop || (!fill && out_ready);
  wire move = out_valid && out_ready;
  assign ends = move && beat_last;
  assign bad  = fill || !in_last;

  always_ff @(posedge clk) begin
    if (move) beat <= beat_last ? CW'(0) : beat + CW'(1);
    if (move) fill <= !beat_last && (fill || in_last);
    if (drop) drop <= !(in_valid && in_last);
    else drop <= ends && !fill && !in_last;
    if (ends && bad) error <= 1'b1;
    if (ends && bad && !(&count)) count <= count + 16'd1;
    if (rst) begin
      beat  <= CW'(0);
      fill  <= 1'b0;
      drop  <= 1'b0;
      error <= 1'b0;
      count <= 16'd0;
    end
  end
endmodule
`default_nettype wire
