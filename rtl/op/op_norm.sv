// SPDX-License-Identifier: Apache-2.0
// op_norm: LayerNorm and RMSNorm of rows, in integers; exact but for the roundings of the definition.
//   s = sum x_i, Q = N * sum x_i^2 - s^2, d_i = N * x_i - s (RMS: Q = N * sum x_i^2, d_i = N * x_i),
//   r * 2^(-31-k) = 1 / sqrt(Q * 2^H + EPS), see num_rsqrt; z_i = RS(d_i * r, 15 + k - H / 2), half-even, and
//   y_i = over(round((z_i * gamma_i + (beta_i << (16 + GAIN_F - BIAS_F))) / 2^(16 + GAIN_F - FO))).
//   A row waits in a memory while its sums become r, always for LATE cycles: no beat's cycle depends on data. Behind a
//   row of fewer beats than PACE, which is what a root takes, the input pauses.
//   parameters  ROWS             rows of a frame
//               N                elements of a row, at most 46340
//               LANES            elements a beat, divides N
//               IN_W, SIGNED     bits of x, at most 16; 1: two's complement
//               RMS              1: no mean is taken off
//               H                even, 0 to 20; Q * 2^H + EPS must stay below 2^63
//               EPS              the nearest integer to N^2 * eps * 2^(2 * F + H), x having F fraction bits
//               GAIN_W, GAIN_F   bits and fraction bits of gamma, two's complement; GAIN_W = 0: y_i = over(round(z_i /
//                                2^(16 - FO))), no beta either
//               BIAS_W, BIAS_F   those of beta, BIAS_F <= 16 + GAIN_F; BIAS_W = 0: none
//               IMAGE, IMAGE_SUM image: word f, {beta, gamma} of element f * LANES + i at bit i * (BIAS_W + GAIN_W)
//               ROM_STYLE        "auto", "block" or "distributed": where gamma and beta lie
//               SETS, SWEEPS     layers that share the unit, each with gamma and beta of its own, and how many frames
//                                of each come in a row: see mem_sets
//               FO               fraction bits of y, may be negative
//               OUT_W, OUT_SIGNED, ROUND, OVER   the last cast, see num_requant
//               UP, V_BITS, V_W, V_LEAST, E_MAX, FAR, TREE, QUEUED, LATE, LONG   derived, not to be set: the least
//                                and most bits of Q * 2^H + EPS, how far num_rsqrt shifts it, how long a row waits and
//                                where; 1: see op_norm_lane
//   latency: N / LANES + LATE + LONG + (GAIN_W == 0 ? 6 : BIAS_W == 0 ? 7 : 8)   ii: ROWS * max(N / LANES, 28 + FAR)
//   order: as it comes
//   flow: (BEATS < PACE ? steps(PACE, s < BEATS, s < BEATS, 0, s >= BEATS) : 0)
//       + memory(PLACES, BEATS, BEATS, BEATS, s, REGS, LATE) + u_out
//   lut: 5 * AW + 3 * BW + 10
//   ff: 3 * AW + 2 * BW + REGS + (BEATS < PACE ? 5 : 0)
//   parts: u_sums + u_rsqrt + u_row + u_rows + (GAIN_W > 0 ? u_place + u_affine + u_beta : 0) + LANES * u_lane + u_out
`default_nettype none
module op_norm #(
    parameter integer ROWS       = 1,
    parameter integer N          = 8,
    parameter integer LANES      = 1,
    parameter integer IN_W       = 8,
    parameter integer SIGNED     = 1,
    parameter integer RMS        = 0,
    parameter integer H          = 20,
    parameter [62:0]  EPS        = 63'd171799,
    parameter integer GAIN_W     = 8,
    parameter integer GAIN_F     = 6,
    parameter integer BIAS_W     = 8,
    parameter integer BIAS_F     = 5,
    parameter         IMAGE      = "",
    parameter [31:0]  IMAGE_SUM  = 32'd0,
    parameter         ROM_STYLE  = "auto",
    parameter integer SETS       = 1,
    parameter integer SWEEPS     = 1,
    parameter integer FO         = 5,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter integer UP         = 2 * IN_W + H - (RMS != 0 && SIGNED == 0 ? 0 : 2),
    parameter integer V_BITS     = UP + $clog2(N * N + (EPS >> UP) + 1),
    parameter integer V_W        = V_BITS < 24 ? 24 : V_BITS + V_BITS % 2,
    parameter integer V_LEAST    = EPS > 0 ? $clog2(EPS + 1) : H + 1,
    parameter integer E_MAX      = V_W - V_LEAST > 2 ? (V_W - V_LEAST) / 2 : 1,
    parameter integer FAR        = E_MAX < 16 ? 1 : E_MAX < 24 ? 2 : 3,
    parameter integer TREE       = ($clog2(LANES) + 1) / 2,
    parameter integer QUEUED     = N / LANES < 37 + 2 * FAR + 2 * TREE ? 1 : 0,
    parameter integer LATE       = 33 + 2 * FAR + 2 * TREE + 3 * QUEUED,
    parameter integer LONG       = 21 + E_MAX > 2 * (IN_W + $clog2(N) < 18 ? 26 : 17) ? 1 : 0
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
  localparam integer BEATS = N / LANES;
  localparam integer PACE = 28 + FAR;
  localparam integer PERIOD = BEATS > PACE ? BEATS : PACE;
  localparam integer R_W = 21 + E_MAX;
  localparam integer REGS = LONG + (GAIN_W == 0 ? 5 : BIAS_W == 0 ? 6 : 7);
  localparam integer LIFE = BEATS + LATE + 1;  // cycles that a beat lies in the memory
  localparam integer PART = LIFE % PERIOD < BEATS ? LIFE % PERIOD : BEATS;
  localparam integer PLACES = LIFE / PERIOD * BEATS + PART;  // as many as come in such a time
  localparam integer AW = PLACES > 1 ? $clog2(PLACES) : 1;
  localparam integer BW = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam integer SHIFT = 15 + (V_W - 24) / 2 - H / 2;
  localparam integer S_W = IN_W + $clog2(N) + (SIGNED != 0 ? 0 : 1);

  generate
    if (BEATS * LANES != N || N < 1 || N > 46340 || ROWS < 1 || IN_W > 16) begin : g_bad
      LANES_must_divide_N_and_N_at_most_46340_and_IN_W_at_most_16 u_bad ();
    end
    if (H % 2 != 0 || H < 0 || H > 20 || V_BITS > 63) begin : g_bad_h
      H_must_be_even_0_to_20_and_the_sum_must_fit_63_bits u_bad ();
    end
    if (GAIN_W > 0 && BIAS_W > 0 && BIAS_F > 16 + GAIN_F) begin : g_bad_bias
      BIAS_F_must_be_at_most_16_and_GAIN_F u_bad ();
    end
  endgenerate

  // In: a beat goes to the memory and to the sums.
  logic [AW-1:0] w_addr, r_addr;
  logic [$clog2(PLACES+1)-1:0] used;
  logic [BW-1:0] w_place, r_place;
  wire pausing;
  wire write = in_valid && in_ready;
  wire w_last = w_place == BW'(BEATS - 1);
  wire step;
  assign in_ready = used != ($clog2(PLACES + 1))'(PLACES) && !pausing;
  always_ff @(posedge clk) begin
    if (write) begin
      w_addr  <= w_addr == AW'(PLACES - 1) ? AW'(0) : w_addr + AW'(1);
      w_place <= w_last ? BW'(0) : w_place + BW'(1);
    end
    if (write != step) used <= write ? used + 1'b1 : used - 1'b1;
    if (rst) begin
      w_addr  <= AW'(0);
      w_place <= BW'(0);
      used    <= ($clog2(PLACES + 1))'(0);
    end
  end
  generate
    if (BEATS < PACE) begin : g_pause
      logic [4:0] pause;
      always_ff @(posedge clk) begin
        if (write && w_last) pause <= 5'(PACE - BEATS);
        else if (pausing) pause <= pause - 5'd1;
        if (rst) pause <= 5'd0;
      end
      assign pausing = pause != 5'd0;
    end else begin : g_no_pause
      assign pausing = 1'b0;
    end
  endgenerate

  wire [S_W-1:0] s;
  wire [V_W-1:0] v;
  wire [R_W-1:0] r;
  wire s_valid, v_valid, r_valid;
  op_norm_sums #(
      .N(N), .LANES(LANES), .IN_W(IN_W), .SIGNED(SIGNED), .RMS(RMS), .H(H), .EPS(EPS), .V_W(V_W)
  ) u_sums (
      .clk(clk), .rst(rst), .x(in_data), .valid(write), .last(w_last), .s(s), .s_valid(s_valid), .v(v),
      .v_valid(v_valid)
  );
  num_rsqrt #(.V_W(V_W), .R_W(R_W), .FAR(FAR), .AHEAD(QUEUED != 0 ? 0 : 3)) u_rsqrt (
      .clk(clk), .rst(rst), .start(v_valid), .v(v), .r(r), .done(r_valid)
  );

  // Out: everything up to the output register moves or stands together.
  wire en;
  logic [REGS-1:0] moving;
  wire begins = r_place == BW'(0);
  wire ready;  // s and r of the next row are there, or are when they are needed
  wire r_last = r_place == BW'(BEATS - 1);
  assign step = en && (ready || !begins);
  always_ff @(posedge clk) begin
    if (step) begin
      r_addr  <= r_addr == AW'(PLACES - 1) ? AW'(0) : r_addr + AW'(1);
      r_place <= r_last ? BW'(0) : r_place + BW'(1);
    end
    if (en) moving <= REGS'({moving, ready || !begins});
    if (rst) begin
      r_addr  <= AW'(0);
      r_place <= BW'(0);
      moving  <= REGS'(0);
    end
  end

  wire [S_W-1:0] s_out;
  wire [R_W-1:0] r_out;
  op_norm_row #(.S_W(S_W), .R_W(R_W), .DEPTH(QUEUED != 0 ? PLACES / BEATS : 0)) u_row (
      .clk(clk), .rst(rst), .s(s), .s_valid(s_valid), .r(r), .r_valid(r_valid), .ready(ready), .en(en),
      .take(step && begins), .s_out(s_out), .r_out(r_out)
  );

  wire [LANES*IN_W-1:0] x;
  mem_ram #(.WIDTH(LANES * IN_W), .DEPTH(PLACES), .LATENCY(1)) u_rows (
      .clk(clk), .we(write), .waddr(w_addr), .wdata(in_data), .en(en), .raddr(r_addr), .rdata(x)
  );

  localparam integer G_W = GAIN_W > 0 ? GAIN_W : 1;
  localparam integer B_W = GAIN_W > 0 && BIAS_W > 0 ? BIAS_W : 1;
  localparam integer K_W = GAIN_W > 0 ? GAIN_W + BIAS_W : 1;
  wire [LANES*K_W-1:0] konst, konst_q;
  generate
    if (GAIN_W > 0) begin : g_affine
      wire [BW-1:0] k_place;
      num_delay #(.WIDTH(BW), .DEPTH(3 + LONG)) u_place (.clk(clk), .en(en), .in(r_place), .out(k_place));
      mem_sets #(
          .WIDTH(LANES * K_W), .DEPTH(BEATS), .SETS(SETS), .SWEEPS(ROWS * SWEEPS), .IMAGE(IMAGE), .IMAGE_SUM(IMAGE_SUM),
          .STYLE(ROM_STYLE)
      ) u_affine (
          .clk(clk), .rst(rst), .en(en), .step(moving[2+LONG]), .addr(k_place), .data(konst)
      );
      num_delay #(.WIDTH(LANES * K_W), .DEPTH(1)) u_beta (.clk(clk), .en(en), .in(konst), .out(konst_q));
    end else begin : g_none
      assign konst = {LANES{1'b0}};
      assign konst_q = {LANES{1'b0}};
    end
  endgenerate
  wire unused_konst = &{1'b0, konst, konst_q};

  wire [LANES*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      op_norm_lane #(
          .N(N), .IN_W(IN_W), .SIGNED(SIGNED), .S_W(S_W), .R_W(R_W), .SHIFT(SHIFT), .GAIN_W(GAIN_W), .GAIN_F(GAIN_F),
          .BIAS_W(BIAS_W), .BIAS_F(BIAS_F), .FO(FO), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER)
      ) u_lane (
          .clk(clk), .en(en), .x(x[i*IN_W+:IN_W]), .s(s_out), .r(r_out), .gamma(konst[i*K_W+:G_W]),
          .beta(konst_q[(i+1)*K_W-1-:B_W]), .y(y[i*OUT_W+:OUT_W])
      );
    end
  endgenerate

  wire out_room;
  assign en = out_room || !moving[REGS-1];
  stream_skid #(.WIDTH(LANES * OUT_W)) u_out (
      .clk(clk), .rst(rst), .in_data(y), .in_valid(moving[REGS-1]), .in_ready(out_room), .out_data(out_data),
      .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
