// SPDX-License-Identifier: Apache-2.0
// stream_restart: hands a reset on to a second clock. A pulse of one cycle suffices: held, the reset of the first
//   clock, stays until the other side has been in reset, has left it, and this side knows.
//   latency: 1   ii: 1   order: none
//   lut: 4
//   ff: 7
`default_nettype none
module stream_restart (
    input  wire clk,
    input  wire rst,
    output reg  held,
    input  wire other_clk,
    output wire other_rst
);
  reg wanted;  // a reset for which the other side has not been asked yet
  reg asked;  // the other side shall be in reset; changes only when it is known to have followed
  (* ASYNC_REG = "TRUE" *) reg asked_0, asked_1;  // asked as the other clock knows it
  (* ASYNC_REG = "TRUE" *) reg there_0, there;  // the other side is in reset, as this clock knows it

  // Without a reset before, both sides begin in it.
  initial {wanted, held, asked, asked_0, asked_1, there_0, there} = 7'b0111100;
  assign other_rst = asked_1;

  always_ff @(posedge other_clk) begin
    asked_0 <= asked;
    asked_1 <= asked_0;
  end

  always_ff @(posedge clk) begin
    there_0 <= asked_1;
    there   <= there_0;
    if (there && !rst) asked <= 1'b0;
    if (!asked && !there) begin
      asked  <= wanted;
      wanted <= 1'b0;
      held   <= wanted;
    end
    if (rst) begin
      wanted <= !asked;
      held   <= 1'b1;
    end
  end
endmodule
`default_nettype wire
