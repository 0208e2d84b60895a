// SPDX-License-Identifier: Apache-2.0
// mx_round: values t * 2^-SHIFT to the codes of elements of blocks, see mx_integer; beyond the greatest code that one.
//   parameters  IN_W      bits of t, two's complement
//               W, E      bits of a code; of its field, at least 0
//               SHIFT     places of t below the step of the least codes; negative: the step is finer
//               MOST      the greatest code without sign
//               ONE_ZERO  1: zero has no sign
//               ROUND     rounding mode, see num_requant; ties to the even code; 10: by logarithms, for M = 0
//   latency: 4   ii: 1   order: as it comes
//   lut: 2 * IN_W + (E > 0 ? X_W * L_W / 2 : 0) + W + M + 8
//   ff: 2 * IN_W + L_W + W_W + G_W + 5 + (G_W > E ? G_W : E) + M + 2
`default_nettype none
module mx_round #(
    parameter integer IN_W     = 25,
    parameter integer W        = 4,
    parameter integer E        = 2,
    parameter integer SHIFT    = 20,
    parameter integer MOST     = 7,
    parameter integer ONE_ZERO = 0,
    parameter integer ROUND    = 0
) (
    input  wire            clk,
    input  wire            en,
    input  wire [IN_W-1:0] in,
    output wire [   W-1:0] out
);
  localparam integer M = W - 1 - E;
  localparam integer SH = SHIFT > IN_W + 1 ? IN_W + 1 : SHIFT;  // beyond, nothing is left but the sign
  localparam integer UP = SH < 0 ? -SH : 0;
  localparam integer X_W = IN_W + UP;  // magnitudes in steps of which none is lost
  localparam integer Q_W = E > 0 ? M + 1 : M;  // bits that are kept
  localparam integer KEEP = Q_W + (SH > 0 ? SH : 0);  // bits of the magnitudes from which Q_W are kept
  localparam integer TOP = X_W > KEEP ? X_W : KEEP;
  localparam integer L_W = $clog2(TOP + 1);
  localparam integer G_W = TOP > KEEP ? $clog2(TOP - KEEP + 1) : 1;
  localparam integer W_W = TOP + 2;  // aligned to the top, with a half and a bit below
  localparam integer R_W = W_W > 65 ? 64 : W_W - 1;  // below the leading bit; beyond 64 there are zeros
  localparam [63:0] ROOT = 64'h6a09e667f3bcc908;  // floor of (sqrt(2)-1) * 2^64
  localparam integer S_W = (E > G_W ? E : G_W) + M + 2;

  generate
    if (W < 2 || E < 0 || E > W - 1) begin : g_bad
      E_must_lie_within_the_code u_bad ();
    end
    if (ROUND < 0 || ROUND == 9 || ROUND > 10 || (ROUND == 10 && M != 0)) begin : g_bad_mode
      ROUND_must_be_0_to_8_or_10_and_10_needs_M_0 u_bad ();
    end
  endgenerate

  function [L_W-1:0] bits(input [X_W-1:0] m);
    integer i;
    begin
      bits = L_W'(KEEP);
      for (i = KEEP; i < X_W; i = i + 1) if (m[i]) bits = L_W'(i + 1);
    end
  endfunction

  // Magnitude; its bits; aligned; rounding decided; rounded.
  logic [IN_W-1:0] m1, m2;
  logic [4:1] sign;
  logic [L_W-1:0] len;
  logic [W_W-1:0] w;
  logic [G_W-1:0] g;
  wire [X_W-1:0] x1 = X_W'(m1) << UP;
  wire [W_W-1:0] x2 = W_W'(m2) << (UP + 2);
  always_ff @(posedge clk)
    if (en) begin
      m1   <= in[IN_W-1] ? IN_W'(0) - in : in;
      m2   <= m1;
      sign <= {sign[3:1], in[IN_W-1]};
      len  <= bits(x1);
      w    <= x2 << (L_W'(TOP) - len);
      g    <= G_W'(len - L_W'(KEEP));
    end
  wire [Q_W-1:0] q = w[W_W-1-:Q_W];
  wire [S_W-1:0] floor = S_W'(q) + (S_W'(g) << M);
  wire more = w[W_W-2-:R_W] > ROOT[63-:R_W];
  wire bump;
  num_round #(.CUT(W_W - Q_W), .ROUND(ROUND == 10 ? 4 : ROUND)) u_round (
      .cut(w[W_W-1-Q_W:0]), .odd(floor[0]), .plus(!sign[3]), .away(1'b1), .up(bump)
  );
  wire up = ROUND == 10 && q[Q_W-1] ? more : bump;
  logic [S_W-1:0] floor_q;
  logic up_q;
  always_ff @(posedge clk)
    if (en) begin
      floor_q <= floor;
      up_q    <= up;
    end
  wire [S_W-1:0] near = floor_q + S_W'(up_q);
  wire [W-2:0] mag = near > S_W'(MOST) ? (W - 1)'(MOST) : near[W-2:0];
  wire unused_top = &{1'b0, more};
  assign out = {sign[4] && (ONE_ZERO == 0 || mag != (W - 1)'(0)), mag};
endmodule
`default_nettype wire
