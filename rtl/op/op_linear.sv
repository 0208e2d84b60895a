// SPDX-License-Identifier: Apache-2.0
// op_linear: folded matrix-vector product with bias and one requantisation; exact inside.
//   y[o] = over(round((sum_j x[j] * w[o][j]) * 2^psh[o] + bias[o], SHIFT)); vectors of IN become vectors of OUT.
//   Where scales are no powers of two, y[o] = over(ZERO + round(((..) * 2^psh[o] + bias[o]) * m[o], SHIFT)).
//   SF = IN / IN_LANES beats come in, NF = OUT / OUT_LANES go out. The vector is taken while the first OUT_LANES
//   outputs are computed and replayed from a buffer for the others, so in_ready is low for SF * (NF - 1) cycles a
//   vector: a producer that spreads its beats needs a FIFO of SF beats in front.
//   A convolution is a window generator in front of this with IN = KH * KW * IC. A grouped one has GROUPS vectors a
//   window, each with weights of its own: OUT outputs a vector.
//   parameters  IN, OUT              lengths of the two vectors
//               IN_LANES, OUT_LANES  elements a beat, divisors of IN and OUT; IN_LANES * OUT_LANES multipliers
//               IN_W, IN_SIGNED      bits of x, 1: two's complement
//               W_W                  bits of a weight, two's complement
//               IN_E, IN_NAN, W_E    x and weights may be codes of floats, whose field has so many bits: see
//                                    num_mul_float; -1: signs, bits that are 1 for +1; 0: integers
//               KEEP, OF             of each OF neighbours of x, a row has weights for KEEP: others meet nothing, and
//                                    are not in the image. 1 of 1: for all; OF divides IN_LANES
//               DOT_W                bits that hold every exact sum_j x[j] * w[o][j]
//               BIAS_W               bits of a bias, two's complement
//               PSH_W                bits of psh[o], 0: no left shifts
//               T_W                  bits that hold every exact sum after shift and bias
//               M_W                  bits of m[o], unsigned; 0: no factors
//               ZERO                 zero point of the output
//               SHIFT, OUT_W, OUT_SIGNED, ROUND, OVER   the cast to the output, see num_requant
//               WEIGHTS, WEIGHTS_SUM image: word nf * SF + sf, w[nf * OUT_LANES + p][sf * IN_LANES + s] at
//                                    bit (p * IN_LANES + s) * W_W; with OF > 1 see op_linear_meet
//               CONSTS, CONSTS_SUM   image: word nf, {m, psh, bias} of output nf * OUT_LANES + p at bit
//                                    p * (M_W + PSH_W + BIAS_W)
//               ROM_STYLE            "auto", "block" or "distributed": memory of the weights
//               MULT                 "auto", "dsp", "lut" or "low": of the multipliers, see num_dot; "pack": a DSP for
//                                    two products, or four of up to 8 bits, which divide OUT_LANES, see num_mul_pair
//                                    and num_mul_four; "chain": products and sums in DSP48E2, integers, see
//                                    num_chain, for which TREE_PIPE means nothing. "pack" needs OF = 1
//               LONG                 DSPs in a row that add two products each where MULT is "pack", see num_chain_pair;
//                                    0: sums take LUTs
//               TREE_PIPE            adder levels between registers, 1 or 2
//               GROUPS               vectors that take turns; the images hold one after the other
//               SETS, SWEEPS         layers that share the unit, each with images of its own, and how often GROUPS
//                                    vectors of each come before those of the next one: see mem_sets
//   latency: u_fed   ii: u_fed   order: elements ascending, lanes innermost
//   front: u_fed
//   flow: u_fed
//   lut: 0
//   parts: u_fed + u_weights
`default_nettype none
module op_linear #(
    parameter integer IN          = 16,
    parameter integer OUT         = 8,
    parameter integer IN_LANES    = 4,
    parameter integer OUT_LANES   = 2,
    parameter integer IN_W        = 8,
    parameter integer IN_SIGNED   = 1,
    parameter integer IN_E        = 0,
    parameter integer IN_NAN      = 0,
    parameter integer W_W         = 8,
    parameter integer W_E         = 0,
    parameter integer DOT_W       = 20,
    parameter integer BIAS_W      = 16,
    parameter integer PSH_W       = 0,
    parameter integer T_W         = 21,
    parameter integer M_W         = 0,
    parameter integer SHIFT       = 7,
    parameter integer ZERO        = 0,
    parameter integer OUT_W       = 8,
    parameter integer OUT_SIGNED  = 1,
    parameter integer ROUND       = 0,
    parameter integer OVER        = 0,
    parameter         WEIGHTS     = "",
    parameter [31:0]  WEIGHTS_SUM = 32'd0,
    parameter         CONSTS      = "",
    parameter [31:0]  CONSTS_SUM  = 32'd0,
    parameter         ROM_STYLE   = "auto",
    parameter         MULT        = "auto",
    parameter integer TREE_PIPE   = 1,
    parameter integer GROUPS      = 1,
    parameter integer SETS        = 1,
    parameter integer SWEEPS      = 1,
    parameter integer KEEP        = 1,
    parameter integer OF          = 1,
    parameter integer LONG        = 0
) (
    input  wire                       clk,
    input  wire                       rst,
    input  wire [  IN_LANES*IN_W-1:0] in_data,
    input  wire                       in_valid,
    output wire                       in_ready,
    output wire [OUT_LANES*OUT_W-1:0] out_data,
    output wire                       out_valid,
    input  wire                       out_ready
);
  localparam integer WORDS = GROUPS * (IN / IN_LANES) * (OUT / OUT_LANES);
  localparam integer AW = WORDS > 1 ? $clog2(WORDS) : 1;
  wire en, step;
  wire [AW-1:0] addr;
  localparam integer WIDTH = OUT_LANES * (IN_LANES / OF * KEEP) * (W_W + $clog2(OF));
  wire [WIDTH-1:0] w;

  op_linear_fed #(
      .IN(IN), .OUT(OUT), .IN_LANES(IN_LANES), .OUT_LANES(OUT_LANES), .IN_W(IN_W), .IN_SIGNED(IN_SIGNED), .IN_E(IN_E),
      .IN_NAN(IN_NAN), .W_W(W_W), .W_E(W_E), .DOT_W(DOT_W), .BIAS_W(BIAS_W), .PSH_W(PSH_W), .T_W(T_W),
      .M_W(M_W), .SHIFT(SHIFT), .ZERO(ZERO), .OUT_W(OUT_W),
      .OUT_SIGNED(OUT_SIGNED), .ROUND(ROUND), .OVER(OVER), .CONSTS(CONSTS), .CONSTS_SUM(CONSTS_SUM), .MULT(MULT),
      .TREE_PIPE(TREE_PIPE), .GROUPS(GROUPS), .SETS(SETS), .SWEEPS(SWEEPS), .KEEP(KEEP), .OF(OF), .LONG(LONG)
  ) u_fed (
      .clk(clk), .rst(rst), .in_data(in_data), .in_valid(in_valid), .in_ready(in_ready),
      .w_en(en), .w_step(step), .w_addr(addr), .w_ready(1'b1), .w_data(w),
      .out_data(out_data), .out_valid(out_valid), .out_ready(out_ready)
  );

  mem_sets #(
      .WIDTH(WIDTH), .DEPTH(WORDS), .SETS(SETS), .SWEEPS(SWEEPS), .IMAGE(WEIGHTS),
      .IMAGE_SUM(WEIGHTS_SUM), .STYLE(ROM_STYLE)
  ) u_weights (
      .clk(clk), .rst(rst), .en(en), .step(step), .addr(addr), .data(w)
  );
endmodule
`default_nettype wire
