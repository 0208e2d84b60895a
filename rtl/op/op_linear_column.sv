// SPDX-License-Identifier: Apache-2.0
// op_linear_column: the terms of one input of op_linear_unrolled, x times the constants of all outputs.
//   x makes the odd multiples that the constants need, once and with one adder each: m x is 2^k x plus or minus
//   |m - 2^k| x, k being the top place of m in canonical signed digits, so the rest has one digit less and is shared.
//   A term is such a multiple, shifted, and inverted where the constant is negative: that is one 2^shift short of the
//   product, a debt that op_linear_unrolled pays in the bias.
//   Constants of more than 8 bits are cut into digits of 8 bits, -128 to 127 (the top one to 128), each with a term.
//   parameters  OUT        constants
//               IN_W       bits of x
//               IN_SIGNED  1: x is two's complement
//               W_W        bits of a constant, two's complement
//               WEIGHTS    constant o at bit o * W_W
//               DIGITS, TERM_W  derived, do not set: digits of a constant, bits of a term
//   terms: digit d of constant o at bit (o * DIGITS + d) * TERM_W, two's complement.
//   latency: 1   ii: 1   order: as it comes
//   let: MADE = W_W < 3 ? 1 : min(COUNT, max(1, OUT * DIGITS * 2 / 3))
//   lut: (MADE - 1) * (XW + 3)
//   ff: MADE * (XW + W_W * 2 / 3)
`default_nettype none
module op_linear_column #(
    parameter integer         OUT       = 2,
    parameter integer         IN_W      = 8,
    parameter integer         IN_SIGNED = 1,
    parameter integer         W_W       = 4,
    parameter [OUT*W_W-1:0]   WEIGHTS   = {OUT * W_W{1'b0}},
    parameter integer         DIGITS    = (W_W + 7) / 8,
    parameter integer         TERM_W    = IN_W + (W_W < 8 ? W_W : 8 * DIGITS) - (IN_SIGNED != 0 ? 1 : 0)
) (
    input  wire                         clk,
    input  wire                         en,
    input  wire [IN_W-1:0]              x,
    /* verilator lint_off SPLITVAR */  // not possible where this is the top
    output wire [OUT*DIGITS*TERM_W-1:0] terms  /*verilator split_var*/
    /* verilator lint_on SPLITVAR */
);
  localparam integer COUNT = W_W >= 8 ? 64 : W_W > 2 ? 1 << (W_W - 2) : 1;  // odd multiples, 2i + 1
  localparam integer XW = IN_W + (IN_SIGNED != 0 ? 0 : 1);  // x as a signed number
  localparam integer TOP = 8 * (DIGITS - 1);
  // 128 in every digit but the top one. Digit d of w is byte d of w + FOLD, less 128; the top one is what is above.
  localparam [TOP+8:0] FOLD = (TOP + 9)'({DIGITS{8'h80}}) & ~({(TOP + 9) {1'b1}} << TOP);

  // Bit i: a digit needs the multiple 2i + 1. Above them: it is needed, or it is the rest of one that is made.
  function [2*COUNT-1:0] odds(input [OUT*W_W-1:0] weights);
    integer i, c, m;
    reg [TOP+8:0] sum;
    begin
      odds = {2 * COUNT{1'b0}};
      for (i = 0; i < OUT * DIGITS; i = i + 1) begin
        sum = {{(TOP + 9 - W_W) {weights[i/DIGITS*W_W+W_W-1]}}, weights[i/DIGITS*W_W+:W_W]} + FOLD;
        sum = (sum >> (8 * (i % DIGITS))) ^ (i % DIGITS < DIGITS - 1 ? (TOP + 9)'(128) : (TOP + 9)'(0));
        c = {{24{sum[i%DIGITS<DIGITS-1?7 : 8]}}, sum[7:0]};
        if (c < 0) c = -c;
        if (c != 0) odds[c/(c&-c)/2] = 1'b1;
      end
      odds[COUNT+:COUNT] = odds[0+:COUNT] | COUNT'(1);
      for (i = COUNT - 1; i > 0; i = i - 1) begin
        m = 2 * i + 1;
        c = m - (1 << ($clog2(3 * m) - 2));
        if (c < 0) c = -c;
        if (odds[COUNT+i]) odds[COUNT+c/2] = 1'b1;
      end
    end
  endfunction

  localparam [2*COUNT-1:0] ODDS = odds(WEIGHTS);
  wire [XW-1:0] x_s;

  generate
    if (IN_SIGNED != 0) begin : g_signed
      assign x_s = x;
    end else begin : g_unsigned
      assign x_s = {1'b0, x};
    end

    for (genvar i = 0; i < COUNT; i++) begin : g_odd
      localparam integer M = 2 * i + 1;
      localparam integer K = $clog2(3 * M) - 2;
      localparam integer REST = i > 0 ? M - (1 << K) : 1;
      localparam integer R = REST < 0 ? -REST : REST;
      localparam integer RW = XW + $clog2(R);
      localparam integer MW = XW + $clog2(M);
      if (ODDS[COUNT+i]) begin : g_made
        wire [MW-1:0] p;
        if (i == 0) begin : g_x
          assign p = x_s;
        end else if (REST > 0) begin : g_add
          num_add #(
              .A_W(RW),
              .B_W(XW),
              .B_SHIFT(K),
              .OUT_W(MW)
          ) u_add (
              .a  (g_odd[R/2].g_made.p),
              .b  (x_s),
              .out(p)
          );
        end else begin : g_sub
          num_add #(
              .A_W(XW + K),
              .B_W(RW),
              .SUB(1),
              .OUT_W(MW)
          ) u_sub (
              .a  ({x_s, {K{1'b0}}}),
              .b  (g_odd[R/2].g_made.p),
              .out(p)
          );
        end
        logic [MW-1:0] q;
        always_ff @(posedge clk) if (en) q <= p;
        wire unused = &{1'b0, q};
      end
    end

    for (genvar i = 0; i < OUT * DIGITS; i++) begin : g_term
      localparam integer D = i % DIGITS;
      localparam [W_W-1:0] W = WEIGHTS[i/DIGITS*W_W+:W_W];
      localparam [TOP+8:0] SUM = {{(TOP + 9 - W_W) {W[W_W-1]}}, W} + FOLD;
      localparam integer C = {{24{D < DIGITS - 1 ? !SUM[8*D+7] : SUM[TOP+8]}}, SUM[8*D+:8] ^ {D < DIGITS - 1, 7'd0}};
      localparam integer SIZE = C < 0 ? -C : C;
      localparam integer LOW = C == 0 ? 1 : SIZE & -SIZE;
      localparam integer UP = $clog2(LOW) + 8 * D;
      if (C == 0) begin : g_zero
        assign terms[i*TERM_W+:TERM_W] = {TERM_W{1'b0}};
      end else if (C > 0) begin : g_plus
        assign terms[i*TERM_W+:TERM_W] = TERM_W'($signed(g_odd[SIZE/LOW/2].g_made.q)) << UP;
      end else begin : g_minus
        assign terms[i*TERM_W+:TERM_W] = ~(TERM_W'($signed(g_odd[SIZE/LOW/2].g_made.q))) << UP;
      end
    end
  endgenerate
endmodule
`default_nettype wire
