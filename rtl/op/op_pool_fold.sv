// SPDX-License-Identifier: Apache-2.0
// op_pool_fold: one step of a pool, lane by lane: the greater of two numbers, or their sum. Combinational.
//   parameters  LANES   lanes
//               IN_W    bits of an element
//               SIGNED  1: two's complement
//               SUM     0: maximum; 1: sum
//               ACC_W   bits of the result, at least IN_W; the sums fit
//   latency: 0   ii: 1   order: combinational
//   lut: LANES * ACC_W * (SUM ? 7 : 6) / 4
`default_nettype none
module op_pool_fold #(
    parameter integer LANES  = 4,
    parameter integer IN_W   = 8,
    parameter integer SIGNED = 1,
    parameter integer SUM    = 0,
    parameter integer ACC_W  = 8
) (
    input  wire                   first,  // acc is not used
    input  wire [ LANES*IN_W-1:0] in,
    input  wire [LANES*ACC_W-1:0] acc,
    output wire [LANES*ACC_W-1:0] out
);
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      wire [IN_W-1:0] x_in = in[i*IN_W+:IN_W];
      wire x_sign = SIGNED != 0 ? x_in[IN_W-1] : 1'b0;
      wire [ACC_W:0] x = {{(ACC_W + 1 - IN_W) {x_sign}}, x_in};
      wire [ACC_W-1:0] a_in = acc[i*ACC_W+:ACC_W];
      wire [ACC_W-1:0] both;
      if (SUM != 0) begin : g_sum
        assign both = a_in + x[ACC_W-1:0];
      end else begin : g_max
        // With the sign bit turned, the order of two's complement is that of unsigned numbers, which costs less.
        localparam [ACC_W-1:0] TURN = ACC_W'(SIGNED != 0 ? 1 : 0) << (ACC_W - 1);
        assign both = (a_in ^ TURN) < (x[ACC_W-1:0] ^ TURN) ? x[ACC_W-1:0] : a_in;
      end
      assign out[i*ACC_W+:ACC_W] = first ? x[ACC_W-1:0] : both;
      wire unused = &{1'b0, x};
    end
  endgenerate
endmodule
`default_nettype wire
