// SPDX-License-Identifier: Apache-2.0
// num_mul: registered product of a signed or unsigned a and a signed b.
//   Give it registered operands: then one DSP takes operands, multiplier and this register.
//   parameters  A_W       bits of a
//               A_SIGNED  1: a is two's complement
//               B_W       bits of b, two's complement
//               MULT      "auto" or "low": the tool decides, "dsp": use_dsp = yes, "lut": a sum of shifted operands,
//                         which no tool makes a DSP of
//   latency: 1   ii: 1   order: as it comes
//   let: A_X = A_SIGNED ? A_W : A_W + 1; BIG = max(A_X, B_W); SMALL = min(A_X, B_W); MULTS = SMALL < 2 || A_W +
//       B_W < DSP_LEAST || DSP_A == 0 || MULT == "lut" ? 0 : (BIG > DSP_A ? 1 + (BIG + 16 - DSP_A) / 17 : 1) *
//       (SMALL > DSP_B ? 1 + (SMALL + 16 - DSP_B) / 17 : 1)
//   lut: MULTS > 0 ? (MULTS - 1) * (A_W + B_W - 17) : MULT == "lut" ? A_W * B_W * 9 / 5 : A_W * B_W * 6 / 5
//   ff: A_W + B_W
//   dsp: MULTS
`default_nettype none
module num_mul #(
    parameter integer A_W      = 8,
    parameter integer A_SIGNED = 1,
    parameter integer B_W      = 8,
    parameter         MULT     = "auto"
) (
    input  wire               clk,
    input  wire               en,
    input  wire [    A_W-1:0] a,
    input  wire [    B_W-1:0] b,
    output wire [A_W+B_W-1:0] out
);
  localparam integer PW = A_W + B_W;
  // A bit of zero in front of an unsigned a; the product still fits PW bits.
  wire signed [A_W:0] a_s = {A_SIGNED != 0 ? a[A_W-1] : 1'b0, a};

  generate
    /* verilator lint_off WIDTH */  // strings of different lengths are compared
    if (MULT == "dsp") begin : g_dsp
      wire signed [PW-1:0] prod = PW'(a_s) * PW'($signed(b));
      (* use_dsp = "yes" *) logic [PW-1:0] p;
      always_ff @(posedge clk) if (en) p <= prod;
      assign out = p;
    end else if (MULT == "lut") begin : g_lut
      // Neighbouring bits of b make a term, the terms a tree; the top bit of b counts negative.
      localparam integer TERMS = (B_W + 1) / 2;
      localparam integer TW = A_W + 3;
      wire [TERMS*PW-1:0] terms;
      for (genvar i = 0; i < TERMS; i++) begin : g_term
        wire signed [TW-1:0] one = b[2*i] ? TW'(a_s) : {TW{1'b0}};
        wire signed [TW-1:0] sum;
        if (2 * i + 1 == B_W) begin : g_last
          assign sum = -one;
        end else if (2 * i + 2 == B_W) begin : g_top
          assign sum = one - (b[2*i+1] ? TW'(a_s) << 1 : {TW{1'b0}});
        end else begin : g_pair
          assign sum = one + (b[2*i+1] ? TW'(a_s) << 1 : {TW{1'b0}});
        end
        wire unused_sum = &{1'b0, sum};  // its top bits, where the product is narrow
        assign terms[i*PW+:PW] = PW'(sum) << (2 * i);
      end
      wire [PW+$clog2(TERMS)-1:0] all;
      num_add_tree #(
          .N(TERMS),
          .IN_W(PW),
          .PIPE(0)
      ) u_tree (
          .clk(clk),
          .en (en),
          .in (terms),
          .out(all)
      );
      (* use_dsp = "no" *) logic [PW-1:0] p;
      always_ff @(posedge clk) if (en) p <= all[PW-1:0];
      wire unused = &{1'b0, all};
      assign out = p;
    end else begin : g_auto
      wire signed [PW-1:0] prod = PW'(a_s) * PW'($signed(b));
      logic [PW-1:0] p;
      always_ff @(posedge clk) if (en) p <= prod;
      assign out = p;
    end
    /* verilator lint_on WIDTH */
  endgenerate
endmodule
`default_nettype wire
