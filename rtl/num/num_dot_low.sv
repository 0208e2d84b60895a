// SPDX-License-Identifier: Apache-2.0
// num_dot_low: exact dot product of N pairs without DSPs, for factors of few bits. A factor of one or two bits selects
//   0, x or 2x, inverted where it is negative; one of up to four bits makes two such terms (Booth). What inverted terms
//   lack, 1, enters the carry of an adder of the tree. Signs need no term: an adder subtracts where two of them differ.
//   parameters  N         pairs
//               A_W       bits of each a
//               A_SIGNED  1: a is two's complement
//               B_W       bits of each b, two's complement, up to 4
//               A_E, B_E  -1: a or b are signs, bits that are 1 for +1 and 0 for -1; 0: integers. Not both are signs; b
//                         may have any number of bits where a are signs
//               PIPE      registers of the tree, see num_add_tree; the first stage has one adder where terms need none
//   out has A_W + B_W + clog2(N) bits, two's complement.
//   latency: 1 + min(PIPE, 1) * (clog2(N) + PIPE - 1) / max(PIPE, 1)   ii: 1   order: as it comes
//   let: SIGNS = A_E < 0 || B_E < 0 ? 1 : 0; LEVELS = clog2(N); PW = A_W + B_W; ONE = SIGNS || B_W < 3 ? 1 : 0
//   lut: (SIGNS ? PW + N / 3 : ONE ? (N + 1) / 2 * (A_W + 1) : N * 2 * (A_W + 1)) +
//       sum(l, 1, LEVELS, ((N + (1 << (l - 1)) - 1) >> (l - 1)) / 2 * (PW + l - 1))
//   lut4: (SIGNS ? PW + N / 3 : ONE ? (N + 1) / 2 * (A_W + 1) : N * 6 * (A_W + 1)) + sum(l, 1, LEVELS, ((N + (1 << (l
//       - 1)) - 1) >> (l - 1)) / 2 * ((PW + l + 1) / 2 * 2))
//   ff: sum(l, 0, LEVELS, PIPE == 1 || (PIPE == 0 ? l == (ONE && LEVELS > 0 ? 1 : 0) : l == LEVELS || (l > 0 &&
//       (LEVELS - l) % 2 == 0) || (ONE && LEVELS > 1 ? l == 1 || (l == 2 && LEVELS % 2 != 0) : l == 0)) ?
//       ((N + (1 << l) - 1) >> l) * (PW + l + 1) - 1 : 0)
`default_nettype none
module num_dot_low #(
    parameter integer N        = 4,
    parameter integer A_W      = 8,
    parameter integer A_SIGNED = 1,
    parameter integer B_W      = 2,
    parameter integer A_E      = 0,
    parameter integer B_E      = 0,
    parameter integer PIPE     = 2
) (
    input  wire                         clk,
    input  wire                         en,
    input  wire [            N*A_W-1:0] a,
    input  wire [            N*B_W-1:0] b,
    output wire [A_W+B_W+$clog2(N)-1:0] out
);
  localparam integer SIGNS = A_E < 0 || B_E < 0 ? 1 : 0;
  localparam integer X_W = A_E < 0 ? B_W : A_W;
  localparam integer X_SIGNED = A_E < 0 ? 1 : A_SIGNED;
  localparam integer PW = A_W + B_W;
  localparam integer DIGITS = SIGNS != 0 || B_W < 3 ? 1 : 2;
  localparam integer LEVELS = $clog2(N);

  generate
    if (N < 1 || PIPE < 0 || PIPE > 2) begin : g_bad
      N_must_be_at_least_1_and_PIPE_0_to_2 u_bad ();
    end
    if ((A_E < 0 && (A_W != 1 || B_E < 0)) || (B_E < 0 && B_W != 1) || (SIGNS == 0 && B_W > 4)) begin : g_bad_widths
      signs_have_one_bit_and_other_b_up_to_4 u_bad ();
    end

    // A node stands for u, or -u where minus is set (signs), or u + minus (digits); the first one of a level for u.
    for (genvar l = 0; l <= LEVELS; l++) begin : g_level
      localparam integer W = PW + l;
      localparam integer BELOW = l > 0 ? (N + (1 << (l - 1)) - 1) >> (l - 1) : 0;  // nodes on the level before
      localparam integer FIRST = DIGITS == 1 && LEVELS > 0 ? 1 : 0;  // the level of the first register
      localparam integer REG = PIPE == 1 ? 1 : PIPE == 0 ? (l == FIRST ? 1 : 0) :
          l == LEVELS || (l > 0 && (LEVELS - l) % 2 == 0) ? 1 : DIGITS == 1 && LEVELS > 1 ?
          (l == 1 || (l == 2 && LEVELS % 2 != 0) ? 1 : 0) : l == 0 ? 1 : 0;
      for (genvar i = 0; i < (N + (1 << l) - 1) >> l; i++) begin : g_node
        wire signed [W-1:0] u;
        wire minus;
        wire signed [W-1:0] made;
        wire owes;
        wire unused_minus = &{1'b0, minus};
        if (l == 0) begin : g_term
          wire signed [PW-1:0] term;
          wire negative;
          if (SIGNS != 0) begin : g_sign
            wire [X_W-1:0] x = A_E < 0 ? X_W'(b[i*B_W+:B_W]) : X_W'(a[i*A_W+:A_W]);
            wire signed [X_W:0] x_s = {X_SIGNED != 0 && x[X_W-1], x};
            assign term = PW'(x_s);
            assign negative = A_E < 0 ? !a[i*A_W] : !b[i*B_W];
            assign made = i > 0 ? term : negative ? -term : term;
          end else begin : g_digits
            wire signed [A_W:0] x = {A_SIGNED != 0 && a[i*A_W+A_W-1], a[i*A_W+:A_W]};
            wire [B_W-1:0] f = b[i*B_W+:B_W];
            wire [4:0] bits = {{(5 - B_W) {f[B_W-1]}}, f} << 1;  // with the bit below the lowest digit
            wire signed [A_W+1:0] low = bits[1] != bits[0] ? (A_W + 2)'(x) : bits[2] != bits[1] ?
                (A_W + 2)'(x) << 1 : (A_W + 2)'(0);
            wire signed [A_W+1:0] lows = low ^ {A_W + 2{bits[2]}};
            assign negative = bits[2];
            if (DIGITS == 1) begin : g_one
              assign term = PW'(lows);
            end else begin : g_two
              wire signed [A_W+1:0] high = bits[3] != bits[2] ? (A_W + 2)'(x) : bits[4] != bits[3] ?
                  (A_W + 2)'(x) << 1 : (A_W + 2)'(0);
              wire signed [A_W+1:0] highs = high ^ {A_W + 2{bits[4]}};
              wire signed [PW-3:0] above = (PW - 2)'($signed(lows[A_W+1:2]));
              wire signed [PW-3:0] below = (PW - 2)'(highs);
              wire [PW-2:0] sum = {above, 1'b0} - {~below, !bits[4]};
              assign term = {sum[PW-2:1], lows[1:0]};
              wire unused_sum = &{1'b0, sum[0], highs};
            end
            wire unused_lows = &{1'b0, lows, bits};
            assign made = i > 0 ? term : term + PW'({1'b0, negative});
          end
          assign owes = i > 0 && negative;
        end else begin : g_add
          wire signed [W-2:0] p = g_level[l-1].g_node[2*i].u;
          assign owes = g_level[l-1].g_node[2*i].minus;
          if (2 * i + 1 < BELOW) begin : g_pair
            wire signed [W-2:0] q = g_level[l-1].g_node[2*i+1].u;
            wire carry = g_level[l-1].g_node[2*i+1].minus ^ (SIGNS != 0 && owes);
            // p + q + carry or p - q, as a subtraction: Yosys swaps the operands of additions, and takes one of them as
            // it is into the carry chain, so that the inversion of the other would cost LUTs.
            wire signed [W-1:0] other = SIGNS != 0 && carry ? W'(q) : ~(W'(q));
            wire [W:0] sum = {W'(p), 1'b0} - {other, !carry};
            assign made = sum[W:1];
            wire unused_sum = &{1'b0, sum[0]};
          end else begin : g_odd
            assign made = W'(p);
          end
        end
        if (REG != 0) begin : g_reg
          logic [W-1:0] u_q;
          always_ff @(posedge clk) if (en) u_q <= made;
          assign u = u_q;
          if (i > 0) begin : g_owes
            logic minus_q;
            always_ff @(posedge clk) if (en) minus_q <= owes;
            assign minus = minus_q;
          end else begin : g_clear
            assign minus = 1'b0;
            wire unused_owes = &{1'b0, owes};
          end
        end else begin : g_wire
          assign u = made;
          assign minus = owes;
        end
      end
    end
  endgenerate

  assign out = g_level[LEVELS].g_node[0].u;
  wire unused_top = &{1'b0, clk, en, a, b};
endmodule
`default_nettype wire
