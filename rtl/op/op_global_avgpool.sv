// SPDX-License-Identifier: Apache-2.0
// op_global_avgpool: mean of all pixels, channel by channel: exact sum, exact division, one rounding.
//   parameters  H W C          input frame: rows, columns, channels
//               LANES          channels a beat, divides C
//               E_W            bits of an element
//               SIGNED         1: two's complement
//               LSHIFT         out = over(round(sum * 2^LSHIFT / DIV)), one rounding; may be negative
//               DIV            divisor, H * W for the mean
//               OUT_W          bits of the output
//               OUT_SIGNED     1: two's complement
//               ROUND OVER     as num_requant
//               M_W M SUB SHIFT ZERO   scales with a real ratio, see op_pool_mean
//   latency: (H * W - 1) * C / LANES + 5 + (M_W == 0 && clog2(DIV + 1) > clog2(DIV) ? 0 : 4)
//   ii: H * W * C / LANES   order: channels ascending
//   flow: parts
//   parts: u_sum + u_mean
`default_nettype none
module op_global_avgpool #(
    parameter integer H          = 4,
    parameter integer W          = 4,
    parameter integer C          = 4,
    parameter integer LANES      = 2,
    parameter integer E_W        = 8,
    parameter integer SIGNED     = 1,
    parameter integer LSHIFT     = 0,
    parameter integer DIV        = H * W,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter integer M_W        = 0,
    parameter [63:0]  M          = 64'd0,
    parameter integer SUB        = 0,
    parameter integer SHIFT      = 0,
    parameter integer ZERO       = 0
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [  LANES*E_W-1:0] in_data,
    input  wire                   in_valid,
    output wire                   in_ready,
    output wire [LANES*OUT_W-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  localparam integer ACC_W = E_W + $clog2(H * W);
  wire [LANES*ACC_W-1:0] sum;
  wire sum_valid, sum_ready;
  // One row of pixels under one window: a partial sum for each channel.
  op_pool_tile #(
      .H(1), .W(H * W), .C(C), .KH(1), .KW(H * W), .SH(1), .SW(H * W), .LANES(LANES), .E_W(E_W), .SIGNED(SIGNED),
      .SUM(1), .ACC_W(ACC_W)
  ) u_sum (
      .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready),
      .out_data(sum), .out_valid(sum_valid), .out_ready(sum_ready)
  );
  op_pool_mean #(
      .LANES(LANES), .IN_W(ACC_W), .SIGNED(SIGNED), .LSHIFT(LSHIFT), .DIV(DIV), .OUT_W(OUT_W),
      .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER), .M_W(M_W), .M(M), .SUB(SUB), .SHIFT(SHIFT), .ZERO(ZERO)
  ) u_mean (
      .clk(clk), .rst(rst), .in_data(sum), .in_valid(sum_valid), .in_ready(sum_ready),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
