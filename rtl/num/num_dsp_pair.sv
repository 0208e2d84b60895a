// SPDX-License-Identifier: Apache-2.0
// num_dsp_pair: one DSP48E2 of UltraScale+: x times two weights at once, (a * 2^SHIFT + b) * x through the pre-adder,
//   with what the DSP before it has made. Synthesis gets the primitive, simulation the same in plain form (AMD UG579).
//   parameters  W_W    bits of a and of b, two's complement, 3 to 16
//               REGS   registers of the operands, 0 to 2; the product has one
//               P_REG  1: a register behind the sum
//               ADD    1: pcin is added, which is pcout of the DSP before; 0: 2^(SHIFT - 1)
//               SHIFT  derived, not to be set: a * 2^SHIFT + b then fits 27 bits
//   latency: REGS + 1 + P_REG   ii: 1   order: as it comes
//   lut: 0
//   ff: 0
//   dsp: 1
`default_nettype none
module num_dsp_pair #(
    parameter integer W_W   = 8,
    parameter integer REGS  = 1,
    parameter integer P_REG = 1,
    parameter integer ADD   = 1,
    parameter integer SHIFT = 26 - W_W
) (
    input  wire           clk,
    input  wire           en,
    input  wire [   17:0] x,  // two's complement
    input  wire [W_W-1:0] a,
    input  wire [W_W-1:0] b,
    input  wire [   47:0] pcin,
    output wire [   47:0] p,
    output wire [   47:0] pcout
);
  generate
    if (W_W < 3 || W_W > 16 || REGS < 0 || REGS > 2 || P_REG < 0 || P_REG > 1) begin : g_bad
      W_W_must_be_3_to_16_REGS_0_to_2_and_P_REG_0_or_1 u_bad ();
    end
  endgenerate
  wire signed [W_W-1:0] b_s = b;
  wire [26:0] high = {a[W_W-1], a, {SHIFT{1'b0}}};
  wire [26:0] low = 27'(b_s);
  localparam [47:0] HALF = 48'd1 << (SHIFT - 1);

`ifdef SYNTHESIS
  // W: 0 or RND, Z: 0 or PCIN, Y and X: the product of D + A and B.
  wire [8:0] opmode = {ADD == 0, 3'b000, ADD != 0, 4'b0101};
  DSP48E2 #(
      .AREG(REGS / 2), .ACASCREG(REGS / 2), .DREG(REGS / 2), .ADREG(REGS > 0 ? 1 : 0), .BREG(REGS), .BCASCREG(REGS),
      .MREG(1), .PREG(P_REG), .CREG(0), .ALUMODEREG(0), .CARRYINREG(0), .CARRYINSELREG(0), .INMODEREG(0), .OPMODEREG(0),
      .AMULTSEL("AD"), .BMULTSEL("B"), .PREADDINSEL("A"), .A_INPUT("DIRECT"), .B_INPUT("DIRECT"), .RND(HALF),
      .USE_MULT("MULTIPLY"), .USE_SIMD("ONE48")
  ) u_dsp (
      .CLK(clk), .A({{3{low[26]}}, low}), .B(x), .C(48'd0), .D(high), .PCIN(pcin), .P(p), .PCOUT(pcout), .ACIN(30'd0),
      .BCIN(18'd0), .CARRYCASCIN(1'b0), .CARRYIN(1'b0), .CARRYINSEL(3'd0), .MULTSIGNIN(1'b0), .ALUMODE(4'd0),
      .INMODE(5'b00100), .OPMODE(opmode), .CEA1(en), .CEA2(en), .CEB1(en), .CEB2(en), .CEM(en), .CEP(en), .CEAD(en),
      .CEC(1'b0), .CED(en), .CEALUMODE(1'b0), .CECARRYIN(1'b0), .CECTRL(1'b0), .CEINMODE(1'b0), .RSTA(1'b0),
      .RSTALLCARRYIN(1'b0), .RSTALUMODE(1'b0), .RSTB(1'b0), .RSTC(1'b0), .RSTCTRL(1'b0), .RSTD(1'b0),
      .RSTINMODE(1'b0), .RSTM(1'b0), .RSTP(1'b0)
  );
`else
  wire [26:0] t_q;
  wire [17:0] x_q;
  num_delay #(.WIDTH(45), .DEPTH(REGS)) u_operands (.clk(clk), .en(en), .in({high + low, x}), .out({t_q, x_q}));

  wire [44:0] product = 45'($signed(t_q)) * 45'($signed(x_q));
  wire signed [44:0] m;
  num_delay #(.WIDTH(45), .DEPTH(1)) u_product (.clk(clk), .en(en), .in(product), .out(m));
  num_delay #(.WIDTH(48), .DEPTH(P_REG)) u_sum (
      .clk(clk), .en(en), .in(48'(m) + (ADD != 0 ? pcin : HALF)), .out(p)
  );
  assign pcout = p;
  wire unused = &{1'b0, clk, en, pcin};
`endif
endmodule
`default_nettype wire
