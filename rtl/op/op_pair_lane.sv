// SPDX-License-Identifier: Apache-2.0
// op_pair_lane: one lane of op_pair: y = over(ZERO + round(t, SHIFT)), where t is
//   KIND 0: pa + pb   1: min(pa, pb)   2: max(pa, pb)   with pa = a * MA * 2^SHA + CA, pb = b * MB * 2^SHB + CB
//   KIND 3: pa * pb * MA                                with pa = a + CA, pb = b + CB
//   Every sum and product is exact in its width. Registers move under en; the rounding behind them is combinational.
//   parameters  KIND                as above
//               A_W, A_SIGNED       bits of a, 1: two's complement
//               B_W, B_SIGNED       bits of b, 1: two's complement
//               MA, SHA, CA         factor, left shift and summand of a
//               MB, SHB, CB         factor, left shift and summand of b (KIND 3 has no MB, SHA and SHB)
//               PA_W, PB_W          bits of pa and pb, two's complement
//               T_W                 bits of t, two's complement
//               SHIFT, OUT_W, OUT_SIGNED, ROUND, OVER   the cast to the output, see num_requant
//               ZERO                zero point of the output
//               DEEP                1: a register behind pa and pb, or before the factor of a product
//               MULT                "auto", "dsp" or "lut": use_dsp of the product
//   latency: (KIND == 3 ? 2 : 1) + DEEP   ii: 1   order: as it comes
//   lut: KIND == 2 || KIND == 3 ? T_W * 3 / 2 : T_W + (MA > 1 ? PA_W : 0) + (MB > 1 ? PB_W : 0)
//   ff: T_W
//   parts: KIND == 3 ? u_mul : 0
`default_nettype none
module op_pair_lane #(
    parameter integer    KIND       = 0,
    parameter integer    A_W        = 8,
    parameter integer    A_SIGNED   = 1,
    parameter integer    B_W        = 8,
    parameter integer    B_SIGNED   = 1,
    parameter integer    MA         = 1,
    parameter integer    SHA        = 0,
    parameter integer    PA_W       = 9,
    parameter [PA_W-1:0] CA         = 0,
    parameter integer    MB         = 1,
    parameter integer    SHB        = 0,
    parameter integer    PB_W       = 9,
    parameter [PB_W-1:0] CB         = 0,
    parameter integer    T_W        = 10,
    parameter integer    SHIFT      = 1,
    parameter integer    OUT_W      = 8,
    parameter integer    OUT_SIGNED = 1,
    parameter integer    ROUND      = 0,
    parameter integer    OVER       = 0,
    parameter integer    ZERO       = 0,
    parameter integer    DEEP       = 0,
    parameter            MULT       = "auto"
) (
    input  wire             clk,
    input  wire             en,
    input  wire [  A_W-1:0] a,
    input  wire [  B_W-1:0] b,
    output wire [OUT_W-1:0] y
);
  wire signed [A_W:0] a_s = {A_SIGNED != 0 ? a[A_W-1] : 1'b0, a};
  wire signed [B_W:0] b_s = {B_SIGNED != 0 ? b[B_W-1] : 1'b0, b};
  wire signed [PA_W-1:0] ca = CA;
  wire signed [PB_W-1:0] cb = CB;
  wire signed [PA_W-1:0] pa;
  wire signed [PB_W-1:0] pb;
  wire signed [T_W-1:0] t;
  wire unused_high = &{1'b0, a_s, b_s};  // where the widths are tighter than the sign bit

  generate
    if (KIND == 3) begin : g_product
      localparam integer PW = PA_W + PB_W;
      logic signed [PA_W-1:0] ra;
      logic signed [PB_W-1:0] rb;
      wire signed [PW-1:0] prod;
      assign pa = PA_W'(a_s) + ca;
      assign pb = PB_W'(b_s) + cb;
      always_ff @(posedge clk)
        if (en) begin
          ra <= pa;
          rb <= pb;
        end
      num_mul #(
          .A_W(PA_W),
          .A_SIGNED(1),
          .B_W(PB_W),
          .MULT(MULT)
      ) u_mul (
          .clk(clk),
          .en (en),
          .a  (ra),
          .b  (rb),
          .out(prod)
      );
      wire signed [T_W-1:0] scaled = T_W'(prod) * T_W'(MA);
      num_delay #(.WIDTH(T_W), .DEPTH(DEEP)) u_t (.clk(clk), .en(en), .in(scaled), .out(t));
      wire unused_prod = &{1'b0, prod};
    end else begin : g_sum
      wire signed [PA_W-1:0] qa;
      wire signed [PB_W-1:0] qb;
      logic signed [T_W-1:0] r;
      assign pa = ((PA_W'(a_s) * PA_W'(MA)) <<< SHA) + ca;
      assign pb = ((PB_W'(b_s) * PB_W'(MB)) <<< SHB) + cb;
      num_delay #(.WIDTH(PA_W), .DEPTH(DEEP)) u_a (.clk(clk), .en(en), .in(pa), .out(qa));
      num_delay #(.WIDTH(PB_W), .DEPTH(DEEP)) u_b (.clk(clk), .en(en), .in(pb), .out(qb));
      wire signed [T_W-1:0] ta = T_W'(qa);
      wire signed [T_W-1:0] tb = T_W'(qb);
      always_ff @(posedge clk)
        if (en) r <= KIND == 0 ? ta + tb : (ta < tb) == (KIND == 1) ? ta : tb;
      assign t = r;
      wire unused_operands = &{1'b0, qa, qb};  // where T_W is tighter
    end
  endgenerate

  generate
    if (ZERO == 0) begin : g_plain
      num_requant #(
          .IN_W(T_W),
          .SHIFT(SHIFT),
          .OUT_W(OUT_W),
          .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND),
          .OVER(OVER)
      ) u_cast (
          .in (t),
          .out(y)
      );
    end else begin : g_zero
      // The rounded value in full, the zero point, then overflow: rounding is relative to the zero point.
      localparam integer RW = (SHIFT > 0 ? T_W : T_W - SHIFT) + 1;
      localparam integer ZW = (RW > 32 ? RW : 32) + 1;
      wire [RW-1:0] rounded;
      wire signed [RW-1:0] whole = rounded;
      wire signed [ZW-1:0] moved = ZW'(whole) + ZW'(ZERO);
      num_requant #(
          .IN_W(T_W),
          .SHIFT(SHIFT),
          .OUT_W(RW),
          .ROUND(ROUND),
          .OVER(2)
      ) u_round (
          .in (t),
          .out(rounded)
      );
      num_requant #(
          .IN_W(ZW),
          .SHIFT(0),
          .OUT_W(OUT_W),
          .OUT_SIGNED(OUT_SIGNED),
          .OVER(OVER)
      ) u_fit (
          .in (moved),
          .out(y)
      );
    end
  endgenerate
endmodule
`default_nettype wire
