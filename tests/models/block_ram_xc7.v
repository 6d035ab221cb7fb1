// What Yosys's cell library tells only the timing of: 7 series block RAM as this project uses it
// (UG473): one clock, no output registers, READ_FIRST, no initial contents.

// True dual port, 18 bits a port: data bits 7:0 and 15:8 with their parity bits, as two bytes. Or
// simple dual port, 72 bits: port A reads, port B writes; DIADI and DOADO are the lower half, and
// all words are 0 at first, as configuration leaves them.
module RAMB36E1 (
  input CLKARDCLK, CLKBWRCLK, ENARDEN, ENBWREN, REGCEAREGCE, REGCEB,
  input RSTRAMARSTRAM, RSTRAMB, RSTREGARSTREG, RSTREGB,
  input [15:0] ADDRARDADDR, ADDRBWRADDR,
  input [31:0] DIADI, DIBDI,
  input [3:0] DIPADIP, DIPBDIP, WEA,
  input [7:0] WEBWE,
  output [31:0] DOADO, DOBDO,
  output [3:0] DOPADOP, DOPBDOP
);
  parameter integer DOA_REG = 0, DOB_REG = 0;
  parameter RAM_EXTENSION_A = "NONE", RAM_EXTENSION_B = "NONE", RAM_MODE = "TDP";
  parameter integer READ_WIDTH_A = 18, READ_WIDTH_B = 18, WRITE_WIDTH_A = 18, WRITE_WIDTH_B = 18;
  parameter [71:0] SRVAL_A = 0, SRVAL_B = 0;
  parameter WRITE_MODE_A = "READ_FIRST", WRITE_MODE_B = "READ_FIRST";

  initial if (RAM_MODE == "SDP" ? READ_WIDTH_A != 72 || WRITE_WIDTH_B != 72
                                : READ_WIDTH_A != 18 || READ_WIDTH_B != 18) begin
    $display("this RAMB36E1 is configured as the model is not");
    $finish;
  end
  initial if (DOA_REG || DOB_REG) begin
    $display("this RAMB36E1 is configured as the model is not");
    $finish;
  end

  generate
    if (RAM_MODE == "SDP") begin
      reg [71:0] words [0:511];
      reg [71:0] q;
      integer k;
      initial for (k = 0; k < 512; k = k + 1) words[k] = 0;
      always @(posedge CLKARDCLK) begin
        if (ENARDEN) q <= words[ADDRARDADDR[14:6]];
        if (ENBWREN && WEBWE[0])
          words[ADDRBWRADDR[14:6]] <= {DIPBDIP, DIPADIP, DIBDI, DIADI};
      end
      assign {DOPBDOP, DOPADOP, DOBDO, DOADO} = q;
    end else begin
      reg [17:0] words [0:2047];
      reg [17:0] a, b;
      wire [10:0] address_a = ADDRARDADDR[14:4], address_b = ADDRBWRADDR[14:4];
      always @(posedge CLKARDCLK) begin
        if (ENARDEN) a <= words[address_a];
        if (ENBWREN) b <= words[address_b];
        if (ENARDEN && WEA[0])
          words[address_a] <= {DIPADIP[1], DIADI[15:8], DIPADIP[0], DIADI[7:0]};
        if (ENBWREN && WEBWE[0])
          words[address_b] <= {DIPBDIP[1], DIBDI[15:8], DIPBDIP[0], DIBDI[7:0]};
      end
      assign DOADO = {16'b0, a[16:9], a[7:0]};
      assign DOPADOP = {2'b0, a[17], a[8]};
      assign DOBDO = {16'b0, b[16:9], b[7:0]};
      assign DOPBDOP = {2'b0, b[17], b[8]};
    end
  endgenerate
endmodule

// Simple dual port, 36 bits: port A reads, port B writes; DIADI and DOADO are the lower half.
// Or true dual port, 18 bits a port.
module RAMB18E1 (
  input CLKARDCLK, CLKBWRCLK, ENARDEN, ENBWREN, REGCEAREGCE, REGCEB,
  input RSTRAMARSTRAM, RSTRAMB, RSTREGARSTREG, RSTREGB,
  input [13:0] ADDRARDADDR, ADDRBWRADDR,
  input [15:0] DIADI, DIBDI,
  input [1:0] DIPADIP, DIPBDIP, WEA,
  input [3:0] WEBWE,
  output [15:0] DOADO, DOBDO,
  output [1:0] DOPADOP, DOPBDOP
);
  parameter integer DOA_REG = 0, DOB_REG = 0;
  parameter RAM_MODE = "SDP";
  parameter integer READ_WIDTH_A = 36, READ_WIDTH_B = 0, WRITE_WIDTH_A = 0, WRITE_WIDTH_B = 36;
  parameter [71:0] SRVAL_A = 0, SRVAL_B = 0;
  parameter WRITE_MODE_A = "READ_FIRST", WRITE_MODE_B = "READ_FIRST";

  initial if (RAM_MODE == "SDP" ? READ_WIDTH_A != 36 || WRITE_WIDTH_B != 36
                                : READ_WIDTH_A != 18 || READ_WIDTH_B != 18) begin
    $display("this RAMB18E1 is configured as the model is not");
    $finish;
  end
  initial if (DOA_REG || DOB_REG) begin
    $display("this RAMB18E1 is configured as the model is not");
    $finish;
  end

  generate
    if (RAM_MODE == "SDP") begin
      reg [35:0] words [0:511];
      reg [35:0] q;
      always @(posedge CLKARDCLK) begin
        if (ENARDEN) q <= words[ADDRARDADDR[13:5]];
        if (ENBWREN && WEBWE[0]) words[ADDRBWRADDR[13:5]] <= {DIPBDIP, DIPADIP, DIBDI, DIADI};
      end
      assign {DOPBDOP, DOPADOP, DOBDO, DOADO} = q;
    end else begin
      reg [17:0] words [0:1023];
      reg [17:0] a, b;
      always @(posedge CLKARDCLK) begin
        if (ENARDEN) a <= words[ADDRARDADDR[13:4]];
        if (ENBWREN) b <= words[ADDRBWRADDR[13:4]];
        if (ENARDEN && WEA[0]) words[ADDRARDADDR[13:4]] <= {DIPADIP, DIADI};
        if (ENBWREN && WEBWE[0]) words[ADDRBWRADDR[13:4]] <= {DIPBDIP, DIBDI};
      end
      assign {DOPADOP, DOADO} = a;
      assign {DOPBDOP, DOBDO} = b;
    end
  endgenerate
endmodule
