// SPDX-License-Identifier: Apache-2.0
// num_add: out = a + b * 2^B_SHIFT, or the difference; low OUT_W bits. Combinational.
//   One adder as a module of its own: synthesis then keeps the adder graph as it was printed, and the low
//   bits of a below B_SHIFT go around the carry chain.
//   parameters  A_W       bits of a
//               A_SIGNED  1: a is two's complement
//               B_W       bits of b
//               B_SIGNED  1: b is two's complement
//               B_SHIFT   left shift of b, >= 0
//               SUB       1: a - b * 2^B_SHIFT
//               OUT_W     bits of out, more than B_SHIFT; max(A_W, B_W + B_SHIFT) + 2 always hold the exact result
//   latency: 0   ii: 1   order: combinational
//   lut: SUB != 0 || A_SIGNED != 0 ? HW - 1 : max(HW - 1, 1)
`default_nettype none
module num_add #(
    parameter integer A_W      = 8,
    parameter integer A_SIGNED = 1,
    parameter integer B_W      = 8,
    parameter integer B_SIGNED = 1,
    parameter integer B_SHIFT  = 0,
    parameter integer SUB      = 0,
    parameter integer OUT_W    = 10
) (
    input  wire [  A_W-1:0] a,
    input  wire [  B_W-1:0] b,
    output wire [OUT_W-1:0] out
);
  localparam integer HW = OUT_W - B_SHIFT;  // bits of the carry chain

  generate
    if (B_SHIFT < 0 || OUT_W <= B_SHIFT) begin : g_bad
      OUT_W_must_exceed_B_SHIFT_and_B_SHIFT_0 u_bad ();
    end
  endgenerate

  wire signed [A_W:0] a_s = {A_SIGNED != 0 ? a[A_W-1] : 1'b0, a};
  wire signed [B_W:0] b_s = {B_SIGNED != 0 ? b[B_W-1] : 1'b0, b};
  wire unused_top = &{1'b0, a_s, b_s};  // their high bits, where OUT_W wraps
  wire signed [OUT_W-1:0] a_x = OUT_W'(a_s);
  wire signed [HW-1:0] b_x = HW'(b_s);
  wire signed [HW-1:0] a_h = a_x[OUT_W-1:B_SHIFT];
  wire signed [HW-1:0] high;

  generate
    if (SUB != 0) begin : g_sub
      assign high = a_h - b_x;
    end else begin : g_add
      assign high = a_h + b_x;
    end
    if (B_SHIFT > 0) begin : g_around
      assign out = {high, a_x[B_SHIFT-1:0]};
    end else begin : g_all
      assign out = high;
    end
  endgenerate
endmodule
`default_nettype wire
