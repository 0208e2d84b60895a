// SPDX-License-Identifier: Apache-2.0
// tb_source: sends the beats of a file over an AXI4-Stream, with idle cycles between them. Not for synthesis.
//   parameters  WIDTH        bits of TDATA
//               BEATS        beats of the file
//               FRAME        beats from one TLAST to the next, or of a token
//               TOKENS       tokens of TOKENS_FILE; 0: there are none
//               FILE         the beats, one hexadecimal word a line
//               TOKENS_FILE  a hexadecimal word a token. Bits: 0 TLAST is on its last beat, 1 its output ends with
//                            TLAST, 2 it waits for all outputs of those before it, 3 nothing comes out for it,
//                            and from 4 on the number of tokens that come out before it
//               NAME         of the stream, for messages
`default_nettype none
module tb_source #(
    parameter integer WIDTH = 8,
    parameter integer BEATS = 1,
    parameter integer FRAME = 1,
    parameter integer TOKENS = 0,
    parameter         FILE = "",
    parameter         TOKENS_FILE = "",
    parameter         NAME = "stream"
) (
    input  wire             clk,
    input  wire             rst_n,
    input  wire [31:0]      seed,
    input  wire [31:0]      stalls,
    input  wire [31:0]      answered,  // tokens that came out
    output reg  [WIDTH-1:0] tdata,
    output reg              tvalid,
    input  wire             tready,
    output reg              tlast,
    output reg  [31:0]      count,  // beats that were taken
    output reg  [31:0]      idle,   // cycles in which a beat was wanted and none was offered
    output reg              failed
);
  reg [WIDTH-1:0] beats[0:BEATS-1];
  reg [31:0] at;  // the next beat to offer
  wire stall;
  reg [35:0] tokens[0:(TOKENS > 0 ? TOKENS : 1)-1];
  wire [35:0] token = TOKENS > 0 ? tokens[at/FRAME] : 36'd1;
  wire more = at < BEATS && (!token[2] || answered >= token[35:4]);

  initial $readmemh(FILE, beats);
  initial if (TOKENS > 0) $readmemh(TOKENS_FILE, tokens);

  tb_stall pace (
      .clk(clk),
      .rst_n(rst_n),
      .seed(seed),
      .percent(stalls),
      .stall(stall)
  );

  always @(posedge clk)
    if (!rst_n) begin
      tvalid <= 1'b0;
      tlast  <= 1'b0;
      at     <= 32'd0;
      count  <= 32'd0;
      idle   <= 32'd0;
      failed <= 1'b0;
    end else begin
      if (tready !== 1'b0 && tready !== 1'b1 && !failed) begin
        $display("FAIL: %0s: TREADY is unknown after beat %0d", NAME, count);
        failed <= 1'b1;
      end
      if (tvalid && tready) count <= count + 32'd1;
      if (!tvalid && tready && more) idle <= idle + 32'd1;
      if (!tvalid || tready) begin
        tvalid <= more && !stall;
        tdata  <= {WIDTH{1'bx}};
        if (more && !stall) begin
          tdata <= beats[at];
          tlast <= token[0] && at % FRAME == FRAME - 1;
          at    <= at + 32'd1;
        end
      end
    end
endmodule
`default_nettype wire
