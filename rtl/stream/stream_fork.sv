// SPDX-License-Identifier: Apache-2.0
// stream_fork: gives every beat to N branches, each at its own pace (eager: a bit a branch says that it has the beat).
// A branch never waits for the ready of another, so that branches may meet again in a join.
// All branches share out_data; branch i has bit i of out_valid and out_ready.
//   parameters  WIDTH  bits of the payload
//               N      branches
//   latency: 0   ii: 1   order: as it comes
//   flow: fork()
//   lut: N + 2
//   ff: N
`default_nettype none
module stream_fork #(
    parameter integer WIDTH = 8,
    parameter integer N = 2
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH-1:0] in_data,
    input  wire             in_valid,
    output wire             in_ready,
    output wire [WIDTH-1:0] out_data,
    output wire [N-1:0]     out_valid,
    input  wire [N-1:0]     out_ready
);
  reg [N-1:0] taken;

  assign out_data  = in_data;
  assign out_valid = {N{in_valid}} & ~taken;
  assign in_ready  = &(taken | out_ready);

  always_ff @(posedge clk) begin
    if (in_valid) taken <= in_ready ? {N{1'b0}} : taken | out_ready;
    if (rst) taken <= {N{1'b0}};
  end
endmodule
`default_nettype wire
