// SPDX-License-Identifier: Apache-2.0
// tb_stall: says in which cycles one side of a stream holds still, in runs of 1 to 4 cycles. Not for synthesis. The
// same seed gives the same cycles in every simulator: Marsaglia's xorshift, 32 bits, shifts 13, 17, 5.
`default_nettype none
module tb_stall (
    input  wire        clk,
    input  wire        rst_n,
    input  wire [31:0] seed,
    input  wire [31:0] percent,  // of all cycles, 0 to 95
    output reg         stall
);
  reg [31:0] state;
  reg [ 1:0] left;  // cycles until the next draw

  function [31:0] next(input [31:0] x);
    reg [31:0] y;
    begin
      y = x ^ (x << 13);
      y = y ^ (y >> 17);
      next = y ^ (y << 5);
    end
  endfunction

  always @(posedge clk) begin
    state <= next(state);
    left  <= left - 2'd1;
    if (left == 2'd0) begin
      stall <= {16'd0, state[23:8]} % 32'd100 < percent;
      left  <= state[31:30];
    end
    if (!rst_n) begin
      state <= (seed ^ 32'h9e3779b9) == 32'd0 ? 32'd1 : seed ^ 32'h9e3779b9;  // never 0
      left  <= 2'd0;
      stall <= 1'b0;
    end
  end
endmodule
`default_nettype wire
