// SPDX-License-Identifier: Apache-2.0
// mx_linear: folded matrix-vector product over blocks that share a scale. A block of a row is an exact integer sum D;
//   the sums of a row go into a window accumulator:
//   y[o] = sat(bias[o] + sum_j sat((D[o][j] << a) >> LOW)), a = xs[j] + ws[o][j] + OFFSET, floor.
//   SF = IN / IN_LANES beats come in; ROWS outputs are computed at once, and their sums leave the multipliers together.
//   DRAIN of them a cycle are shifted and added, and leave: beats of DRAIN outputs. The vector is replayed from a
//   buffer OUT / ROWS - 1 times, as op_linear does; a convolution is a window generator in front of this.
//   parameters  IN, OUT          lengths of the two vectors
//               RUN, K           a vector is runs of RUN elements, each cut into blocks of K and a shorter tail
//               IN_LANES         elements a beat, divides the length of every block
//               ROWS, DRAIN      outputs at once, divides OUT; of them a beat, divides ROWS; ROWS / DRAIN is at most
//                                the beats of the shortest block
//               X_W, XS_W        bits of an element of x; of its scale above them, 0 to 8
//               X_E, XS_FALLS    bits of the field of an element, see mx_integer, -1: two's complement; 1: the scale of
//                                x is the complement of xs
//               CODED, W_E       1: elements are multiplied as codes; bits of the field of weights that are codes, 0:
//                                integers. See num_mul_float
//               W_W, WS_W        bits of a weight, two's complement; of the scale of a block of weights, 0: none
//               D_W              bits that hold every sum of a block
//               OFFSET           signed constant of the shift
//               SPAN, LOW        greatest a; bits dropped behind the shift
//               CLAMP            1: a below 0 counts as 0, a above SPAN saturates, as do sums; 0: neither occurs
//               SUM_W            bits of the sum over the blocks
//               BIAS_W, OUT_W    bits of a bias; of y
//               WEIGHTS, WEIGHTS_SUM   image: word nf * SF + sf, w[nf * ROWS + p][sf * IN_LANES + s] at bit
//                                (p * IN_LANES + s) * W_W
//               SCALES, SCALES_SUM     image: words in the order group of rows, block, group of DRAIN: DRAIN scales
//               BIAS, BIAS_SUM         image: words of DRAIN biases, rows ascending
//               ROM_STYLE, MULT, TREE_PIPE   as op_linear
//   latency: u_fed   ii: u_fed   order: elements ascending, lanes innermost
//   front: u_fed
//   flow: u_fed
//   lut: 0
//   parts: u_fed + u_weights
`default_nettype none
module mx_linear #(
    parameter integer IN          = 16,
    parameter integer OUT         = 8,
    parameter integer RUN         = 16,
    parameter integer K           = 8,
    parameter integer IN_LANES    = 4,
    parameter integer ROWS        = 2,
    parameter integer DRAIN       = 1,
    parameter integer X_W         = 8,
    parameter integer XS_W        = 8,
    parameter integer X_E         = -1,
    parameter integer XS_FALLS    = 0,
    parameter integer CODED       = 0,
    parameter integer W_W         = 8,
    parameter integer W_E         = 0,
    parameter integer WS_W        = 4,
    parameter integer D_W         = 20,
    parameter integer OFFSET      = -100,
    parameter integer SPAN        = 24,
    parameter integer LOW         = 8,
    parameter integer CLAMP       = 1,
    parameter integer SUM_W       = 32,
    parameter integer BIAS_W      = 16,
    parameter integer OUT_W       = 30,
    parameter         WEIGHTS     = "",
    parameter [31:0]  WEIGHTS_SUM = 32'd0,
    parameter         SCALES      = "",
    parameter [31:0]  SCALES_SUM  = 32'd0,
    parameter         BIAS        = "",
    parameter [31:0]  BIAS_SUM    = 32'd0,
    parameter         ROM_STYLE   = "auto",
    parameter         MULT        = "auto",
    parameter integer TREE_PIPE   = 1
) (
    input  wire                         clk,
    input  wire                         rst,
    input  wire [XS_W+IN_LANES*X_W-1:0] in_data,
    input  wire                         in_valid,
    output wire                         in_ready,
    output wire [      DRAIN*OUT_W-1:0] out_data,
    output wire                         out_valid,
    input  wire                         out_ready
);
  localparam integer WORDS = (IN / IN_LANES) * (OUT / ROWS);
  localparam integer AW = WORDS > 1 ? $clog2(WORDS) : 1;
  wire en, step;
  wire [AW-1:0] addr;
  wire [ROWS*IN_LANES*W_W-1:0] w;

  mx_linear_fed #(
      .IN(IN), .OUT(OUT), .RUN(RUN), .K(K), .IN_LANES(IN_LANES), .ROWS(ROWS), .DRAIN(DRAIN), .X_W(X_W), .XS_W(XS_W),
      .X_E(X_E), .XS_FALLS(XS_FALLS), .CODED(CODED), .W_E(W_E),
      .W_W(W_W), .WS_W(WS_W), .D_W(D_W), .OFFSET(OFFSET), .SPAN(SPAN), .LOW(LOW), .CLAMP(CLAMP), .SUM_W(SUM_W),
      .BIAS_W(BIAS_W), .OUT_W(OUT_W), .SCALES(SCALES), .SCALES_SUM(SCALES_SUM), .BIAS(BIAS), .BIAS_SUM(BIAS_SUM),
      .MULT(MULT), .TREE_PIPE(TREE_PIPE)
  ) u_fed (
      .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready),
      .w_en(en), .w_step(step), .w_addr(addr), .w_ready(1'b1), .w_data(w),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );

  mem_rom #(
      .WIDTH(ROWS * IN_LANES * W_W), .DEPTH(WORDS), .IMAGE(WEIGHTS), .IMAGE_SUM(WEIGHTS_SUM), .STYLE(ROM_STYLE)
  ) u_weights (
      .clk(clk), .en(en), .addr(addr), .data(w)
  );
  wire unused_step = &{1'b0, step};
endmodule
`default_nettype wire
