// SPDX-License-Identifier: Apache-2.0
// mx_attend_sum: op_attend_sum over blocks that share a scale: values weighed by probabilities into the window
//   accumulator
//   y = sat(sum_j sat((D[j] << a) >> LOW)), a = as[j] + vs[j] + OFFSET, floor,
//   D[j] the exact sum over the keys of block j. Weights (stream a) come in blocks along the keys: a beat is {scale,
//   elements}. Values (stream b) are fixed, and become blocks of as many tokens of one feature in mx_tile. Order,
//   frames and waiting are those of op_attend_sum, but that tokens of a block of values are there when all of them are.
//   parameters  QUERIES KEYS AHEAD HEADS GROUPS SIZE F R CAUSAL   as op_attend_sum with ROW = KEYS; R divides the
//                                  length of every block
//               OFFSET_KEYS        OFFSET of op_attend_sum
//               K                  keys of a block; the last one of a row may be shorter
//               A_W AS_W           bits of a weight, two's complement, and of a scale
//               V_W V_SIGNED V_EXP bits of a value, 1: two's complement; its exponent, signed
//               B_W BS_W BIAS ROUND   blocks of values: bits of a code and of a scale, the scale of 2^0, rounding
//               D_W                bits that hold every sum of a block
//               OFFSET SPAN LOW CLAMP SUM_W OUT_W   as mx_linear
//               MULT TREE_PIPE STYLE   as op_attend_sum
//   latency: (CAUSAL && QUERIES > 1 && OFFSET_KEYS < 0 ? 1 : ((CAUSAL && QUERIES > 1 ? min(OFFSET_KEYS + 1, KEYS) :
//       KEYS) + min(KEYS, K)) * GROUPS * (SIZE / F) + 5) + (KEYS / R - 1) * (SIZE / F) + 8 + (clog2(R) + TREE_PIPE - 1)
//       / TREE_PIPE
//   ii: SIZE / F * max(max(KEYS * GROUPS, QUERIES * HEADS * (KEYS / R) + GROUPS * max(0, (CAUSAL && QUERIES > 1 ?
//       min(max(OFFSET_KEYS + 1, 0), KEYS) : KEYS) - AHEAD)), (KEYS - AHEAD) * GROUPS + HEADS * (KEYS / R) * (CAUSAL ?
//       max(min(QUERIES - KEYS + 1 + OFFSET_KEYS, QUERIES), 1) : QUERIES))   order: token, head, feature
//   let: RUN = KEYS / R * BEATS; T = s / (HEADS * RUN); SEEN = T == QUERIES - 1 || CAUSAL == 0 ? KEYS :
//       min(KEYS, max(0, T + OFFSET_KEYS + 1))
//   flow: before(1, u_tile) + memories(QUERIES * HEADS * RUN, s % RUN >= RUN - BEATS, REGS, 2,
//       QUERIES * HEADS * (KEYS / R), s / BEATS + 1, s / BEATS, (KEYS + AHEAD) * GROUPS * BEATS, KEYS * GROUPS * BEATS,
//       SEEN * GROUPS * BEATS, 0) + u_out
//   lut: 6 + (BEATS > 1 ? 2 * AT_W : 0) + F * ((BLOCK > 1 ? 2 : 1) * E_W + (KEYS > R ? 2 * D_W : 0)
//       + (BLOCKS > 1 ? 2 * SUM_W : 0))
//   ff: REGS + (BEATS > 1 ? AT_W : 0) + F * (E_W + D_W + SUM_W) + 8
//   parts: u_tile + u_feed + u_dots + u_flags + u_enters + u_words + (KEYS > R ? F * u_others : 0) + F * u_term
//       + (BLOCKS > 1 ? F * u_older : 0) + (BLOCK > 1 ? F * u_scales : 0) + F * u_exponent + F * u_result + u_out
`default_nettype none
module mx_attend_sum #(
    parameter integer QUERIES     = 4,
    parameter integer KEYS        = 6,
    parameter integer AHEAD       = KEYS,
    parameter integer HEADS       = 2,
    parameter integer GROUPS      = 1,
    parameter integer SIZE        = 4,
    parameter integer F           = 2,
    parameter integer R           = 2,
    parameter integer K           = 4,
    parameter integer A_W         = 8,
    parameter integer AS_W        = 8,
    parameter integer V_W         = 16,
    parameter integer V_SIGNED    = 1,
    parameter integer V_EXP       = -12,
    parameter integer B_W         = 8,
    parameter integer BS_W        = 8,
    parameter integer BIAS        = 127,
    parameter integer ROUND       = 0,
    parameter integer CAUSAL      = 0,
    parameter integer OFFSET_KEYS = 0,
    parameter integer D_W         = 19,
    parameter integer OFFSET      = -220,
    parameter integer SPAN        = 24,
    parameter integer LOW         = 8,
    parameter integer CLAMP       = 1,
    parameter integer SUM_W       = 32,
    parameter integer OUT_W       = 30,
    parameter         MULT        = "auto",
    parameter integer TREE_PIPE   = 1,
    parameter         STYLE       = "auto"
) (
    input  wire                  clk,
    input  wire                  rst,
    input  wire [AS_W+R*A_W-1:0] a_data,
    input  wire                  a_valid,
    output wire                  a_ready,
    input  wire [     F*V_W-1:0] b_data,
    input  wire                  b_valid,
    output wire                  b_ready,
    output wire [   F*OUT_W-1:0] out_data,
    output wire                  out_valid,
    input  wire                  out_ready
);
  localparam integer BEATS = SIZE / F;
  localparam integer BLOCK = (KEYS < K ? KEYS : K) / R;  // tiles of R keys
  localparam integer BLOCKS = (KEYS + K - 1) / K;
  localparam integer T_W = BLOCK > 1 ? $clog2(BLOCK) : 1;
  localparam integer AT_W = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam integer TREE = ($clog2(R) + TREE_PIPE - 1) / TREE_PIPE;
  localparam integer REGS = 7 + TREE;  // memory 2, product, tree, block sum, term 2, window
  localparam integer DOT_W = A_W + B_W + $clog2(R);
  localparam integer E_W = (AS_W > BS_W ? AS_W : BS_W) + 1;
  localparam integer AW = AS_W + R * A_W;
  localparam integer BW = F * (B_W + BS_W);

  generate
    if (SIZE % F != 0 || KEYS % R != 0 || (KEYS > K && (K % R != 0 || KEYS % K % R != 0)) || TREE_PIPE < 1
        || TREE_PIPE > 2) begin : g_bad
      F_must_divide_SIZE_and_R_the_length_of_every_block_and_TREE_PIPE_be_1_or_2 u_bad ();
    end
  endgenerate

  wire [BW-1:0] v_data;
  wire v_valid, v_ready;
  mx_tile #(
      .LANES(F), .IN_W(V_W), .IN_SIGNED(V_SIGNED), .EXP(V_EXP), .W(B_W), .K(K), .SCALE_W(BS_W), .BIAS(BIAS),
      .LINE(GROUPS * BEATS), .TOKENS(KEYS), .ROUND(ROUND), .STYLE(STYLE)
  ) u_tile (
      .clk(clk), .rst(rst), .in_data(b_data), .in_valid(b_valid), .in_ready(b_ready), .out_data(v_data),
      .out_valid(v_valid), .out_ready(v_ready)
  );

  wire room, step, first, last;
  wire [AW-1:0] weights;
  wire [R*BW-1:0] values;
  logic [REGS-1:0] moving;  // where a sum is complete
  wire en = room || !moving[REGS-1];
  always_ff @(posedge clk) begin
    if (en) moving <= REGS'({moving, step && last});
    if (rst) moving <= REGS'(0);
  end

  op_attend_feed #(
      .QUERIES(QUERIES), .KEYS(KEYS), .AHEAD(AHEAD), .HEADS(HEADS), .GROUPS(GROUPS), .ROW(KEYS), .R(R),
      .BEATS(BEATS), .CAUSAL(CAUSAL), .OFFSET(OFFSET_KEYS), .SUM(1), .A_W(AW), .B_W(BW), .STYLE(STYLE)
  ) u_feed (
      .clk(clk), .rst(rst), .a_data(a_data), .a_valid(a_valid), .a_ready(a_ready), .b_data(v_data),
      .b_valid(v_valid), .b_ready(v_ready), .en(en), .step(step), .first(first), .last(last), .a_word(weights),
      .b_words(values)
  );

  // Where the tile of R keys stands in its block, and whether that is the first of the row.
  logic [AT_W-1:0] at;
  logic [T_W-1:0] tile;
  logic opening;
  wire at_last = at == AT_W'(BEATS - 1);
  wire block_first = tile == T_W'(0);
  wire block_last = last || tile == T_W'(BLOCK - 1);
  always_ff @(posedge clk) begin
    if (en && step) begin
      at <= at_last ? AT_W'(0) : at + AT_W'(1);
      if (at_last) tile <= block_last ? T_W'(0) : tile + T_W'(1);
      if (at_last && block_last) opening <= last;
    end
    if (rst) begin
      at      <= AT_W'(0);
      tile    <= T_W'(0);
      opening <= 1'b1;
    end
  end

  wire [F*R*B_W-1:0] columns;  // features of tokens
  wire [F*DOT_W-1:0] dots;
  op_attend_dots #(
      .N(R), .M(F), .X_W(A_W), .X_SIGNED(1), .Y_W(B_W), .Y_SIGNED(1), .MULT(MULT), .PIPE(TREE_PIPE)
  ) u_dots (
      .clk(clk), .en(en), .x(weights[R*A_W-1:0]), .y(columns), .out(dots)
  );

  wire adds, fresh, whole, opens;  // sums are there; they begin their block; they end it, the first of a row
  num_delay #(.WIDTH(4), .DEPTH(3 + TREE)) u_flags (
      .clk(clk), .en(en), .in({step, block_first, step && block_last, opening}), .out({adds, fresh, whole, opens})
  );
  wire enters, enters_first;  // the terms of a block are there
  num_delay #(.WIDTH(2), .DEPTH(3)) u_enters (.clk(clk), .en(en), .in({whole, opens}), .out({enters, enters_first}));

  wire there, begins;  // words are there; they begin their block
  num_delay #(.WIDTH(2), .DEPTH(2)) u_words (.clk(clk), .en(en), .in({step, block_first}), .out({there, begins}));

  wire [F*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < F; i++) begin : g_lane
      for (genvar j = 0; j < R; j++) begin : g_token
        assign columns[(i*R+j)*B_W+:B_W] = values[j*BW+i*B_W+:B_W];
      end
      // The scales of a block are those of its first tile: nobody sees the others where nobody sees that.
      logic [E_W-1:0] exponent;
      wire [E_W-1:0] exponent_older, exponent_d;
      wire [E_W-1:0] sum = E_W'(weights[AW-1-:AS_W]) + E_W'(values[F*B_W+i*BS_W+:BS_W]);
      num_delay #(.WIDTH(E_W), .DEPTH(BEATS - 1)) u_scales (
          .clk(clk), .en(en && there), .in(exponent), .out(exponent_older)
      );
      always_ff @(posedge clk) if (en && there) exponent <= BLOCK == 1 || begins ? sum : exponent_older;
      num_delay #(.WIDTH(E_W), .DEPTH(1 + TREE)) u_exponent (.clk(clk), .en(en), .in(exponent), .out(exponent_d));

      // The sums of a head go round, those of blocks and windows: one register, behind it those of the other beats.
      wire signed [DOT_W-1:0] dot = dots[i*DOT_W+:DOT_W];
      logic [D_W-1:0] d;
      wire [D_W-1:0] d_older;
      num_delay #(.WIDTH(D_W), .DEPTH(BEATS - 1)) u_others (.clk(clk), .en(en && adds), .in(d), .out(d_older));
      always_ff @(posedge clk) if (en && adds) d <= (KEYS == R || fresh ? D_W'(0) : d_older) + D_W'(dot);
      wire unused_dot = &{1'b0, dot};
      wire [SUM_W-1:0] term;
      mx_linear_term #(
          .XS_W(E_W), .WS_W(1), .D_W(D_W), .OFFSET(OFFSET), .SPAN(SPAN), .LOW(LOW), .CLAMP(CLAMP), .SAT_W(OUT_W),
          .OUT_W(SUM_W)
      ) u_term (
          .clk(clk), .en(en), .d(d), .xs(exponent_d), .ws(1'b0), .term(term)
      );
      logic [SUM_W-1:0] window;
      wire [SUM_W-1:0] older;
      num_delay #(.WIDTH(SUM_W), .DEPTH(BEATS - 1)) u_older (
          .clk(clk), .en(en && enters), .in(window), .out(older)
      );
      always_ff @(posedge clk)
        if (en && enters) window <= (BLOCKS == 1 || enters_first ? SUM_W'(0) : older) + term;
      num_requant #(
          .IN_W(SUM_W), .IN_SIGNED(1), .SHIFT(0), .OUT_W(OUT_W), .OUT_SIGNED(1), .ROUND(5), .OVER(CLAMP != 0 ? 0 : 2)
      ) u_result (
          .in(window), .out(y[i*OUT_W+:OUT_W])
      );
    end
  endgenerate

  wire unused = &{1'b0, first, values};
  stream_skid #(.WIDTH(F * OUT_W)) u_out (
      .clk(clk), .rst(rst), .in_data(y), .in_valid(moving[REGS-1]), .in_ready(room), .out_data(out_data),
      .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
