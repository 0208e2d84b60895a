// SPDX-License-Identifier: Apache-2.0
// num_round: whether rounding takes the number above what is left of a value, a signed floor or a magnitude, of which
//   bits were cut off.
//   parameters  CUT    bits that were cut off
//               ROUND  0 even 1 away 2 up 3 down 4 halfzero 5 floor 6 ceil 7 zero 8 outward
//   odd: what is left is odd. plus, away: the number above is the greater one; the one farther from zero.
//   Its cells are counted with the addition behind it.
//   latency: 0   ii: 1   order: combinational
//   lut: 0
`default_nettype none
module num_round #(
    parameter integer CUT   = 2,
    parameter integer ROUND = 0
) (
    input  wire [CUT-1:0] cut,
    input  wire           odd,
    input  wire           plus,
    input  wire           away,
    output wire           up
);
  wire half = cut[CUT-1];
  wire sticky;
  generate
    if (CUT < 1 || ROUND < 0 || ROUND > 8) begin : g_bad
      CUT_must_be_at_least_1_and_ROUND_0_to_8 u_bad ();
    end

    if (CUT > 1) begin : g_sticky
      assign sticky = |cut[CUT-2:0];
    end else begin : g_none
      assign sticky = 1'b0;
    end
    if (ROUND < 5) begin : g_nearest
      wire tie = ROUND == 0 ? odd : ROUND == 1 ? away : ROUND == 2 ? plus : ROUND == 3 ? !plus : !away;
      assign up = half && (sticky || tie);
    end else begin : g_directed
      wire here = ROUND == 5 ? !plus : ROUND == 6 ? plus : ROUND == 7 ? !away : away;
      assign up = here && (half || sticky);
    end
  endgenerate
  wire unused = &{1'b0, odd, plus, away};
endmodule
`default_nettype wire
