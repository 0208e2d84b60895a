// SPDX-License-Identifier: Apache-2.0
// stream_reset: registers the active-low reset of a design, so that a register drives all that it reaches and tools can
//   copy that register. A design that is never reset begins in reset.
//   latency: 1   ii: 1   order: none
//   lut: 1
//   ff: 1
`default_nettype none
module stream_reset (
    input  wire clk,
    input  wire rst_n,
    output wire rst
);
  (* max_fanout = 512 *) reg held;
  initial held = 1'b1;
  assign rst = held;
  always_ff @(posedge clk) held <= !rst_n;
endmodule
`default_nettype wire
