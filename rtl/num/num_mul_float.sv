// SPDX-License-Identifier: Apache-2.0
// num_mul_float: registered product of a and b, of which one or both are codes of a float: significands are multiplied
//   and the product is shifted by the fields. A code {sign, field of E bits, fraction of M bits} is the integer
//   +-(fraction + (field > 0 ? 2^M : 0)) << (field > 0 ? field - 1 : 0), of L = M + 2^E bits.
//   parameters  A_W       bits of a
//               A_SIGNED  1: a is two's complement; of no meaning for codes
//               A_E       bits of the field of a; 0: a is an integer, and L is A_W
//               A_NAN     1: the code of all ones, sign apart, is NaN and taken for 0
//               B_W       bits of b, a code or two's complement
//               B_E       bits of the field of b; 0: b is an integer
//               MULT      of the product of significands, see num_mul; short ones take LUTs, those of one bit choose
//   out has the bits of both integers.
//   latency: 2   ii: 1   order: as it comes
//   let: A_V = A_E ? A_W - A_E : A_W; B_V = B_E ? B_W - B_E : B_W; SUM_W = (A_E ? A_V - 1 + (1 << A_E) : A_W) + (B_E
//       ? B_V - 1 + (1 << B_E) : B_W); BY_W = max(A_E, B_E) + (A_E && B_E ? 1 : 0)
//   let: ONE = (A_E && A_V == 1) || (B_E && B_V == 1) ? 1 : 0; SHORT = ONE || (A_E && B_E && A_V + B_V < 9) ? 1 : 0
//   lut: A_E + B_E + BY_W + A_V + B_V + (ONE ? max(A_V, B_V) : SHORT ? A_V * B_V * 6 / 5 : 0) + SUM_W * BY_W / 3 +
//       (A_NAN ? 3 * A_V + 2 : 0)
//   ff: SUM_W + BY_W + 1 + (SHORT ? A_V + B_V : 0)
//   parts: SHORT ? 0 : u_mul
`default_nettype none
module num_mul_float #(
    parameter integer A_W      = 8,
    parameter integer A_SIGNED = 1,
    parameter integer A_E      = 4,
    parameter integer A_NAN    = 0,
    parameter integer B_W      = 8,
    parameter integer B_E      = 4,
    parameter         MULT     = "auto",
    parameter integer A_V      = A_E > 0 ? A_W - A_E : A_W,
    parameter integer B_V      = B_E > 0 ? B_W - B_E : B_W,
    parameter integer OUT_W    = (A_E > 0 ? A_V - 1 + (1 << A_E) : A_W) + (B_E > 0 ? B_V - 1 + (1 << B_E) : B_W)
) (
    input  wire             clk,
    input  wire             en,
    input  wire [  A_W-1:0] a,
    input  wire [  B_W-1:0] b,
    output wire [OUT_W-1:0] out
);
  // A_V and B_V are the bits of a significand, or of an integer.
  localparam integer PW = A_V + B_V;
  localparam integer FW = A_E > B_E ? A_E : B_E;
  localparam integer BY_W = FW + (A_E > 0 && B_E > 0 ? 1 : 0);

  wire [A_V-1:0] a_v;
  wire [B_V-1:0] b_v;
  wire [BY_W-1:0] a_by, b_by;
  generate
    if (A_E < 1 && B_E < 1) begin : g_bad
      A_or_B_must_be_a_code_of_a_float u_bad ();
    end
    if (A_E > 0) begin : g_a
      localparam integer M = A_W - 1 - A_E;
      localparam [M:0] TOP = {1'b1, {M{1'b0}}};
      wire [A_E-1:0] field = a[M+:A_E];
      wire nan = A_NAN != 0 && &a[A_W-2:0];
      assign a_v  = nan ? A_V'(0) : |field ? a[M:0] | TOP : a[M:0] & ~TOP;
      assign a_by = BY_W'(field) - BY_W'(|field);
    end else begin : g_a_int
      assign a_v  = a;
      assign a_by = BY_W'(0);
    end
    if (B_E > 0) begin : g_b
      localparam integer M = B_W - 1 - B_E;
      localparam [M:0] TOP = {1'b1, {M{1'b0}}};
      wire [B_E-1:0] field = b[M+:B_E];
      assign b_v  = |field ? b[M:0] | TOP : b[M:0] & ~TOP;
      assign b_by = BY_W'(field) - BY_W'(|field);
    end else begin : g_b_int
      assign b_v  = b;
      assign b_by = BY_W'(0);
    end
  endgenerate

  logic [BY_W-1:0] by;
  logic minus;
  always_ff @(posedge clk)
    if (en) begin
      by    <= a_by + b_by;
      minus <= (A_E > 0 && a[A_W-1]) != (B_E > 0 && b[B_W-1]);
    end

  wire signed [PW:0] prod;
  generate
    if (A_E > 0 && B_E == 0 && A_V == 1) begin : g_one_a
      logic [B_V-1:0] p;
      always_ff @(posedge clk) if (en) p <= a_v[0] ? b_v : B_V'(0);
      assign prod = (PW + 1)'($signed(p));
    end else if (B_E > 0 && A_E == 0 && B_V == 1) begin : g_one_b
      logic [A_V-1:0] p;
      always_ff @(posedge clk) if (en) p <= b_v[0] ? a_v : A_V'(0);
      if (A_SIGNED != 0) begin : g_minus
        assign prod = (PW + 1)'($signed(p));
      end else begin : g_plus
        assign prod = (PW + 1)'(p);
      end
    end else if (A_E > 0 && B_E > 0 && (PW < 9 || A_V == 1 || B_V == 1)) begin : g_short
      (* use_dsp = "no" *) logic [PW-1:0] p;
      always_ff @(posedge clk) if (en) p <= PW'(a_v) * PW'(b_v);
      assign prod = {1'b0, p};
    end else if (B_E > 0) begin : g_b_code  // the significand of b as an unsigned factor, or a signed one without sign
      localparam integer S_W = A_V + ((A_E > 0 || A_SIGNED == 0) ? 1 : 0);
      wire [B_V+S_W-1:0] p;
      num_mul #(.A_W(B_V), .A_SIGNED(0), .B_W(S_W), .MULT(MULT)) u_mul (
          .clk(clk), .en(en), .a(b_v), .b(S_W'({1'b0, a_v})), .out(p)
      );
      if (S_W == A_V) begin : g_signed
        assign prod = {p[PW-1], p};
      end else begin : g_unsigned
        assign prod = p;
      end
    end else begin : g_a_code
      wire [PW-1:0] p;
      num_mul #(.A_W(A_V), .A_SIGNED(0), .B_W(B_V), .MULT(MULT)) u_mul (.clk(clk), .en(en), .a(a_v), .b(b_v), .out(p));
      assign prod = {p[PW-1], p};
    end
  endgenerate

  logic [OUT_W-1:0] y;
  wire signed [PW:0] v = minus ? -prod : prod;
  always_ff @(posedge clk) if (en) y <= OUT_W'(v) << by;
  assign out = y;
endmodule
`default_nettype wire
