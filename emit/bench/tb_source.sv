// SPDX-License-Identifier: Apache-2.0
// tb_source: sends the beats of a file over an AXI4-Stream, with idle cycles between them. Not for synthesis.
//   parameters  WIDTH  bits of TDATA
//               BEATS  beats of the file
//               FRAME  beats from one TLAST to the next
//               FILE   the beats, one hexadecimal word a line
//               NAME   of the stream, for messages
`default_nettype none
module tb_source #(
    parameter integer WIDTH = 8,
    parameter integer BEATS = 1,
    parameter integer FRAME = 1,
    parameter         FILE = "",
    parameter         NAME = "stream"
) (
    input  wire             clk,
    input  wire             rst_n,
    input  wire [31:0]      seed,
    input  wire [31:0]      stalls,
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

  initial $readmemh(FILE, beats);

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
      if (!tvalid && tready && at < BEATS) idle <= idle + 32'd1;
      if (!tvalid || tready) begin
        tvalid <= at < BEATS && !stall;
        tdata  <= {WIDTH{1'bx}};
        if (at < BEATS && !stall) begin
          tdata <= beats[at];
          tlast <= at % FRAME == FRAME - 1;
          at    <= at + 32'd1;
        end
      end
    end
endmodule
`default_nettype wire
