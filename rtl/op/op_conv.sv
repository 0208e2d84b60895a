// SPDX-License-Identifier: Apache-2.0
// op_conv: convolution with bias and one requantisation; exact inside. A window generator in front of op_linear, whose
//   vectors are the windows: y[oy][ox][o] as there, with x[j] the element j = (ky * KW + kx) * C + c of a window.
//   SF = KH * KW * C / IN_LANES, NF = OC / OUT_LANES: SF * NF cycles an output pixel, one if both are 1. With GROUPS
//   each run of OC / GROUPS outputs reads its run of C / GROUPS channels: SF * NF / GROUPS cycles.
//   parameters  H W C          input frame: rows, columns, channels
//               KH KW          rows, columns of the window
//               SH SW          stride
//               DH DW          dilation
//               PT PL PB PR    padding on top, left, bottom, right
//               PAD            code of padding
//               STREAM_LANES   channels a beat of the input, divides C
//               IN_LANES       elements of a window that are multiplied at once, see OUT_LANES of op_window
//               OC OUT_LANES   output channels; those computed at once, divides OC
//               GROUPS         groups of channels; IN_LANES then divides C / GROUPS, OUT_LANES OC / GROUPS
//               IN_W IN_SIGNED   bits of x; 1: two's complement
//               W_W BIAS_W       bits of a weight, of a bias, two's complement
//               IN_E IN_NAN W_E  codes of floats: see op_linear_fed
//               DOT_W T_W        bits that hold every exact sum of products; and after shift and bias
//               PSH_W            bits of psh, 0: no left shifts
//               M_W ZERO         bits of the factors, 0: none; zero point of the output: see op_linear
//               SHIFT OUT_W OUT_SIGNED ROUND OVER   the cast to the output, see num_requant
//               WEIGHTS WEIGHTS_SUM CONSTS CONSTS_SUM   images as op_linear's; a row of weights is [ky][kx][c]
//               ROM_STYLE MULT TREE_PIPE SETS SWEEPS KEEP OF LONG   see op_linear
//               LINE_STYLE     memory of rows, see op_window
//   latency: u_fed   ii: u_fed
//   order: pixels row-major, output channels ascending
//   front: u_fed
//   flow: u_fed
//   lut: 0
//   parts: u_fed + u_weights
`default_nettype none
module op_conv #(
    parameter integer H            = 8,
    parameter integer W            = 8,
    parameter integer C            = 4,
    parameter integer KH           = 3,
    parameter integer KW           = 3,
    parameter integer SH           = 1,
    parameter integer SW           = 1,
    parameter integer DH           = 1,
    parameter integer DW           = 1,
    parameter integer PT           = 1,
    parameter integer PL           = 1,
    parameter integer PB           = 1,
    parameter integer PR           = 1,
    parameter integer PAD          = 0,
    parameter integer STREAM_LANES = 4,
    parameter integer IN_LANES     = 4,
    parameter integer OC           = 4,
    parameter integer OUT_LANES    = 2,
    parameter integer GROUPS       = 1,
    parameter integer IN_W         = 8,
    parameter integer IN_SIGNED    = 1,
    parameter integer IN_E         = 0,
    parameter integer IN_NAN       = 0,
    parameter integer W_W          = 8,
    parameter integer W_E          = 0,
    parameter integer DOT_W        = 22,
    parameter integer BIAS_W       = 16,
    parameter integer PSH_W        = 0,
    parameter integer T_W          = 23,
    parameter integer M_W          = 0,
    parameter integer SHIFT        = 7,
    parameter integer ZERO         = 0,
    parameter integer OUT_W        = 8,
    parameter integer OUT_SIGNED   = 1,
    parameter integer ROUND        = 0,
    parameter integer OVER         = 0,
    parameter         WEIGHTS      = "",
    parameter [31:0]  WEIGHTS_SUM  = 32'd0,
    parameter         CONSTS       = "",
    parameter [31:0]  CONSTS_SUM   = 32'd0,
    parameter         ROM_STYLE    = "auto",
    parameter         MULT         = "auto",
    parameter integer TREE_PIPE    = 1,
    parameter integer SETS         = 1,
    parameter integer SWEEPS       = 1,
    parameter integer KEEP         = 1,
    parameter integer OF           = 1,
    parameter integer LONG         = 0,
    parameter         LINE_STYLE   = "auto"
) (
    input  wire                         clk,
    input  wire                         rst,
    input  wire [STREAM_LANES*IN_W-1:0] in_data,
    input  wire                         in_valid,
    output wire                         in_ready,
    output wire [  OUT_LANES*OUT_W-1:0] out_data,
    output wire                         out_valid,
    input  wire                         out_ready
);
  localparam integer WORDS = (KH * KW * (C / GROUPS) / IN_LANES) * (OC / GROUPS / OUT_LANES) * GROUPS;
  localparam integer AW = WORDS > 1 ? $clog2(WORDS) : 1;
  wire en, step;
  wire [AW-1:0] addr;
  localparam integer WIDTH = OUT_LANES * (IN_LANES / OF * KEEP) * (W_W + $clog2(OF));
  wire [WIDTH-1:0] w;

  op_conv_fed #(
      .H(H), .W(W), .C(C), .KH(KH), .KW(KW), .SH(SH), .SW(SW), .DH(DH), .DW(DW), .PT(PT), .PL(PL), .PB(PB), .PR(PR),
      .PAD(PAD), .STREAM_LANES(STREAM_LANES), .IN_LANES(IN_LANES), .OC(OC), .OUT_LANES(OUT_LANES), .GROUPS(GROUPS),
      .IN_W(IN_W), .IN_SIGNED(IN_SIGNED), .IN_E(IN_E), .IN_NAN(IN_NAN), .W_W(W_W), .W_E(W_E), .DOT_W(DOT_W),
      .BIAS_W(BIAS_W), .PSH_W(PSH_W), .T_W(T_W), .M_W(M_W), .SHIFT(SHIFT), .ZERO(ZERO), .OUT_W(OUT_W),
      .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER), .CONSTS(CONSTS), .CONSTS_SUM(CONSTS_SUM), .MULT(MULT),
      .TREE_PIPE(TREE_PIPE), .SETS(SETS), .SWEEPS(SWEEPS), .KEEP(KEEP), .OF(OF), .LONG(LONG), .LINE_STYLE(LINE_STYLE)
  ) u_fed (
      .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready),
      .w_en(en), .w_step(step), .w_addr(addr), .w_ready(1'b1), .w_data(w),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );

  mem_sets #(
      .WIDTH(WIDTH), .DEPTH(WORDS), .SETS(SETS), .SWEEPS(SWEEPS), .IMAGE(WEIGHTS),
      .IMAGE_SUM(WEIGHTS_SUM), .STYLE(ROM_STYLE)
  ) u_weights (
      .clk(clk), .rst(rst), .en(en), .step(step), .addr(addr), .data(w)
  );
endmodule
`default_nettype wire
