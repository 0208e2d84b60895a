// SPDX-License-Identifier: Apache-2.0
// stream_session: lets a core that takes frames of TOKENS tokens take sequences of up to so many, one after the other.
//   The data passes by; this is its handshake. in_last on the last beat of a token ends the sequence: the input waits
//   until all outputs have left, see stream_answer, then core_rst begins the next sequence at position 0. Tokens beyond
//   TOKENS are taken and dropped, so that nothing in the core is overwritten.
//   parameters  TOKENS  tokens of a frame, the most of a sequence
//               BEATS   beats of a token
//               OUTS    outputs
//   token: a token has come whole. closing: it is the last one of which outputs come. idle: an output owes nothing.
//   position: tokens of this sequence that have come, at most TOKENS. error: since the sequence began a token came
//   beyond TOKENS, or in_last within a token, which ends nothing; it stays until the next sequence begins.
//   latency: 0   ii: BEATS   order: as it comes
//   flow: 0
//   lut: clog2(TOKENS + 1) * 2 / 5 + clog2(BEATS) + 10
//   ff: clog2(TOKENS + 1) + clog2(BEATS) + 5
`default_nettype none
module stream_session #(
    parameter integer TOKENS = 4,
    parameter integer BEATS  = 2,
    parameter integer OUTS   = 1,
    parameter integer PW     = $clog2(TOKENS + 1)
) (
    input  wire            clk,
    input  wire            rst,
    input  wire            in_last,
    input  wire            in_valid,
    output wire            in_ready,
    output wire            core_valid,
    input  wire            core_ready,
    output wire            core_rst,
    output wire            token,
    output wire            closing,
    input  wire [OUTS-1:0] idle,
    output reg  [  PW-1:0] position,
    output reg             error
);
  localparam integer CW = BEATS > 1 ? $clog2(BEATS) : 1;

  generate
    if (TOKENS < 1 || BEATS < 1 || OUTS < 1) begin : g_bad
      TOKENS_BEATS_and_OUTS_must_be_at_least_1 u_bad ();
    end
  endgenerate

  logic [CW-1:0] count;
  logic full, ended, clear, fresh;  // fresh: nothing of this sequence has come
  wire run = !ended && !clear;
  assign core_rst = rst || clear;
  assign closing = ended || full;
  assign in_ready = run && (full || core_ready);
  assign core_valid = in_valid && run && !full;
  wire take = in_valid && in_ready;
  wire beat_last = count == CW'(BEATS - 1);
  assign token = take && beat_last && !full;
  wire wrong = full || (in_last && !beat_last);

  always_ff @(posedge clk) begin
    clear <= ended && &idle;
    if (take) begin
      count <= beat_last ? CW'(0) : count + CW'(1);
      fresh <= 1'b0;
      error <= wrong || (error && !fresh);
      if (beat_last && in_last) ended <= 1'b1;
    end
    if (token) begin
      position <= position + PW'(1);
      full <= position == PW'(TOKENS - 1);
    end
    if (ended && &idle) begin
      ended <= 1'b0;
      full <= 1'b0;
      fresh <= 1'b1;
      position <= PW'(0);
    end
    if (rst) begin
      count <= CW'(0);
      full <= 1'b0;
      ended <= 1'b0;
      clear <= 1'b0;
      fresh <= 1'b1;
      position <= PW'(0);
      error <= 1'b0;
    end
  end
endmodule
`default_nettype wire
