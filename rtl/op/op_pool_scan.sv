// SPDX-License-Identifier: Apache-2.0
// op_pool_scan: pool over any windows: a window generator, then one step of maximum or sum for each element.
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
//   latency: (min(H - 1, max(0, (KH - 1) * DH - PT)) * W + min(W - 1, max(0, (KW - 1) * DW - PL)) + 1)
//       * C / LANES + 3 + KH * KW - (KH * KW * SH * SW == 1 && PT + PL + PB + PR == 0 ? C / LANES + 3 : 0)
//   ii: max(H * W * C / LANES, ((H + PT + PB - (KH - 1) * DH - 1) / SH + 1)
//       * ((W + PL + PR - (KW - 1) * DW - 1) / SW + 1) * KH * KW * C / LANES)   order: row-major
//   flow: u_window + steps(TAPS, 1, s == TAPS - 1, 0) + u_skid
//   lut: 4
//   ff: TW + LANES * ACC_W
//   parts: u_window + u_fold + u_skid
`default_nettype none
module op_pool_scan #(
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
    parameter         LINE_STYLE = "auto"
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
  localparam integer TAPS = KH * KW;
  localparam integer TW = $clog2(TAPS) + 1;
  // Padding is an integer. Where that is too short for the least code, elements have their sign bit turned inside: the
  // order is then that of unsigned codes, and the least is 0.
  localparam integer TURN = SUM == 0 && SIGNED != 0 && E_W > 32 ? 1 : 0;
  localparam integer LEAST = SUM == 0 && SIGNED != 0 && TURN == 0 ? 1 << (E_W - 1) : 0;
  localparam [E_W-1:0] SIGN = E_W'(TURN) << (E_W - 1);
  localparam [ACC_W-1:0] SIGN_OUT = ACC_W'(TURN) << (E_W - 1);

  wire [LANES*E_W-1:0] element;
  wire element_valid, room;
  op_window #(
      .H(H), .W(W), .C(C), .KH(KH), .KW(KW), .SH(SH), .SW(SW), .DH(DH), .DW(DW), .PT(PT), .PL(PL), .PB(PB), .PR(PR),
      .IN_LANES(LANES), .OUT_LANES(LANES), .E_W(E_W), .PAD(LEAST), .GROUPS(C / LANES), .SKID(0),
      .LINE_STYLE(LINE_STYLE)
  ) u_window (
      .clk(clk), .rst(rst), .in_data(in_data ^ {LANES{SIGN}}), .in_valid(in_valid), .in_ready(in_ready),
      .out_data(element), .out_valid(element_valid), .out_ready(room)
  );

  logic [TW-1:0] tap;
  logic [LANES*ACC_W-1:0] acc;
  wire [LANES*ACC_W-1:0] folded;
  wire last = tap == TW'(TAPS - 1);
  wire take = element_valid && room;
  op_pool_fold #(
      .LANES(LANES),
      .IN_W(E_W),
      .SIGNED(TURN != 0 ? 0 : SIGNED),
      .SUM(SUM),
      .ACC_W(ACC_W)
  ) u_fold (
      .first(tap == TW'(0)),
      .in(element),
      .acc(acc),
      .out(folded)
  );
  always_ff @(posedge clk) begin
    if (take) tap <= last ? TW'(0) : tap + TW'(1);
    if (rst) tap <= TW'(0);
  end
  always_ff @(posedge clk) if (take) acc <= folded;

  stream_skid #(
      .WIDTH(LANES * ACC_W)
  ) u_skid (
      .clk(clk),
      .rst(rst),
      .in_data(folded ^ {LANES{SIGN_OUT}}),
      .in_valid(element_valid && last),
      .in_ready(room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
