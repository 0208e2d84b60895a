// SPDX-License-Identifier: Apache-2.0
// op_conv_fed: convolution with bias and one requantisation; exact inside. The memory of the weights stands outside:
//   op_conv has it in a ROM. A window generator in front of op_linear_fed, whose vectors are the windows: y[oy][ox][o]
//   as there, with x[j] the element j = (ky * KW + kx) * C + c of a window.
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
//               CONSTS CONSTS_SUM MULT TREE_PIPE SETS SWEEPS KEEP OF LONG   see op_linear_fed
//               LINE_STYLE     memory of rows, see op_window
//   and, derived from these and not to be set, CG, OG, AW, WORD and OH to ROW: see op_window_wide
//   The ports w_* are those of op_linear_fed; a row of weights is [ky][kx][c].
//   latency: (KH * KW * SH * SW == 1 && PT + PB + PL + PR == 0
//       ? (IN_LANES > STREAM_LANES ? CG / STREAM_LANES + 1 + (OG > OUT_LANES ? (CG / IN_LANES > 64 ? 3 : 1) : 0)
//       : KH * KW * CG / IN_LANES + (IN_LANES < STREAM_LANES ? 2 : 0))
//       : (min(H - 1, max(0, (KH - 1) * DH - PT)) * W + FROM + 1) * C / STREAM_LANES
//       + (min(IN_LANES, C) > STREAM_LANES ? 1 : 0) + (IN_LANES <= C ? 3 : KH * SH + PT + PB == 1 ? 0 : 3)
//       + (IN_LANES > C && KH * KW * C > IN_LANES ? 2 : 0) + KH * KW * CG / IN_LANES)
//       + 4 + (max(IN_E, W_E) > 0 ? 1 : 0) + (LONG > 0 ? 4 + ((IN_LANES + LONG - 1) / LONG - 1) / 2
//       : MULT == "chain" || TREE_PIPE == 2 ? (clog2(IN_LANES / OF * KEEP) + 1) / 2 : clog2(IN_LANES / OF * KEEP))
//       + (OF > 1 || IN_E == 0 && W_E == 0 && IN_W + W_W > 8 && (MULT == "auto" || MULT == "dsp") ? 1 : 0)
//       + 2 * min(PSH_W, 1) + (M_W > 0 ? 3 : 1)
//   ii: max(H * W * C / STREAM_LANES, IN_LANES > C ? OH * ROW : OH * OW * BUSY)
//   order: pixels row-major, output channels ascending
//   front: PLAIN && GROUPS == 1 && OC > OUT_LANES && IN_LANES <= STREAM_LANES ? C / STREAM_LANES : 0
//   flow: parts
//   parts: u_window + (GATHER ? u_fifo : 0) + u_linear
`default_nettype none
module op_conv_fed #(
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
    parameter         CONSTS       = "",
    parameter [31:0]  CONSTS_SUM   = 32'd0,
    parameter         MULT         = "auto",
    parameter integer TREE_PIPE    = 1,
    parameter integer SETS         = 1,
    parameter integer SWEEPS       = 1,
    parameter integer KEEP         = 1,
    parameter integer OF           = 1,
    parameter integer LONG         = 0,
    parameter         LINE_STYLE   = "auto",
    parameter integer OH           = (H + PT + PB - (KH - 1) * DH - 1) / SH + 1,
    parameter integer OW           = (W + PL + PR - (KW - 1) * DW - 1) / SW + 1,
    parameter integer CG           = C / GROUPS,
    parameter integer OG           = OC / GROUPS,
    parameter integer BUSY         = (KH * KW * CG / IN_LANES) * (OG / OUT_LANES) * GROUPS,
    parameter integer FRONT        = (KW - 1) * DW > PL ? (KW - 1) * DW - PL : 0,
    parameter integer FROM         = FRONT < W - 1 ? FRONT : W - 1,
    parameter integer FULL         = FRONT < W - 2 + SW ? (W - 2 + 2 * SW - FRONT) / SW : 1,
    parameter integer SENT         = OW < FULL ? OW : FULL,
    parameter integer REST         = OW - SENT > FROM ? OW - SENT - FROM : 0,
    parameter integer LAST         = FROM + (SENT - 1) * SW,
    parameter integer TURN         = W + FROM + REST - (LAST < W - 1 ? LAST : W - 1 + OW - SENT),
    parameter integer MISS         = SW > BUSY ? SW - BUSY : 0,
    parameter integer EARLY        = LAST < W - 1 ? 0 : LAST - W + 1 < MISS ? LAST - W + 1 : MISS,
    parameter integer ROW          = OW * BUSY + (SENT - 1) * MISS - EARLY + (TURN > BUSY ? TURN - BUSY : 0),
    parameter integer AW           = BUSY > 1 ? $clog2(BUSY) : 1,
    parameter integer WORD         = OUT_LANES * (IN_LANES / OF * KEEP) * (W_W + $clog2(OF))
) (
    input  wire                              clk,
    input  wire                              rst,
    input  wire [     STREAM_LANES*IN_W-1:0] in_data,
    input  wire                              in_valid,
    output wire                              in_ready,
    output wire                              w_en,
    output wire                              w_step,
    output wire [                    AW-1:0] w_addr,
    input  wire                              w_ready,
    input  wire [                  WORD-1:0] w_data,
    output wire [       OUT_LANES*OUT_W-1:0] out_data,
    output wire                              out_valid,
    input  wire                              out_ready
);
  // A single tap makes no windows to store: a vector that arrives in smaller beats must then gather while the last one
  // is used.
  localparam integer PLAIN = KH * KW * SH * SW == 1 && PT + PB + PL + PR == 0 ? 1 : 0;
  localparam integer GATHER = PLAIN != 0 && IN_LANES > STREAM_LANES && OG > OUT_LANES ? CG / IN_LANES : 0;

  generate
    if (CG * GROUPS != C || OG * GROUPS != OC || (GROUPS > 1 && CG % IN_LANES != 0)) begin : g_bad_groups
      GROUPS_must_divide_C_and_OC_and_IN_LANES_the_channels_of_a_group u_bad ();
    end
    if (OG % OUT_LANES != 0 || OH * ROW < 1) begin : g_bad_lanes
      OUT_LANES_must_divide_OC u_bad ();
    end
  endgenerate

  wire [IN_LANES*IN_W-1:0] part, x;
  wire part_valid, part_ready, x_valid, x_ready;
  op_window #(
      .H(H), .W(W), .C(C), .KH(KH), .KW(KW), .SH(SH), .SW(SW), .DH(DH), .DW(DW), .PT(PT), .PL(PL), .PB(PB), .PR(PR),
      .IN_LANES(STREAM_LANES), .OUT_LANES(IN_LANES), .E_W(IN_W), .PAD(PAD), .GROUPS(GROUPS), .PACE(BUSY),
      .SKID(0), .LINE_STYLE(LINE_STYLE)
  ) u_window (
      .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready),
      .out_data(part), .out_valid(part_valid), .out_ready(part_ready)
  );

  generate
    if (GATHER != 0) begin : g_gather
      stream_fifo #(
          .WIDTH(IN_LANES * IN_W),
          .DEPTH(GATHER)
      ) u_fifo (
          .clk(clk), .rst(rst), .in_data(part), .in_valid(part_valid), .in_ready(part_ready),
          .out_data(x), .out_valid(x_valid), .out_ready(x_ready)
      );
    end else begin : g_direct
      assign x = part;
      assign x_valid = part_valid;
      assign part_ready = x_ready;
    end
  endgenerate

  op_linear_fed #(
      .IN(KH * KW * CG), .OUT(OG), .GROUPS(GROUPS), .IN_LANES(IN_LANES), .OUT_LANES(OUT_LANES), .IN_W(IN_W),
      .IN_SIGNED(IN_SIGNED), .IN_E(IN_E), .IN_NAN(IN_NAN), .W_W(W_W), .W_E(W_E), .DOT_W(DOT_W), .BIAS_W(BIAS_W),
      .PSH_W(PSH_W), .T_W(T_W), .M_W(M_W),
      .SHIFT(SHIFT), .ZERO(ZERO), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER), .CONSTS(CONSTS),
      .CONSTS_SUM(CONSTS_SUM), .MULT(MULT), .TREE_PIPE(TREE_PIPE), .SETS(SETS), .SWEEPS(SWEEPS), .KEEP(KEEP), .OF(OF),
      .LONG(LONG)
  ) u_linear (
      .clk(clk), .rst(rst), .in_data(x), .in_valid(x_valid), .in_ready(x_ready),
      .w_en(w_en), .w_step(w_step), .w_addr(w_addr), .w_ready(w_ready), .w_data(w_data),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
