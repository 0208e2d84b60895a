// SPDX-License-Identifier: Apache-2.0
// mx_conv_fed: convolution over blocks along the channels. The memory of the weights stands outside: mx_conv has it in
//   a ROM. A window generator whose elements are whole beats, in front of mx_linear_fed: a vector is a window, its runs
//   are the pixels of the window. Padding is blocks of zeros.
//   parameters  H W C          input frame: rows, columns, channels
//               KH KW          rows, columns of the window
//               SH SW          stride
//               DH DW          dilation
//               PT PL PB PR    padding on top, left, bottom, right
//               OC             output channels
//               K IN_LANES ROWS DRAIN X_W XS_W X_E XS_FALLS CODED W_W W_E WS_W D_W OFFSET SPAN LOW CLAMP SUM_W BIAS_W
//               OUT_W          see mx_linear
//               SCALES SCALES_SUM BIAS BIAS_SUM MULT TREE_PIPE                                        see mx_linear
//               LINE_STYLE     memory of rows, see op_window
//   and, derived from these and not to be set, CB OH OW BUSY FRONT FROM AW: beats of a pixel, rows and columns of the
//   result, cycles of a window, see op_window_wide; bits of an address
//   The ports w_* are those of op_linear_fed.
//   latency: (KH * KW * SH * SW == 1 && PT + PB + PL + PR == 0 ? CB
//       : (min(H - 1, max(0, (KH - 1) * DH - PT)) * W + FROM + 1) * CB + 3 + KH * KW * CB)
//       + 9 + (CODED + W_E ? 1 : 0) + (clog2(IN_LANES) + TREE_PIPE - 1) / TREE_PIPE
//   ii: max(H * W * CB, OH * OW * BUSY)
//   order: pixels row-major, output channels ascending
//   front: KH * KW * SH * SW == 1 && PT + PB + PL + PR == 0 && OC > DRAIN ? CB : 0
//   flow: parts
//   parts: u_window + u_linear
`default_nettype none
module mx_conv_fed #(
    parameter integer H          = 6,
    parameter integer W          = 6,
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
    parameter integer OC         = 4,
    parameter integer K          = 4,
    parameter integer IN_LANES   = 2,
    parameter integer ROWS       = 2,
    parameter integer DRAIN      = 1,
    parameter integer X_W        = 8,
    parameter integer XS_W       = 8,
    parameter integer X_E        = -1,
    parameter integer XS_FALLS   = 0,
    parameter integer CODED      = 0,
    parameter integer W_W        = 8,
    parameter integer W_E        = 0,
    parameter integer WS_W       = 4,
    parameter integer D_W        = 18,
    parameter integer OFFSET     = -100,
    parameter integer SPAN       = 24,
    parameter integer LOW        = 8,
    parameter integer CLAMP      = 1,
    parameter integer SUM_W      = 34,
    parameter integer BIAS_W     = 16,
    parameter integer OUT_W      = 30,
    parameter         SCALES     = "",
    parameter [31:0]  SCALES_SUM = 32'd0,
    parameter         BIAS       = "",
    parameter [31:0]  BIAS_SUM   = 32'd0,
    parameter         MULT       = "auto",
    parameter integer TREE_PIPE  = 1,
    parameter         LINE_STYLE = "auto",
    parameter integer CB         = C / IN_LANES,
    parameter integer OH         = (H + PT + PB - (KH - 1) * DH - 1) / SH + 1,
    parameter integer OW         = (W + PL + PR - (KW - 1) * DW - 1) / SW + 1,
    parameter integer BUSY       = KH * KW * CB * (OC / ROWS),
    parameter integer FRONT      = (KW - 1) * DW > PL ? (KW - 1) * DW - PL : 0,
    parameter integer FROM       = FRONT < W - 1 ? FRONT : W - 1,
    parameter integer AW         = BUSY > 1 ? $clog2(BUSY) : 1
) (
    input  wire                         clk,
    input  wire                         rst,
    input  wire [XS_W+IN_LANES*X_W-1:0] in_data,
    input  wire                         in_valid,
    output wire                         in_ready,
    output wire                         w_en,
    output wire                         w_step,
    output wire [               AW-1:0] w_addr,
    input  wire                         w_ready,
    input  wire [ROWS*IN_LANES*W_W-1:0] w_data,
    output wire [      DRAIN*OUT_W-1:0] out_data,
    output wire                         out_valid,
    input  wire                         out_ready
);
  generate
    if (OH < 1 || OW < 1 || FROM < 0) begin : g_bad
      the_window_must_fit_into_the_frame u_bad ();
    end
  endgenerate

  wire [XS_W+IN_LANES*X_W-1:0] x;
  wire x_valid, x_ready;
  op_window #(
      .H(H), .W(W), .C(CB), .KH(KH), .KW(KW), .SH(SH), .SW(SW), .DH(DH), .DW(DW), .PT(PT), .PL(PL), .PB(PB), .PR(PR),
      .IN_LANES(1), .OUT_LANES(1), .E_W(XS_W + IN_LANES * X_W), .PAD(0), .PACE(BUSY), .SKID(0),
      .LINE_STYLE(LINE_STYLE)
  ) u_window (
      .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready),
      .out_data(x), .out_valid(x_valid), .out_ready(x_ready)
  );

  mx_linear_fed #(
      .IN(KH * KW * C), .OUT(OC), .RUN(C), .K(K), .IN_LANES(IN_LANES), .ROWS(ROWS), .DRAIN(DRAIN), .X_W(X_W),
      .XS_W(XS_W), .X_E(X_E), .XS_FALLS(XS_FALLS), .CODED(CODED), .W_E(W_E), .W_W(W_W), .WS_W(WS_W), .D_W(D_W),
      .OFFSET(OFFSET), .SPAN(SPAN), .LOW(LOW), .CLAMP(CLAMP),
      .SUM_W(SUM_W), .BIAS_W(BIAS_W), .OUT_W(OUT_W), .SCALES(SCALES), .SCALES_SUM(SCALES_SUM), .BIAS(BIAS),
      .BIAS_SUM(BIAS_SUM), .MULT(MULT), .TREE_PIPE(TREE_PIPE)
  ) u_linear (
      .clk(clk), .rst(rst), .in_data(x), .in_valid(x_valid), .in_ready(x_ready),
      .w_en(w_en), .w_step(w_step), .w_addr(w_addr), .w_ready(w_ready), .w_data(w_data),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
