// SPDX-License-Identifier: Apache-2.0
// op_dwconv_wide: depthwise convolution of all channels at once, TAP_LANES taps of their windows a cycle; exact inside.
//   y[oy][ox][c] = over(round((sum_k x[k][c] * w[c][k]) * 2^psh[c] + bias[c], SHIFT)), k = ky * KW + kx, as op_dwconv.
//   parameters  H W C          input frame: rows, columns, channels
//               KH KW          rows, columns of the window
//               SH SW          stride
//               DH DW          dilation
//               PT PL PB PR    padding on top, left, bottom, right
//               PAD            code of padding
//               STREAM_LANES   channels a beat of the input, divides C
//               TAP_LANES      taps a cycle, at least 2, divides KH * KW; C * TAP_LANES multipliers
//               IN_W IN_SIGNED   bits of x; 1: two's complement
//               W_W BIAS_W       bits of a weight, of a bias, two's complement
//               DOT_W T_W        bits that hold every exact sum of products; and after shift and bias
//               PSH_W            bits of psh, 0: no left shifts
//               M_W ZERO         bits of the factors, 0: none; zero point of the output: see op_linear
//               SHIFT OUT_W OUT_SIGNED ROUND OVER   the cast to the output, see num_requant
//               ROM_STYLE MULT TREE_PIPE SETS SWEEPS   see op_linear
//               LINE_STYLE     memory of rows, see op_window
//               WEIGHTS, WEIGHTS_SUM   image: word b, w[c][b * TAP_LANES + t] at bit (c * TAP_LANES + t) * W_W
//               CONSTS, CONSTS_SUM     image: one word, {m, psh, bias} of channel c at bit c * (M_W + PSH_W + BIAS_W)
//   and, derived from these and not to be set, OH to ROW: see op_window_wide
//   latency: (min(H - 1, max(0, (KH - 1) * DH - PT)) * W + FROM + 1) * C / STREAM_LANES + (C > STREAM_LANES ? 1 : 0)
//       + (KH * SH + PT + PB == 1 ? 0 : 3) + (BUSY > 1 ? 2 : 0) + BUSY
//       + 4 + (MULT == "chain" || TREE_PIPE == 2 ? (clog2(TAP_LANES) + 1) / 2 : clog2(TAP_LANES))
//       + 2 * min(PSH_W, 1) + (M_W > 0 ? 3 : 1)
//   ii: max(H * W * C / STREAM_LANES, OH * ROW)   order: pixels row-major, all channels a beat
//   flow: u_window + steps(BUSY, 1, s == BUSY - 1, STAGES + TAIL + 1) + u_skid
//   lut: AW + STAGES + 8
//   ff: AW + STAGES + TAIL + 1
//   parts: u_window + u_x + u_weights + u_flags + u_consts + (SETS > 1 ? u_used : 0) + C * u_lane + u_skid
`default_nettype none
module op_dwconv_wide #(
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
    parameter integer STREAM_LANES = 2,
    parameter integer TAP_LANES    = 9,
    parameter integer IN_W         = 8,
    parameter integer IN_SIGNED    = 1,
    parameter integer W_W          = 8,
    parameter integer DOT_W        = 20,
    parameter integer BIAS_W       = 16,
    parameter integer PSH_W        = 0,
    parameter integer T_W          = 21,
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
    parameter integer SETS         = 1,
    parameter integer SWEEPS       = 1,
    parameter         LINE_STYLE   = "auto",
    parameter integer TREE_PIPE    = 1,
    parameter integer OH           = (H + PT + PB - (KH - 1) * DH - 1) / SH + 1,
    parameter integer OW           = (W + PL + PR - (KW - 1) * DW - 1) / SW + 1,
    parameter integer BUSY         = KH * KW / TAP_LANES,
    parameter integer FRONT        = (KW - 1) * DW > PL ? (KW - 1) * DW - PL : 0,
    parameter integer FROM         = FRONT < W - 1 ? FRONT : W - 1,
    parameter integer FULL         = FRONT < W - 2 + SW ? (W - 2 + 2 * SW - FRONT) / SW : 1,
    parameter integer SENT         = OW < FULL ? OW : FULL,
    parameter integer REST         = OW - SENT > FROM ? OW - SENT - FROM : 0,
    parameter integer LAST         = FROM + (SENT - 1) * SW,
    parameter integer TURN         = W + FROM + REST - (LAST < W - 1 ? LAST : W - 1 + OW - SENT),
    parameter integer MISS         = SW > BUSY ? SW - BUSY : 0,
    parameter integer EARLY        = LAST < W - 1 ? 0 : LAST - W + 1 < MISS ? LAST - W + 1 : MISS,
    parameter integer ROW          = OW * BUSY + (SENT - 1) * MISS - EARLY + (TURN > BUSY ? TURN - BUSY : 0)
) (
    input  wire                         clk,
    input  wire                         rst,
    input  wire [STREAM_LANES*IN_W-1:0] in_data,
    input  wire                         in_valid,
    output wire                         in_ready,
    output wire [          C*OUT_W-1:0] out_data,
    output wire                         out_valid,
    input  wire                         out_ready
);
  localparam integer XW = C * TAP_LANES;
  localparam integer AW = BUSY > 1 ? $clog2(BUSY) : 1;
  localparam integer KONST = M_W + PSH_W + BIAS_W;
  /* verilator lint_off WIDTH */  // strings of different lengths are compared
  localparam integer TREE = MULT == "chain" || TREE_PIPE == 2 ? ($clog2(TAP_LANES) + 1) / 2 : $clog2(TAP_LANES);
  /* verilator lint_on WIDTH */
  localparam integer STAGES = 3 + TREE;  // memory 2, product 1, tree: stages before the sum over the beats
  localparam integer WAIT = PSH_W > 0 ? STAGES - 1 : STAGES - 2;  // until the constants are read
  localparam integer TAIL = (PSH_W > 0 ? 2 : 0) + (M_W > 0 ? 3 : 1);  // shift and bias after it; cast

  generate
    if (TAP_LANES < 2 || BUSY * TAP_LANES != KH * KW || OH * ROW < 1) begin : g_bad
      TAP_LANES_must_be_at_least_2_and_divide_KH_KW u_bad ();
    end
  endgenerate

  // Everything behind the generator moves or stands together.
  wire en;
  wire [XW*IN_W-1:0] beat;
  wire beat_valid;
  op_window #(
      .H(H), .W(W), .C(C), .KH(KH), .KW(KW), .SH(SH), .SW(SW), .DH(DH), .DW(DW), .PT(PT), .PL(PL), .PB(PB), .PR(PR),
      .IN_LANES(STREAM_LANES), .OUT_LANES(XW), .E_W(IN_W), .PAD(PAD), .PACE(BUSY), .SKID(0),
      .LINE_STYLE(LINE_STYLE)
  ) u_window (
      .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready),
      .out_data(beat), .out_valid(beat_valid), .out_ready(en)
  );

  // Stage 0: which taps.
  logic [AW-1:0] addr;
  wire last = addr == AW'(BUSY - 1);
  always_ff @(posedge clk) begin
    if (en && beat_valid) addr <= last ? AW'(0) : addr + AW'(1);
    if (rst) addr <= AW'(0);
  end

  // Stages 1 and 2: the elements, beside the weight memory's two registers.
  wire [XW*IN_W-1:0] x;
  wire [XW*W_W-1:0] w;
  num_delay #(.WIDTH(XW * IN_W), .DEPTH(2)) u_x (.clk(clk), .en(en), .in(beat), .out(x));
  mem_sets #(
      .WIDTH(XW * W_W), .DEPTH(BUSY), .SETS(SETS), .SWEEPS(SWEEPS), .IMAGE(WEIGHTS), .IMAGE_SUM(WEIGHTS_SUM),
      .STYLE(ROM_STYLE)
  ) u_weights (
      .clk(clk), .rst(rst), .en(en), .step(beat_valid), .addr(addr), .data(w)
  );

  // Flags travel with the elements to the sum; the last beat makes the result.
  wire sum_first, sum_last;
  num_delay #(.WIDTH(2), .DEPTH(STAGES)) u_flags (
      .clk(clk), .en(en), .in({addr == AW'(0), last}), .out({sum_first, sum_last})
  );
  logic [STAGES-1:0] moving;
  logic [TAIL:0] done;
  wire sum_valid = moving[STAGES-1];
  always_ff @(posedge clk) begin
    if (en) begin
      moving <= STAGES'({moving, beat_valid});
      done   <= (TAIL + 1)'({done, sum_valid && sum_last});
    end
    if (rst) begin
      moving <= STAGES'(0);
      done   <= (TAIL + 1)'(0);
    end
  end

  // The constants are the same for all windows of a layer.
  wire [C*KONST-1:0] konst;
  wire last_k;
  generate
    if (SETS > 1) begin : g_used
      num_delay #(.WIDTH(1), .DEPTH(WAIT)) u_used (.clk(clk), .en(en), .in(last), .out(last_k));
    end else begin : g_always
      assign last_k = 1'b1;
    end
  endgenerate
  mem_sets #(
      .WIDTH(C * KONST), .DEPTH(1), .SETS(SETS), .SWEEPS(SWEEPS), .IMAGE(CONSTS), .IMAGE_SUM(CONSTS_SUM)
  ) u_consts (
      .clk(clk), .rst(rst), .en(en), .step(moving[WAIT-1] && last_k), .addr(1'b0), .data(konst)
  );

  wire [C*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < C; i++) begin : g_lane
      wire [TAP_LANES*IN_W-1:0] taps;
      for (genvar t = 0; t < TAP_LANES; t++) begin : g_tap
        assign taps[t*IN_W+:IN_W] = x[(t*C+i)*IN_W+:IN_W];
      end
      op_linear_lane #(
          .IN_LANES(TAP_LANES), .IN_W(IN_W), .IN_SIGNED(IN_SIGNED), .W_W(W_W), .DOT_W(DOT_W), .BIAS_W(BIAS_W),
          .PSH_W(PSH_W), .T_W(T_W), .M_W(M_W), .SHIFT(SHIFT), .ZERO(ZERO), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND), .OVER(OVER), .MULT(MULT), .TREE_PIPE(TREE_PIPE), .ONE_BEAT(BUSY == 1 ? 1 : 0)
      ) u_lane (
          .clk(clk), .en(en), .x(taps), .w(w[i*TAP_LANES*W_W+:TAP_LANES*W_W]), .first(sum_first), .valid(sum_valid),
          .konst(konst[i*KONST+:KONST]), .y(y[i*OUT_W+:OUT_W])
      );
    end
  endgenerate

  wire room;
  assign en = room || !done[TAIL];
  stream_skid #(.WIDTH(C * OUT_W)) u_skid (
      .clk(clk), .rst(rst), .in_data(y), .in_valid(done[TAIL]), .in_ready(room),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
