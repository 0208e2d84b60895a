// SPDX-License-Identifier: Apache-2.0
// mx_linear_term: term = sat((d << a) >> LOW), a = xs + ws + OFFSET: a block sum, moved into the window; floor.
//   parameters  XS_W, WS_W, D_W   bits of the scales, unsigned; of d, two's complement
//               OFFSET, SPAN, LOW, CLAMP   as mx_linear
//               SAT_W             bits that CLAMP = 1 saturates to
//               OUT_W             bits of term; without CLAMP what lies above is lost
//   latency: 2   ii: 1   order: as it comes
//   lut: T_W * A_W / 3 + (CLAMP ? SAT_W : 12) + 10
//   ff: D_W + A_W + (CLAMP ? T_W + 2 : T_W - LOW)
//   parts: CLAMP ? u_fit : 0
`default_nettype none
module mx_linear_term #(
    parameter integer XS_W   = 8,
    parameter integer WS_W   = 4,
    parameter integer D_W    = 20,
    parameter integer OFFSET = -100,
    parameter integer SPAN   = 24,
    parameter integer LOW    = 8,
    parameter integer CLAMP  = 1,
    parameter integer SAT_W  = 30,
    parameter integer OUT_W  = 32
) (
    input  wire             clk,
    input  wire             en,
    input  wire [ D_W-1:0]  d,
    input  wire [XS_W-1:0]  xs,
    input  wire [WS_W-1:0]  ws,
    output wire [OUT_W-1:0] term
);
  localparam integer A_W = SPAN > 0 ? $clog2(SPAN + 1) : 1;
  localparam integer S_W = 12;  // scales of 8 bits and the offset, with sign
  localparam integer FULL = D_W + SPAN;
  localparam integer T_W = CLAMP != 0 || FULL < OUT_W + LOW ? FULL : OUT_W + LOW;

  wire [S_W-1:0] scale = S_W'(xs) + S_W'(ws);
  wire signed [S_W-1:0] s = $signed(scale + S_W'(OFFSET));
  wire signed [S_W-1:0] room = $signed(S_W'(SPAN - OFFSET) - scale);  // up to the top of the window
  logic [A_W-1:0] a;
  logic signed [D_W-1:0] d_q;
  logic over;  // shifted beyond the window
  always_ff @(posedge clk)
    if (en) begin
      d_q <= $signed(d);
      if (CLAMP != 0) begin
        over <= room[S_W-1] && d != D_W'(0);
        a <= s[S_W-1] ? A_W'(0) : room[S_W-1] ? A_W'(SPAN) : s[A_W-1:0];
      end else begin
        over <= 1'b0;
        a <= s[A_W-1:0];
      end
    end

  logic signed [T_W-1:0] t;
  logic over_q;
  always_ff @(posedge clk)
    if (en) begin
      t <= T_W'(d_q) << a;
      over_q <= over;
    end

  generate
    if (CLAMP != 0) begin : g_clamp
      wire signed [SAT_W-1:0] fit;
      num_requant #(
          .IN_W(T_W), .IN_SIGNED(1), .SHIFT(LOW), .OUT_W(SAT_W), .OUT_SIGNED(1), .ROUND(5), .OVER(0)
      ) u_fit (
          .in(t), .out(fit)
      );
      wire signed [SAT_W-1:0] edge_value = {t[T_W-1], {(SAT_W - 1) {!t[T_W-1]}}};
      wire signed [SAT_W-1:0] kept = over_q ? edge_value : fit;
      assign term = OUT_W'(kept);
    end else begin : g_plain
      wire signed [T_W-LOW-1:0] kept = t[T_W-1:LOW];
      assign term = OUT_W'(kept);
      wire unused_low = &{1'b0, t, over_q};
    end
  endgenerate
  wire unused_top = &{1'b0, s, room};
endmodule
`default_nettype wire
