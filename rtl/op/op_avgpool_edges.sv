// SPDX-License-Identifier: Apache-2.0
// op_avgpool_edges: mean over windows of different counts, channel by channel: exact sum, exact division, one rounding.
//   The sum of a window at the edge, which has fewer elements, is multiplied such that all have one divisor.
//   parameters  H W C          input frame: rows, columns, channels
//               KH KW          rows, columns of the window
//               SH SW          stride
//               DH DW          dilation
//               PT PL PB PR    padding on top, left, bottom, right
//               LANES          channels a beat, divides C
//               E_W            bits of an element
//               SIGNED         1: two's complement
//               LSHIFT         out = over(round(sum * factor * 2^LSHIFT / DIV)), one rounding; may be negative
//               DIV            common multiple of the counts of all windows
//               F_W            bits of a factor
//               S_W            bits of a sum times its factor
//               FACTORS, FACTORS_SUM   image: word p, DIV over the count of window p
//               OUT_W          bits of the output
//               OUT_SIGNED     1: two's complement
//               ROUND OVER     as num_requant
//               LINE_STYLE     memory of rows, see op_window
//   latency: (min(H - 1, max(0, (KH - 1) * DH - PT)) * W + min(W - 1, max(0, (KW - 1) * DW - PL)) + 1) * C / LANES
//       + 3 + KH * KW - (KH * KW * SH * SW == 1 && PT + PL + PB + PR == 0 ? C / LANES + 3 : 0)
//       + 5 + (clog2(DIV + 1) > clog2(DIV) ? 0 : 4)
//   ii: max(H * W * C / LANES, ((H + PT + PB - (KH - 1) * DH - 1) / SH + 1)
//       * ((W + PL + PR - (KW - 1) * DW - 1) / SW + 1) * KH * KW * C / LANES)   order: row-major
//   flow: parts
//   parts: u_pool + u_weigh + u_mean
`default_nettype none
module op_avgpool_edges #(
    parameter integer H           = 4,
    parameter integer W           = 4,
    parameter integer C           = 4,
    parameter integer KH          = 2,
    parameter integer KW          = 2,
    parameter integer SH          = 2,
    parameter integer SW          = 2,
    parameter integer DH          = 1,
    parameter integer DW          = 1,
    parameter integer PT          = 0,
    parameter integer PL          = 0,
    parameter integer PB          = 0,
    parameter integer PR          = 0,
    parameter integer LANES       = 2,
    parameter integer E_W         = 8,
    parameter integer SIGNED      = 1,
    parameter integer LSHIFT      = 0,
    parameter integer DIV         = 4,
    parameter integer F_W         = 3,
    parameter integer S_W         = 12,
    parameter integer OUT_W       = 8,
    parameter integer OUT_SIGNED  = 1,
    parameter integer ROUND       = 0,
    parameter integer OVER        = 0,
    parameter         FACTORS     = "",
    parameter [31:0]  FACTORS_SUM = 32'd0,
    parameter         LINE_STYLE  = "auto"
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
  localparam integer OH = (H + PT + PB - (KH - 1) * DH - 1) / SH + 1;
  localparam integer OW = (W + PL + PR - (KW - 1) * DW - 1) / SW + 1;
  localparam integer ACC_W = E_W + $clog2(KH * KW);
  wire [LANES*ACC_W-1:0] sum;
  wire sum_valid, sum_ready;
  op_pool_scan #(
      .H(H), .W(W), .C(C), .KH(KH), .KW(KW), .SH(SH), .SW(SW), .DH(DH), .DW(DW), .PT(PT), .PL(PL), .PB(PB), .PR(PR),
      .LANES(LANES), .E_W(E_W), .SIGNED(SIGNED), .SUM(1), .ACC_W(ACC_W), .LINE_STYLE(LINE_STYLE)
  ) u_pool (
      .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready),
      .out_data(sum), .out_valid(sum_valid), .out_ready(sum_ready)
  );
  wire [LANES*S_W-1:0] even;
  wire even_valid, even_ready;
  op_pool_weigh #(
      .PIXELS(OH * OW), .BEATS(C / LANES), .LANES(LANES), .IN_W(ACC_W), .SIGNED(SIGNED), .F_W(F_W), .OUT_W(S_W),
      .FACTORS(FACTORS), .FACTORS_SUM(FACTORS_SUM)
  ) u_weigh (
      .clk(clk), .rst(rst), .in_data(sum), .in_valid(sum_valid), .in_ready(sum_ready),
      .out_data(even), .out_valid(even_valid), .out_ready(even_ready)
  );
  op_pool_mean #(
      .LANES(LANES), .IN_W(S_W), .SIGNED(SIGNED), .LSHIFT(LSHIFT), .DIV(DIV), .OUT_W(OUT_W),
      .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER)
  ) u_mean (
      .clk(clk), .rst(rst), .in_data(even), .in_valid(even_valid), .in_ready(even_ready),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
