// SPDX-License-Identifier: Apache-2.0
// board_tx: sender of a serial line: eight bits, the low one first, no parity, one stop bit.
//   parameters  STEP  2^20 times the rate of bits divided by the clock, rounded
//   latency: 2   ii: 1   order: as it comes
//   lut: 35
//   ff: 34
`default_nettype none
module board_tx #(
    parameter integer STEP = 41943
) (
    input  wire       clk,
    input  wire       rst,
    input  wire [7:0] in_data,
    input  wire       in_valid,
    output wire       in_ready,
    output reg        tx
);
  reg [19:0] phase;
  reg [3:0] left;  // bits that the line has still to show
  reg [8:0] bits;  // the lowest comes next
  wire [20:0] next = {1'b0, phase} + STEP[20:0];

  generate
    if (STEP < 1 || STEP > 131072) begin : bad
      STEP_must_be_1_to_131072 u ();
    end
  endgenerate
  assign in_ready = left == 4'd0;

  always_ff @(posedge clk) begin
    tx <= in_ready || bits[0];
    if (in_ready) begin
      phase <= 20'd0;
      if (in_valid) begin
        bits <= {in_data, 1'b0};
        left <= 4'd10;
      end
    end else begin
      phase <= next[19:0];
      if (next[20]) begin
        bits <= {1'b1, bits[8:1]};
        left <= left - 4'd1;
      end
    end
    if (rst) begin
      left <= 4'd0;
      tx   <= 1'b1;
    end
  end
endmodule
`default_nettype wire
