// SPDX-License-Identifier: Apache-2.0
// op_reduce_mean: sum or mean of N elements in the middle of OUTER * N * INNER: exact sum and division, one rounding.
//   parameters  OUTER N INNER   elements before, along and behind the axis
//               LANES           lanes of the input, divides N if INNER = 1, else INNER
//               E_W             bits of an element
//               SIGNED          1: two's complement
//               LSHIFT          out = over(round(sum * 2^LSHIFT / DIV)), one rounding; may be negative
//               DIV             divisor: N for the mean, 1 for the sum
//               OUT_W           bits of the output
//               OUT_SIGNED      1: two's complement
//               ROUND OVER      as num_requant
//               OUT_LANES       derived, not to be set
//   latency: (INNER > 1 ? (N - 1) * INNER / LANES + 4 : N / LANES + 3 + (LANES > 1 ? (clog2(LANES) + 1) / 2 : 0))
//       + 1 + (clog2(DIV + 1) > clog2(DIV) ? 0 : 4)
//   ii: OUTER * N * INNER / LANES   order: as the input
//   flow: parts
//   parts: u_sum + u_mean
`default_nettype none
module op_reduce_mean #(
    parameter integer OUTER      = 2,
    parameter integer N          = 6,
    parameter integer INNER      = 1,
    parameter integer LANES      = 2,
    parameter integer E_W        = 8,
    parameter integer SIGNED     = 1,
    parameter integer LSHIFT     = 0,
    parameter integer DIV        = N,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter integer OUT_LANES  = INNER > 1 ? LANES : 1
) (
    input  wire                       clk,
    input  wire                       rst,
    input  wire [      LANES*E_W-1:0] in_data,
    input  wire                       in_valid,
    output wire                       in_ready,
    output wire [OUT_LANES*OUT_W-1:0] out_data,
    output wire                       out_valid,
    input  wire                       out_ready
);
  localparam integer ACC_W = E_W + $clog2(N);
  wire [OUT_LANES*ACC_W-1:0] sum;
  wire sum_valid, sum_ready;
  op_reduce #(
      .OUTER(OUTER), .N(N), .INNER(INNER), .LANES(LANES), .E_W(E_W), .SIGNED(SIGNED), .KIND(2), .ACC_W(ACC_W)
  ) u_sum (
      .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready),
      .out_data(sum), .out_valid(sum_valid), .out_ready(sum_ready)
  );
  op_pool_mean #(
      .LANES(OUT_LANES), .IN_W(ACC_W), .SIGNED(SIGNED), .LSHIFT(LSHIFT), .DIV(DIV), .OUT_W(OUT_W),
      .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER)
  ) u_mean (
      .clk(clk), .rst(rst), .in_data(sum), .in_valid(sum_valid), .in_ready(sum_ready),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
