// SPDX-License-Identifier: Apache-2.0
// tb_status: compares the status outputs of a decoder, at each beat that it takes, with what the tokens so far make of
// them. Not for synthesis.
//   parameters  TOKENS  tokens of the file
//               FRAME   beats of a token
//               MOST    the most tokens of a sequence
//               BITS    of position
//               FILE    a hexadecimal word a token; bit 0 says that it ends its sequence
`default_nettype none
module tb_status #(
    parameter integer TOKENS = 1,
    parameter integer FRAME = 1,
    parameter integer MOST = 1,
    parameter integer BITS = 1,
    parameter         FILE = ""
) (
    input  wire            clk,
    input  wire            rst_n,
    input  wire            taken,     // a beat goes in
    input  wire [BITS-1:0] position,
    input  wire            error,
    output reg             failed
);
  reg [35:0] tokens[0:TOKENS-1];
  reg [31:0] token, beat, place;
  reg wrong;  // a token came for which there was no room
  wire [31:0] expected = place < MOST ? place : MOST;

  initial $readmemh(FILE, tokens);

  always @(posedge clk)
    if (!rst_n) begin
      token  <= 32'd0;
      beat   <= 32'd0;
      place  <= 32'd0;
      wrong  <= 1'b0;
      failed <= 1'b0;
    end else if (taken && !failed) begin
      if (position !== expected[BITS-1:0] || error !== wrong) begin
        $display("FAIL: token %0d, beat %0d: position is %0d and error %b, want %0d and %b", token, beat, position,
                 error, expected, wrong);
        failed <= 1'b1;
      end
      wrong <= place >= MOST || wrong && (place > 0 || beat > 0);
      beat  <= beat + 32'd1;
      if (beat == FRAME - 1) begin
        beat  <= 32'd0;
        token <= token + 32'd1;
        place <= tokens[token][0] ? 32'd0 : place + 32'd1;
      end
    end
endmodule
`default_nettype wire
