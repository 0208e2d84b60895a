// SPDX-License-Identifier: Apache-2.0
// op_window: sliding windows over a frame, one beat of a window a cycle, for convolutions and pools.
//   Up to a pixel a beat the windows are read from one memory of rows (op_window_seq). From several pixels to a whole
//   window a beat, row memories and a register chain make a window a cycle (op_window_rows, op_window_cols), which then
//   leaves in KH * KW * C / OUT_LANES beats. One-dimensional data are a frame of one row.
//   parameters  H W C          input frame: rows, columns, channels
//               KH KW          rows, columns of the window
//               SH SW          stride
//               DH DW          dilation
//               PT PL PB PR    padding on top, left, bottom, right
//               IN_LANES       channels a beat of the input, divides C
//               OUT_LANES      elements a beat of the output: divides C / GROUPS, one of IN_LANES and OUT_LANES divides
//                              the other; or C times a divisor of KH * KW, with GROUPS = 1
//               E_W            bits of an element
//               PAD            code of padding
//               GROUPS         channel groups, outermost inside a window
//               PACE           cycles that the consumer takes for a window; a slow one gets more rows of memory, so
//                              that it does not wait between frames
//               SKID           1: registered output
//               LINE_STYLE     memory of rows: "auto", "block", "distributed" or "ultra"
//   and, derived from these and not to be set, OH to ROW: see op_window_wide
//   latency: KH * KW * SH * SW == 1 && PT + PB + PL + PR == 0
//       ? (OUT_LANES > IN_LANES ? OUT_LANES / IN_LANES : OUT_LANES < IN_LANES ? 2 : SKID)
//       : (min(H - 1, max(0, (KH - 1) * DH - PT)) * W + FROM + 1) * C / IN_LANES
//       + (min(OUT_LANES, C) > IN_LANES ? 1 : 0) + (OUT_LANES <= C ? 3 : (KH * SH + PT + PB == 1 ? 0 : 3)
//       + (KH * KW * C > OUT_LANES ? 2 : SKID))
//   ii: max(H * W * C / IN_LANES, OUT_LANES > C ? OH * ROW : OH * OW * KH * KW * C / OUT_LANES)
//   order: windows row-major; in a window group, ky, kx, channel
//   flow: parts
//   parts: (MEM_LANES == IN_LANES ? 0 : u_widen) + (PLAIN && MEM_LANES == OUT_LANES ? 0 : PLAIN ? u_narrow :
//       WIDE ? op_window_wide.u_window : op_window_seq.u_window) + (SKID && REGISTERED == 0 ? u_skid : 0)
`default_nettype none
module op_window #(
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
    parameter integer IN_LANES   = 4,
    parameter integer OUT_LANES  = 4,
    parameter integer E_W        = 8,
    parameter integer PAD        = 0,
    parameter integer GROUPS     = 1,
    parameter integer PACE       = 1,
    parameter integer SKID       = 1,
    parameter         LINE_STYLE = "auto",
    parameter integer OH         = (H + PT + PB - (KH - 1) * DH - 1) / SH + 1,
    parameter integer OW         = (W + PL + PR - (KW - 1) * DW - 1) / SW + 1,
    parameter integer BUSY       = KH * KW * C > PACE * OUT_LANES ? KH * KW * C / OUT_LANES : PACE,
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
    input  wire [ IN_LANES*E_W-1:0] in_data,
    input  wire                     in_valid,
    output wire                     in_ready,
    output wire [OUT_LANES*E_W-1:0] out_data,
    output wire                     out_valid,
    input  wire                     out_ready
);
  localparam integer WIDE = OUT_LANES > C ? 1 : 0;
  localparam integer MEM_LANES = WIDE != 0 ? C : IN_LANES > OUT_LANES ? IN_LANES : OUT_LANES;
  localparam integer NO_PAD_Y = PT + PB == 0 ? 1 : 0;
  localparam integer NO_PAD_X = PL + PR == 0 ? 1 : 0;
  // One tap on every pixel: the frame itself, when the groups do not reorder it (a group is a run of channels).
  localparam integer PLAIN = KH * KW * SH * SW == 1 && NO_PAD_Y * NO_PAD_X == 1 ? 1 : 0;
  // The widener, the narrower and op_window_seq have registered outputs of their own.
  localparam integer REGISTERED =
      PLAIN != 0 ? (IN_LANES != OUT_LANES ? 1 : 0) : WIDE == 0 || KH * KW * C > OUT_LANES ? 1 : 0;
  // op_window_seq stores whole rows: of a frame that is one row it is told that it is one column.
  localparam integer TURNED = WIDE == 0 && H * KH == 1 && NO_PAD_Y == 1 ? 1 : 0;
  localparam integer YH = TURNED != 0 ? W : H;
  localparam integer XW = TURNED != 0 ? H : W;
  localparam integer YKH = TURNED != 0 ? KW : KH;
  localparam integer YSH = TURNED != 0 ? SW : SH;
  localparam integer YDH = TURNED != 0 ? DW : DH;
  localparam integer YPT = TURNED != 0 ? PL : PT;
  localparam integer YOH = TURNED != 0 ? OW : OH;

  // Rows of memory, NB. A sweep reads the KS rows of a row of windows; both times are without stalls.
  localparam integer KS = (YKH - 1) * YDH + 1;
  localparam integer SWEEP = WIDE != 0 ? ROW : (TURNED != 0 ? OH : OW) * BUSY;
  localparam integer FILL = XW * C / IN_LANES;  // cycles in which a row is written
  localparam integer JUMP = YH - (YOH - 1) * YSH;  // rows from a frame's last sweep to the next frame's first
  localparam integer STEP = JUMP > YSH ? JUMP : YSH;
  // Sweeps that begin with the arrival of a new row, and rows from the last of these to the next frame's first.
  localparam integer PACED = YH + YPT < KS ? 0 : (YH + YPT - KS) / YSH + 1;
  localparam integer START = KS - 1 < YPT ? 0 : KS - 1 - YPT < YH ? KS - 1 - YPT : YH - 1;
  localparam integer GAP = YH + START - (PACED - 1) * YSH + YPT - KS + 1;
  // Every sweep ends before the next can begin: nothing is written ahead. Every sweep takes as long as filling the rows
  // that the next one adds: those are written ahead. Otherwise an even flow of rows, see below.
  localparam integer QUICK = SWEEP <= YSH * FILL && YPT < KS && (1 + YOH - PACED) * SWEEP <= GAP * FILL ? 1 : 0;
  localparam integer SLOW = SWEEP >= STEP * FILL ? 1 : 0;
  // Rows come at YH / YOH a sweep. How far they must be ahead so that sweep k finds all of its own (AHEAD, the worst of
  // the first sweep, and the first to need the last row), and how many are then held at its end (HELD, the worst of the
  // last to begin at row 0, and the last); both times YOH.
  localparam integer K_ALL = YH + YPT < KS ? 0 : (YH + YPT - KS + YSH - 1) / YSH;
  localparam integer K_A = K_ALL < YOH ? K_ALL : YOH - 1;
  localparam integer AHEAD_0 = (START + 1) * YOH;
  localparam integer AHEAD_A = YH * YOH - K_A * YH;
  localparam integer AHEAD = AHEAD_A > AHEAD_0 ? AHEAD_A : AHEAD_0;
  localparam integer K_B = YPT / YSH < YOH ? YPT / YSH : YOH - 1;
  localparam integer END = (YOH - 1) * YSH - YPT;
  localparam integer HELD_A = (K_B + 1) * YH;
  localparam integer HELD_B = YH * YOH - (END < 0 ? 0 : END < YH ? END : YH) * YOH;
  localparam integer EVEN = (AHEAD + (HELD_A > HELD_B ? HELD_A : HELD_B) + YOH - 1) / YOH + 1;
  localparam integer MARGIN = XW < 4 ? 4 / XW : 0;  // pixels in flight
  localparam integer ROWS =
      QUICK != 0 ? KS + (WIDE != 0 && SWEEP <= FILL ? MARGIN : YSH) : SLOW != 0 ? KS + STEP : EVEN;
  localparam integer NB = ROWS < 2 * YH ? ROWS : 2 * YH;

  generate
    if (KH < 1 || KW < 1 || SH < 1 || SW < 1 || DH < 1 || DW < 1) begin : g_bad_0
      KH_KW_SH_SW_DH_DW_must_be_positive u_bad ();
    end else if (PT < 0 || PL < 0 || PB < 0 || PR < 0) begin : g_bad_1
      padding_must_not_be_negative u_bad ();
    end else if (H + PT + PB <= (KH - 1) * DH || W + PL + PR <= (KW - 1) * DW || OH * ROW < 1) begin : g_bad_2
      the_window_must_not_exceed_the_padded_frame u_bad ();
    end else if (IN_LANES < 1 || OUT_LANES < 1 || C % IN_LANES != 0 || C % GROUPS != 0) begin : g_bad_3
      IN_LANES_and_GROUPS_must_divide_C u_bad ();
    end else if (WIDE != 0 && (OUT_LANES % C != 0 || (KH * KW * C) % OUT_LANES != 0 || GROUPS != 1)) begin : g_bad_4
      OUT_LANES_above_C_must_be_C_times_a_divisor_of_KH_KW_with_GROUPS_1 u_bad ();
    end else if (WIDE == 0 && (C / GROUPS) % OUT_LANES != 0) begin : g_bad_5
      OUT_LANES_must_divide_the_channels_of_a_group u_bad ();
    end else if (MEM_LANES % IN_LANES != 0 || (WIDE == 0 && MEM_LANES % OUT_LANES != 0)) begin : g_bad_6
      one_of_IN_LANES_and_OUT_LANES_must_divide_the_other u_bad ();
    end
  endgenerate

  wire [MEM_LANES*E_W-1:0] word;
  wire word_valid, word_ready;
  wire [OUT_LANES*E_W-1:0] beat;
  wire beat_valid, beat_ready;

  generate
    if (MEM_LANES == IN_LANES) begin : g_as_is
      assign word = in_data;
      assign word_valid = in_valid;
      assign in_ready = word_ready;
    end else begin : g_widen
      stream_widen #(
          .WIDTH(IN_LANES * E_W),
          .N(MEM_LANES / IN_LANES)
      ) u_widen (
          .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready),
          .out_data(word), .out_valid(word_valid), .out_ready(word_ready)
      );
    end

    if (PLAIN != 0 && MEM_LANES == OUT_LANES) begin : g_plain
      assign beat = word;
      assign beat_valid = word_valid;
      assign word_ready = beat_ready;
    end else if (PLAIN != 0) begin : g_narrow
      stream_narrow #(
          .WIDTH(OUT_LANES * E_W),
          .N(MEM_LANES / OUT_LANES)
      ) u_narrow (
          .clk(clk), .rst(rst), .in_data(word), .in_valid(word_valid), .in_ready(word_ready),
          .out_data(beat), .out_valid(beat_valid), .out_ready(beat_ready)
      );
    end else if (WIDE != 0) begin : g_wide
      op_window_wide #(
          .H(H), .W(W), .C(C), .KH(KH), .KW(KW), .SH(SH), .SW(SW), .DH(DH), .DW(DW), .PT(PT), .PL(PL), .PB(PB), .PR(PR),
          .OUT_LANES(OUT_LANES), .E_W(E_W), .PAD(PAD), .NB(NB), .LINE_STYLE(LINE_STYLE)
      ) u_window (
          .clk(clk), .rst(rst), .in_data(word), .in_valid(word_valid), .in_ready(word_ready),
          .out_data(beat), .out_valid(beat_valid), .out_ready(beat_ready)
      );
    end else begin : g_seq
      op_window_seq #(
          .H(YH), .W(XW), .C(C), .KH(YKH), .KW(TURNED != 0 ? KH : KW), .SH(YSH), .SW(TURNED != 0 ? SH : SW), .DH(YDH),
          .DW(TURNED != 0 ? DH : DW), .PT(YPT), .PL(TURNED != 0 ? PT : PL), .PB(TURNED != 0 ? PR : PB),
          .PR(TURNED != 0 ? PB : PR), .NB(NB),
          .IN_LANES(MEM_LANES), .OUT_LANES(OUT_LANES), .E_W(E_W), .PAD(PAD), .GROUPS(GROUPS),
          .LINE_STYLE(LINE_STYLE)
      ) u_window (
          .clk(clk), .rst(rst), .in_data(word), .in_valid(word_valid), .in_ready(word_ready),
          .out_data(beat), .out_valid(beat_valid), .out_ready(beat_ready)
      );
    end

    if (SKID != 0 && REGISTERED == 0) begin : g_skid
      stream_skid #(
          .WIDTH(OUT_LANES * E_W)
      ) u_skid (
          .clk(clk), .rst(rst), .in_data(beat), .in_valid(beat_valid), .in_ready(beat_ready),
          .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
      );
    end else begin : g_direct
      assign out_data = beat;
      assign out_valid = beat_valid;
      assign beat_ready = out_ready;
    end
  endgenerate
  wire unused_top = &{1'b0, clk, rst};
endmodule
`default_nettype wire
