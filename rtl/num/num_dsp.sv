// SPDX-License-Identifier: Apache-2.0
// num_dsp: one DSP48E2 of UltraScale+: a product, with what the DSP before it has made, and with c or the sum so far.
//   Synthesis gets the primitive, simulation the same in plain form (AMD UG579, attributes and OPMODE).
//   parameters  REGS   registers of the operands, 0 to 2
//               M_REG  1: one of the product
//               P_REG  1: one of the sum
//               ADD    1: pcin is added, which is pcout of the DSP before
//               SUM    1: where first is 0 the sum so far is added, where it is 1 c; needs P_REG. 0: neither
//   take: the register of the sum moves; en: all others. first, c and pcin belong to the sum, REGS + M_REG cycles after
//   a and b.
//   latency: REGS + M_REG + P_REG   ii: 1   order: as it comes
//   lut: 0
//   ff: 0
//   dsp: 1
`default_nettype none
module num_dsp #(
    parameter integer REGS  = 1,
    parameter integer M_REG = 1,
    parameter integer P_REG = 1,
    parameter integer ADD   = 1,
    parameter integer SUM   = 1
) (
    input  wire        clk,
    input  wire        en,
    input  wire        take,
    input  wire [26:0] a,  // two's complement, as all of these
    input  wire [17:0] b,
    input  wire [47:0] pcin,
    input  wire        first,
    input  wire [47:0] c,
    output wire [47:0] p,
    output wire [47:0] pcout
);
  generate
    if (REGS < 0 || REGS > 2 || M_REG < 0 || M_REG > 1 || P_REG < 0 || P_REG > 1 || (SUM != 0 && P_REG == 0))
        begin : g_bad
      REGS_must_be_0_to_2_the_others_0_or_1_and_SUM_needs_P_REG u_bad ();
    end
  endgenerate

`ifdef SYNTHESIS
  // W: P or C, Z: PCIN, Y and X: the product.
  wire [8:0] opmode = {SUM != 0 && first, SUM != 0, 2'b00, ADD != 0, 4'b0101};
  DSP48E2 #(
      .AREG(REGS), .BREG(REGS), .ACASCREG(REGS), .BCASCREG(REGS), .MREG(M_REG), .PREG(P_REG), .ADREG(0), .CREG(0),
      .DREG(0), .ALUMODEREG(0), .CARRYINREG(0), .CARRYINSELREG(0), .INMODEREG(0), .OPMODEREG(0), .AMULTSEL("A"),
      .BMULTSEL("B"), .A_INPUT("DIRECT"), .B_INPUT("DIRECT"), .USE_MULT("MULTIPLY"), .USE_SIMD("ONE48")
  ) u_dsp (
      .CLK(clk), .A({{3{a[26]}}, a}), .B(b), .C(c), .D(27'd0), .PCIN(pcin), .P(p), .PCOUT(pcout), .ACIN(30'd0),
      .BCIN(18'd0), .CARRYCASCIN(1'b0), .CARRYIN(1'b0), .CARRYINSEL(3'd0), .MULTSIGNIN(1'b0), .ALUMODE(4'd0),
      .INMODE(5'd0), .OPMODE(opmode), .CEA1(en), .CEA2(en), .CEB1(en), .CEB2(en), .CEM(en), .CEP(take), .CEAD(1'b0),
      .CEC(1'b0), .CED(1'b0), .CEALUMODE(1'b0), .CECARRYIN(1'b0), .CECTRL(1'b0), .CEINMODE(1'b0), .RSTA(1'b0),
      .RSTALLCARRYIN(1'b0), .RSTALUMODE(1'b0), .RSTB(1'b0), .RSTC(1'b0), .RSTCTRL(1'b0), .RSTD(1'b0),
      .RSTINMODE(1'b0), .RSTM(1'b0), .RSTP(1'b0)
  );
`else
  wire [26:0] a_q;
  wire [17:0] b_q;
  num_delay #(.WIDTH(45), .DEPTH(REGS)) u_operands (.clk(clk), .en(en), .in({a, b}), .out({a_q, b_q}));

  wire [44:0] product = 45'($signed(a_q)) * 45'($signed(b_q));
  wire signed [44:0] m;
  num_delay #(.WIDTH(45), .DEPTH(M_REG)) u_product (.clk(clk), .en(en), .in(product), .out(m));

  wire [47:0] more;
  wire [47:0] sum = 48'(m) + more + (ADD != 0 ? pcin : 48'd0);
  num_delay #(.WIDTH(48), .DEPTH(P_REG)) u_sum (.clk(clk), .en(take), .in(sum), .out(p));
  generate
    if (SUM != 0) begin : g_sum
      assign more = first ? c : p;
    end else begin : g_alone
      assign more = 48'd0;
    end
  endgenerate
  assign pcout = p;
  wire unused = &{1'b0, clk, en, take, pcin, first, c};
`endif
endmodule
`default_nettype wire
