// SPDX-License-Identifier: Apache-2.0
// op_scale: y = over(round((x * w[c]) * 2^psh[c] + bias[c], SHIFT)), c the channel of x: batch norm that is not folded,
//   products and sums with constants.
//   parameters  C                channels, the innermost axis
//               LANES            elements a beat, a divisor of C
//               IN_W, IN_SIGNED  bits of x, 1: two's complement
//               W_W              bits of w[c], two's complement
//               DOT_W            bits that hold every exact x * w[c]
//               BIAS_W           bits of bias[c], two's complement
//               PSH_W            bits of psh[c], 0: no left shifts
//               M_W, ZERO        bits of the factors, 0: none; zero point of the output: see op_linear
//               T_W              bits that hold every exact sum after shift and bias
//               SHIFT, OUT_W, OUT_SIGNED, ROUND, OVER   the cast to the output, see num_requant
//               BEATS            beats of a frame, a multiple of C / LANES
//               WEIGHTS, WEIGHTS_SUM  image: word f, w[f * LANES + i] at bit i * W_W
//               CONSTS, CONSTS_SUM    image: word f, {m, psh, bias} of channel f * LANES + i at bit
//                                     i * (M_W + PSH_W + BIAS_W)
//               MULT             "auto", "dsp" or "lut": use_dsp of the multipliers
//               SETS, SWEEPS     layers that share the unit, each with images of its own, and how often a frame of each
//                                runs through all channels: see mem_sets
//   latency: 5 + 2 * min(PSH_W, 1) + (M_W > 0 ? 3 : 1)   ii: BEATS   order: channels innermost
//   lut: AW + STAGES + 2
//   ff: AW + STAGES
//   parts: u_x + u_fold + u_weights + u_consts + LANES * u_lane + u_skid
`default_nettype none
module op_scale #(
    parameter integer C           = 4,
    parameter integer LANES       = 2,
    parameter integer IN_W        = 8,
    parameter integer IN_SIGNED   = 1,
    parameter integer W_W         = 8,
    parameter integer DOT_W       = 16,
    parameter integer BIAS_W      = 16,
    parameter integer PSH_W       = 0,
    parameter integer T_W         = 17,
    parameter integer M_W         = 0,
    parameter integer SHIFT       = 7,
    parameter integer ZERO        = 0,
    parameter integer OUT_W       = 8,
    parameter integer OUT_SIGNED  = 1,
    parameter integer ROUND       = 0,
    parameter integer OVER        = 0,
    parameter integer BEATS       = 2,
    parameter         WEIGHTS     = "",
    parameter [31:0]  WEIGHTS_SUM = 32'd0,
    parameter         CONSTS      = "",
    parameter [31:0]  CONSTS_SUM  = 32'd0,
    parameter         MULT        = "auto",
    parameter integer SETS        = 1,
    parameter integer SWEEPS      = 1
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
  localparam integer XW = LANES * IN_W;
  localparam integer KW = M_W + PSH_W + BIAS_W;
  localparam integer STAGES = 4 + (PSH_W > 0 ? 2 : 0) + (M_W > 0 ? 3 : 1);  // memory 2, product, sum; shift; cast

  generate
    if (FOLDS * LANES != C || BEATS % FOLDS != 0) begin : g_bad
      LANES_must_divide_C_and_C_over_LANES_must_divide_BEATS u_bad ();
    end
  endgenerate

  // Everything up to the output register moves or stands together.
  wire en;
  logic [STAGES-1:0] moving;
  logic [AW-1:0] fold;
  wire done = moving[STAGES-1];
  assign in_ready = en;
  always_ff @(posedge clk) begin
    if (en) begin
      moving <= STAGES'({moving, in_valid});
      if (in_valid) fold <= fold == AW'(FOLDS - 1) ? AW'(0) : fold + AW'(1);
    end
    if (rst) begin
      moving <= STAGES'(0);
      fold   <= AW'(0);
    end
  end

  // x waits for its weight, the channel's constants for the product (and, with a shift, for the sum).
  wire [XW-1:0] x;
  wire [AW-1:0] fold_k;
  wire [LANES*W_W-1:0] w;
  wire [LANES*KW-1:0] konst;
  num_delay #(.WIDTH(XW), .DEPTH(2)) u_x (.clk(clk), .en(en), .in(in_data), .out(x));
  num_delay #(.WIDTH(AW), .DEPTH(PSH_W > 0 ? 2 : 1)) u_fold (.clk(clk), .en(en), .in(fold), .out(fold_k));
  mem_sets #(
      .WIDTH(LANES * W_W), .DEPTH(FOLDS), .SETS(SETS), .SWEEPS(SWEEPS), .IMAGE(WEIGHTS), .IMAGE_SUM(WEIGHTS_SUM)
  ) u_weights (
      .clk(clk), .rst(rst), .en(en), .step(in_valid), .addr(fold), .data(w)
  );
  mem_sets #(
      .WIDTH(LANES * KW), .DEPTH(FOLDS), .SETS(SETS), .SWEEPS(SWEEPS), .IMAGE(CONSTS), .IMAGE_SUM(CONSTS_SUM)
  ) u_consts (
      .clk(clk), .rst(rst), .en(en), .step(moving[PSH_W > 0 ? 1 : 0]), .addr(fold_k), .data(konst)
  );

  wire [LANES*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      op_linear_lane #(
          .IN_LANES(1),
          .IN_W(IN_W),
          .IN_SIGNED(IN_SIGNED),
          .W_W(W_W),
          .DOT_W(DOT_W),
          .BIAS_W(BIAS_W),
          .PSH_W(PSH_W),
          .T_W(T_W),
          .M_W(M_W),
          .SHIFT(SHIFT),
          .ZERO(ZERO),
          .OUT_W(OUT_W),
          .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND),
          .OVER(OVER),
          .MULT(MULT),
          .ONE_BEAT(1)
      ) u_lane (
          .clk  (clk),
          .en   (en),
          .x    (x[i*IN_W+:IN_W]),
          .w    (w[i*W_W+:W_W]),
          .first(1'b1),
          .valid(moving[2]),
          .konst(konst[i*KW+:KW]),
          .y    (y[i*OUT_W+:OUT_W])
      );
    end
  endgenerate

  wire out_room;
  assign en = out_room || !done;
  stream_skid #(.WIDTH(LANES * OUT_W)) u_skid (
      .clk(clk),
      .rst(rst),
      .in_data(y),
      .in_valid(done),
      .in_ready(out_room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
