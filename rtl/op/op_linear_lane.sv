// SPDX-License-Identifier: Apache-2.0
// op_linear_lane: one output lane of op_linear: dot product of a beat, sum over the beats, shift, bias, requantise.
//   x and w arrive together, already registered. first and valid belong to the tree's output, so they come
//   1 + (clog2(IN_LANES) + TREE_PIPE - 1) / TREE_PIPE enabled cycles after x, one more with codes of floats.
//   konst = {psh, bias} must stand with the first beat there if PSH_W = 0 (the sum then starts from the bias),
//   otherwise one enabled cycle after the last.
//   With factors konst = {m, psh, bias}; m is taken with the bias and meets the sum.
//   parameters  IN_LANES, IN_W, IN_SIGNED, IN_E, IN_NAN, W_W, W_E, DOT_W, BIAS_W, PSH_W, T_W, M_W, SHIFT, ZERO, OUT_W,
//               OUT_SIGNED, ROUND, OVER, MULT, TREE_PIPE  as op_linear
//               ONE_BEAT   1: a vector is one beat, the sum needs no loop. 2: x is the sum over the beats, begun
//                          with the bias if PSH_W = 0, and first and valid are not read
//               ROUND_PIPE 1: a register behind the rounding, which factors have in any case
//   MULT "sum": x is itself a sum of products, of IN_W bits in one lane, and comes with first; w is not read. MULT
//   "chain": see num_chain, which says when first and valid come; constants of a later use come as much later as its
//   out is later than its sum.
//   latency: (ONE_BEAT == 2 ? 0 : 2) + (max(IN_E, W_E) > 0 ? 1 : 0) +
//       (MULT == "chain" || TREE_PIPE == 2 ? (clog2(IN_LANES) + 1) / 2 : clog2(IN_LANES)) + 2 * min(PSH_W, 1) +
//       (M_W > 0 ? 3 : ROUND_PIPE)
//   ii: 1   order: as it comes
//   let: CHAIN = MULT == "chain" ? 1 : 0; READY = CHAIN || ONE_BEAT == 2 ? 1 : 0
//   lut: (READY ? 0 : PSH_W == 0 ? T_W : ONE_BEAT ? 0 : DOT_W) + (PSH_W ? T_W + T_W * PSH_W * 2 / 3 : 0)
//   lut4: (READY ? 0 : PSH_W == 0 ? 2 * T_W + 1 : ONE_BEAT ? 0 : 2 * DOT_W + 1) + (PSH_W == 0 ? 0 : T_W * (PSH_W +
//       (PSH_W > 1 ? 2 : 1)))
//   ff: (READY ? 0 : PSH_W == 0 ? T_W : DOT_W) + (PSH_W ? 2 * T_W + BIAS_W : 0)
//   parts: (MULT == "sum" ? 0 : CHAIN ? u_chain : u_dot) + (M_W ? u_m + u_rescale : u_cast)
`default_nettype none
module op_linear_lane #(
    parameter integer IN_LANES   = 4,
    parameter integer IN_W       = 8,
    parameter integer IN_SIGNED  = 1,
    parameter integer IN_E       = 0,
    parameter integer IN_NAN     = 0,
    parameter integer W_W        = 8,
    parameter integer W_E        = 0,
    parameter integer DOT_W      = 20,
    parameter integer BIAS_W     = 16,
    parameter integer PSH_W      = 0,
    parameter integer T_W        = 21,
    parameter integer M_W        = 0,
    parameter integer SHIFT      = 7,
    parameter integer ZERO       = 0,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter         MULT       = "auto",
    parameter integer TREE_PIPE  = 1,
    parameter integer ONE_BEAT   = 0,
    parameter integer ROUND_PIPE = 1
) (
    input  wire                        clk,
    input  wire                        en,
    input  wire [   IN_LANES*IN_W-1:0] x,
    input  wire [    IN_LANES*W_W-1:0] w,
    input  wire                        first,
    input  wire                        valid,
    input  wire [M_W+PSH_W+BIAS_W-1:0] konst,
    output wire [           OUT_W-1:0] y
);
  localparam integer SUM_W = (IN_E > 0 ? IN_W - 1 - IN_E + (1 << IN_E) : IN_W) +
      (W_E > 0 ? W_W - 1 - W_E + (1 << W_E) : W_W) + $clog2(IN_LANES);

  /* verilator lint_off WIDTH */  // strings of different lengths are compared
  localparam integer CHAIN = MULT == "chain" ? 1 : 0;
  localparam integer GIVEN = MULT == "sum" ? 1 : 0;
  /* verilator lint_on WIDTH */
  localparam integer ALL_W = PSH_W == 0 ? T_W : DOT_W;  // of the sum over the beats
  localparam integer REST = CHAIN != 0 ? $clog2((IN_LANES + 7) / 8) / 2 : 0;

  wire signed [BIAS_W-1:0] bias = konst[BIAS_W-1:0];
  wire signed [SUM_W-1:0] sum;
  wire signed [ALL_W-1:0] all;
  generate
    if (CHAIN != 0) begin : g_chain
      if (IN_E != 0 || W_E != 0) begin : g_bad
        operands_must_be_integers_where_MULT_is_chain u_bad ();
      end
      num_chain #(
          .N(IN_LANES), .A_W(IN_W), .A_SIGNED(IN_SIGNED), .B_W(W_W), .START_W(BIAS_W),
          .OUT_W(ALL_W), .ONE_BEAT(ONE_BEAT)
      ) u_chain (
          .clk(clk), .en(en), .first(first), .valid(valid), .start(PSH_W == 0 ? bias : BIAS_W'(0)), .a(x), .b(w),
          .out(all)
      );
      assign sum = SUM_W'(0);
    end else if (GIVEN != 0) begin : g_sum
      wire signed [IN_W-1:0] x_s = x[IN_W-1:0];
      assign sum = SUM_W'(x_s);
      wire unused_w = &{1'b0, w};
    end else begin : g_dot
      num_dot #(
          .N(IN_LANES),
          .A_W(IN_W),
          .A_SIGNED(IN_SIGNED),
          .B_W(W_W),
          .A_E(IN_E),
          .A_NAN(IN_NAN),
          .B_E(W_E),
          .MULT(MULT),
          .PIPE(TREE_PIPE)
      ) u_dot (
          .clk(clk),
          .en (en),
          .a  (x),
          .b  (w),
          .out(sum)
      );
    end
  endgenerate

  // Sums wrap inside; the widths hold the results, so every wrap is undone by the end. base + sum is written as the
  // difference sum - ~base - 1: Yosys then puts the choice of base into the LUT that adds, and not into one before it.
  generate
    if (ONE_BEAT == 2) begin : g_given
      assign all = ALL_W'(sum);
    end else if (CHAIN == 0) begin : g_sum_of_beats
      logic [ALL_W-1:0] acc;
      wire [ALL_W-1:0] start = PSH_W == 0 ? ALL_W'(bias) : ALL_W'(0);
      wire [ALL_W-1:0] base = ONE_BEAT != 0 || first ? start : acc;
      wire [ALL_W:0] more = {ALL_W'(sum), 1'b0} - {~base, 1'b1};
      always_ff @(posedge clk) if (en && valid) acc <= more[ALL_W:1];
      assign all = acc;
      wire unused_more = &{1'b0, more[0]};
    end
  endgenerate

  wire [T_W-1:0] t;
  generate
    if (PSH_W == 0) begin : g_plain
      assign t = all;
    end else begin : g_shift
      logic [T_W-1:0] shifted;
      logic signed [BIAS_W-1:0] bias_q;
      logic [T_W-1:0] t_q;
      always_ff @(posedge clk)
        if (en) begin
          shifted <= T_W'(all) << konst[BIAS_W+:PSH_W];
          bias_q  <= bias;
          t_q     <= shifted + T_W'(bias_q);
        end
      assign t = t_q;
    end
  endgenerate

  generate
    if (M_W == 0) begin : g_cast
      num_offset #(
          .IN_W(T_W),
          .SHIFT(SHIFT),
          .ZERO(ZERO),
          .OUT_W(OUT_W),
          .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND),
          .OVER(OVER),
          .PIPE(ROUND_PIPE)
      ) u_cast (
          .clk(clk),
          .en (en),
          .in (t),
          .out(y)
      );
    end else begin : g_rescale
      wire [M_W-1:0] m;
      num_delay #(.WIDTH(M_W), .DEPTH(PSH_W == 0 ? 1 + REST : 2)) u_m (
          .clk(clk), .en(en), .in(konst[PSH_W+BIAS_W+:M_W]), .out(m)
      );
      num_rescale #(
          .IN_W(T_W),
          .M_W(M_W),
          .SHIFT(SHIFT),
          .ZERO(ZERO),
          .OUT_W(OUT_W),
          .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND),
          .OVER(OVER),
          .MULT(MULT)
      ) u_rescale (
          .clk(clk),
          .en (en),
          .in (t),
          .m  (m),
          .out(y)
      );
    end
  endgenerate
  wire unused_top = &{1'b0, first, valid, sum, bias, konst};
endmodule
`default_nettype wire
