// ECP5 cells as nextpnr has them after packing, where Yosys's models do not fit. Inputs that select
// or invert others (..MUX) are applied by what instantiates the cells.

module TRELLIS_COMB (
  input A, B, C, D, M, FCI, F1, FXA, FXB, DI0, DI1, WD, WAD0, WAD1, WAD2, WAD3, WRE, WCK,
  output F, FCO, OFX
);
  parameter MODE = "LOGIC", CCU2_INJECT1 = "NO";
  parameter [15:0] INITVAL = 0;
  parameter LUT6 = 0;  // OFX is that of two LUTs with five inputs

  generate
    if (MODE == "DPRAM") begin : memory
      reg [15:0] words = INITVAL;
      always @(posedge WCK) if (WRE) words[{WAD3, WAD2, WAD1, WAD0}] <= WD;
      assign F = words[{A, C, B, D}];
      assign FCO = 0;
    end else begin : logic_or_carry
      wire lut = INITVAL[{D, C, B, A}];
      wire injects = CCU2_INJECT1 == "YES";  // neither adds the carry nor generates one
      assign F = MODE == "CCU2" && !injects ? lut ^ FCI : lut;
      assign FCO = lut ? FCI : !injects && INITVAL[{2'b00, B, A}];
    end
  endgenerate
  assign OFX = LUT6 ? (M ? FXB : FXA) : (M ? F1 : F);

  initial begin
    // RAMW_BLOCK: a place that TRELLIS_RAMW occupies.
    if (MODE != "LOGIC" && MODE != "CCU2" && MODE != "DPRAM" && MODE != "RAMW_BLOCK")
      $fatal(1, "TRELLIS_COMB %m: this mode has no model");
  end
endmodule

module TRELLIS_RAMW (
  input A0, B0, C0, D0, A1, B1, C1, D1,
  output WDO0, WDO1, WDO2, WDO3, WADO0, WADO1, WADO2, WADO3
);
  assign {WADO3, WADO2, WADO1, WADO0} = {A0, C0, B0, D0};
  assign {WDO3, WDO2, WDO1, WDO0} = {B1, D1, A1, C1};
endmodule

module TRELLIS_FF (input CLK, LSR, CE, DI, M, output reg Q);
  parameter REGSET = "RESET", SRMODE = "LSR_OVER_CE", SD = "0";

  localparam VALUE = REGSET == "SET";
  initial Q = VALUE;
  always @(posedge CLK)
    if (LSR && (CE || SRMODE != "CE_OVER_LSR")) Q <= VALUE;
    else if (CE) Q <= SD == "1" ? DI : M;  // 1: what the LUT of its slice drives

  initial if (SRMODE == "ASYNC") $fatal(1, "TRELLIS_FF %m: an asynchronous reset has no model");
endmodule

module DCCA (input CLKI, CE, output CLKO);
  assign CLKO = CLKI;  // always enabled
endmodule
