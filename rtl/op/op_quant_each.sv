// SPDX-License-Identifier: Apache-2.0
// op_quant_each: y = min(max(round(x * 2^up[c] / 2^SHIFT), lo[c]), hi[c]) * 2^drop[c], c the channel of x: each channel
//   has a step and limits of its own, and is rounded once.
//   parameters  C                channels, the innermost axis
//               LANES            elements a beat, a divisor of C
//               IN_W, IN_SIGNED  bits of x, 1: two's complement
//               UP_W, UP         bits of up, and its greatest value
//               DROP_W           bits of drop
//               SHIFT, ROUND     the rounding, see num_requant
//               OUT_W            bits of y, which holds every lo * 2^drop and hi * 2^drop
//               BEATS            beats of a frame, a multiple of C / LANES
//               CHANNELS, CHANNELS_SUM   image: word f, of channel f * LANES + i from bit i * E_W on: up, drop, and, as
//                                numbers of OUT_W + 1 bits in two's complement, lo and hi
//   latency: 6   ii: BEATS   order: channels innermost
//   lut: AW + 5 + LANES * (T_W * (UP_W + 1) / 2 + Q_W * 2 + 2 * L_W + OUT_W * (DROP_W + 1) / 2)
//   lut4: (AW + 5 + LANES * (T_W * (UP_W + 1) / 2 + Q_W * 2 + 2 * L_W + OUT_W * (DROP_W + 1) / 2)) * 5 / 4
//   ff: AW + 5 + LANES * (T_W + Q_W + L_W + DROP_W)
//   parts: u_x + u_channels + u_limits + u_drop + LANES * u_requant + u_skid
`default_nettype none
module op_quant_each #(
    parameter integer C          = 4,
    parameter integer LANES      = 2,
    parameter integer IN_W       = 8,
    parameter integer IN_SIGNED  = 1,
    parameter integer UP_W       = 2,
    parameter integer UP         = 3,
    parameter integer DROP_W     = 2,
    parameter integer SHIFT      = 3,
    parameter integer OUT_W      = 8,
    parameter integer ROUND      = 0,
    parameter integer BEATS      = 2,
    parameter         CHANNELS   = "",
    parameter [31:0]  CHANNELS_SUM = 32'd0
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
  localparam integer FOLDS = C / LANES;
  localparam integer AW = FOLDS > 1 ? $clog2(FOLDS) : 1;
  localparam integer L_W = OUT_W + 1;  // a limit
  localparam integer E_W = UP_W + DROP_W + 2 * L_W;
  localparam integer T_W = IN_W + 1 + UP;  // x has room for a sign
  localparam integer R_W = SHIFT < T_W ? T_W + 1 - SHIFT : 2;  // all that rounding may leave
  localparam integer Q_W = R_W > L_W ? R_W : L_W;
  localparam integer DW = DROP_W > 0 ? DROP_W : 1;

  generate
    if (FOLDS * LANES != C || BEATS % FOLDS != 0 || UP < 0) begin : g_bad
      LANES_must_divide_C_and_C_over_LANES_must_divide_BEATS u_bad ();
    end
  endgenerate

  // Everything up to the output register moves or stands together.
  wire en;
  logic [4:0] moving;
  logic [AW-1:0] fold;
  assign in_ready = en;
  always_ff @(posedge clk) begin
    if (en) begin
      moving <= {moving[3:0], in_valid};
      if (in_valid) fold <= fold == AW'(FOLDS - 1) ? AW'(0) : fold + AW'(1);
    end
    if (rst) begin
      moving <= 5'd0;
      fold   <= AW'(0);
    end
  end

  wire [LANES*IN_W-1:0] x;
  wire [LANES*E_W-1:0] channel;
  num_delay #(.WIDTH(LANES * IN_W), .DEPTH(2)) u_x (.clk(clk), .en(en), .in(in_data), .out(x));
  mem_rom #(
      .WIDTH(LANES * E_W),
      .DEPTH(FOLDS),
      .IMAGE(CHANNELS),
      .IMAGE_SUM(CHANNELS_SUM),
      .STYLE("auto")
  ) u_channels (
      .clk (clk),
      .en  (en),
      .addr(fold),
      .data(channel)
  );

  // Rows of registers: aligned, rounded, within the limits.
  wire [LANES*2*L_W-1:0] limits, limits_q;
  wire [LANES*DW-1:0] drop, drop_q;
  num_delay #(.WIDTH(LANES * 2 * L_W), .DEPTH(2)) u_limits (.clk(clk), .en(en), .in(limits), .out(limits_q));
  num_delay #(.WIDTH(LANES * DW), .DEPTH(3)) u_drop (.clk(clk), .en(en), .in(drop), .out(drop_q));

  wire [LANES*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      wire [E_W-1:0] e = channel[i*E_W+:E_W];
      assign limits[i*2*L_W+:2*L_W] = e[UP_W+DROP_W+:2*L_W];
      wire signed [T_W-1:0] plain =
          {{(T_W - IN_W) {IN_SIGNED != 0 ? x[(i+1)*IN_W-1] : 1'b0}}, x[i*IN_W+:IN_W]};
      wire signed [T_W-1:0] aligned;
      if (UP_W > 0) begin : g_up
        assign aligned = plain <<< e[UP_W-1:0];
      end else begin : g_same
        assign aligned = plain;
      end
      if (DROP_W > 0) begin : g_drop
        assign drop[i*DW+:DW] = e[UP_W+:DROP_W];
      end else begin : g_none
        assign drop[i*DW+:DW] = 1'b0;
      end

      logic signed [T_W-1:0] t;
      logic signed [Q_W-1:0] q;
      logic [OUT_W-1:0] kept;
      wire signed [Q_W-1:0] rounded;
      num_requant #(
          .IN_W(T_W),
          .IN_SIGNED(1),
          .SHIFT(SHIFT),
          .OUT_W(Q_W),
          .OUT_SIGNED(1),
          .ROUND(ROUND),
          .OVER(0)
      ) u_requant (
          .in (t),
          .out(rounded)
      );
      wire signed [L_W-1:0] lo = limits_q[i*2*L_W+:L_W];
      wire signed [L_W-1:0] hi = limits_q[i*2*L_W+L_W+:L_W];
      wire below = q < Q_W'(lo);
      wire above = q > Q_W'(hi);
      always_ff @(posedge clk)
        if (en) begin
          t <= aligned;
          q <= rounded;
          kept <= below ? lo[OUT_W-1:0] : above ? hi[OUT_W-1:0] : q[OUT_W-1:0];
        end
      assign y[i*OUT_W+:OUT_W] = kept << drop_q[i*DW+:DW];
    end
  endgenerate

  wire room;
  assign en = room || !moving[4];
  stream_skid #(.WIDTH(LANES * OUT_W)) u_skid (
      .clk(clk),
      .rst(rst),
      .in_data(y),
      .in_valid(moving[4]),
      .in_ready(room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
