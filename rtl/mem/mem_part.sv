// SPDX-License-Identifier: Apache-2.0
// mem_part: which part of a token attention is at, of PARTS.
//   parameters  PARTS  parts of a token; up to 1: the only one is the last
//   step: a part ends. last: the part is the last one of its token.
//   latency: 0   ii: 1   order: a counter
//   lut: PARTS > 1 ? clog2(PARTS) : 0
//   ff: PARTS > 1 ? clog2(PARTS) : 0
`default_nettype none
module mem_part #(
    parameter integer PARTS = 2
) (
    input  wire clk,
    input  wire rst,
    input  wire step,
    output wire last
);
  generate
    if (PARTS > 1) begin : g_parts
      localparam integer PW = $clog2(PARTS);
      logic [PW-1:0] part;
      assign last = part == PW'(PARTS - 1);
      always_ff @(posedge clk) begin
        if (step) part <= last ? PW'(0) : part + PW'(1);
        if (rst) part <= PW'(0);
      end
    end else begin : g_one
      assign last = 1'b1;
      wire unused = &{1'b0, clk, rst, step};
    end
  endgenerate
endmodule
`default_nettype wire
