// SPDX-License-Identifier: Apache-2.0
// op_softmax_framed: softmax along rows, with op_softmax_core's integers, in frames of changing length. Stream a is the
//   rows, HEADS a token, stream b one bit a token: 1 for the last one of a frame. Of every row of a frame of n tokens
//   the first n elements take part; where CAUSAL, of those of token t the first t + 1. The others give 0.
//   Without CAUSAL the bits of a frame are taken before its first row, else each with the last beat of its token.
//   parameters  TOKENS, HEADS      the most tokens of a frame, rows of a token
//               N, LANES           elements of a row, and of a beat: a divisor of N; TOKENS of them, or more
//               IN_W, SIGNED       bits of x, up to 16, 1: two's complement
//               K, K_SHIFT         factor scale * log2(e) * 2^(K_SHIFT+20), 24 bits, the first one 1, and right shift
//               OUT_W, OUT_SIGNED  bits of p, 1: two's complement
//               FO                 fraction bits of p, up to 16
//               CAUSAL             0 or 1
//   latency: (CAUSAL != 0 ? 0 : TOKENS) + 2 * N / LANES + 2 * clog2(LANES) + (IN_W <= 8 ? 38 : 43)
//   ii: TOKENS * HEADS * max(N / LANES, 26)   order: as the input
//   turns: 0, CAUSAL != 0 ? 0 : TOKENS
//   flow: (CAUSAL != 0 ? 0 : before(1, u_count)) + (CAUSAL != 0 ? steps(HEADS * BEATS, s == HEADS * BEATS - 1 ? 3 : 1,
//       1, 0) : steps(TOKENS * HEADS * BEATS, s == 0 ? 3 : 1, 1, 0)) + u_in + u_core
//   lut: 3 * J_W + T_W + H_W + C_W + 12
//   ff: 2 * J_W + T_W + H_W + C_W
//   parts: (CAUSAL != 0 ? 0 : u_count) + u_in + u_core
`default_nettype none
module op_softmax_framed #(
    parameter integer TOKENS     = 4,
    parameter integer HEADS      = 2,
    parameter integer N          = 4,
    parameter integer LANES      = 1,
    parameter integer IN_W       = 8,
    parameter integer SIGNED     = 1,
    parameter [23:0]  K          = 24'd12102203,
    parameter integer K_SHIFT    = 7,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 0,
    parameter integer FO         = 8,
    parameter integer CAUSAL     = 0
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [ LANES*IN_W-1:0] a_data,
    input  wire                   a_valid,
    output wire                   a_ready,
    input  wire                   b_data,
    input  wire                   b_valid,
    output wire                   b_ready,
    output wire [LANES*OUT_W-1:0] out_data,
    output wire                   out_valid,
    input  wire                   out_ready
);
  localparam integer BEATS = N / LANES;
  localparam integer C_W = BEATS > 1 ? $clog2(BEATS) : 1;
  localparam integer H_W = HEADS > 1 ? $clog2(HEADS) : 1;
  localparam integer T_W = $clog2(TOKENS + 1);
  localparam integer J_W = $clog2(N + 2);

  generate
    if (TOKENS < 1 || HEADS < 1 || N < TOKENS) begin : g_bad
      TOKENS_and_HEADS_must_be_at_least_1_and_N_hold_TOKENS u_bad ();
    end
  endgenerate

  logic [C_W-1:0] count;  // beats of the row before this one
  logic [H_W-1:0] head;
  logic [T_W-1:0] token;
  logic [J_W-1:0] left;  // elements that take part in this beat and behind it, but in the first beat of a row
  wire [J_W-1:0] bound;  // those of the row
  wire room, there, last;  // this is the last token
  wire move = there && room;
  wire row_first = count == C_W'(0);
  wire row_ends = count == C_W'(BEATS - 1);
  wire token_ends = row_ends && head == H_W'(HEADS - 1);
  wire [J_W-1:0] seen = row_first ? bound : left;
  wire [LANES-1:0] live;
  always_ff @(posedge clk) begin
    if (move) begin
      count <= row_ends ? C_W'(0) : count + C_W'(1);
      left  <= seen > J_W'(LANES) ? seen - J_W'(LANES) : J_W'(0);
      if (row_ends) head <= token_ends ? H_W'(0) : head + H_W'(1);
      if (token_ends) token <= last ? T_W'(0) : token + T_W'(1);
    end
    if (rst) begin
      count <= C_W'(0);
      head  <= H_W'(0);
      token <= T_W'(0);
      left  <= J_W'(0);
    end
  end

  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      assign live[i] = seen > J_W'(i);
    end
    if (CAUSAL != 0) begin : g_causal
      assign bound = J_W'(token) + J_W'(1);
      assign there = a_valid && (b_valid || !token_ends);
      assign a_ready = room && (b_valid || !token_ends);
      assign b_ready = room && a_valid && token_ends;
      assign last = b_data;
    end else begin : g_whole
      wire [T_W-1:0] length;
      wire known;
      logic fresh;  // the frame has not begun
      logic [T_W-1:0] kept;
      wire [T_W-1:0] tokens = fresh ? length : kept;
      assign bound = J_W'(tokens);
      assign there = a_valid && (known || !fresh);
      assign a_ready = room && (known || !fresh);
      assign last = token + T_W'(1) == tokens;
      always_ff @(posedge clk) begin
        if (move) fresh <= token_ends && last;
        if (move && fresh) kept <= length;
        if (rst) fresh <= 1'b1;
      end
      stream_count #(.TOKENS(TOKENS)) u_count (
          .clk(clk), .rst(rst), .in_data(b_data), .in_valid(b_valid), .in_ready(b_ready), .out_data(length),
          .out_valid(known), .out_ready(room && a_valid && fresh)
      );
    end
  endgenerate

  wire [LANES*(IN_W+1)-1:0] x;
  wire x_valid, x_ready;
  stream_skid #(.WIDTH(LANES * (IN_W + 1))) u_in (
      .clk(clk), .rst(rst), .in_data({live, a_data}), .in_valid(there), .in_ready(room), .out_data(x),
      .out_valid(x_valid), .out_ready(x_ready)
  );
  op_softmax_core #(
      .N(N), .LANES(LANES), .IN_W(IN_W), .SIGNED(SIGNED), .K(K), .K_SHIFT(K_SHIFT), .OUT_W(OUT_W),
      .OUT_SIGNED(OUT_SIGNED), .FO(FO), .MASKED(1)
  ) u_core (
      .clk(clk), .rst(rst), .in_data(x[LANES*IN_W-1:0]), .in_live(x[LANES*IN_W+:LANES]), .in_valid(x_valid),
      .in_ready(x_ready), .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
