// SPDX-License-Identifier: Apache-2.0
// op_window_wide: sliding windows, whole ones each cycle or in equal parts of whole pixels. One pixel a beat in.
//   Row memories make columns, a register chain makes windows. A kernel of one row needs no memory.
//   parameters  H W C          input frame: rows, columns, channels
//               KH KW          rows, columns of the window
//               SH SW          stride
//               DH DW          dilation
//               PT PL PB PR    padding on top, left, bottom, right
//               OUT_LANES      elements a beat: C times a divisor of KH * KW
//               E_W            bits of an element
//               PAD            code of padding
//               NB             row memories
//               LINE_STYLE     their kind, see mem_ram
//   and, derived from these and not to be set:
//               OH OW          rows, columns of windows
//               BUSY           cycles of a window
//               FRONT FROM     column, padding included, and real column with which a row's first window is complete
//               FULL SENT      windows that the columns of a row complete, at most OW; the others hang over the edge
//               REST           of those, what is left when the next row must wait
//               LAST TURN      column of the last complete window; columns from a row's last window to the next row
//               MISS EARLY     cycles by which a stride is longer than a window; saved at the edge
//               ROW            cycles of a row of windows: BUSY for each, or the columns in between if they are more
//   latency: min(H - 1, max(0, (KH - 1) * DH - PT)) * W + FROM
//       + 1 + (KH * SH + PT + PB > 1 ? 3 : 0) + (KH * KW * C > OUT_LANES ? 2 : 0)
//   ii: max(H * W, OH * ROW)   order: windows row-major; in a window ky, kx, channel
//   flow: parts
//   parts: (KH * SH + PT + PB > 1 ? u_rows : 0) + u_cols + (PARTS > 1 ? u_narrow : 0)
`default_nettype none
module op_window_wide #(
    parameter integer H          = 8,
    parameter integer W          = 8,
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
    parameter integer OUT_LANES  = 36,
    parameter integer E_W        = 8,
    parameter integer PAD        = 0,
    parameter integer NB         = 2 * H,
    parameter         LINE_STYLE = "auto",
    parameter integer OH         = (H + PT + PB - (KH - 1) * DH - 1) / SH + 1,
    parameter integer OW         = (W + PL + PR - (KW - 1) * DW - 1) / SW + 1,
    parameter integer BUSY       = KH * KW * C / OUT_LANES,
    parameter integer FRONT      = (KW - 1) * DW > PL ? (KW - 1) * DW - PL : 0,
    parameter integer FROM       = FRONT < W - 1 ? FRONT : W - 1,
    parameter integer FULL       = FRONT < W - 2 + SW ? (W - 2 + 2 * SW - FRONT) / SW : 1,
    parameter integer SENT       = OW < FULL ? OW : FULL,
    parameter integer REST       = OW - SENT > FROM ? OW - SENT - FROM : 0,
    parameter integer LAST       = FROM + (SENT - 1) * SW,
    parameter integer TURN       = W + FROM + REST - (LAST < W - 1 ? LAST : W - 1 + OW - SENT),
    parameter integer MISS       = SW > BUSY ? SW - BUSY : 0,
    parameter integer EARLY      = LAST < W - 1 ? 0 : LAST - W + 1 < MISS ? LAST - W + 1 : MISS,
    parameter integer ROW        = OW * BUSY + (SENT - 1) * MISS - EARLY + (TURN > BUSY ? TURN - BUSY : 0)
) (
    input  wire                     clk,
    input  wire                     rst,
    input  wire [        C*E_W-1:0] in_data,
    input  wire                     in_valid,
    output wire                     in_ready,
    output wire [OUT_LANES*E_W-1:0] out_data,
    output wire                     out_valid,
    input  wire                     out_ready
);
  localparam integer D = C * E_W;
  localparam integer PARTS = KH * KW * C / OUT_LANES;
  wire [KH*D-1:0] column;
  wire column_valid, column_ready;
  wire [KW*KH*D-1:0] window;  // kx outermost
  wire window_valid, window_ready;
  wire [KW*KH*D-1:0] sorted;  // ky outermost

  generate
    if (OUT_LANES % C != 0 || (KH * KW * C) % OUT_LANES != 0 || OH * ROW < 1) begin : g_bad
      OUT_LANES_must_be_C_times_a_divisor_of_KH_KW u_bad ();
    end
    if (KH * SH + PT + PB > 1) begin : g_rows
      op_window_rows #(
          .H(H), .W(W), .KH(KH), .SH(SH), .DH(DH), .PT(PT), .PB(PB), .PIXEL(C), .E_W(E_W), .PAD(PAD), .NB(NB),
          .LINE_STYLE(LINE_STYLE)
      ) u_rows (
          .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready),
          .out_data(column), .out_valid(column_valid), .out_ready(column_ready)
      );
    end else begin : g_row
      assign column = in_data;
      assign column_valid = in_valid;
      assign in_ready = column_ready;
    end

    for (genvar i = 0; i < KH * KW; i++) begin : g_sort
      assign sorted[i*D+:D] = window[((i%KW)*KH+i/KW)*D+:D];
    end

    if (PARTS > 1) begin : g_parts
      stream_narrow #(
          .WIDTH(OUT_LANES * E_W),
          .N(PARTS)
      ) u_narrow (
          .clk(clk), .rst(rst), .in_data(sorted), .in_valid(window_valid), .in_ready(window_ready),
          .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
      );
    end else begin : g_whole
      assign out_data = sorted;
      assign out_valid = window_valid;
      assign window_ready = out_ready;
    end
  endgenerate

  op_window_cols #(
      .W(W), .KW(KW), .SW(SW), .DW(DW), .PL(PL), .PR(PR), .COLUMN(KH * C), .E_W(E_W), .PAD(PAD)
  ) u_cols (
      .clk(clk), .rst(rst), .in_data(column), .in_valid(column_valid), .in_ready(column_ready),
      .out_data(window), .out_valid(window_valid), .out_ready(window_ready)
  );
endmodule
`default_nettype wire
