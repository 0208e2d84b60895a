// SPDX-License-Identifier: Apache-2.0
// op_prelu: y = over(round(x * (x < 0 ? slope[c] : 2^ONE), SHIFT)), c the channel of x: exact product, one rounding.
//   parameters  C                channels, the innermost axis
//               LANES            elements a beat, a divisor of C
//               IN_W, IN_SIGNED  bits of x, 1: two's complement
//               W_W              bits of a slope, two's complement
//               ONE              the slope of positive x is 2^ONE
//               SHIFT, OUT_W, OUT_SIGNED, ROUND, OVER   the cast to the output, see num_requant
//               BEATS            beats of a frame, a multiple of C / LANES
//               SLOPES, SLOPES_SUM   image: word f, slope[f * LANES + i] at bit i * W_W
//   latency: 4   ii: BEATS   order: channels innermost
//   lut: AW + 5 + LANES * T_W
//   ff: AW + 3
//   parts: u_x + u_x_q + u_slopes + LANES * (u_mul + u_requant) + u_skid
`default_nettype none
module op_prelu #(
    parameter integer C          = 4,
    parameter integer LANES      = 2,
    parameter integer IN_W       = 8,
    parameter integer IN_SIGNED  = 1,
    parameter integer W_W        = 8,
    parameter integer ONE        = 7,
    parameter integer SHIFT      = 7,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter integer BEATS      = 2,
    parameter         SLOPES     = "",
    parameter [31:0]  SLOPES_SUM = 32'd0
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
  localparam integer PW = IN_W + W_W;
  localparam integer QW = IN_W + 1 + ONE;  // a positive x has room for a sign
  localparam integer T_W = PW > QW ? PW : QW;

  generate
    if (FOLDS * LANES != C || BEATS % FOLDS != 0 || ONE < 0) begin : g_bad
      LANES_must_divide_C_and_C_over_LANES_must_divide_BEATS u_bad ();
    end
  endgenerate

  // Everything up to the output register moves or stands together.
  wire en;
  logic [2:0] moving;
  logic [AW-1:0] fold;
  assign in_ready = en;
  always_ff @(posedge clk) begin
    if (en) begin
      moving <= {moving[1:0], in_valid};
      if (in_valid) fold <= fold == AW'(FOLDS - 1) ? AW'(0) : fold + AW'(1);
    end
    if (rst) begin
      moving <= 3'd0;
      fold   <= AW'(0);
    end
  end

  wire [LANES*IN_W-1:0] x, x_q;
  wire [LANES*W_W-1:0] slope;
  num_delay #(.WIDTH(LANES * IN_W), .DEPTH(2)) u_x (.clk(clk), .en(en), .in(in_data), .out(x));
  num_delay #(.WIDTH(LANES * IN_W), .DEPTH(1)) u_x_q (.clk(clk), .en(en), .in(x), .out(x_q));
  mem_rom #(
      .WIDTH(LANES * W_W),
      .DEPTH(FOLDS),
      .IMAGE(SLOPES),
      .IMAGE_SUM(SLOPES_SUM),
      .STYLE("auto")
  ) u_slopes (
      .clk (clk),
      .en  (en),
      .addr(fold),
      .data(slope)
  );

  wire [LANES*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      wire signed [PW-1:0] low;
      num_mul #(
          .A_W(IN_W),
          .A_SIGNED(IN_SIGNED),
          .B_W(W_W)
      ) u_mul (
          .clk(clk),
          .en (en),
          .a  (x[i*IN_W+:IN_W]),
          .b  (slope[i*W_W+:W_W]),
          .out(low)
      );
      wire [IN_W-1:0] plain = x_q[i*IN_W+:IN_W];
      wire neg = IN_SIGNED != 0 ? plain[IN_W-1] : 1'b0;
      wire signed [QW-1:0] high = $signed(QW'({1'b0, plain}) << ONE);
      wire signed [T_W-1:0] t = neg ? T_W'(low) : T_W'(high);
      num_requant #(
          .IN_W(T_W),
          .IN_SIGNED(1),
          .SHIFT(SHIFT),
          .OUT_W(OUT_W),
          .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND),
          .OVER(OVER)
      ) u_requant (
          .in (t),
          .out(y[i*OUT_W+:OUT_W])
      );
    end
  endgenerate

  wire room;
  assign en = room || !moving[2];
  stream_skid #(.WIDTH(LANES * OUT_W)) u_skid (
      .clk(clk),
      .rst(rst),
      .in_data(y),
      .in_valid(moving[2]),
      .in_ready(room),
      .out_data(out_data),
      .out_valid(out_valid),
      .out_ready(out_ready)
  );
endmodule
`default_nettype wire
