// SPDX-License-Identifier: Apache-2.0
// op_dwconv: depthwise convolution with bias and one requantisation; exact inside. LANES channels at a time, one tap of
//   their windows a cycle: y[oy][ox][c] = over(round((sum_k x[k][c] * w[c][k]) * 2^psh[c] + bias[c], SHIFT)),
//   k = ky * KW + kx.
//   parameters  H W C          input frame: rows, columns, channels
//               KH KW          rows, columns of the window
//               SH SW          stride
//               DH DW          dilation
//               PT PL PB PR    padding on top, left, bottom, right
//               PAD            code of padding
//               LANES          channels a beat of both streams, divides C; as many multipliers
//               IN_W IN_SIGNED   bits of x; 1: two's complement
//               W_W BIAS_W       bits of a weight, of a bias, two's complement
//               DOT_W T_W        bits that hold every exact sum of products; and after shift and bias
//               PSH_W            bits of psh, 0: no left shifts
//               M_W ZERO         bits of the factors, 0: none; zero point of the output: see op_linear
//               SHIFT OUT_W OUT_SIGNED ROUND OVER   the cast to the output, see num_requant
//               ROM_STYLE MULT SETS SWEEPS   see op_linear
//               LINE_STYLE     memory of rows, see op_window
//               WEIGHTS, WEIGHTS_SUM   image: word g * KH * KW + k, w[g * LANES + i][k] at bit i * W_W
//               CONSTS, CONSTS_SUM     image: word g, {m, psh, bias} of channel g * LANES + i at bit
//                                      i * (M_W + PSH_W + BIAS_W)
//   latency: (KH * KW * SH * SW == 1 && PT + PB + PL + PR == 0 ? 0
//       : (min(H - 1, max(0, (KH - 1) * DH - PT)) * W + min(W - 1, max(0, (KW - 1) * DW - PL)) + 1) * C / LANES + 3)
//       + KH * KW + 4 + 2 * min(PSH_W, 1) + (M_W > 0 ? 3 : 1)
//   ii: max(H * W * C / LANES, ((H + PT + PB - (KH - 1) * DH - 1) / SH + 1)
//       * ((W + PL + PR - (KW - 1) * DW - 1) / SW + 1) * KH * KW * C / LANES)   order: row-major
//   flow: u_window + steps(TAPS, 1, s == TAPS - 1, FRONT + TAIL + 1) + u_skid
//   lut: TAP_W + CF_W + AW + 10
//   ff: TAP_W + CF_W + AW + FRONT + TAIL + 1
//   parts: u_window + u_x + u_weights + u_flags + u_cf + u_consts + (SETS > 1 ? u_used : 0) + LANES * u_lane + u_skid
`default_nettype none
module op_dwconv #(
    parameter integer H           = 8,
    parameter integer W           = 8,
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
    parameter integer PAD         = 0,
    parameter integer LANES       = 2,
    parameter integer IN_W        = 8,
    parameter integer IN_SIGNED   = 1,
    parameter integer W_W         = 8,
    parameter integer DOT_W       = 20,
    parameter integer BIAS_W      = 16,
    parameter integer PSH_W       = 0,
    parameter integer T_W         = 21,
    parameter integer M_W         = 0,
    parameter integer SHIFT       = 7,
    parameter integer ZERO        = 0,
    parameter integer OUT_W       = 8,
    parameter integer OUT_SIGNED  = 1,
    parameter integer ROUND       = 0,
    parameter integer OVER        = 0,
    parameter         WEIGHTS     = "",
    parameter [31:0]  WEIGHTS_SUM = 32'd0,
    parameter         CONSTS      = "",
    parameter [31:0]  CONSTS_SUM  = 32'd0,
    parameter         ROM_STYLE   = "auto",
    parameter         MULT        = "auto",
    parameter integer SETS        = 1,
    parameter integer SWEEPS      = 1,
    parameter         LINE_STYLE  = "auto"
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [ LANES*IN_W-1:0] in_data,
    input  wire                   in_valid,
    output wire                   in_ready,
    output wire [LANES*OUT_W-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  localparam integer TAPS = KH * KW;
  localparam integer CF = C / LANES;
  localparam integer TAP_W = TAPS > 1 ? $clog2(TAPS) : 1;
  localparam integer CF_W = CF > 1 ? $clog2(CF) : 1;
  localparam integer AW = TAPS * CF > 1 ? $clog2(TAPS * CF) : 1;
  localparam integer KONST = M_W + PSH_W + BIAS_W;
  localparam integer FRONT = 3;  // memory 2, product 1: stages before the sum over the taps
  localparam integer WAIT = PSH_W > 0 ? FRONT - 1 : FRONT - 2;  // until the constants are read
  localparam integer TAIL = (PSH_W > 0 ? 2 : 0) + (M_W > 0 ? 3 : 1);  // shift and bias after it; cast

  // Everything behind the generator moves or stands together.
  wire en;
  wire [LANES*IN_W-1:0] tap_data;
  wire tap_valid;
  op_window #(
      .H(H), .W(W), .C(C), .KH(KH), .KW(KW), .SH(SH), .SW(SW), .DH(DH), .DW(DW), .PT(PT), .PL(PL), .PB(PB), .PR(PR),
      .IN_LANES(LANES), .OUT_LANES(LANES), .E_W(IN_W), .PAD(PAD), .GROUPS(CF), .SKID(0),
      .LINE_STYLE(LINE_STYLE)
  ) u_window (
      .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready),
      .out_data(tap_data), .out_valid(tap_valid), .out_ready(en)
  );

  // Stage 0: which tap of which channels.
  logic [TAP_W-1:0] tap;
  logic [CF_W-1:0] cf;
  logic [AW-1:0] addr;
  wire tap_last = tap == TAP_W'(TAPS - 1);
  wire cf_last = cf == CF_W'(CF - 1);
  always_ff @(posedge clk) begin
    if (en && tap_valid) begin
      tap  <= tap_last ? TAP_W'(0) : tap + TAP_W'(1);
      addr <= tap_last && cf_last ? AW'(0) : addr + AW'(1);
      if (tap_last) cf <= cf_last ? CF_W'(0) : cf + CF_W'(1);
    end
    if (rst) begin
      tap  <= TAP_W'(0);
      cf   <= CF_W'(0);
      addr <= AW'(0);
    end
  end

  // Stages 1 and 2: the elements, beside the weight memory's two registers.
  wire [LANES*IN_W-1:0] x;
  wire [LANES*W_W-1:0] w;
  num_delay #(.WIDTH(LANES * IN_W), .DEPTH(2)) u_x (.clk(clk), .en(en), .in(tap_data), .out(x));
  mem_sets #(
      .WIDTH(LANES * W_W), .DEPTH(TAPS * CF), .SETS(SETS), .SWEEPS(SWEEPS), .IMAGE(WEIGHTS), .IMAGE_SUM(WEIGHTS_SUM),
      .STYLE(ROM_STYLE)
  ) u_weights (
      .clk(clk), .rst(rst), .en(en), .step(tap_valid), .addr(addr), .data(w)
  );

  // Flags travel with the elements to the sum; the last tap makes the result.
  wire sum_first, sum_last;
  num_delay #(.WIDTH(2), .DEPTH(FRONT)) u_flags (
      .clk(clk), .en(en), .in({tap == TAP_W'(0), tap_last}), .out({sum_first, sum_last})
  );
  logic [FRONT-1:0] moving;
  logic [TAIL:0] done;
  wire sum_valid = moving[FRONT-1];
  always_ff @(posedge clk) begin
    if (en) begin
      moving <= FRONT'({moving, tap_valid});
      done   <= (TAIL + 1)'({done, sum_valid && sum_last});
    end
    if (rst) begin
      moving <= FRONT'(0);
      done   <= (TAIL + 1)'(0);
    end
  end

  // Constants arrive where they are used: the sum's first tap, or the shift after the sum.
  wire [CF_W-1:0] cf_k;
  wire [LANES*KONST-1:0] konst;
  num_delay #(.WIDTH(CF_W), .DEPTH(WAIT)) u_cf (.clk(clk), .en(en), .in(cf), .out(cf_k));
  wire last_k;  // the last tap: its constants are used
  generate
    if (SETS > 1) begin : g_used
      num_delay #(.WIDTH(1), .DEPTH(WAIT)) u_used (.clk(clk), .en(en), .in(tap_last), .out(last_k));
    end else begin : g_always
      assign last_k = 1'b1;
    end
  endgenerate
  mem_sets #(
      .WIDTH(LANES * KONST), .DEPTH(CF), .SETS(SETS), .SWEEPS(SWEEPS), .IMAGE(CONSTS), .IMAGE_SUM(CONSTS_SUM)
  ) u_consts (
      .clk(clk), .rst(rst), .en(en), .step(moving[WAIT-1] && last_k), .addr(cf_k), .data(konst)
  );

  wire [LANES*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      op_linear_lane #(
          .IN_LANES(1), .IN_W(IN_W), .IN_SIGNED(IN_SIGNED), .W_W(W_W), .DOT_W(DOT_W), .BIAS_W(BIAS_W), .PSH_W(PSH_W),
          .T_W(T_W), .M_W(M_W), .SHIFT(SHIFT), .ZERO(ZERO), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND),
          .OVER(OVER), .MULT(MULT),
          .ONE_BEAT(TAPS == 1 ? 1 : 0)
      ) u_lane (
          .clk(clk), .en(en), .x(x[i*IN_W+:IN_W]), .w(w[i*W_W+:W_W]), .first(sum_first), .valid(sum_valid),
          .konst(konst[i*KONST+:KONST]), .y(y[i*OUT_W+:OUT_W])
      );
    end
  endgenerate

  wire room;
  assign en = room || !done[TAIL];
  stream_skid #(
      .WIDTH(LANES * OUT_W)
  ) u_skid (
      .clk(clk),
      .rst(rst),
      .in_data(y),
      .in_valid(done[TAIL]),
      .in_ready(room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
