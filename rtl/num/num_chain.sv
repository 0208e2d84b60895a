// SPDX-License-Identifier: Apache-2.0
// num_chain: start plus the exact sum, over the beats of a vector, of dot products of N pairs, in DSP48E2 alone:
//   products, their sums along cascades of up to 8 DSPs, the sum over the beats. Only what adds the results of several
//   cascades lies outside.
//   An element enters its cascade as many cycles late as its DSP has registers before the adder, none to three, so all
//   operands come side by side. One or two DSPs share a register of the cascade.
//   parameters  N          pairs
//               A_W        bits of each a
//               A_SIGNED   1: a is two's complement
//               B_W        bits of each b, two's complement
//               START_W    bits of start, two's complement
//               OUT_W      bits of out, up to 48; the sum wraps
//               ONE_BEAT   1: every beat is a vector
//   A DSP takes 27 bits by 18, a sign before an unsigned a included. first, valid and start belong to the sum: they
//   come (N > 1 ? N > 4 ? 3 : 2 : 1) enabled cycles after a and b. The sum moves where valid is 1.
//   latency: (N > 1 ? N > 4 ? 4 : 3 : 2) + clog2((N + 7) / 8) / 2   ii: 1   order: as it comes
//   lut: ROWS > 1 ? OUT_W + 1 : 1
//   ff: 0
//   dsp: N
//   parts: ROWS > 1 ? u_even + u_odd : 0
`default_nettype none
module num_chain #(
    parameter integer N        = 8,
    parameter integer A_W      = 8,
    parameter integer A_SIGNED = 1,
    parameter integer B_W      = 8,
    parameter integer START_W  = 16,
    parameter integer OUT_W    = 24,
    parameter integer ONE_BEAT = 0
) (
    input  wire               clk,
    input  wire               en,
    input  wire               first,
    input  wire               valid,
    input  wire [START_W-1:0] start,
    input  wire [  N*A_W-1:0] a,
    input  wire [  N*B_W-1:0] b,
    output wire [  OUT_W-1:0] out
);
  localparam integer ROWS = (N + 7) / 8;  // cascades
  localparam integer PER = (N + ROWS - 1) / ROWS;  // DSPs of one, the last one may have fewer
  localparam integer LATE = N > 4 ? 3 : N > 1 ? 2 : 1;  // from a and b to the last adder
  localparam integer SHARE = PER > LATE ? 2 : 1;  // DSPs to a register of the cascade
  localparam integer A_X = A_SIGNED != 0 ? A_W : A_W + 1;
  localparam integer HALF = (ROWS + 1) / 2;
  localparam integer SUM_W = OUT_W + $clog2(HALF);

  generate
    if (N < 1 || OUT_W > 48 || START_W > 48 || (A_X > B_W ? A_X : B_W) > 27 || (A_X > B_W ? B_W : A_X) > 18)
        begin : g_bad
      operands_must_fit_27_by_18_bits_and_sums_48 u_bad ();
    end
  endgenerate

  wire take = en && valid;
  wire signed [START_W-1:0] start_s = start;
  wire [2*HALF*OUT_W-1:0] sums;  // of the cascades, and zeros
  generate
    for (genvar r = 0; r < 2 * HALF; r++) begin : g_row
      localparam integer FROM = r * PER;
      localparam integer COUNT = FROM >= N ? 0 : FROM + PER > N ? N - FROM : PER;
      if (COUNT == 0) begin : g_none
        assign sums[r*OUT_W+:OUT_W] = {OUT_W{1'b0}};
      end else begin : g_cascade
        wire [(COUNT+1)*48-1:0] cascade;
        wire [47:0] p;
        assign cascade[47:0] = 48'd0;
        for (genvar i = 0; i < COUNT; i++) begin : g_dsp
          localparam integer LEFT = COUNT - 1 - i;  // DSPs behind it
          localparam integer WAIT = LATE - LEFT / SHARE;  // cycles until its product is added
          wire signed [A_X-1:0] x = A_X'({A_SIGNED != 0 && a[(FROM+i)*A_W+A_W-1], a[(FROM+i)*A_W+:A_W]});
          wire signed [B_W-1:0] y = b[(FROM+i)*B_W+:B_W];
          wire [47:0] result;
          num_dsp #(
              .REGS(WAIT > 1 ? WAIT - 1 : 0), .M_REG(WAIT > 0 ? 1 : 0), .P_REG(LEFT % SHARE == 0 ? 1 : 0),
              .ADD(i > 0 ? 1 : 0), .SUM(LEFT == 0 ? 1 : 0)
          ) u_dsp (
              .clk(clk), .en(en), .take(LEFT == 0 ? take : en), .a(A_X > B_W ? 27'(x) : 27'(y)),
              .b(A_X > B_W ? 18'(y) : 18'(x)), .pcin(cascade[i*48+:48]), .first(ONE_BEAT != 0 || first),
              .c(r == 0 ? 48'(start_s) : 48'd0), .p(result), .pcout(cascade[(i+1)*48+:48])
          );
          if (LEFT == 0) begin : g_end
            assign p = result;
          end else begin : g_inside
            wire unused = &{1'b0, result};
          end
        end
        assign sums[r*OUT_W+:OUT_W] = p[OUT_W-1:0];
        wire unused = &{1'b0, cascade, p};
      end
    end

    if (ROWS == 1) begin : g_one
      assign out = sums[OUT_W-1:0];
      wire unused = &{1'b0, sums};
    end else begin : g_several
      wire [SUM_W-1:0] even, odd;
      num_add_tree #(.N(HALF), .IN_W(OUT_W), .PIPE(2)) u_even (
          .clk(clk), .en(en), .in(sums[0+:HALF*OUT_W]), .out(even)
      );
      num_add_tree #(.N(HALF), .IN_W(OUT_W), .PIPE(2)) u_odd (
          .clk(clk), .en(en), .in(sums[HALF*OUT_W+:HALF*OUT_W]), .out(odd)
      );
      assign out = even[OUT_W-1:0] + odd[OUT_W-1:0];
      wire unused = &{1'b0, even, odd};
    end
  endgenerate
endmodule
`default_nettype wire
