// SPDX-License-Identifier: Apache-2.0
// op_linear_unrolled: matrix-vector product with bias and one requantisation, the constants folded into adders.
//   y[o] = over(round((sum_j x[j] * w[o][j]) * 2^psh[o] + bias[o], SHIFT)); a vector is one beat, one vector a cycle.
//   The constants become adders: op_linear_column shares those of a column, all rows have one tree module in common.
//   OUT * IN * W_W may be 65 536 at most: Verilator 5.006 takes no longer parameter.
//   parameters  IN, OUT          lengths of the vectors, and lanes of the streams
//               IN_W, IN_SIGNED  bits of x, 1: two's complement
//               W_W              bits of a weight, two's complement
//               DOT_W            bits that hold every exact sum_j x[j] * w[o][j]; no wider than T_W
//               BIAS_W           bits of a bias, two's complement
//               PSH_W            bits of psh[o], 0: no left shifts
//               T_W              bits that hold every exact sum after shift and bias
//               M_W, ZERO        bits of the factors, 0: none; zero point of the output: see op_linear
//               SHIFT, OUT_W, OUT_SIGNED, ROUND, OVER   the cast to the output, see num_requant
//               WEIGHTS          OUT * IN * W_W bits, w[o][j] at bit (o * IN + j) * W_W
//               CONSTS           OUT * KW bits, KW = M_W + PSH_W + BIAS_W: {m, psh, bias} of o at bit o * KW
//               PIPE             adder levels between registers: 1 or 2
//   latency: (clog2(IN * ((W_W + 7) / 8)) + PIPE - 1) / PIPE + 3 + (M_W > 0 ? 3 : 1)   ii: 1
//   order: lane i is element i
//   lut: STAGES
//   ff: STAGES
//   parts: IN * u_column + OUT * u_row + u_skid
`default_nettype none
module op_linear_unrolled #(
    parameter integer                  IN         = 4,
    parameter integer                  OUT        = 2,
    parameter integer                  IN_W       = 8,
    parameter integer                  IN_SIGNED  = 1,
    parameter integer                  W_W        = 8,
    parameter integer                  DOT_W      = 18,
    parameter integer                  BIAS_W     = 16,
    parameter integer                  PSH_W      = 0,
    parameter integer                  T_W        = 19,
    parameter integer                  M_W        = 0,
    parameter integer                  SHIFT      = 7,
    parameter integer                  ZERO       = 0,
    parameter integer                  OUT_W      = 8,
    parameter integer                  OUT_SIGNED = 1,
    parameter integer                  ROUND      = 0,
    parameter integer                  OVER       = 0,
    parameter [OUT*IN*W_W-1:0]         WEIGHTS    = {OUT * IN * W_W{1'b0}},
    parameter [OUT*(M_W+PSH_W+BIAS_W)-1:0] CONSTS = {OUT * (M_W + PSH_W + BIAS_W) {1'b0}},
    parameter integer                  PIPE       = 1
) (
    input  wire                 clk,
    input  wire                 rst,
    input  wire [  IN*IN_W-1:0] in_data,
    input  wire                 in_valid,
    output wire                 in_ready,
    output wire [OUT*OUT_W-1:0] out_data,
    output wire                 out_valid,
    input  wire                 out_ready
);
  localparam integer KW = M_W + PSH_W + BIAS_W;
  localparam integer DIGITS = (W_W + 7) / 8;  // of a weight
  localparam integer C_W = W_W < 8 ? W_W : 8;  // bits of a digit
  localparam integer N = IN * DIGITS;  // terms of a row
  localparam integer TOP = 8 * (DIGITS - 1);
  localparam integer TERM_W = IN_W + TOP + C_W - (IN_SIGNED != 0 ? 1 : 0);
  localparam [TOP+8:0] FOLD = (TOP + 9)'({DIGITS{8'h80}}) & ~({(TOP + 9) {1'b1}} << TOP);
  localparam integer DEBT_W = T_W > TOP + 9 ? T_W : TOP + 9;
  localparam integer STAGES = ($clog2(N) + PIPE - 1) / PIPE + 2 + (M_W > 0 ? 3 : 1);

  generate
    if (PIPE < 1 || PIPE > 2) begin : g_bad_pipe
      PIPE_must_be_1_or_2 u_bad ();
    end
    if (DOT_W > T_W) begin : g_bad_width
      T_W_must_be_at_least_DOT_W u_bad ();
    end
  endgenerate

  function [OUT*W_W-1:0] column(input integer j);
    integer o;
    begin
      for (o = 0; o < OUT; o = o + 1) column[o*W_W+:W_W] = WEIGHTS[(o*IN+j)*W_W+:W_W];
    end
  endfunction

  // What the inverted terms of a row lack: the lowest set bit of every negative digit, cut as op_linear_column does.
  function [DEBT_W-1:0] debt(input [IN*W_W-1:0] weights);
    integer i, d;
    reg [TOP+8:0] sum;
    reg [TOP+8:0] c, low;
    begin
      debt = DEBT_W'(0);
      for (i = 0; i < N; i = i + 1) begin
        d = 8 * (i % DIGITS);
        sum = {{(TOP + 9 - W_W) {weights[i/DIGITS*W_W+W_W-1]}}, weights[i/DIGITS*W_W+:W_W]} + FOLD;
        c = (sum >> d) ^ (d < TOP ? (TOP + 9)'(128) : (TOP + 9)'(0));
        c = {{(TOP + 1) {c[d<TOP?7 : 8]}}, c[7:0]};
        low = c & (~c + (TOP + 9)'(1));
        if (c[TOP+8]) debt = debt + (DEBT_W'(low) << d);
      end
    end
  endfunction

  // Everything up to the output register moves or stands together.
  wire en;
  logic [STAGES-1:0] moving;
  wire done = moving[STAGES-1];
  assign in_ready = en;
  always_ff @(posedge clk) begin
    if (en) moving <= STAGES'({moving, in_valid});
    if (rst) moving <= STAGES'(0);
  end

  wire [IN*OUT*DIGITS*TERM_W-1:0] products  /*verilator split_var*/;
  wire [OUT*OUT_W-1:0] y;
  generate
    for (genvar j = 0; j < IN; j++) begin : g_column
      op_linear_column #(
          .OUT(OUT),
          .IN_W(IN_W),
          .IN_SIGNED(IN_SIGNED),
          .W_W(W_W),
          .WEIGHTS(column(j))
      ) u_column (
          .clk  (clk),
          .en   (en),
          .x    (in_data[j*IN_W+:IN_W]),
          .terms(products[j*OUT*DIGITS*TERM_W+:OUT*DIGITS*TERM_W])
      );
    end

    for (genvar o = 0; o < OUT; o++) begin : g_row
      localparam signed [BIAS_W-1:0] BIAS = CONSTS[o*KW+:BIAS_W];
      localparam [PSH_W:0] PSH = (PSH_W + 1)'({1'b0, CONSTS[o*KW+:PSH_W+BIAS_W]} >> BIAS_W);
      localparam [M_W:0] M = (M_W + 1)'({1'b0, CONSTS[o*KW+:KW]} >> (PSH_W + BIAS_W));
      wire [N*TERM_W-1:0] terms  /*verilator split_var*/;
      for (genvar j = 0; j < IN; j++) begin : g_x
        assign terms[j*DIGITS*TERM_W+:DIGITS*TERM_W] = products[(j*OUT+o)*DIGITS*TERM_W+:DIGITS*TERM_W];
      end
      op_linear_row #(
          .N(N),
          .TERM_W(TERM_W),
          .T_W(T_W),
          .M_W(M_W),
          .M(M),
          .SHIFT(SHIFT),
          .ZERO(ZERO),
          .OUT_W(OUT_W),
          .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND),
          .OVER(OVER),
          .PIPE(PIPE),
          .PSH(32'(PSH)),
          .BIAS(T_W'(BIAS) + (T_W'(debt(WEIGHTS[o*IN*W_W+:IN*W_W])) << PSH))
      ) u_row (
          .clk  (clk),
          .en   (en),
          .terms(terms),
          .y    (y[o*OUT_W+:OUT_W])
      );
    end
  endgenerate

  wire out_room;
  assign en = out_room || !done;
  stream_skid #(.WIDTH(OUT * OUT_W)) u_skid (
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
