// Nexus block RAM (FPGA-TN-02094) as Yosys maps memories to it.
module DP16K (
  input [17:0] DIA, DIB, input [13:0] ADA, ADB, input CLKA, CLKB, CEA, CEB, WEA, WEB,
  input [2:0] CSA, CSB, input RSTA, RSTB, output [17:0] DOA, DOB
);
  parameter DATA_WIDTH_A = "X18", DATA_WIDTH_B = "X18", OUTREG_A = "BYPASSED", OUTREG_B = "BYPASSED";
  parameter GSR = "ENABLED", RESETMODE_A = "SYNC", RESETMODE_B = "SYNC";
  parameter CSDECODE_A = "000", CSDECODE_B = "000", INIT_DATA = "STATIC";
  parameter ASYNC_RST_RELEASE_A = "SYNC", ASYNC_RST_RELEASE_B = "SYNC";
  localparam integer A = DATA_WIDTH_A == "X18" ? 18 : DATA_WIDTH_A == "X9" ? 9
    : DATA_WIDTH_A == "X4" ? 4 : DATA_WIDTH_A == "X2" ? 2 : 1;
  localparam integer B = DATA_WIDTH_B == "X18" ? 18 : DATA_WIDTH_B == "X9" ? 9
    : DATA_WIDTH_B == "X4" ? 4 : DATA_WIDTH_B == "X2" ? 2 : 1;
  block_ram_18k #(.A(A), .B(B)) ram (
    .a_clk(CLKA), .a_enable(CEA), .a_write(WEA), .a_reset(RSTA), .a_address(ADA),
    .a_bytes(ADA[3:0]), .a_in(DIA), .a_out(DOA),
    .b_clk(CLKB), .b_enable(CEB), .b_write(WEB), .b_reset(RSTB), .b_address(ADB),
    .b_bytes(ADB[3:0]), .b_in(DIB), .b_out(DOB)
  );
endmodule

module PDPSC16K (
  input [35:0] DI, input [13:0] ADW, ADR, input CLK, CER, CEW, input [2:0] CSW, CSR, input RST,
  output [35:0] DO, output ONEBITERR, TWOBITERR
);
  parameter DATA_WIDTH_W = "X36", DATA_WIDTH_R = "X36", OUTREG = "BYPASSED", RESETMODE = "SYNC";
  parameter GSR = "ENABLED", ECC = "DISABLED", CSDECODE_W = "000", CSDECODE_R = "000";
  parameter ASYNC_RST_RELEASE = "SYNC", INIT_DATA = "STATIC";
  localparam integer W = DATA_WIDTH_W == "X36" ? 36 : DATA_WIDTH_W == "X18" ? 18
    : DATA_WIDTH_W == "X9" ? 9 : DATA_WIDTH_W == "X4" ? 4 : DATA_WIDTH_W == "X2" ? 2 : 1;
  localparam integer R = DATA_WIDTH_R == "X36" ? 36 : DATA_WIDTH_R == "X18" ? 18
    : DATA_WIDTH_R == "X9" ? 9 : DATA_WIDTH_R == "X4" ? 4 : DATA_WIDTH_R == "X2" ? 2 : 1;
  block_ram_18k #(.A(W), .B(R)) ram (
    .a_clk(CLK), .a_enable(CEW), .a_write(1'b1), .a_reset(1'b0), .a_address(ADW),
    .a_bytes(ADW[3:0]), .a_in(DI), .a_out(),
    .b_clk(CLK), .b_enable(CER), .b_write(1'b0), .b_reset(RST), .b_address(ADR),
    .b_bytes(4'hf), .b_in(36'd0), .b_out(DO)
  );
endmodule
