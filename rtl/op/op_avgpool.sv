// SPDX-License-Identifier: Apache-2.0
// op_avgpool: mean over windows, channel by channel: exact sum, exact division, one rounding. Padding counts as 0.
//   Windows that neither overlap nor have padding take one cycle an input beat, others one a tap.
//   parameters  H W C          input frame: rows, columns, channels
//               KH KW          rows, columns of the window
//               SH SW          stride
//               DH DW          dilation
//               PT PL PB PR    padding on top, left, bottom, right
//               LANES          channels a beat, divides C
//               E_W            bits of an element
//               SIGNED         1: two's complement
//               LSHIFT         out = over(round(sum * 2^LSHIFT / DIV)), one rounding; may be negative
//               DIV            divisor, the same for all windows: their size if padding counts
//               OUT_W          bits of the output
//               OUT_SIGNED     1: two's complement
//               ROUND OVER     as num_requant
//               M_W M SUB SHIFT ZERO   scales with a real ratio, see op_pool_mean
//               LINE_STYLE     memory of rows, see op_window
//               TILED          derived, not to be set
//   latency: (TILED ? ((KH - 1) * W + KW - 1) * C / LANES + 4
//       : (min(H - 1, max(0, (KH - 1) * DH - PT)) * W + min(W - 1, max(0, (KW - 1) * DW - PL)) + 1) * C / LANES
//       + 3 + KH * KW) + 1 + (M_W == 0 && clog2(DIV + 1) > clog2(DIV) ? 0 : 4)
//   ii: TILED ? H * W * C / LANES : max(H * W * C / LANES, ((H + PT + PB - (KH - 1) * DH - 1) / SH + 1)
//       * ((W + PL + PR - (KW - 1) * DW - 1) / SW + 1) * KH * KW * C / LANES)   order: row-major
//   flow: parts
//   parts: u_pool + u_mean
`default_nettype none
module op_avgpool #(
    parameter integer H          = 4,
    parameter integer W          = 4,
    parameter integer C          = 4,
    parameter integer KH         = 2,
    parameter integer KW         = 2,
    parameter integer SH         = 2,
    parameter integer SW         = 2,
    parameter integer DH         = 1,
    parameter integer DW         = 1,
    parameter integer PT         = 0,
    parameter integer PL         = 0,
    parameter integer PB         = 0,
    parameter integer PR         = 0,
    parameter integer LANES      = 2,
    parameter integer E_W        = 8,
    parameter integer SIGNED     = 1,
    parameter integer LSHIFT     = 0,
    parameter integer DIV        = KH * KW,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter integer M_W        = 0,
    parameter [63:0]  M          = 64'd0,
    parameter integer SUB        = 0,
    parameter integer SHIFT      = 0,
    parameter integer ZERO       = 0,
    parameter         LINE_STYLE = "auto",
    parameter integer TILED =
        SH >= KH && SW >= KW && PT + PL + PB + PR == 0 && (KH - 1) * (DH - 1) + (KW - 1) * (DW - 1) == 0 ? 1 : 0
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
  localparam integer ACC_W = E_W + $clog2(KH * KW);
  wire [LANES*ACC_W-1:0] sum;
  wire sum_valid, sum_ready;
  op_pool #(
      .H(H), .W(W), .C(C), .KH(KH), .KW(KW), .SH(SH), .SW(SW), .DH(DH), .DW(DW), .PT(PT), .PL(PL), .PB(PB), .PR(PR),
      .LANES(LANES), .E_W(E_W), .SIGNED(SIGNED), .SUM(1), .ACC_W(ACC_W), .LINE_STYLE(LINE_STYLE),
      .TILED(TILED)
  ) u_pool (
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
