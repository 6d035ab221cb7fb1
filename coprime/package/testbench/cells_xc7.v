// SPDX-License-Identifier: Apache-2.0
// Models of the 7 series cells that Coprime instantiates, for simulation, in the modes that it uses
// (UG479, UG953). Another mode ends the simulation. Block RAM is inferred and needs no model.

// A 25 by 18 bit multiplier and 48-bit accumulator with registers on CLK, all enabled:
//   P = Z + X + Y or Z - X - Y,  X + Y = 0, A * B, (D - A) * B or D * B,  Z = 0, P, C or P >> 17.
// Not modelled: cascades, SIMD, pattern detection, carry, D + A, registers A1 and B1, CE = 0.
module DSP48E1 (
  input CLK,
  input [29:0] A, ACIN,
  input [17:0] B, BCIN,
  input [47:0] C, PCIN,
  input [24:0] D,
  input [2:0] CARRYINSEL,
  input [3:0] ALUMODE,
  input [4:0] INMODE,
  input [6:0] OPMODE,
  input CEA1, CEA2, CEAD, CEALUMODE, CEB1, CEB2, CEC, CECARRYIN, CECTRL, CED, CEINMODE, CEM, CEP,
  input RSTA, RSTALLCARRYIN, RSTALUMODE, RSTB, RSTC, RSTCTRL, RSTD, RSTINMODE, RSTM, RSTP,
  input CARRYIN, CARRYCASCIN, MULTSIGNIN,
  output [47:0] P
);
  parameter A_INPUT = "DIRECT", B_INPUT = "DIRECT", USE_DPORT = "FALSE", USE_MULT = "MULTIPLY";
  parameter USE_SIMD = "ONE48", USE_PATTERN_DETECT = "NO_PATDET";
  parameter integer AREG = 1, ACASCREG = 1, ADREG = 1, BREG = 1, BCASCREG = 1, CREG = 1, DREG = 1;
  parameter integer MREG = 1, PREG = 1, OPMODEREG = 1, ALUMODEREG = 1, INMODEREG = 1;
  parameter integer CARRYINREG = 1, CARRYINSELREG = 1;

  localparam PRE_ADDS = USE_DPORT == "TRUE";

  task refuse(input [8*16-1:0] what);
    $fatal(1, "DSP48E1 %m: this mode of %0s has no model", what);
  endtask

  initial begin
    if (A_INPUT != "DIRECT" || B_INPUT != "DIRECT") refuse("A_INPUT, B_INPUT");
    if (USE_MULT != "MULTIPLY" || USE_SIMD != "ONE48") refuse("USE_MULT");
    if (USE_PATTERN_DETECT != "NO_PATDET") refuse("PATTERN_DETECT");
    if (AREG > 1 || BREG > 1 || (PRE_ADDS && (!AREG || !DREG))) refuse("AREG, BREG");
    if (CARRYINREG != 0 || CARRYINSELREG != 0) refuse("CARRYINREG");
  end

  // A value through its register, or past it.
  reg signed [24:0] a_kept, d_kept, ad_kept;
  reg signed [17:0] b_kept;
  reg signed [47:0] c_kept, p_kept;
  reg signed [42:0] m_kept;
  reg [6:0] opmode_kept;
  reg [3:0] alumode_kept;
  reg [4:0] inmode_kept;
  wire signed [24:0] a = AREG ? a_kept : A[24:0];
  wire signed [24:0] d = DREG ? d_kept : D;
  wire signed [17:0] b = BREG ? b_kept : B;
  wire signed [47:0] c = CREG ? c_kept : C;
  wire [6:0] opmode = OPMODEREG ? opmode_kept : OPMODE;
  wire [3:0] alumode = ALUMODEREG ? alumode_kept : ALUMODE;
  wire [4:0] inmode = INMODEREG ? inmode_kept : INMODE;

  // D - A, or one of them.
  wire signed [24:0] ad = (inmode[2] ? d : 25'sd0) - (inmode[3] ? a : 25'sd0);
  wire signed [24:0] chosen = inmode[3] || inmode[1] ? ad : a;
  wire signed [24:0] factor = !PRE_ADDS ? a : ADREG ? ad_kept : chosen;
  wire signed [42:0] product = factor * b;
  wire signed [42:0] m = MREG ? m_kept : product;
  wire signed [47:0] x_and_y = opmode[3:0] == 4'b0101 ? {{5{m[42]}}, m} : 48'd0;
  wire signed [47:0] shifted = p_kept >>> 17;
  wire signed [47:0] z = opmode[6:4] == 3'b010 ? p_kept
                       : opmode[6:4] == 3'b011 ? c
                       : opmode[6:4] == 3'b110 ? shifted : 48'd0;
  wire signed [47:0] sum = alumode[0] ? z - x_and_y : z + x_and_y;
  assign P = PREG ? p_kept : sum;

  always @(posedge CLK) begin
    a_kept <= RSTA ? 25'd0 : A[24:0];
    b_kept <= RSTB ? 18'd0 : B;
    c_kept <= RSTC ? 48'd0 : C;
    d_kept <= RSTD ? 25'd0 : D;
    ad_kept <= RSTD ? 25'd0 : chosen;
    m_kept <= RSTM ? 43'd0 : product;
    p_kept <= RSTP ? 48'd0 : sum;
    opmode_kept <= RSTCTRL ? 7'd0 : OPMODE;
    alumode_kept <= RSTALUMODE ? 4'd0 : ALUMODE;
    inmode_kept <= RSTINMODE ? 5'd0 : INMODE;
  end

  // What the modes select that have a model, whenever no reset is active.
  wire settled = !(RSTA || RSTB || RSTM || RSTP);
  always @(posedge CLK) if (settled === 1'b1) begin
    if (opmode[3:0] != 4'b0101 && opmode[3:0] != 4'b0000) refuse("OPMODE, X and Y");
    if (opmode[6:4] != 3'b000 && opmode[6:4] != 3'b010 && opmode[6:4] != 3'b011
        && opmode[6:4] != 3'b110) refuse("OPMODE, Z");
    if (opmode[5:4] == 2'b10 && !PREG) refuse("PREG");
    if (alumode != 4'b0000 && alumode != 4'b0011) refuse("ALUMODE");
    if (inmode != 5'b00000 && !(PRE_ADDS && (inmode == 5'b01100 || inmode == 5'b00110)))
      refuse("INMODE");
    if (CEA2 !== 1'b1 || CEB2 !== 1'b1 || CEM !== 1'b1 || CEP !== 1'b1) refuse("CE");
    if ((CREG && CEC !== 1'b1) || (PRE_ADDS && (CED !== 1'b1 || CEAD !== 1'b1))) refuse("CE");
    if (CARRYIN !== 1'b0 || CARRYINSEL !== 3'd0) refuse("CARRYIN");
  end
endmodule

// The table INIT, of which the inputs select a bit.
module LUT1 (output O, input I0);
  parameter [1:0] INIT = 0;
  assign O = INIT[{I0}];
endmodule

module LUT2 (output O, input I0, I1);
  parameter [3:0] INIT = 0;
  assign O = INIT[{I1, I0}];
endmodule

module LUT3 (output O, input I0, I1, I2);
  parameter [7:0] INIT = 0;
  assign O = INIT[{I2, I1, I0}];
endmodule

module LUT4 (output O, input I0, I1, I2, I3);
  parameter [15:0] INIT = 0;
  assign O = INIT[{I3, I2, I1, I0}];
endmodule

module LUT5 (output O, input I0, I1, I2, I3, I4);
  parameter [31:0] INIT = 0;
  assign O = INIT[{I4, I3, I2, I1, I0}];
endmodule

module LUT6 (output O, input I0, I1, I2, I3, I4, I5);
  parameter [63:0] INIT = 0;
  assign O = INIT[{I5, I4, I3, I2, I1, I0}];
endmodule

// The same with a second output, of the lower half of the table.
module LUT6_2 (output O6, O5, input I0, I1, I2, I3, I4, I5);
  parameter [63:0] INIT = 0;
  assign O6 = INIT[{I5, I4, I3, I2, I1, I0}];
  assign O5 = INIT[{1'b0, I4, I3, I2, I1, I0}];
endmodule

// Four bits of a carry chain.
module CARRY4 (output [3:0] CO, O, input CI, CYINIT, input [3:0] DI, S);
  wire first = CI | CYINIT;
  wire second = S[0] ? first : DI[0];
  wire third = S[1] ? second : DI[1];
  wire fourth = S[2] ? third : DI[2];
  assign CO = {S[3] ? fourth : DI[3], fourth, third, second};
  assign O = S ^ {fourth, third, second, first};
endmodule
