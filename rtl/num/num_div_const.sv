// SPDX-License-Identifier: Apache-2.0
// num_div_const: out = over(round(in * 2^LSHIFT / N)), one exact division by a constant: averages.
//   The quotient of the magnitude a < 2^VW by D = N * 2^max(-LSHIFT, 0) is (a * MAGIC) >> MS with
//   MS = VW + clog2(D) and MAGIC = ceil(2^MS / D): MAGIC * D exceeds 2^MS by e < D, and a * e < 2^MS is
//   enough for equality (Granlund and Montgomery 1994, theorem 4.2). The remainder decides rounding and ties.
//   A power of two N costs no multiplier.
//   parameters  IN_W        bits of in
//               IN_SIGNED   1: in is two's complement
//               LSHIFT      scale of in before the division; may be negative
//               N           divisor, >= 1
//               OUT_W       bits of out
//               OUT_SIGNED  1: out is two's complement
//               ROUND       as num_requant
//               OVER        as num_requant
//               PIPE        1: registers after magnitude, quotient, remainder, rounding; 0: combinational
//   latency: 4 * PIPE   ii: 1   order: as it comes
//   let: POWER_OF_TWO = clog2(N + 1) > clog2(N) ? 1 : 0; MULTS = VW < 4 || DSP_A == 0 ? 0 : (MW + 1 > DSP_A ? 1 +
//       (MW + 17 - DSP_A) / 17 : 1) * (VW + 1 > DSP_B ? 1 + (VW + 17 - DSP_B) / 17 : 1)
//   lut: POWER_OF_TWO ? 0 : 3 * VW + 10
//   ff: POWER_OF_TWO || PIPE == 0 ? 0 : 3 * VW + 26
//   dsp: POWER_OF_TWO ? 0 : MULTS
//   parts: POWER_OF_TWO ? u_requant : 0
`default_nettype none
module num_div_const #(
    parameter integer IN_W       = 12,
    parameter integer IN_SIGNED  = 1,
    parameter integer LSHIFT     = 0,
    parameter integer N          = 9,
    parameter integer OUT_W      = 8,
    parameter integer OUT_SIGNED = 1,
    parameter integer ROUND      = 0,
    parameter integer OVER       = 0,
    parameter integer PIPE       = 0
) (
    input  wire             clk,
    input  wire             en,
    input  wire [ IN_W-1:0] in,
    output wire [OUT_W-1:0] out
);
  localparam integer LEFT = LSHIFT > 0 ? LSHIFT : 0;
  localparam integer RIGHT = LSHIFT < 0 ? -LSHIFT : 0;
  localparam integer VW = IN_W + LEFT;
  localparam integer DB = $clog2(N) + RIGHT;  // clog2(D)
  localparam integer DW = DB + 1;
  localparam integer MS = VW + DB;
  localparam integer MW = VW + 1;
  localparam integer PW = VW + MW;
  localparam integer QW = VW > DB ? VW + 1 - DB : 1;
  localparam [DW-1:0] D = DW'(N) << RIGHT;
  localparam [MS:0] D_WIDE = (MS + 1)'(N) << RIGHT;
  localparam [MS:0] POWER = {1'b1, {MS{1'b0}}};
  localparam [MS:0] MAGIC_WIDE = (POWER - 1'b1) / D_WIDE + 1'b1;
  localparam [MW-1:0] MAGIC = MAGIC_WIDE[MW-1:0];

  generate
    if (N < 1 || PIPE < 0 || PIPE > 1) begin : g_bad
      N_must_be_at_least_1_and_PIPE_0_or_1 u_bad ();
    end

    if ((1 << $clog2(N)) == N) begin : g_power
      wire [OUT_W-1:0] y;
      num_requant #(
          .IN_W(IN_W),
          .IN_SIGNED(IN_SIGNED),
          .SHIFT($clog2(N) - LSHIFT),
          .OUT_W(OUT_W),
          .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND),
          .OVER(OVER)
      ) u_requant (
          .in (in),
          .out(y)
      );
      num_delay #(
          .WIDTH(OUT_W),
          .DEPTH(4 * PIPE)
      ) u_delay (
          .clk(clk),
          .en (en),
          .in (y),
          .out(out)
      );
    end else begin : g_divide
      // 1: sign and magnitude
      wire neg = IN_SIGNED != 0 ? in[IN_W-1] : 1'b0;
      wire [IN_W-1:0] mag = neg ? ~in + IN_W'(1) : in;
      wire [IN_W-1:0] mag_1;
      wire neg_1;
      num_delay #(.WIDTH(IN_W + 1), .DEPTH(PIPE)) u_1 (.clk(clk), .en(en), .in({neg, mag}), .out({neg_1, mag_1}));

      // 2: quotient
      wire [VW-1:0] a = VW'(mag_1) << LEFT;
      wire [PW-1:0] prod = PW'(a) * PW'(MAGIC);
      wire [QW-1:0] quo = QW'(prod >> MS);
      wire [VW-1:0] a_2;
      wire [QW-1:0] quo_2;
      wire neg_2;
      num_delay #(.WIDTH(1 + VW + QW), .DEPTH(PIPE)) u_2 (
          .clk(clk), .en(en), .in({neg_1, a, quo}), .out({neg_2, a_2, quo_2})
      );

      // 3: remainder, below D: its low bits are enough
      wire [DW-1:0] rem = DW'(a_2) - DW'(quo_2) * D;
      wire [DW-1:0] rem_3;
      wire [QW-1:0] quo_3;
      wire neg_3;
      num_delay #(.WIDTH(1 + DW + QW), .DEPTH(PIPE)) u_3 (
          .clk(clk), .en(en), .in({neg_2, rem, quo_2}), .out({neg_3, rem_3, quo_3})
      );

      // 4: rounding of the magnitude
      wire [DW:0] twice = {rem_3, 1'b0};
      wire more = twice > {1'b0, D};
      wire tie = twice == {1'b0, D};
      wire up;
      num_round #(.ROUND(ROUND)) u_round (
          .cut({more || tie, |rem_3 && !tie}), .odd(quo_3[0]), .plus(!neg_3), .away(1'b1), .up(up)
      );
      wire [QW+1:0] size = {2'b00, quo_3} + (QW + 2)'(up);
      wire [QW+1:0] y = neg_3 ? ~size + (QW + 2)'(1) : size;
      wire [QW+1:0] y_4;
      num_delay #(.WIDTH(QW + 2), .DEPTH(PIPE)) u_4 (.clk(clk), .en(en), .in(y), .out(y_4));
      num_requant #(
          .IN_W(QW + 2),
          .IN_SIGNED(1),
          .SHIFT(0),
          .OUT_W(OUT_W),
          .OUT_SIGNED(OUT_SIGNED),
          .ROUND(ROUND),
          .OVER(OVER)
      ) u_over (
          .in (y_4),
          .out(out)
      );
      wire unused = &{1'b0, prod, a_2};
    end
  endgenerate
endmodule
`default_nettype wire
