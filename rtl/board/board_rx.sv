// SPDX-License-Identifier: Apache-2.0
// board_rx: receiver of a serial line: eight bits, the low one first, no parity. Bits are sampled in their middle,
//   which is counted from the edge of the start bit in fractions of a cycle, so that any clock of 8 times the rate or
//   more serves. valid and broken are high for one cycle: broken where the stop bit is low.
//   parameters  STEP  2^20 times the rate of bits divided by the clock, rounded
//   latency: 3   ii: 1   order: as it comes
//   lut: 30
//   ff: 45
`default_nettype none
module board_rx #(
    parameter integer STEP = 41943
) (
    input  wire       clk,
    input  wire       rst,
    input  wire       rx,
    output reg  [7:0] data,
    output reg        valid,
    output reg        broken
);
  (* ASYNC_REG = "TRUE" *) reg [2:0] line;
  reg [19:0] phase;
  reg [3:0] left;  // bits until the byte is there, the start and the stop bit among them
  reg [7:0] bits;
  wire [20:0] next = {1'b0, phase} + STEP[20:0];
  wire now = line[2];

  generate
    if (STEP < 1 || STEP > 131072) begin : bad
      STEP_must_be_1_to_131072 u ();
    end
  endgenerate

  always_ff @(posedge clk) begin
    line   <= {line[1:0], rx};
    valid  <= 1'b0;
    broken <= 1'b0;
    if (left == 4'd0) begin
      phase <= 20'h80000;  // half a bit
      if (!now) left <= 4'd10;
    end else begin
      phase <= next[19:0];
      if (next[20]) begin
        left <= left - 4'd1;
        bits <= {now, bits[7:1]};
        if (left == 4'd10 && now) left <= 4'd0;  // a spike, no start bit
        if (left == 4'd1) begin
          data   <= bits;
          valid  <= now;
          broken <= !now;
        end
      end
    end
    if (rst) begin
      line   <= 3'b111;
      left   <= 4'd0;
      valid  <= 1'b0;
      broken <= 1'b0;
    end
  end
endmodule
`default_nettype wire
