// SPDX-License-Identifier: Apache-2.0
// stream_reset: registers the active-low reset of a design, so that a register drives all that it reaches and tools can
//   copy that register. A design that is never reset begins in reset. open: beats may pass, which is a register of its
//   own, beside the ports: that of rst may lie far from them.
//   latency: 1   ii: 1   order: none
//   lut: 2
//   ff: 2
`default_nettype none
module stream_reset (
    input  wire clk,
    input  wire rst_n,
    output wire rst,
    output reg  open
);
  (* max_fanout = 512 *) reg held;
  initial held = 1'b1;
  initial open = 1'b0;
  assign rst = held;
  always_ff @(posedge clk) begin
    held <= !rst_n;
    open <= rst_n && !held;
  end
endmodule
`default_nettype wire
