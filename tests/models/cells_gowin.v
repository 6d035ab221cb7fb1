// Gowin's block RAM and multiplier (UG285, UG287) as Yosys maps to them: no registers but those that
// a memory reads into.
module MULT18X18 (
  input [17:0] A, SIA, B, SIB, input ASIGN, BSIGN, ASEL, BSEL, CE, CLK, RESET,
  output [35:0] DOUT, output [17:0] SOA, SOB
);
  parameter AREG = 0, BREG = 0, OUT_REG = 0, PIPE_REG = 0, ASIGN_REG = 0, BSIGN_REG = 0, SOA_REG = 0;
  parameter MULT_RESET_MODE = "SYNC";
  wire signed [18:0] a = {ASIGN & A[17], A}, b = {BSIGN & B[17], B};
  wire signed [37:0] product = a * b;
  assign DOUT = AREG || BREG || OUT_REG || PIPE_REG || ASEL || BSEL ? 36'bx : product[35:0];
endmodule

module dual_port_gowin #(parameter integer A = 18, B = 18, D = 18) (
  input CLKA, CEA, CLKB, CEB, OCEA, OCEB, RESETA, RESETB, WREA, WREB, input [13:0] ADA, ADB,
  input [D-1:0] DIA, DIB, output [D-1:0] DOA, DOB
);
  block_ram_18k #(.A(A), .B(B)) ram (
    .a_clk(CLKA), .a_enable(CEA), .a_write(WREA), .a_reset(RESETA), .a_address(ADA),
    .a_bytes(ADA[3:0]), .a_in(DIA), .a_out(DOA),
    .b_clk(CLKB), .b_enable(CEB), .b_write(WREB), .b_reset(RESETB), .b_address(ADB),
    .b_bytes(ADB[3:0]), .b_in(DIB), .b_out(DOB)
  );
endmodule

module DPX9B (
  input CLKA, CEA, CLKB, CEB, OCEA, OCEB, RESETA, RESETB, WREA, WREB, input [13:0] ADA, ADB,
  input [17:0] DIA, DIB, input [2:0] BLKSELA, BLKSELB, output [17:0] DOA, DOB
);
  parameter READ_MODE0 = 0, READ_MODE1 = 0, WRITE_MODE0 = 0, WRITE_MODE1 = 0;
  parameter BIT_WIDTH_0 = 18, BIT_WIDTH_1 = 18, BLK_SEL_0 = 0, BLK_SEL_1 = 0, RESET_MODE = "SYNC";
  dual_port_gowin #(.A(BIT_WIDTH_0), .B(BIT_WIDTH_1), .D(18)) ram (.*);
endmodule

module DPB (
  input CLKA, CEA, CLKB, CEB, OCEA, OCEB, RESETA, RESETB, WREA, WREB, input [13:0] ADA, ADB,
  input [15:0] DIA, DIB, input [2:0] BLKSELA, BLKSELB, output [15:0] DOA, DOB
);
  parameter READ_MODE0 = 0, READ_MODE1 = 0, WRITE_MODE0 = 0, WRITE_MODE1 = 0;
  parameter BIT_WIDTH_0 = 16, BIT_WIDTH_1 = 16, BLK_SEL_0 = 0, BLK_SEL_1 = 0, RESET_MODE = "SYNC";
  dual_port_gowin #(.A(BIT_WIDTH_0), .B(BIT_WIDTH_1), .D(16)) ram (.*);
endmodule

module SDPX9B (
  input CLKA, CEA, CLKB, CEB, OCE, RESETA, RESETB, input [13:0] ADA, ADB,
  input [2:0] BLKSELA, BLKSELB, input [35:0] DI, output [35:0] DO
);
  parameter READ_MODE = 0, BIT_WIDTH_0 = 36, BIT_WIDTH_1 = 36, BLK_SEL_0 = 0, BLK_SEL_1 = 0;
  parameter RESET_MODE = "SYNC";
  dual_port_gowin #(.A(BIT_WIDTH_0), .B(BIT_WIDTH_1), .D(36)) ram (
    .WREA(1'b1), .WREB(1'b0), .OCEA(OCE), .OCEB(OCE), .DIA(DI), .DIB(36'd0), .DOA(), .DOB(DO), .*
  );
endmodule

module SDPB (
  input CLKA, CEA, CLKB, CEB, OCE, RESETA, RESETB, input [13:0] ADA, ADB,
  input [2:0] BLKSELA, BLKSELB, input [31:0] DI, output [31:0] DO
);
  parameter READ_MODE = 0, BIT_WIDTH_0 = 32, BIT_WIDTH_1 = 32, BLK_SEL_0 = 0, BLK_SEL_1 = 0;
  parameter RESET_MODE = "SYNC";
  dual_port_gowin #(.A(BIT_WIDTH_0), .B(BIT_WIDTH_1), .D(32)) ram (
    .WREA(1'b1), .WREB(1'b0), .OCEA(OCE), .OCEB(OCE), .DIA(DI), .DIB(32'd0), .DOA(), .DOB(DO), .*
  );
endmodule
