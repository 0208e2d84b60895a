// SPDX-License-Identifier: Apache-2.0
// stream_skid: full-throughput register slice. Cuts the combinational path of both valid and ready.
//   parameters  WIDTH  bits of the payload
//   latency: 1   ii: 1   order: as it comes
//   flow: skid()
//   lut: WIDTH + 4
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
  reg [WIDTH-1:0] spare_data;  // holds the beat that arrived in the cycle in which out stalled
  reg             spare_valid;

  assign in_ready = !spare_valid;

  always_ff @(posedge clk) begin
    if (out_ready || !out_valid) begin
      out_data    <= spare_valid ? spare_data : in_data;
      out_valid   <= spare_valid || in_valid;
      spare_valid <= 1'b0;
    end else if (in_valid && in_ready) begin
      spare_data  <= in_data;
      spare_valid <= 1'b1;
    end
    if (rst) begin
      out_valid   <= 1'b0;
      spare_valid <= 1'b0;
    end
  end
endmodule
`default_nettype wire
