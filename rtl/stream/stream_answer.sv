// SPDX-License-Identifier: Apache-2.0
// stream_answer: an output of a core behind stream_session. Marks the last beat of a sequence, and keeps the last beat
//   of a token's outputs until the token has come whole: the core takes it into some register. Wires and counters: no
//   register between the two sides.
//   parameters  WIDTH   bits of the payload
//               BEATS   beats that the outputs of a token have
//               TOKENS  the most tokens of a sequence
//   token, closing: those of stream_session. idle: no outputs are missing of the tokens that have come.
//   latency: 0   ii: BEATS   order: as it comes
//   flow: 0
//   lut: clog2(TOKENS + 1) * 4 / 3 + clog2(BEATS) + 3
//   ff: clog2(TOKENS + 1) + clog2(BEATS) + 1
`default_nettype none
module stream_answer #(
    parameter integer WIDTH  = 8,
    parameter integer BEATS  = 4,
    parameter integer TOKENS = 4
) (
    input  wire             clk,
    input  wire             rst,
    input  wire             token,
    input  wire             closing,
    output wire             idle,
    input  wire [WIDTH-1:0] in_data,
    input  wire             in_valid,
    output wire             in_ready,
    output wire [WIDTH-1:0] out_data,
    output wire             out_last,
    output wire             out_valid,
    input  wire             out_ready
);
  localparam integer CW = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam integer OW = $clog2(TOKENS + 1);
  logic [CW-1:0] count;
  logic [OW-1:0] owed;  // tokens that have come and whose outputs have not all left
  logic owes;  // there are some
  wire beat_last = count == CW'(BEATS - 1);
  wire pass = owes || !beat_last;
  wire only = owed == OW'(1);

  assign idle = !owes;
  assign out_data = in_data;
  assign out_last = beat_last && closing && only;
  assign out_valid = in_valid && pass;
  assign in_ready = out_ready && pass;
  wire moves = in_valid && in_ready;
  wire leaves = moves && beat_last;

  always_ff @(posedge clk) begin
    if (moves) count <= beat_last ? CW'(0) : count + CW'(1);
    if (token != leaves) begin
      owed <= token ? owed + OW'(1) : owed - OW'(1);
      owes <= token || !only;
    end
    if (rst) begin
      count <= CW'(0);
      owed  <= OW'(0);
      owes  <= 1'b0;
    end
  end
endmodule
`default_nettype wire
