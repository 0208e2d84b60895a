// SPDX-License-Identifier: Apache-2.0
// mx_linear_fed: folded matrix-vector product over blocks that share a scale. The memory of the weights stands outside:
//   mx_linear has it in a ROM. A block of a row is an exact integer sum D; the sums of a row go into a window
//   accumulator:
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
//               SCALES, SCALES_SUM     image: words in the order group of rows, block, group of DRAIN: DRAIN scales
//               BIAS, BIAS_SUM         image: words of DRAIN biases, rows ascending
//               MULT, TREE_PIPE  as op_linear
//               SF NF AW         derived, not to be set
//   The ports w_* are those of op_linear_fed; word nf * SF + sf has w[nf * ROWS + p][sf * IN_LANES + s] at bit
//   (p * IN_LANES + s) * W_W.
//   latency: IN / IN_LANES + 9 + (CODED + W_E ? 1 : 0) + (clog2(IN_LANES) + TREE_PIPE - 1) / TREE_PIPE
//   ii: (IN / IN_LANES) * (OUT / ROWS)   order: elements ascending, lanes innermost
//   front: NF > 1 ? SF : 0
//   flow: bursts(SF * NF, s < SF, s % SF == SF - 1, FRONT + 6, ROWS / DRAIN) + u_skid
//   let: VW = X_E < 0 ? X_W : X_W - 1 - X_E + (1 << X_E); WV = W_E ? W_W - 1 - W_E + (1 << W_E) : W_W
//   let: ACC = VW + WV + clog2(IN_LANES) > D_W ? 1 : 2
//   lut: ROWS * ACC * D_W + 3
//   ff: ROWS * D_W + FRONT
//   parts: u_feed + u_flags + ROWS * u_dot + (XS_W ? u_xs : 0) + u_drain + u_skid
`default_nettype none
module mx_linear_fed #(
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
    parameter         SCALES      = "",
    parameter [31:0]  SCALES_SUM  = 32'd0,
    parameter         BIAS        = "",
    parameter [31:0]  BIAS_SUM    = 32'd0,
    parameter         MULT        = "auto",
    parameter integer TREE_PIPE   = 1,
    parameter integer SF          = IN / IN_LANES,
    parameter integer NF          = OUT / ROWS,
    parameter integer AW          = SF * NF > 1 ? $clog2(SF * NF) : 1
) (
    input  wire                         clk,
    input  wire                         rst,
    input  wire [XS_W+IN_LANES*X_W-1:0] in_data,
    input  wire                         in_valid,
    output wire                         in_ready,
    output wire                         w_en,
    output wire                         w_step,
    output wire [               AW-1:0] w_addr,
    input  wire                         w_ready,
    input  wire [ROWS*IN_LANES*W_W-1:0] w_data,
    output wire [      DRAIN*OUT_W-1:0] out_data,
    output wire                         out_valid,
    input  wire                         out_ready
);
  localparam integer VW = X_E < 0 ? X_W : X_W - 1 - X_E + (1 << X_E);  // bits of an element as an integer
  localparam integer WV = W_E > 0 ? W_W - 1 - W_E + (1 << W_E) : W_W;  // and of a weight
  localparam integer AW_X = CODED != 0 ? X_W : VW;  // bits of an element as it is multiplied
  localparam integer A_E = CODED != 0 ? X_E : 0;
  localparam integer XW = XS_W + IN_LANES * AW_X;
  localparam integer TREE = ($clog2(IN_LANES) + TREE_PIPE - 1) / TREE_PIPE;
  // Memory 2, product 1 or 2, tree: stages before the sum over the beats.
  localparam integer FRONT = 3 + (A_E > 0 || W_E > 0 ? 1 : 0) + TREE;

  generate
    if (SF * IN_LANES != IN || NF * ROWS != OUT || ROWS % DRAIN != 0 || IN % RUN != 0 || RUN % IN_LANES != 0
        || (RUN > K && (K % IN_LANES != 0 || (RUN % K) % IN_LANES != 0))) begin : g_bad_lanes
      IN_LANES_must_divide_blocks_and_ROWS_OUT_and_DRAIN_ROWS u_bad ();
    end
    if (CODED != 0 && X_E < 1) begin : g_bad_codes
      CODED_elements_must_have_a_field u_bad ();
    end
  endgenerate

  // Everything up to the output register moves or stands together.
  wire en;

  wire [XW-1:0] x;
  wire step;
  assign w_en = en;
  assign w_step = step;
  wire block_first, block_last, row_last;
  mx_linear_feed #(
      .SF(SF), .NF(NF), .LANES(IN_LANES), .X_W(X_W), .X_E(CODED != 0 ? -1 : X_E), .XS_W(XS_W), .XS_FALLS(XS_FALLS),
      .RUN(RUN / IN_LANES), .K(RUN > K ? K / IN_LANES : RUN / IN_LANES)
  ) u_feed (
      .clk(clk), .rst(rst), .en(en), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready),
      .ready(w_ready), .x(x), .step(step), .addr(w_addr), .block_first(block_first), .block_last(block_last),
      .row_last(row_last)
  );

  // Flags travel with the beat to the sum over the beats of a block; so does the scale.
  wire sum_first, sum_last, sum_end;
  num_delay #(.WIDTH(3), .DEPTH(FRONT)) u_flags (
      .clk(clk), .en(en), .in({block_first, block_last, row_last}), .out({sum_first, sum_last, sum_end})
  );
  logic [FRONT-1:0] moving;
  wire take = moving[FRONT-1] && sum_last;  // the sums of a block are complete
  always_ff @(posedge clk) begin
    if (en) moving <= FRONT'({moving, step});
    if (rst) moving <= FRONT'(0);
  end

  wire [ROWS*D_W-1:0] d;
  generate
    for (genvar p = 0; p < ROWS; p++) begin : g_row
      localparam integer DOT_W = VW + WV + $clog2(IN_LANES);
      wire signed [DOT_W-1:0] dot;
      num_dot #(
          .N(IN_LANES), .A_W(AW_X), .A_SIGNED(1), .A_E(A_E), .B_W(W_W), .B_E(W_E), .MULT(MULT), .PIPE(TREE_PIPE)
      ) u_dot (
          .clk(clk), .en(en), .a(x[IN_LANES*AW_X-1:0]),
          .b(w_data[p*IN_LANES*W_W+:IN_LANES*W_W]), .out(dot)
      );
      logic [D_W-1:0] acc;
      wire [D_W-1:0] next = (sum_first ? D_W'(0) : acc) + D_W'(dot);
      always_ff @(posedge clk) if (en && moving[FRONT-1]) acc <= next;
      assign d[p*D_W+:D_W] = next;
      wire unused_dot = &{1'b0, dot};
    end
  endgenerate

  wire [7:0] xs;
  generate
    if (XS_W > 0) begin : g_scale
      wire [XS_W-1:0] field;
      num_delay #(.WIDTH(XS_W), .DEPTH(FRONT - 2)) u_xs (.clk(clk), .en(en), .in(x[XW-1-:XS_W]), .out(field));
      assign xs = 8'(field);
    end else begin : g_fixed
      assign xs = 8'd0;
    end
  endgenerate

  wire [DRAIN*OUT_W-1:0] y;
  wire done;
  mx_linear_drain #(
      .ROWS(ROWS), .DRAIN(DRAIN), .GROUPS(NF), .BLOCKS(IN / RUN * ((RUN + K - 1) / K)), .WS_W(WS_W), .D_W(D_W),
      .OFFSET(OFFSET), .SPAN(SPAN), .LOW(LOW), .CLAMP(CLAMP), .SUM_W(SUM_W), .BIAS_W(BIAS_W), .OUT_W(OUT_W),
      .SCALES(SCALES), .SCALES_SUM(SCALES_SUM), .BIAS(BIAS), .BIAS_SUM(BIAS_SUM)
  ) u_drain (
      .clk(clk), .rst(rst), .en(en), .d(d), .xs(xs), .take(take), .last(sum_end), .y(y), .done(done)
  );

  wire out_room;
  assign en = out_room || !done;
  stream_skid #(.WIDTH(DRAIN * OUT_W)) u_skid (
      .clk(clk), .rst(rst), .in_data(y), .in_valid(done), .in_ready(out_room),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
