// SPDX-License-Identifier: Apache-2.0
// op_pool: maximum or exact sum over windows, channel by channel: one step an input beat where windows do not overlap
//   and have no padding (op_pool_tile), otherwise one step for each element of each window (op_pool_scan).
//   parameters  H W C          input frame: rows, columns, channels
//               KH KW          rows, columns of the window
//               SH SW          stride
//               DH DW          dilation
//               PT PL PB PR    padding on top, left, bottom, right
//               LANES          channels a beat, divides C
//               E_W            bits of an element
//               SIGNED         1: two's complement
//               SUM            0: maximum, padding is the least code; 1: sum, padding is 0
//               ACC_W          bits of a result
//               LINE_STYLE     memory of rows, see op_window
//               TILED          derived, not to be set
//   latency: TILED ? ((KH - 1) * W + KW - 1) * C / LANES + 4
//       : (min(H - 1, max(0, (KH - 1) * DH - PT)) * W + min(W - 1, max(0, (KW - 1) * DW - PL)) + 1) * C / LANES
//       + 3 + KH * KW
//   ii: TILED ? H * W * C / LANES : max(H * W * C / LANES, ((H + PT + PB - (KH - 1) * DH - 1) / SH + 1)
//       * ((W + PL + PR - (KW - 1) * DW - 1) / SW + 1) * KH * KW * C / LANES)   order: row-major
//   flow: parts
//   parts: TILED ? u_tile : u_scan
`default_nettype none
module op_pool #(
    parameter integer H          = 4,
    parameter integer W          = 4,
    parameter integer C          = 4,
    parameter integer KH         = 3,
    parameter integer KW         = 3,
    parameter integer SH         = 1,
    parameter integer SW         = 1,
    parameter integer DH         = 1,
    parameter integer DW         = 1,
    parameter integer PT         = 1,
    parameter integer PL         = 1,
    parameter integer PB         = 1,
    parameter integer PR         = 1,
    parameter integer LANES      = 2,
    parameter integer E_W        = 8,
    parameter integer SIGNED     = 1,
    parameter integer SUM        = 0,
    parameter integer ACC_W      = 8,
    parameter         LINE_STYLE = "auto",
    parameter integer TILED =
        SH >= KH && SW >= KW && PT + PL + PB + PR == 0 && (KH - 1) * (DH - 1) + (KW - 1) * (DW - 1) == 0 ? 1 : 0
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [  LANES*E_W-1:0] in_data,
    input  wire                   in_valid,
    output wire                   in_ready,
    output wire [LANES*ACC_W-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  generate
    if (TILED != 0) begin : g_tile
      op_pool_tile #(
          .H(H), .W(W), .C(C), .KH(KH), .KW(KW), .SH(SH), .SW(SW), .LANES(LANES), .E_W(E_W), .SIGNED(SIGNED),
          .SUM(SUM), .ACC_W(ACC_W), .LINE_STYLE(LINE_STYLE)
      ) u_tile (
          .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready),
          .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
      );
    end else begin : g_scan
      op_pool_scan #(
          .H(H), .W(W), .C(C), .KH(KH), .KW(KW), .SH(SH), .SW(SW), .DH(DH), .DW(DW), .PT(PT), .PL(PL), .PB(PB), .PR(PR),
          .LANES(LANES), .E_W(E_W), .SIGNED(SIGNED), .SUM(SUM), .ACC_W(ACC_W), .LINE_STYLE(LINE_STYLE)
      ) u_scan (
          .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready),
          .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
      );
    end
  endgenerate
endmodule
`default_nettype wire
