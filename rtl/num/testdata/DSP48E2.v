// SPDX-License-Identifier: Apache-2.0
// The primitive DSP48E2 of UltraScale+ as AMD's UG579 describes it, for simulation: its multiplier and adder, with all
// registers that attributes choose, the sum of D and A before the multiplier, and two adders of 24 bits. Without logic
// unit, pattern detection, carries and resets, whose ports must be 0.
module DSP48E2 #(
    parameter integer ACASCREG = 1,
    parameter integer ADREG = 1,
    parameter integer ALUMODEREG = 1,
    parameter AMULTSEL = "A",
    parameter integer AREG = 1,
    parameter A_INPUT = "DIRECT",
    parameter integer BCASCREG = 1,
    parameter BMULTSEL = "B",
    parameter integer BREG = 1,
    parameter B_INPUT = "DIRECT",
    parameter integer CARRYINREG = 1,
    parameter integer CARRYINSELREG = 1,
    parameter integer CREG = 1,
    parameter integer DREG = 1,
    parameter integer INMODEREG = 1,
    parameter integer MREG = 1,
    parameter integer OPMODEREG = 1,
    parameter integer PREG = 1,
    parameter PREADDINSEL = "A",
    parameter [47:0] RND = 48'd0,
    parameter USE_MULT = "MULTIPLY",
    parameter USE_SIMD = "ONE48"
) (
    input CLK,
    input [29:0] A, ACIN,
    input [17:0] B, BCIN,
    input [47:0] C, PCIN,
    input [26:0] D,
    input CARRYCASCIN, CARRYIN, MULTSIGNIN,
    input [2:0] CARRYINSEL,
    input [3:0] ALUMODE,
    input [4:0] INMODE,
    input [8:0] OPMODE,
    input CEA1, CEA2, CEB1, CEB2, CEM, CEP, CEAD, CEC, CED, CEALUMODE, CECARRYIN, CECTRL, CEINMODE,
    input RSTA, RSTALLCARRYIN, RSTALUMODE, RSTB, RSTC, RSTCTRL, RSTD, RSTINMODE, RSTM, RSTP,
    output [47:0] P, PCOUT
);
  reg [29:0] a1, a2;
  reg [17:0] b1, b2;
  reg [47:0] c1, p1;
  reg [26:0] d1, ad1;
  reg [44:0] m1;
  reg [8:0] op1;
  always @(posedge CLK) begin
    if (CEA1) a1 <= A;
    if (CEA2) a2 <= AREG == 2 ? a1 : A;
    if (CEB1) b1 <= B;
    if (CEB2) b2 <= BREG == 2 ? b1 : B;
    if (CEC) c1 <= C;
    if (CED) d1 <= D;
    if (CEAD) ad1 <= pre;
    if (CECTRL) op1 <= OPMODE;
  end
  wire signed [26:0] a = AREG == 0 ? A[26:0] : a2[26:0];
  wire signed [17:0] b = BREG == 0 ? B : b2;
  wire [47:0] c = CREG == 0 ? C : c1;
  wire [8:0] op = OPMODEREG == 0 ? OPMODE : op1;
  wire [26:0] pre = a + (DREG == 0 ? D : d1);
  wire signed [26:0] ad = ADREG == 0 ? pre : ad1;
  wire with_d = AMULTSEL == "AD";
  wire signed [44:0] product = with_d ? ad * b : a * b;
  always @(posedge CLK) if (CEM) m1 <= product;
  wire signed [44:0] m = MREG == 0 ? product : m1;

  // Y and X are the two halves of a product, and select it together.
  wire [47:0] xy = op[3:0] == 4'b0101 ? {{3{m[44]}}, m} : op[3:0] == 4'b0000 ? 48'd0 :
      op[3:0] == 4'b0011 ? {AREG == 0 ? A : a2, b} : 48'bx;
  wire [47:0] z = op[6:4] == 3'd0 ? 48'd0 : op[6:4] == 3'd1 ? PCIN : op[6:4] == 3'd2 ? P : op[6:4] == 3'd3 ? c : 48'bx;
  wire [47:0] w = op[8:7] == 2'd0 ? 48'd0 : op[8:7] == 2'd1 ? P : op[8:7] == 2'd2 ? RND : c;
  wire off = |{ACIN, BCIN, CARRYCASCIN, CARRYIN, MULTSIGNIN, CARRYINSEL, ALUMODE, RSTA, RSTALLCARRYIN,
      RSTALUMODE, RSTB, RSTC, RSTCTRL, RSTD, RSTINMODE, RSTM, RSTP};
  wire multiplies = USE_MULT == "MULTIPLY" && USE_SIMD == "ONE48" && op[3:0] == 4'b0101;
  wire adds = USE_MULT == "NONE" && USE_SIMD == "TWO24" && MREG == 0 && op[3:0] == 4'b0011;
  wire plain = AMULTSEL == "A" && INMODE == 5'd0 && D == 27'd0;
  wire legal = ALUMODEREG + CARRYINREG + CARRYINSELREG + INMODEREG == 0 && (multiplies || adds)
      && (plain || with_d && multiplies && INMODE == 5'b00100 && PREADDINSEL == "A") && BMULTSEL == "B" && A_INPUT == "DIRECT" && B_INPUT == "DIRECT"
      && (ACASCREG == AREG || AREG == 2) && (BCASCREG == BREG || BREG == 2) && (op[8:7] != 2'd1 || PREG == 1);
  wire [23:0] low = w[23:0] + z[23:0] + xy[23:0], high = w[47:24] + z[47:24] + xy[47:24];
  wire [47:0] sum = off || !legal ? 48'bx : adds ? {high, low} : w + z + xy;
  always @(posedge CLK) if (CEP) p1 <= sum;
  assign P = PREG == 0 ? sum : p1;
  assign PCOUT = P;
endmodule
