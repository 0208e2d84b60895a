// SPDX-License-Identifier: Apache-2.0
// stream_frames: lets a core take frames of 1 to TOKENS tokens, each as long as in_last says. What passes is whole
//   tokens, and for each of them one bit: 1 for the last of its frame. in_last within a token ends the frame there, and
//   zeros fill the token up. Of a frame of more than TOKENS tokens the first ones pass; the rest is taken and dropped.
//   parameters  WIDTH   bits of a beat
//               BEATS   beats of a token
//               TOKENS  the most tokens of a frame
//   error: since reset a frame was too long or ended within a token; it stays.
//   latency: 0   ii: BEATS   order: as it comes
//   flow: 0
//   lut: (BEATS > 1 ? WIDTH + clog2(BEATS) + 2 : 0) + clog2(TOKENS) + 13
//   ff: clog2(TOKENS) + clog2(BEATS) + (BEATS > 1 ? 5 : 4)
//   parts: u_ends
`default_nettype none
module stream_frames #(
    parameter integer WIDTH  = 8,
    parameter integer BEATS  = 2,
    parameter integer TOKENS = 4
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
    output wire             ends_data,
    output wire             ends_valid,
    input  wire             ends_ready,
    output reg              error
);
  localparam integer CW = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam integer TW = TOKENS > 1 ? $clog2(TOKENS) : 1;

  generate
    if (TOKENS < 1 || BEATS < 1) begin : g_bad
      TOKENS_and_BEATS_must_be_at_least_1 u_bad ();
    end
  endgenerate

  logic [CW-1:0] count;
  logic [TW-1:0] token;
  logic fill, drop;  // zeros up to the end of the token; what comes up to in_last
  logic out_took, ends_took;  // either side has what is shown
  wire room;  // for one more end
  wire beat_last = count == CW'(BEATS - 1);
  wire full = token == TW'(TOKENS - 1);
  wire shows = !drop && (in_valid || fill);
  wire last = fill || in_last || full;  // the frame ends with this token
  assign out_data = fill ? WIDTH'(0) : in_data;
  assign out_valid = shows && !out_took;
  wire gone = (out_took || out_ready) && (!beat_last || ends_took || room);
  wire move = shows && gone;
  assign in_ready = drop || (!fill && gone);

  always_ff @(posedge clk) begin
    if (shows) begin
      out_took  <= !gone && (out_took || out_ready);
      ends_took <= !gone && (ends_took || (beat_last && room));
    end
    if (move) begin
      count <= beat_last ? CW'(0) : count + CW'(1);
      if (beat_last) token <= last ? TW'(0) : token + TW'(1);
      if (beat_last) fill <= 1'b0;
      else if (!fill) fill <= in_last;
    end
    if (move && !fill && in_last && !beat_last) error <= 1'b1;
    if (move && !fill && beat_last && full && !in_last) begin
      error <= 1'b1;
      drop  <= 1'b1;
    end
    if (drop && in_valid && in_last) drop <= 1'b0;
    if (rst) begin
      count     <= CW'(0);
      token     <= TW'(0);
      fill      <= 1'b0;
      drop      <= 1'b0;
      out_took  <= 1'b0;
      ends_took <= 1'b0;
      error     <= 1'b0;
    end
  end

  stream_skid #(.WIDTH(1)) u_ends (
      .clk(clk), .rst(rst), .in_data(last), .in_valid(shows && beat_last && !ends_took), .in_ready(room),
      .out_data(ends_data), .out_valid(ends_valid), .out_ready(ends_ready)
  );
endmodule
`default_nettype wire
