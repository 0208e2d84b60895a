// SPDX-License-Identifier: Apache-2.0
// board_start: the reset of a board: from power-up until ready, which may come from another clock, has been high for
//   255 cycles in a row.
//   latency: 1   ii: 1   order: none
//   lut: 10
//   ff: 11
`default_nettype none
module board_start (
    input  wire clk,
    input  wire ready,
    output wire rst
);
  (* ASYNC_REG = "TRUE" *) reg [1:0] seen;
  reg [7:0] count;
  reg up;
  initial {seen, count, up} = 11'd0;
  assign rst = !up;
  always_ff @(posedge clk) begin
    seen <= {seen[0], ready};
    up   <= seen[1] && &count;
    if (!seen[1]) count <= 8'd0;
    else if (!(&count)) count <= count + 8'd1;
  end
endmodule
`default_nettype wire
