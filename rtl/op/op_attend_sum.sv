// SPDX-License-Identifier: Apache-2.0
// op_attend_sum: the sums of attention: values (stream b) weighed by probabilities (stream a), exact, cast once. a is
//   QUERIES tokens of HEADS rows of ROW weights, R a beat; b is KEYS tokens of GROUPS heads of SIZE features, F a beat;
//   row h of a query weighs head h / (HEADS / GROUPS) of the values. The result is QUERIES tokens of HEADS heads of
//   SIZE features, F a beat. Weights of keys that the query does not see count for nothing, nor do those from KEYS on.
//   With one head it is the product of two matrices, [QUERIES, KEYS] and [KEYS, SIZE].
//   A frame of values is kept, and AHEAD tokens of the next one, which come in while this one is weighed. Queries wait
//   for all values of their frame, or with CAUSAL for those that they see; the last one for all.
//   parameters  QUERIES KEYS HEADS GROUPS SIZE   as above
//               ROW R              R divides ROW; F * R multipliers
//               F                  divides SIZE
//               A_W A_SIGNED B_W B_SIGNED   bits of the elements, 1: two's complement
//               AHEAD              as above: KEYS, or a multiple of R below it
//               PARTS              parts of a token that come by turns, see op_attend_walk
//               CAUSAL OFFSET      1: query t sees the keys up to t + OFFSET
//               ENDS               1: frames of up to KEYS tokens, see op_attend_feed
//               SHIFT, OUT_W, OUT_SIGNED, ROUND, OVER   the cast to the output, see num_requant
//               MULT               "auto", "dsp" or "lut", see num_mul; "pack": a DSP for two products, F even, see
//                                  num_mul_pair
//               TREE_PIPE          adder levels between registers, 1 or 2; packed products are followed by a level
//                                  of their own
//               STYLE              memory of the values, see mem_ram
//               FED                1: the values lie outside, see mem_cache and op_attend_feed; cycles are those of a
//                                  store on the chip, as long as every word is there when it is needed
//   latency: max(1, SIZE / F * (FED ? 1 : GROUPS / PARTS) * (CAUSAL && QUERIES > 1 ? min(max(OFFSET + 1, 0), KEYS) :
//       KEYS)) + (ROW / R - 1) * (SIZE / F) + 6 + (clog2(R) + TREE_PIPE - 1) / TREE_PIPE
//   ii: SIZE / F * max(max(KEYS * GROUPS, QUERIES * HEADS * (ROW / R) + GROUPS / PARTS * max(0, (CAUSAL && QUERIES > 1
//       ? min(max(OFFSET + 1, 0), KEYS) : KEYS) - AHEAD)), (KEYS - AHEAD) * GROUPS + HEADS / PARTS * (ROW / R) *
//       (CAUSAL ? max(min(QUERIES - KEYS + 1 + OFFSET, QUERIES), 1) : QUERIES))   order: token, head, feature
//   let: RUN = ROW / R * BEATS; T = s / (HEADS * RUN); SEEN = T == QUERIES - 1 || CAUSAL == 0 ? KEYS :
//       min(KEYS, max(0, T + OFFSET + 1)); TILE = s / BEATS % (ROW / R);
//       GROUP = s / RUN % HEADS / (HEADS / GROUPS);
//       NEED = FED ? (SEEN - 1) * GROUPS * BEATS + (TILE < (SEEN - 1) / R ? 0 : (GROUP + 1) * BEATS) :
//       PARTS > 1 ? (s / (HEADS / PARTS * RUN) + 1) * (GROUPS / PARTS) * BEATS : SEEN * GROUPS * BEATS
//   flow: memories(QUERIES * HEADS * RUN, s % RUN >= RUN - BEATS, REGS, 2, QUERIES * HEADS * (ROW / R), s / BEATS + 1,
//       s / BEATS, (KEYS + AHEAD) * GROUPS * BEATS, KEYS * GROUPS * BEATS, NEED, 0) + u_out
//   lut: 2 + (ROW > R ? 2 * F * ACC_W : 0)
//   ff: REGS + F * ACC_W
//   parts: u_feed + u_dots + u_flags + (ROW > R ? F * u_others : 0) + F * u_cast + u_out
`default_nettype none
module op_attend_sum #(
    parameter integer QUERIES    = 4,
    parameter integer KEYS       = 4,
    parameter integer AHEAD      = KEYS,
    parameter integer HEADS      = 2,
    parameter integer GROUPS     = 1,
    parameter integer PARTS      = 1,
    parameter integer SIZE       = 8,
    parameter integer ROW        = 4,
    parameter integer F          = 4,
    parameter integer R          = 1,
    parameter integer A_W        = 8,
    parameter integer A_SIGNED   = 0,
    parameter integer B_W        = 8,
    parameter integer B_SIGNED   = 1,
    parameter integer CAUSAL     = 0,
    parameter integer OFFSET     = 0,
    parameter integer ENDS       = 0,
    parameter integer SHIFT      = 8,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter         MULT       = "auto",
    parameter integer TREE_PIPE  = 1,
    parameter         STYLE      = "auto",
    parameter integer FED        = 0,
    parameter integer SIDE       = FED != 0 ? R : 1  // tokens of a beat of stream b
) (
    input  wire               clk,
    input  wire               rst,
    input  wire [  R*A_W-1:0] a_data,
    input  wire               a_valid,
    output wire               a_ready,
    input  wire [SIDE*F*B_W+ENDS-1:0] b_data,
    input  wire               b_valid,
    output wire               b_ready,
    output wire [F*OUT_W-1:0] out_data,
    output wire               out_valid,
    input  wire               out_ready
);
  localparam integer BEATS = SIZE / F;
  localparam integer REGS = 5 + ($clog2(R) + TREE_PIPE - 1) / TREE_PIPE;  // memory, product, tree, sum, cast
  localparam integer SUM_W = A_W + B_W + (B_SIGNED != 0 ? 0 : 1) + $clog2(R);
  localparam integer ACC_W = SUM_W + $clog2(ROW / R);

  generate
    if (SIZE % F != 0 || TREE_PIPE < 1 || TREE_PIPE > 2) begin : g_bad
      F_must_divide_SIZE_and_TREE_PIPE_be_1_or_2 u_bad ();
    end
  endgenerate

  wire room, step, first, last;
  wire [R*A_W-1:0] weights;
  wire [R*F*B_W-1:0] values, columns;  // tokens of features, and features of tokens
  logic [REGS-1:0] moving;  // where a sum is complete
  wire en = room || !moving[REGS-1];
  always_ff @(posedge clk) begin
    if (en) moving <= REGS'({moving, step && last});
    if (rst) moving <= REGS'(0);
  end

  op_attend_feed #(
      .QUERIES(QUERIES), .KEYS(KEYS), .AHEAD(AHEAD), .HEADS(HEADS), .GROUPS(GROUPS), .PARTS(PARTS),
      .ROW(ROW), .R(R), .BEATS(BEATS), .CAUSAL(CAUSAL), .OFFSET(OFFSET), .SUM(1), .A_W(R * A_W), .B_W(F * B_W),
      .ENDS(ENDS), .STYLE(STYLE), .FED(FED)
  ) u_feed (
      .clk(clk), .rst(rst), .a_data(a_data), .a_valid(a_valid), .a_ready(a_ready), .b_data(b_data),
      .b_valid(b_valid), .b_ready(b_ready), .en(en), .step(step), .first(first), .last(last), .a_word(weights),
      .b_words(values)
  );

  generate
    for (genvar i = 0; i < F; i++) begin : g_column
      for (genvar j = 0; j < R; j++) begin : g_token
        assign columns[(i*R+j)*B_W+:B_W] = values[(j*F+i)*B_W+:B_W];
      end
    end
  endgenerate
  wire [F*SUM_W-1:0] sums;
  op_attend_dots #(
      .N(R), .M(F), .X_W(A_W), .X_SIGNED(A_SIGNED), .Y_W(B_W), .Y_SIGNED(B_SIGNED), .MULT(MULT), .PIPE(TREE_PIPE)
  ) u_dots (
      .clk(clk), .en(en), .x(weights), .y(columns), .out(sums)
  );

  wire adds, fresh;  // sums are there, and are the first of theirs
  num_delay #(.WIDTH(2), .DEPTH(REGS - 2)) u_flags (.clk(clk), .en(en), .in({step, first}), .out({adds, fresh}));
  wire [F*OUT_W-1:0] y;
  generate
    for (genvar i = 0; i < F; i++) begin : g_lane
      // The accumulators of a head go round: one register, and behind it those of the other beats.
      wire signed [SUM_W-1:0] sum = sums[i*SUM_W+:SUM_W];
      logic signed [ACC_W-1:0] acc;
      wire [ACC_W-1:0] older;
      wire [ACC_W-1:0] base = ROW == R || fresh ? {ACC_W{1'b0}} : older;
      num_delay #(.WIDTH(ACC_W), .DEPTH(BEATS - 1)) u_others (.clk(clk), .en(en && adds), .in(acc), .out(older));
      always_ff @(posedge clk) if (en && adds) acc <= ACC_W'(sum) + base;
      op_attend_cast #(
          .IN_W(ACC_W), .SHIFT(SHIFT), .OUT_W(OUT_W), .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER)
      ) u_cast (
          .clk(clk), .en(en), .in(acc), .out(y[i*OUT_W+:OUT_W])
      );
    end
  endgenerate

  stream_skid #(.WIDTH(F * OUT_W)) u_out (
      .clk(clk), .rst(rst), .in_data(y), .in_valid(moving[REGS-1]), .in_ready(room), .out_data(out_data),
      .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
