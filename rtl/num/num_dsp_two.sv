// SPDX-License-Identifier: Apache-2.0
// num_dsp_two: one DSP48E2 of UltraScale+ as two adders of 24 bits: in, with what the DSP before it has made, and with
//   c or the sums so far. Synthesis gets the primitive, simulation the same in plain form (AMD UG579, USE_SIMD TWO24).
//   parameters  REGS   registers of in, 0 to 2
//               P_REG  1: a register behind the sums
//               ADD    1: pcin is added, which is pcout of the DSP before
//               SUM    1: where first is 0 the sums so far are added, where it is 1 c; needs P_REG. 0: neither
//   take: the register of the sums moves; en: all others. first, c and pcin belong to the sums, REGS cycles after in.
//   latency: REGS + P_REG   ii: 1   order: as it comes
//   lut: 0
//   ff: 0
//   dsp: 1
`default_nettype none
module num_dsp_two #(
    parameter integer REGS  = 1,
    parameter integer P_REG = 1,
    parameter integer ADD   = 1,
    parameter integer SUM   = 1
) (
    input  wire        clk,
    input  wire        en,
    input  wire        take,
    input  wire [47:0] in,  // two numbers of 24 bits, as all of these
    input  wire [47:0] pcin,
    input  wire        first,
    input  wire [47:0] c,
    output wire [47:0] p,
    output wire [47:0] pcout
);
  generate
    if (REGS < 0 || REGS > 2 || P_REG < 0 || P_REG > 1 || (SUM != 0 && P_REG == 0)) begin : g_bad
      REGS_must_be_0_to_2_P_REG_0_or_1_and_SUM_needs_P_REG u_bad ();
    end
  endgenerate

`ifdef SYNTHESIS
  // W: P or C, Z: PCIN, X: A and B side by side.
  wire [8:0] opmode = {SUM != 0 && first, SUM != 0, 2'b00, ADD != 0, 4'b0011};
  DSP48E2 #(
      .AREG(REGS), .BREG(REGS), .ACASCREG(REGS), .BCASCREG(REGS), .MREG(0), .PREG(P_REG), .ADREG(0), .CREG(0),
      .DREG(0), .ALUMODEREG(0), .CARRYINREG(0), .CARRYINSELREG(0), .INMODEREG(0), .OPMODEREG(0), .AMULTSEL("A"),
      .BMULTSEL("B"), .A_INPUT("DIRECT"), .B_INPUT("DIRECT"), .USE_MULT("NONE"), .USE_SIMD("TWO24")
  ) u_dsp (
      .CLK(clk), .A(in[47:18]), .B(in[17:0]), .C(c), .D(27'd0), .PCIN(pcin), .P(p), .PCOUT(pcout), .ACIN(30'd0),
      .BCIN(18'd0), .CARRYCASCIN(1'b0), .CARRYIN(1'b0), .CARRYINSEL(3'd0), .MULTSIGNIN(1'b0), .ALUMODE(4'd0),
      .INMODE(5'd0), .OPMODE(opmode), .CEA1(en), .CEA2(en), .CEB1(en), .CEB2(en), .CEM(1'b0), .CEP(take), .CEAD(1'b0),
      .CEC(1'b0), .CED(1'b0), .CEALUMODE(1'b0), .CECARRYIN(1'b0), .CECTRL(1'b0), .CEINMODE(1'b0), .RSTA(1'b0),
      .RSTALLCARRYIN(1'b0), .RSTALUMODE(1'b0), .RSTB(1'b0), .RSTC(1'b0), .RSTCTRL(1'b0), .RSTD(1'b0),
      .RSTINMODE(1'b0), .RSTM(1'b0), .RSTP(1'b0)
  );
`else
  wire [47:0] in_q;
  num_delay #(.WIDTH(48), .DEPTH(REGS)) u_operands (.clk(clk), .en(en), .in(in), .out(in_q));

  wire [47:0] so_far = SUM == 0 ? 48'd0 : first ? c : p;
  wire [47:0] front = ADD != 0 ? pcin : 48'd0;
  wire [23:0] low = in_q[23:0] + so_far[23:0] + front[23:0];
  wire [23:0] high = in_q[47:24] + so_far[47:24] + front[47:24];
  num_delay #(.WIDTH(48), .DEPTH(P_REG)) u_sums (.clk(clk), .en(take), .in({high, low}), .out(p));
  assign pcout = p;
  wire unused = &{1'b0, clk, en, take, pcin, first, c};
`endif
endmodule
`default_nettype wire
