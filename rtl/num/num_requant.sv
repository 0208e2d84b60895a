// SPDX-License-Identifier: Apache-2.0
// num_requant: out = over(round(in / 2^SHIFT)), the cast between two fixed-point formats. Combinational.
//   The sum of rounding never overflows inside, whatever the widths; a SHIFT beyond IN_W and a negative one
//   (left, exact) are legal. Rounding adds one increment to the floor.
//   parameters  IN_W        bits of in
//               IN_SIGNED   1: in is two's complement
//               SHIFT       bits dropped on the right; negative: bits added
//               OUT_W       bits of out
//               OUT_SIGNED  1: out is two's complement
//               ROUND       as num_round
//               OVER        0 saturate, 1 without the most negative (unsigned: the greatest) code, 2 wrap,
//                           3 + 2 * H saturate at 0 and H, 4 + 2 * H at -H and H
//   latency: 0   ii: 1   order: combinational
//   lut: (SHIFT > 0 && ROUND != 5 ? (SH > 1 ? 2 + (SH - 2) / 4 : 1) : 0) + (OVER > 2 ? OUT_W * 5 / 4 :
//       OVER == 2 || (OUT_SIGNED != 0 && QW < OUT_W) || (OUT_SIGNED == 0 && IN_SIGNED == 0 && QW <= OUT_W + 1) ? 0 :
//       OUT_SIGNED != 0 && QW == OUT_W ? (OVER == 1 ? 2 : 0) :
//       OUT_W + max(1, QW - OUT_W - 5) - 1 + (OVER == 1 ? OUT_W * 2 / 3 : 0))
//   lut4: (SHIFT > 0 && ROUND != 5 ? QW + 2 + SH / 3 : 0) + (OVER == 2 || (OUT_SIGNED != 0 && QW <= OUT_W && OVER ==
//       0) || (OUT_SIGNED == 0 && IN_SIGNED == 0 && QW <= OUT_W + 1) ? 0 : OUT_W * (OVER > 0 ? 5 : 4) / 4 + max(1,
//       (QW - OUT_W) / 3))
`default_nettype none
module num_requant #(
    parameter integer IN_W       = 16,
    parameter integer IN_SIGNED  = 1,
    parameter integer SHIFT      = 4,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0
) (
    input  wire [ IN_W-1:0] in,
    output wire [OUT_W-1:0] out
);
  localparam integer VW = IN_W + (IN_SIGNED != 0 ? 0 : 1);  // in as a signed number
  // From VW+1 on |in| is below a quarter of the step: every larger shift gives the same result.
  localparam integer SH = SHIFT > VW + 1 ? VW + 1 : SHIFT;
  localparam integer FW = VW > SH ? VW - SH : 1;  // bits of the floor
  localparam integer QW = SH > 0 ? FW + 1 : VW - SH;  // bits of the rounded value: never overflows

  generate
    if (IN_W < 1 || OUT_W < 1) begin : g_bad_width
      IN_W_and_OUT_W_must_be_at_least_1 u_bad ();
    end
    if (ROUND < 0 || ROUND > 8 || OVER < 0) begin : g_bad_mode
      ROUND_must_be_0_to_8_and_OVER_not_negative u_bad ();
    end
    if (OVER == 3 || OVER == 4 || (OVER > 2 && OVER % 2 == 0 && OUT_SIGNED == 0)) begin : g_bad_codes
      OVER_must_saturate_at_codes_of_the_output u_bad ();
    end
    if (OVER > 2 && OUT_W < 31 && (OVER - 3) / 2 >= 1 << (OUT_W - (OUT_SIGNED != 0 ? 1 : 0))) begin : g_bad_limit
      OVER_must_have_a_limit_of_OUT_W_bits u_bad ();
    end
  endgenerate

  wire v_sign = IN_SIGNED != 0 ? in[IN_W-1] : 1'b0;
  wire signed [QW-1:0] q;

  generate
    if (SH <= 0) begin : g_left
      wire signed [QW-1:0] v = {{(QW - IN_W) {v_sign}}, in};
      assign q = v << -SH;
    end else begin : g_right
      wire [VW+SH-1:0] v = {{(VW + SH - IN_W) {v_sign}}, in};  // the floor is its upper part, whatever SH
      wire signed [QW-1:0] low = {{(QW - FW) {v_sign}}, v[SH+:FW]};
      wire up;
      num_round #(.CUT(SH), .ROUND(ROUND)) u_round (
          .cut(v[SH-1:0]), .odd(v[SH]), .plus(1'b1), .away(!v_sign), .up(up)
      );
      assign q = low + $signed({{(QW - 1) {1'b0}}, up});
      wire unused_low = &{1'b0, v};
    end

    if (OVER > 2) begin : g_limit
      localparam integer HIGH = (OVER - 3) / 2;
      localparam integer HW = $clog2(HIGH + 1);
      localparam integer XW = QW > OUT_W + 2 ? QW : OUT_W + 2;
      localparam [HW-1:0] MOST = HW'(HIGH);
      localparam [OUT_W-1:0] TOP = OUT_W'(HIGH);
      localparam [OUT_W-1:0] BOTTOM = ~TOP + OUT_W'(1);  // no ~ of a cast: Yosys takes it of the width
      wire [XW-1:0] x = {{(XW - QW) {q[QW-1]}}, q};
      wire more, less;  // of the low bits: beyond HIGH, beyond -HIGH
      if (&MOST) begin : g_all
        assign more = 1'b0;
        assign less = !(|x[HW-1:0]);
      end else begin : g_some
        assign more = x[HW-1:0] > MOST;
        assign less = x[HW-1:0] <= ~MOST;
      end
      wire above = !x[XW-1] && (|x[XW-2:HW] || more);
      if (OVER % 2 != 0) begin : g_from_zero
        assign out = x[XW-1] ? {OUT_W{1'b0}} : above ? TOP : x[OUT_W-1:0];
        wire unused_less = &{1'b0, less};
      end else begin : g_around_zero
        wire below = x[XW-1] && (!(&x[XW-2:HW]) || less);
        assign out = above ? TOP : below ? BOTTOM : x[OUT_W-1:0];
      end
    end else if (OVER == 2 || (OUT_SIGNED != 0 && QW < OUT_W)) begin : g_plain
      // No check needed (or wanted): a wider signed output holds every q.
      if (QW >= OUT_W) begin : g_cut
        assign out = q[OUT_W-1:0];
      end else begin : g_extend
        assign out = {{(OUT_W - QW) {q[QW-1]}}, q};
      end
    end else if (OUT_SIGNED != 0) begin : g_signed
      localparam [OUT_W-1:0] LEAST = {1'b1, {(OUT_W - 1) {1'b0}}};
      localparam [OUT_W-1:0] MOST = ~LEAST;
      wire fits = q[QW-1:OUT_W-1] == {(QW - OUT_W + 1) {q[QW-1]}};
      wire [OUT_W-1:0] sat = fits ? q[OUT_W-1:0] : q[QW-1] ? LEAST : MOST;
      if (OVER == 1) begin : g_sym
        assign out = sat == LEAST ? ~MOST + OUT_W'(1) : sat;
      end else begin : g_full
        assign out = sat;
      end
    end else begin : g_unsigned
      localparam integer XW = QW > OUT_W + 1 ? QW : OUT_W + 1;
      wire [XW-1:0] x = {{(XW - QW) {q[QW-1]}}, q};
      localparam [OUT_W-1:0] MOST = {OUT_W{1'b1}} ^ OUT_W'(OVER == 1);
      wire over = |x[XW-1:OUT_W] || (OVER == 1 && &x[OUT_W-1:0]);
      assign out = x[XW-1] ? {OUT_W{1'b0}} : over ? MOST : x[OUT_W-1:0];
    end
  endgenerate

  wire unused_top = &{1'b0, v_sign, q};
endmodule
`default_nettype wire
