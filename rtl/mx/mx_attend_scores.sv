// SPDX-License-Identifier: Apache-2.0
// mx_attend_scores: op_attend_scores over blocks that share a scale: of every query with every key the window
//   accumulator
//   y = sat(sum_j sat((D[j] << a) >> LOW)), a = as[j] + bs[j] + OFFSET, floor,
//   D[j] the exact dot product of blocks j, as and bs their scales. Order, frames and waiting are those of
//   op_attend_scores. A beat is {scale, elements}; those of a block have the same scale.
//   parameters  QUERIES KEYS AHEAD HEADS GROUPS PARTS SIZE ROW R F CAUSAL ENDS   as op_attend_scores
//               OFFSET_KEYS        OFFSET of op_attend_scores
//               K                  elements of a block; the last one of a head may be shorter; F divides all lengths
//               A_W AS_W B_W BS_W  bits of elements, two's complement, and of scales, of queries and keys
//               D_W                bits that hold every sum of a block
//               OFFSET SPAN LOW CLAMP SUM_W OUT_W   as mx_linear
//               MULT TREE_PIPE STYLE   as op_attend_scores
//               FED                1: the keys lie outside, see mem_cache and op_attend_feed; cycles are those of a
//                                  store on the chip, as long as every word is there when it is needed
//   latency: max(SIZE / F, SIZE / F * (FED ? 1 : GROUPS / PARTS) * (CAUSAL && QUERIES > 1 ? min(max(OFFSET_KEYS + 1,
//       0), KEYS) : KEYS)) + SIZE / F + 7 + (clog2(F) + TREE_PIPE - 1) / TREE_PIPE
//   ii: SIZE / F * max(max(KEYS * GROUPS, QUERIES * HEADS * (ROW / R) + GROUPS / PARTS * max(0, (CAUSAL && QUERIES > 1
//       ? min(max(OFFSET_KEYS + 1, 0), KEYS) : KEYS) - AHEAD)), (KEYS - AHEAD) * GROUPS + HEADS / PARTS * (ROW / R) *
//       (CAUSAL ? max(min(QUERIES - KEYS + 1 + OFFSET_KEYS, QUERIES), 1) : QUERIES))   order: token, head, key
//   let: RUN = ROW / R * BEATS; T = s / (HEADS * RUN); SEEN = T == QUERIES - 1 || CAUSAL == 0 ? KEYS :
//       min(KEYS, max(0, T + OFFSET_KEYS + 1)); TILE = s / BEATS % (ROW / R);
//       GROUP = s / RUN % HEADS / (HEADS / GROUPS);
//       NEED = FED ? (SEEN - 1) * GROUPS * BEATS + (TILE < (SEEN - 1) / R ? 0 : (GROUP + 1) * BEATS) :
//       PARTS > 1 ? (s / (HEADS / PARTS * RUN) + 1) * (GROUPS / PARTS) * BEATS : SEEN * GROUPS * BEATS
//   flow: memories(QUERIES * HEADS * RUN, s % BEATS == BEATS - 1, REGS, 2 * BEATS, QUERIES * HEADS * BEATS,
//       (s / RUN + 1) * BEATS, s / RUN * BEATS, (KEYS + AHEAD) * GROUPS * BEATS, KEYS * GROUPS * BEATS,
//       NEED, 0) + u_out
//   lut: 4 + (BLOCKS > 1 ? 2 * AT_W + 3 : 0) + R * (E_W + (BEATS > 1 ? D_W : 0) + (BLOCKS > 1 ? SUM_W : 0))
//   ff: REGS + (BLOCKS > 1 ? AT_W + 1 : 0) + R * (E_W + D_W + SUM_W)
//   parts: u_feed + u_dots + u_flags + u_enters + R * u_exponent + R * u_term + R * u_result + u_out
`default_nettype none
module mx_attend_scores #(
    parameter integer QUERIES     = 4,
    parameter integer KEYS        = 4,
    parameter integer AHEAD       = KEYS,
    parameter integer HEADS       = 2,
    parameter integer GROUPS      = 1,
    parameter integer PARTS       = 1,
    parameter integer SIZE        = 8,
    parameter integer ROW         = 4,
    parameter integer F           = 2,
    parameter integer R           = 1,
    parameter integer K           = 4,
    parameter integer A_W         = 8,
    parameter integer AS_W        = 8,
    parameter integer B_W         = 8,
    parameter integer BS_W        = 8,
    parameter integer CAUSAL      = 0,
    parameter integer OFFSET_KEYS = 0,
    parameter integer ENDS        = 0,
    parameter integer D_W         = 19,
    parameter integer OFFSET      = -220,
    parameter integer SPAN        = 24,
    parameter integer LOW         = 8,
    parameter integer CLAMP       = 1,
    parameter integer SUM_W       = 32,
    parameter integer OUT_W       = 30,
    parameter         MULT        = "auto",
    parameter integer TREE_PIPE   = 1,
    parameter         STYLE       = "auto",
    parameter integer FED         = 0,
    parameter integer SIDE        = FED != 0 ? R : 1  // tokens of a beat of stream b
) (
    input  wire                  clk,
    input  wire                  rst,
    input  wire [AS_W+F*A_W-1:0] a_data,
    input  wire                  a_valid,
    output wire                  a_ready,
    input  wire [SIDE*(BS_W+F*B_W)+ENDS-1:0] b_data,
    input  wire                  b_valid,
    output wire                  b_ready,
    output wire [   R*OUT_W-1:0] out_data,
    output wire                  out_valid,
    input  wire                  out_ready
);
  localparam integer BEATS = SIZE / F;
  localparam integer BLOCK = (SIZE < K ? SIZE : K) / F;  // beats
  localparam integer BLOCKS = (SIZE + K - 1) / K;
  localparam integer AT_W = BLOCK > 1 ? $clog2(BLOCK) : 1;
  localparam integer TREE = ($clog2(F) + TREE_PIPE - 1) / TREE_PIPE;
  localparam integer REGS = 7 + TREE;  // memory 2, product, tree, block sum, term 2, window
  localparam integer DOT_W = A_W + B_W + $clog2(F);
  localparam integer E_W = (AS_W > BS_W ? AS_W : BS_W) + 1;
  localparam integer AW = AS_W + F * A_W;
  localparam integer BW = BS_W + F * B_W;

  generate
    if (SIZE % F != 0 || (SIZE > K && (K % F != 0 || SIZE % K % F != 0)) || TREE_PIPE < 1 || TREE_PIPE > 2)
    begin : g_bad
      F_must_divide_the_length_of_every_block_and_TREE_PIPE_be_1_or_2 u_bad ();
    end
  endgenerate

  wire room, step, first, last;
  wire [AW-1:0] query;
  wire [R*BW-1:0] keys;
  logic [REGS-1:0] moving;  // where a score is complete
  wire en = room || !moving[REGS-1];
  always_ff @(posedge clk) begin
    if (en) moving <= REGS'({moving, step && last});
    if (rst) moving <= REGS'(0);
  end

  op_attend_feed #(
      .QUERIES(QUERIES), .KEYS(KEYS), .AHEAD(AHEAD), .HEADS(HEADS), .GROUPS(GROUPS), .PARTS(PARTS),
      .ROW(ROW), .R(R), .BEATS(BEATS), .CAUSAL(CAUSAL), .OFFSET(OFFSET_KEYS), .SUM(0), .A_W(AW), .B_W(BW), .ENDS(ENDS),
      .STYLE(STYLE), .FED(FED)
  ) u_feed (
      .clk(clk), .rst(rst), .a_data(a_data), .a_valid(a_valid), .a_ready(a_ready), .b_data(b_data),
      .b_valid(b_valid), .b_ready(b_ready), .en(en), .step(step), .first(first), .last(last), .a_word(query),
      .b_words(keys)
  );

  // Where the step stands in its block, and whether that is the first of the head.
  wire block_first, block_last, opening;
  generate
    if (BLOCKS > 1) begin : g_blocks
      logic [AT_W-1:0] at;
      logic opening_q;
      assign block_first = at == AT_W'(0);
      assign block_last = last || at == AT_W'(BLOCK - 1);
      assign opening = opening_q;
      always_ff @(posedge clk) begin
        if (en && step) at <= block_last ? AT_W'(0) : at + AT_W'(1);
        if (en && step && block_last) opening_q <= last;
        if (rst) begin
          at <= AT_W'(0);
          opening_q <= 1'b1;
        end
      end
    end else begin : g_one
      assign block_first = first;
      assign block_last = last;
      assign opening = 1'b1;
    end
  endgenerate

  wire [R*F*B_W-1:0] elements;
  wire [R*DOT_W-1:0] dots;
  op_attend_dots #(
      .N(F), .M(R), .X_W(A_W), .X_SIGNED(1), .Y_W(B_W), .Y_SIGNED(1), .MULT(MULT), .PIPE(TREE_PIPE)
  ) u_dots (
      .clk(clk), .en(en), .x(query[F*A_W-1:0]), .y(elements), .out(dots)
  );

  wire adds, fresh, whole, opens;  // a sum of products is there; it begins its block; it ends it, the first of a head
  num_delay #(.WIDTH(4), .DEPTH(3 + TREE)) u_flags (
      .clk(clk), .en(en), .in({step, block_first, step && block_last, opening}), .out({adds, fresh, whole, opens})
  );
  wire enters, enters_first;  // the term of a block is there
  num_delay #(.WIDTH(2), .DEPTH(3)) u_enters (.clk(clk), .en(en), .in({whole, opens}), .out({enters, enters_first}));

  wire [R*OUT_W-1:0] scores;
  generate
    for (genvar i = 0; i < R; i++) begin : g_lane
      assign elements[i*F*B_W+:F*B_W] = keys[i*BW+:F*B_W];
      logic [E_W-1:0] exponent;
      wire [E_W-1:0] exponent_d;
      always_ff @(posedge clk) if (en) exponent <= E_W'(query[AW-1-:AS_W]) + E_W'(keys[i*BW+F*B_W+:BS_W]);
      num_delay #(.WIDTH(E_W), .DEPTH(1 + TREE)) u_exponent (.clk(clk), .en(en), .in(exponent), .out(exponent_d));

      wire signed [DOT_W-1:0] dot = dots[i*DOT_W+:DOT_W];
      logic [D_W-1:0] d;
      always_ff @(posedge clk) if (en && adds) d <= (BEATS == 1 || fresh ? D_W'(0) : d) + D_W'(dot);
      wire unused_dot = &{1'b0, dot};
      wire [SUM_W-1:0] term;
      mx_linear_term #(
          .XS_W(E_W), .WS_W(1), .D_W(D_W), .OFFSET(OFFSET), .SPAN(SPAN), .LOW(LOW), .CLAMP(CLAMP), .SAT_W(OUT_W),
          .OUT_W(SUM_W)
      ) u_term (
          .clk(clk), .en(en), .d(d), .xs(exponent_d), .ws(1'b0), .term(term)
      );
      logic [SUM_W-1:0] window;
      always_ff @(posedge clk)
        if (en && enters) window <= (BLOCKS == 1 || enters_first ? SUM_W'(0) : window) + term;
      num_requant #(
          .IN_W(SUM_W), .IN_SIGNED(1), .SHIFT(0), .OUT_W(OUT_W), .OUT_SIGNED(1), .ROUND(5), .OVER(CLAMP != 0 ? 0 : 2)
      ) u_result (
          .in(window), .out(scores[i*OUT_W+:OUT_W])
      );
    end
  endgenerate

  wire unused_first = &{1'b0, first};
  stream_skid #(.WIDTH(R * OUT_W)) u_out (
      .clk(clk), .rst(rst), .in_data(scores), .in_valid(moving[REGS-1]), .in_ready(room), .out_data(out_data),
      .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
