// SPDX-License-Identifier: Apache-2.0
// num_chain_pair: two starts, each plus the exact sum, over the beats of a vector, of dot products with the same N x,
//   in DSP48E2 alone: a DSP multiplies x by two weights, cascades of up to LONG DSPs add both products side by side,
//   and a DSP behind each cascade adds both sums over the beats. The sum with b begins with half of what its bits can
//   hold, so that it never borrows from the sum above it.
//   parameters  N           elements of x
//               X_W         bits of each x
//               X_SIGNED    1: x is two's complement
//               W_W         bits of each a and b, two's complement, 3 to 16
//               START_W     bits of each start, two's complement
//               OUT_W       bits of each out, up to 24; sums wrap
//               LONG        DSPs of a cascade, at most, 1 to 6. The sum of the products with b in a cascade, elements
//                           r * PER to r * PER + PER - 1, must fit 26 - W_W bits, two's complement
//               ONE_BEAT    1: every beat is a vector
//   A DSP takes x of up to 18 bits, a sign before an unsigned x included. first, valid and start belong to the sums
//   over the beats: they come 5 + LAST enabled cycles after x, a and b. These sums move where valid is 1. start and out
//   have those of b low.
//   latency: 6 + ((N + LONG - 1) / LONG - 1) / 2   ii: 1   order: as it comes
//   let: ROWS = (N + LONG - 1) / LONG; LAST = (ROWS - 1) / 2
//   lut: 1 + (LAST > 3 ? 96 * (LAST - 3) : 0)
//   ff: LAST < 2 ? 0 : LAST == 2 ? 96 : 288
//   dsp: N + ROWS
`default_nettype none
module num_chain_pair #(
    parameter integer N        = 8,
    parameter integer X_W      = 8,
    parameter integer X_SIGNED = 1,
    parameter integer W_W      = 8,
    parameter integer START_W  = 16,
    parameter integer OUT_W    = 24,
    parameter integer LONG     = 4,
    parameter integer ONE_BEAT = 0
) (
    input  wire                 clk,
    input  wire                 en,
    input  wire                 first,
    input  wire                 valid,
    input  wire [2*START_W-1:0] start,
    input  wire [    N*X_W-1:0] x,
    input  wire [    N*W_W-1:0] a,
    input  wire [    N*W_W-1:0] b,
    output wire [  2*OUT_W-1:0] out
);
  localparam integer ROWS = (N + LONG - 1) / LONG;  // cascades
  localparam integer PER = (N + ROWS - 1) / ROWS;  // DSPs of one, the last one may have fewer
  localparam integer SHARE = PER > 3 ? 2 : 1;  // DSPs to a register of the cascade
  localparam integer LAST = (ROWS - 1) / 2;  // registers between the sums of cascades, one for two
  localparam integer X_X = X_SIGNED != 0 ? X_W : X_W + 1;
  localparam integer SHIFT = 26 - W_W;  // of the products with a

  generate
    if (N < 1 || LONG < 1 || LONG > 6 || OUT_W > 24 || START_W > 24 || X_X > 18) begin : g_bad
      LONG_must_be_1_to_6_sums_have_up_to_24_bits_and_x_18 u_bad ();
    end
  endgenerate

  wire signed [START_W-1:0] start_a = start[2*START_W-1:START_W], start_b = start[START_W-1:0];
  wire [(ROWS+1)*48-1:0] added;
  assign added[47:0] = 48'd0;
  generate
    for (genvar r = 0; r < ROWS; r++) begin : g_row
      localparam integer FROM = r * PER;
      localparam integer COUNT = FROM + PER > N ? N - FROM : PER;
      wire [(COUNT+1)*48-1:0] cascade;
      wire [47:0] p;
      assign cascade[47:0] = 48'd0;
      for (genvar i = 0; i < COUNT; i++) begin : g_dsp
        localparam integer LEFT = COUNT - 1 - i;  // DSPs behind it
        wire signed [X_X-1:0] x_s = X_X'({X_SIGNED != 0 && x[(FROM+i)*X_W+X_W-1], x[(FROM+i)*X_W+:X_W]});
        wire [47:0] result;
        num_dsp_pair #(
            .W_W(W_W), .REGS(2 - LEFT / SHARE), .P_REG(LEFT % SHARE == 0 ? 1 : 0), .ADD(i > 0 ? 1 : 0)
        ) u_dsp (
            .clk(clk), .en(en), .x(18'(x_s)), .a(a[(FROM+i)*W_W+:W_W]), .b(b[(FROM+i)*W_W+:W_W]),
            .pcin(cascade[i*48+:48]), .p(result), .pcout(cascade[(i+1)*48+:48])
        );
        if (LEFT == 0) begin : g_end
          assign p = result;
        end else begin : g_inside
          wire unused = &{1'b0, result};
        end
      end

      localparam integer BEHIND = ROWS - 1 - r;  // cascades
      localparam integer WAIT = 1 + LAST - BEHIND / 2;  // cycles until its sums are added
      wire signed [SHIFT-1:0] low = {~p[SHIFT-1], p[SHIFT-2:0]};  // less the half
      wire [47:0] sums, late;
      assign sums = {p[SHIFT+:24], 24'(low)};
      num_delay #(.WIDTH(48), .DEPTH(WAIT > 2 ? WAIT - 2 : 0)) u_late (.clk(clk), .en(en), .in(sums), .out(late));
      wire [47:0] all;
      num_dsp_two #(
          .REGS(WAIT > 2 ? 2 : WAIT), .P_REG(BEHIND % 2 == 0 ? 1 : 0), .ADD(r > 0 ? 1 : 0), .SUM(BEHIND == 0 ? 1 : 0)
      ) u_sums (
          .clk(clk), .en(en), .take(en && (BEHIND > 0 || valid)), .in(late), .pcin(added[r*48+:48]),
          .first(ONE_BEAT != 0 || first), .c({24'(start_a), 24'(start_b)}), .p(all), .pcout(added[(r+1)*48+:48])
      );
      if (BEHIND == 0) begin : g_end
        assign out = {all[24+:OUT_W], all[0+:OUT_W]};
      end
      wire unused = &{1'b0, cascade, p, all};
    end
  endgenerate
  wire unused = &{1'b0, first, added};
endmodule
`default_nettype wire
