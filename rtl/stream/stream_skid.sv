// SPDX-License-Identifier: Apache-2.0
// stream_skid: full-throughput register slice. Cuts the combinational path of both valid and ready.
//   parameters  WIDTH  bits of the payload
//   latency: 1   ii: 1   order: as it comes
//   flow: skid()
//   lut: WIDTH + 3
//   ff: 2 * WIDTH + 2
`default_nettype none
module stream_skid #(
    parameter integer WIDTH = 8
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH-1:0] in_data,
    input  wire             in_valid,
    output wire             in_ready,
    output reg  [WIDTH-1:0] out_data,
    output reg              out_valid,
    input  wire             out_ready
);
  // The spare register follows in_data, and holds the beat that came in the cycle in which out stalled. Both registers
  // take the same word, so that its multiplexer fits into the LUTs of what makes in_data.
  reg [WIDTH-1:0] spare_data;
  reg             spare_valid;
  wire [WIDTH-1:0] next = spare_valid ? spare_data : in_data;

  assign in_ready = !spare_valid;

  always_ff @(posedge clk) begin
    spare_data <= next;
    if (out_ready || !out_valid) begin
      out_data    <= next;
      out_valid   <= spare_valid || in_valid;
      spare_valid <= 1'b0;
    end else if (in_valid) begin
      spare_valid <= 1'b1;
    end
    if (rst) begin
      out_valid   <= 1'b0;
      spare_valid <= 1'b0;
    end
  end
endmodule
`default_nettype wire
