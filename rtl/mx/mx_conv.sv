// SPDX-License-Identifier: Apache-2.0
// mx_conv: convolution over blocks along the channels. A window generator whose elements are whole beats, in front of
//   mx_linear: a vector is a window, its runs are the pixels of the window. Padding is blocks of zeros.
//   parameters  H W C          input frame: rows, columns, channels
//               KH KW          rows, columns of the window
//               SH SW          stride
//               DH DW          dilation
//               PT PL PB PR    padding on top, left, bottom, right
//               OC             output channels
//               K IN_LANES ROWS DRAIN X_W XS_W X_E XS_FALLS CODED W_W W_E WS_W D_W OFFSET SPAN LOW CLAMP SUM_W BIAS_W
//               OUT_W          see mx_linear
//               WEIGHTS WEIGHTS_SUM SCALES SCALES_SUM BIAS BIAS_SUM ROM_STYLE MULT TREE_PIPE          see mx_linear
//               LINE_STYLE     memory of rows, see op_window
//   latency: u_fed   ii: u_fed
//   order: pixels row-major, output channels ascending
//   front: u_fed
//   flow: u_fed
//   lut: 0
//   parts: u_fed + u_weights
`default_nettype none
module mx_conv #(
    parameter integer H           = 6,
    parameter integer W           = 6,
    parameter integer C           = 4,
    parameter integer KH          = 3,
    parameter integer KW          = 3,
    parameter integer SH          = 1,
    parameter integer SW          = 1,
    parameter integer DH          = 1,
    parameter integer DW          = 1,
    parameter integer PT          = 1,
    parameter integer PL          = 1,
    parameter integer PB          = 1,
    parameter integer PR          = 1,
    parameter integer OC          = 4,
    parameter integer K           = 4,
    parameter integer IN_LANES    = 2,
    parameter integer ROWS        = 2,
    parameter integer DRAIN       = 1,
    parameter integer X_W         = 8,
    parameter integer XS_W        = 8,
    parameter integer X_E         = -1,
    parameter integer XS_FALLS    = 0,
    parameter integer CODED       = 0,
    parameter integer W_W         = 8,
    parameter integer W_E         = 0,
    parameter integer WS_W        = 4,
    parameter integer D_W         = 18,
    parameter integer OFFSET      = -100,
    parameter integer SPAN        = 24,
    parameter integer LOW         = 8,
    parameter integer CLAMP       = 1,
    parameter integer SUM_W       = 34,
    parameter integer BIAS_W      = 16,
    parameter integer OUT_W       = 30,
    parameter         WEIGHTS     = "",
    parameter [31:0]  WEIGHTS_SUM = 32'd0,
    parameter         SCALES      = "",
    parameter [31:0]  SCALES_SUM  = 32'd0,
    parameter         BIAS        = "",
    parameter [31:0]  BIAS_SUM    = 32'd0,
    parameter         ROM_STYLE   = "auto",
    parameter         MULT        = "auto",
    parameter integer TREE_PIPE   = 1,
    parameter         LINE_STYLE  = "auto"
) (
    input  wire                         clk,
    input  wire                         rst,
    input  wire [XS_W+IN_LANES*X_W-1:0] in_data,
    input  wire                         in_valid,
    output wire                         in_ready,
    output wire [      DRAIN*OUT_W-1:0] out_data,
    output wire                         out_valid,
    input  wire                         out_ready
);
  localparam integer WORDS = KH * KW * (C / IN_LANES) * (OC / ROWS);
  localparam integer AW = WORDS > 1 ? $clog2(WORDS) : 1;
  wire en, step;
  wire [AW-1:0] addr;
  wire [ROWS*IN_LANES*W_W-1:0] w;

  mx_conv_fed #(
      .H(H), .W(W), .C(C), .KH(KH), .KW(KW), .SH(SH), .SW(SW), .DH(DH), .DW(DW), .PT(PT), .PL(PL), .PB(PB), .PR(PR),
      .OC(OC), .K(K), .IN_LANES(IN_LANES), .ROWS(ROWS), .DRAIN(DRAIN), .X_W(X_W), .XS_W(XS_W),
      .X_E(X_E), .XS_FALLS(XS_FALLS), .CODED(CODED), .W_E(W_E), .W_W(W_W), .WS_W(WS_W),
      .D_W(D_W), .OFFSET(OFFSET), .SPAN(SPAN), .LOW(LOW), .CLAMP(CLAMP), .SUM_W(SUM_W), .BIAS_W(BIAS_W), .OUT_W(OUT_W),
      .SCALES(SCALES), .SCALES_SUM(SCALES_SUM), .BIAS(BIAS), .BIAS_SUM(BIAS_SUM), .MULT(MULT), .TREE_PIPE(TREE_PIPE),
      .LINE_STYLE(LINE_STYLE)
  ) u_fed (
      .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready),
      .w_en(en), .w_step(step), .w_addr(addr), .w_ready(1'b1), .w_data(w),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );

  mem_rom #(
      .WIDTH(ROWS*IN_LANES*W_W), .DEPTH(WORDS), .IMAGE(WEIGHTS), .IMAGE_SUM(WEIGHTS_SUM), .STYLE(ROM_STYLE)
  ) u_weights (
      .clk(clk), .en(en), .addr(addr), .data(w)
  );
  wire unused_step = &{1'b0, step};
endmodule
`default_nettype wire
