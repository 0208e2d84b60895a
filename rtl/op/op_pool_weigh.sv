// SPDX-License-Identifier: Apache-2.0
// op_pool_weigh: brings the sums of windows of different counts to one divisor: out = in * factor[pixel], lane by lane.
//   With L the least common multiple of the counts and factor = L / count, sum / count = out / L exactly.
//   parameters  PIXELS                pixels of a frame
//               BEATS                 beats of a pixel
//               LANES                 lanes
//               IN_W SIGNED           bits of a sum; 1: two's complement
//               F_W                   bits of a factor
//               OUT_W                 bits of a product; the products fit
//               FACTORS, FACTORS_SUM  image: word p, the factor of pixel p
//   latency: 4   ii: PIXELS * BEATS   order: as it comes
//   lut: AW + BW + 6
//   ff: AW + BW + 3
//   parts: u_x + u_factors + LANES * u_mul + u_skid
`default_nettype none
module op_pool_weigh #(
    parameter integer PIXELS      = 4,
    parameter integer BEATS       = 2,
    parameter integer LANES       = 2,
    parameter integer IN_W        = 12,
    parameter integer SIGNED      = 1,
    parameter integer F_W         = 4,
    parameter integer OUT_W       = 14,
    parameter         FACTORS     = "",
    parameter [31:0]  FACTORS_SUM = 32'd0
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
  localparam integer AW = PIXELS > 1 ? $clog2(PIXELS) : 1;
  localparam integer BW = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam integer PW = IN_W + F_W + 1;

  generate
    if (PIXELS < 1 || BEATS < 1 || LANES < 1 || OUT_W > PW) begin : g_bad
      PIXELS_BEATS_and_LANES_must_be_positive_and_OUT_W_not_beyond_the_product u_bad ();
    end
  endgenerate

  // Everything up to the output register moves or stands together.
  wire en;
  logic [2:0] moving;
  logic [AW-1:0] pixel;
  logic [BW-1:0] beat;
  assign in_ready = en;
  wire beat_last = beat == BW'(BEATS - 1);
  always_ff @(posedge clk) begin
    if (en) begin
      moving <= {moving[1:0], in_valid};
      if (in_valid) begin
        beat <= beat_last ? BW'(0) : beat + BW'(1);
        if (beat_last) pixel <= pixel == AW'(PIXELS - 1) ? AW'(0) : pixel + AW'(1);
      end
    end
    if (rst) begin
      moving <= 3'd0;
      pixel  <= AW'(0);
      beat   <= BW'(0);
    end
  end

  wire [LANES*IN_W-1:0] x;
  wire [F_W-1:0] factor;
  num_delay #(.WIDTH(LANES * IN_W), .DEPTH(2)) u_x (.clk(clk), .en(en), .in(in_data), .out(x));
  mem_rom #(
      .WIDTH(F_W),
      .DEPTH(PIXELS),
      .IMAGE(FACTORS),
      .IMAGE_SUM(FACTORS_SUM),
      .STYLE("auto")
  ) u_factors (
      .clk (clk),
      .en  (en),
      .addr(pixel),
      .data(factor)
  );

  wire [LANES*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      wire [PW-1:0] product;
      num_mul #(
          .A_W(IN_W),
          .A_SIGNED(SIGNED),
          .B_W(F_W + 1)
      ) u_mul (
          .clk(clk),
          .en (en),
          .a  (x[i*IN_W+:IN_W]),
          .b  ({1'b0, factor}),
          .out(product)
      );
      assign y[i*OUT_W+:OUT_W] = product[OUT_W-1:0];
      wire unused = &{1'b0, product};
    end
  endgenerate

  wire room;
  assign en = room || !moving[2];
  stream_skid #(
      .WIDTH(LANES * OUT_W)
  ) u_skid (
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
