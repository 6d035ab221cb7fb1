// SPDX-License-Identifier: Apache-2.0
// Models of the ECP5 cells that Coprime instantiates, for simulation, in the modes that it uses
// (FPGA-TN-02205). Another mode ends the simulation. Block RAM is inferred and needs no model.

// A signed 18 by 18 bit multiplier, with any of its registers: at both inputs, in the middle and at
// the output, all of them on clock 0, enable 0 and the synchronous reset 0.
module MULT18X18D (
  input A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16, A17,
  input B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11, B12, B13, B14, B15, B16, B17,
  input SRIA0, SRIA1, SRIA2, SRIA3, SRIA4, SRIA5, SRIA6, SRIA7, SRIA8, SRIA9, SRIA10, SRIA11, SRIA12, SRIA13, SRIA14, SRIA15, SRIA16, SRIA17,
  input SRIB0, SRIB1, SRIB2, SRIB3, SRIB4, SRIB5, SRIB6, SRIB7, SRIB8, SRIB9, SRIB10, SRIB11, SRIB12, SRIB13, SRIB14, SRIB15, SRIB16, SRIB17,
  input SIGNEDA, SIGNEDB, SOURCEA, SOURCEB,
  input CLK0, CLK1, CLK2, CLK3, CE0, CE1, CE2, CE3, RST0, RST1, RST2, RST3,
  output P0, P1, P2, P3, P4, P5, P6, P7, P8, P9, P10, P11, P12, P13, P14, P15, P16, P17, P18, P19, P20, P21, P22, P23, P24, P25, P26, P27, P28, P29, P30, P31, P32, P33, P34, P35
);
  parameter REG_INPUTA_CLK = "NONE", REG_INPUTA_CE = "CE0", REG_INPUTA_RST = "RST0";
  parameter REG_INPUTB_CLK = "NONE", REG_INPUTB_CE = "CE0", REG_INPUTB_RST = "RST0";
  parameter REG_PIPELINE_CLK = "NONE", REG_PIPELINE_CE = "CE0", REG_PIPELINE_RST = "RST0";
  parameter REG_OUTPUT_CLK = "NONE", REG_OUTPUT_CE = "CE0", REG_OUTPUT_RST = "RST0";
  parameter GSR = "ENABLED", RESETMODE = "SYNC";

  localparam A_KEPT = REG_INPUTA_CLK == "CLK0", B_KEPT = REG_INPUTB_CLK == "CLK0";
  localparam MIDDLE_KEPT = REG_PIPELINE_CLK == "CLK0", P_KEPT = REG_OUTPUT_CLK == "CLK0";

  initial begin
    if (!A_KEPT && REG_INPUTA_CLK != "NONE" || !B_KEPT && REG_INPUTB_CLK != "NONE"
        || !MIDDLE_KEPT && REG_PIPELINE_CLK != "NONE" || !P_KEPT && REG_OUTPUT_CLK != "NONE"
        || REG_INPUTA_CE != "CE0" || REG_INPUTB_CE != "CE0"
        || REG_PIPELINE_CE != "CE0" || REG_OUTPUT_CE != "CE0"
        || REG_INPUTA_RST != "RST0" || REG_INPUTB_RST != "RST0"
        || REG_PIPELINE_RST != "RST0" || REG_OUTPUT_RST != "RST0"
        || GSR != "DISABLED" || RESETMODE != "SYNC")
      $fatal(1, "MULT18X18D %m: this mode of its registers has no model");
  end
  always @(posedge CLK0)
    if (SIGNEDA !== 1'b1 || SIGNEDB !== 1'b1 || SOURCEA !== 1'b0 || SOURCEB !== 1'b0)
      $fatal(1, "MULT18X18D %m: only signed factors from A and B have a model");

  // 0 after configuration, as registers of slices are. An unknown bit would stay in an accumulator
  // for ever, as a LUT of CCU2C passes it on even where its other inputs mask it.
  reg signed [17:0] a_kept, b_kept;
  reg signed [35:0] middle_kept, p_kept;
  initial begin
    a_kept = 0;
    b_kept = 0;
    middle_kept = 0;
    p_kept = 0;
  end
  wire signed [17:0] a_in = {A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0};
  wire signed [17:0] b_in = {B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0};
  wire signed [17:0] a = A_KEPT ? a_kept : a_in;
  wire signed [17:0] b = B_KEPT ? b_kept : b_in;
  wire signed [35:0] product = a * b;
  wire signed [35:0] middle = MIDDLE_KEPT ? middle_kept : product;
  wire signed [35:0] p = P_KEPT ? p_kept : middle;
  always @(posedge CLK0)
    if (RST0) begin
      a_kept <= 0;
      b_kept <= 0;
      middle_kept <= 0;
      p_kept <= 0;
    end else if (CE0) begin
      a_kept <= a_in;
      b_kept <= b_in;
      middle_kept <= product;
      p_kept <= middle;
    end
  assign {P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17, P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0} = p;
endmodule

// Two bits of a carry chain, each with a LUT, whose lowest four entries generate the carry.
module CCU2C (
  input CIN, A0, B0, C0, D0, A1, B1, C1, D1,
  output S0, S1, COUT
);
  parameter [15:0] INIT0 = 0, INIT1 = 0;
  parameter INJECT1_0 = "YES", INJECT1_1 = "YES";

  initial if (INJECT1_0 != "NO" || INJECT1_1 != "NO")
    $fatal(1, "CCU2C %m: an injected carry has no model");

  wire propagate_0 = INIT0[{D0, C0, B0, A0}];
  wire propagate_1 = INIT1[{D1, C1, B1, A1}];
  wire carry = propagate_0 ? CIN : INIT0[{2'b00, B0, A0}];
  assign S0 = propagate_0 ^ CIN;
  assign S1 = propagate_1 ^ carry;
  assign COUT = propagate_1 ? carry : INIT1[{2'b00, B1, A1}];
endmodule
