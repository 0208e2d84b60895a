// SPDX-License-Identifier: Apache-2.0
// board_crc: one byte further in a CRC-32 (IEEE 802.3, reflected, polynomial edb88320), without any register. A
//   checksum begins at ffffffff and goes over the line complemented, low byte first; a receiver that takes those four
//   bytes in, too, ends at debb20e3.
//   latency: 0   ii: 1   order: none
//   lut: 50
//   ff: 0
`default_nettype none
module board_crc (
    input  wire [31:0] crc,
    input  wire [7:0]  data,
    output wire [31:0] next
);
  function [31:0] step(input [31:0] from);
    integer i;
    begin
      step = from;
      for (i = 0; i < 8; i = i + 1) step = {1'b0, step[31:1]} ^ (step[0] ? 32'hedb88320 : 32'd0);
    end
  endfunction
  assign next = step(crc ^ {24'd0, data});
endmodule
`default_nettype wire
