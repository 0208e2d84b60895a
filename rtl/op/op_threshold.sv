// SPDX-License-Identifier: Apache-2.0
// op_threshold: out = LOW + how many of the thresholds of its channel an element reaches: any function of the element
//   that rises, with few results, for each channel another.
//   parameters  C                channels, the innermost axis
//               LANES            elements a beat, a divisor of C
//               N                thresholds of a channel
//               IN_W, IN_SIGNED  bits of an element, 1: two's complement
//               T_W              bits of a threshold, two's complement
//               OUT_W, LOW       bits of out; the result of an element below all thresholds
//               BEATS            beats of a frame, a multiple of C / LANES
//               IMAGE, IMAGE_SUM image: word f, threshold k of channel f * LANES + i at bit (i * N + k) * T_W
//               ROM_STYLE        "auto", "block" or "distributed": memory of the thresholds
//   latency: 4   ii: BEATS   order: channels innermost
//   let: FOLDS = C / LANES; AW = FOLDS > 1 ? clog2(FOLDS) : 1; CMP_W = max(IN_W + 1, T_W)
//   lut: LANES * (N * (CMP_W + 1) / 2 + (N > 1 ? N + OUT_W : 0)) + AW + 3
//   ff: LANES * N + AW + 3
//   parts: u_x + u_thresholds + u_skid
`default_nettype none
module op_threshold #(
    parameter integer C         = 4,
    parameter integer LANES     = 2,
    parameter integer N         = 3,
    parameter integer IN_W      = 8,
    parameter integer IN_SIGNED = 1,
    parameter integer T_W       = 9,
    parameter integer OUT_W     = 2,
    parameter integer LOW       = 0,
    parameter integer BEATS     = 2,
    parameter         IMAGE     = "",
    parameter [31:0]  IMAGE_SUM = 32'd0,
    parameter         ROM_STYLE = "auto"
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
  localparam integer CMP_W = IN_W + 1 > T_W ? IN_W + 1 : T_W;
  localparam integer SUM_W = 1 + $clog2(N);

  generate
    if (FOLDS * LANES != C || BEATS % FOLDS != 0 || N < 1) begin : g_bad
      LANES_must_divide_C_and_C_over_LANES_must_divide_BEATS u_bad ();
    end
  endgenerate

  // Everything up to the output register moves or stands together.
  wire out_room;
  logic [2:0] moving;
  logic [AW-1:0] fold;
  wire en = out_room || !moving[2];
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

  wire [LANES*IN_W-1:0] x;
  wire [LANES*N*T_W-1:0] t;
  num_delay #(.WIDTH(LANES * IN_W), .DEPTH(2)) u_x (.clk(clk), .en(en), .in(in_data), .out(x));
  mem_rom #(
      .WIDTH(LANES * N * T_W), .DEPTH(FOLDS), .IMAGE(IMAGE), .IMAGE_SUM(IMAGE_SUM), .STYLE(ROM_STYLE)
  ) u_thresholds (
      .clk(clk), .en(en), .addr(fold), .data(t)
  );

  wire [LANES*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      wire signed [IN_W:0] v = {IN_SIGNED != 0 && x[i*IN_W+IN_W-1], x[i*IN_W+:IN_W]};
      wire [N-1:0] reached;
      logic [N-1:0] held;
      for (genvar k = 0; k < N; k++) begin : g_compare
        wire signed [T_W-1:0] at = t[(i*N+k)*T_W+:T_W];
        assign reached[k] = CMP_W'(v) >= CMP_W'(at);
      end
      always_ff @(posedge clk) if (en) held <= reached;
      wire [SUM_W-1:0] count;
      num_add_tree #(.N(N), .IN_W(1), .IN_SIGNED(0), .PIPE(0)) u_count (
          .clk(clk), .en(en), .in(held), .out(count)
      );
      localparam integer Y_W = OUT_W > SUM_W ? OUT_W : SUM_W;
      wire [Y_W-1:0] sum = Y_W'(count) + Y_W'(LOW);
      assign y[i*OUT_W+:OUT_W] = sum[OUT_W-1:0];
      wire unused_sum = &{1'b0, sum};
    end
  endgenerate

  stream_skid #(.WIDTH(LANES * OUT_W)) u_skid (
      .clk(clk), .rst(rst), .in_data(y), .in_valid(moving[2]), .in_ready(out_room),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
