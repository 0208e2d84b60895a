// SPDX-License-Identifier: Apache-2.0
// num_float_enc: fixed values to minifloats, see num_float_dec, rounded as if there were no greatest code.
//   Negative values that become zero keep their sign with NEG_ZERO.
//   Without HIDDEN there is no hidden bit: +-fraction << field, of several such codes that of the least field.
//   parameters  LANES            elements a beat
//               IN_W, IN_SIGNED  bits of a value, 1: two's complement
//               E, M             bits of the exponent field and of the fraction
//               HIDDEN           0: no hidden bit; M is at least 2
//               SHIFT            places of a value below the step of the least codes; negative: the step is finer
//               NEG_ZERO         1: zero has a code of either sign
//               KIND             which codes are no finite values, as in num_float_dec; 3 needs NEG_ZERO = 0
//               ROUND            as in num_requant; ties to the even code; 10: by logarithms, for M = 0; 11: to even,
//                                never to another exponent, and without HIDDEN powers of two in the field below
//               OVER             beyond the greatest finite code: 0 that code, 1 infinity (KIND 1) or NaN (KIND 2, 3)
//               BEATS            beats of a frame
//   latency: 4   ii: BEATS   order: as it comes
//   lut: LANES * (2 * IN_W + X_W * L_W / 2 + E + 2 * M + 8) + 6
//   ff: LANES * (2 * IN_W + L_W + W_W + G_W + 3) + 3
//   parts: u_skid
`default_nettype none
module num_float_enc #(
    parameter integer LANES     = 2,
    parameter integer IN_W      = 24,
    parameter integer IN_SIGNED = 1,
    parameter integer E         = 4,
    parameter integer M         = 3,
    parameter integer HIDDEN    = 1,
    parameter integer SHIFT     = 3,
    parameter integer NEG_ZERO  = 1,
    parameter integer KIND      = 0,
    parameter integer ROUND     = 0,
    parameter integer OVER      = 0,
    parameter integer BEATS     = 1
) (
    input  wire                     clk,
    input  wire                     rst,
    input  wire [   LANES*IN_W-1:0] in_data,
    input  wire                     in_valid,
    output wire                     in_ready,
    output wire [LANES*(1+E+M)-1:0] out_data,
    output wire                     out_valid,
    input  wire                     out_ready
);
  localparam integer C_W = 1 + E + M;
  localparam integer UP = SHIFT < 0 ? -SHIFT : 0;
  localparam integer X_W = IN_W + UP;  // magnitudes in steps of which none is lost
  localparam integer Q_W = HIDDEN != 0 ? M + 1 : M;  // bits that are kept
  localparam integer KEEP = Q_W + (SHIFT > 0 ? SHIFT : 0);  // bits of the magnitudes from which Q_W are kept
  localparam integer TOP = X_W > KEEP ? X_W : KEEP;
  localparam integer L_W = $clog2(TOP + 1);
  localparam integer G_W = TOP > KEEP ? $clog2(TOP - KEEP + 1) : 1;
  localparam integer W_W = TOP + 2;  // aligned to the top, with a half and a bit below
  localparam integer S_W = (E > G_W ? E : G_W) + M + 2;
  localparam [S_W-1:0] MOST = (S_W'(1) << (E + M)) - (KIND == 1 ? S_W'(1) << M : S_W'(KIND == 2)) - S_W'(1);
  localparam [S_W-1:0] NEXT = KIND == 3 ? S_W'(0) : MOST + S_W'(1);  // infinity, or NaN of KIND 2, with OVER
  localparam [E+M-1:0] BEYOND = OVER != 0 ? NEXT[E+M-1:0] : MOST[E+M-1:0];
  localparam integer R_W = W_W > 65 ? 64 : W_W - 1;  // below the leading bit; beyond 64 there are zeros
  localparam integer LAST = M > 0 ? M - 1 : 0;
  localparam [M:0] ALL = {(M + 1) {1'b1}};
  localparam [63:0] ROOT = 64'h6a09e667f3bcc908;  // floor of (sqrt(2)-1) * 2^64

  generate
    if (LANES < 1 || BEATS < 1 || E < 1 || M < 0) begin : g_bad
      LANES_BEATS_and_E_must_be_at_least_1 u_bad ();
    end
    if (ROUND < 0 || ROUND == 9 || ROUND > 11 || (ROUND == 10 && M != 0)) begin : g_bad_mode
      ROUND_must_be_0_to_8_10_or_11_and_10_needs_M_0 u_bad ();
    end
    if (KIND < 0 || KIND > 3 || (KIND == 1 && M < 1) || (KIND != 0 && HIDDEN == 0) || OVER < 0 || OVER > 1 ||
        (OVER != 0 && KIND == 0) || (KIND == 3 && NEG_ZERO != 0)) begin : g_bad_kind
      KIND_must_be_0_to_3_and_fit_OVER_and_NEG_ZERO u_bad ();
    end
  endgenerate

  function [L_W-1:0] bits(input [X_W-1:0] m);
    integer i;
    begin
      bits = L_W'(KEEP);
      for (i = KEEP; i < X_W; i = i + 1) if (m[i]) bits = L_W'(i + 1);
    end
  endfunction

  // Magnitude; its bits; aligned; rounded.
  wire out_room;
  logic [3:1] valid;
  wire en = out_room || !valid[3];
  assign in_ready = en;
  always_ff @(posedge clk) begin
    if (en) valid <= {valid[2:1], in_valid};
    if (rst) valid <= 3'd0;
  end

  wire [LANES*C_W-1:0] y;
  generate
    for (genvar i = 0; i < LANES; i++) begin : g_lane
      wire [IN_W-1:0] x = in_data[i*IN_W+:IN_W];
      wire minus = IN_SIGNED != 0 && x[IN_W-1];
      logic [IN_W-1:0] m1, m2;
      logic [3:1] sign;
      logic [L_W-1:0] len;
      logic [W_W-1:0] w;
      logic [G_W-1:0] g;
      wire [X_W-1:0] x1 = X_W'(m1) << UP;
      wire [W_W-1:0] x2 = W_W'(m2) << (UP + 2);
      always_ff @(posedge clk)
        if (en) begin
          m1   <= minus ? IN_W'(0) - x : x;
          m2   <= m1;
          sign <= {sign[2:1], minus};
          len  <= bits(x1);
          w    <= x2 << (L_W'(TOP) - len);
          g    <= G_W'(len - L_W'(KEEP));
        end
      wire [Q_W-1:0] q = w[W_W-1-:Q_W];
      wire [W_W-1-Q_W:0] cut = w[W_W-1-Q_W:0];
      wire [S_W-1:0] floor = S_W'(q) + (S_W'(g) << M);
      wire more = w[W_W-2-:R_W] > ROOT[63-:R_W];
      wire bump;
      num_round #(.CUT(W_W - Q_W), .ROUND(ROUND == 10 ? 4 : ROUND == 11 ? 0 : ROUND)) u_round (
          .cut(cut), .odd(floor[0]), .plus(!sign[3]), .away(1'b1), .up(bump)
      );
      wire up = ROUND == 10 && q[Q_W-1] ? more : ROUND == 11 ? bump && M != 0 && floor[LAST:0] != ALL[LAST:0] : bump;
      wire power = ROUND == 11 && HIDDEN == 0 && g != G_W'(0) && q == {1'b1, {(Q_W - 1) {1'b0}}} && !(|cut);
      wire [S_W-1:0] wrapped = HIDDEN == 0 && up && &q ? S_W'(1) << (M - 1) : S_W'(0);  // the next field, from one half
      wire [S_W-1:0] near = floor + S_W'(up) + wrapped - (power ? (S_W'(1) << (Q_W - 1)) + S_W'(1) : S_W'(0));
      wire beyond = near > MOST;
      wire [E+M-1:0] mag = beyond ? BEYOND : near[E+M-1:0];
      wire keeps = NEG_ZERO != 0 || mag != (E + M)'(0);
      wire top = beyond && OVER != 0 && KIND != 1 ? KIND == 3 : sign[3] && keeps;
      wire unused_more = &{1'b0, more};
      assign y[i*C_W+:C_W] = {top, mag};
    end
  endgenerate

  stream_skid #(.WIDTH(LANES * C_W)) u_skid (
      .clk(clk), .rst(rst), .in_data(y), .in_valid(valid[3]), .in_ready(out_room),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );
endmodule
`default_nettype wire
