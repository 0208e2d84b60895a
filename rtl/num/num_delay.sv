// SPDX-License-Identifier: Apache-2.0
// num_delay: in, DEPTH enabled clock edges later. No reset, so that shift-register primitives fit.
//   parameters  WIDTH  bits
//               DEPTH  registers, 0 for a wire
//   latency: DEPTH   ii: 1   order: as it comes
//   lut: SRL && DEPTH > 2 ? WIDTH * ((DEPTH + 31) / 32) : 0
//   ff: SRL == 0 || DEPTH <= 2 ? DEPTH * WIDTH : DEPTH % 16 == 1 ? WIDTH : 0
`default_nettype none
module num_delay #(
    parameter integer WIDTH = 8,
    parameter integer DEPTH = 1
) (
    input  wire             clk,
    input  wire             en,
    input  wire [WIDTH-1:0] in,
    output wire [WIDTH-1:0] out
);
  generate
    if (DEPTH == 0) begin : g_wire
      assign out = in;
    end else if (DEPTH == 1) begin : g_one
      logic [WIDTH-1:0] line;
      always_ff @(posedge clk) if (en) line <= in;
      assign out = line;
    end else begin : g_line
      logic [WIDTH*DEPTH-1:0] line;
      always_ff @(posedge clk) if (en) line <= {line[WIDTH*(DEPTH-1)-1:0], in};
      assign out = line[WIDTH*DEPTH-1-:WIDTH];
    end
  endgenerate
  wire unused_top = &{1'b0, clk, en};
endmodule
`default_nettype wire
