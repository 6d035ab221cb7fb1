// A block RAM of 18 kbit with two ports, as Yosys's libraries for Gowin and Nexus show the pins of
// only: no output registers, no initial contents, what is shown after a write is unchanged.
// An address counts bits (of 8 in 9), a port's width is 1, 2, 4, 8, 9, 16, 18, 32 or 36.
module block_ram_18k #(parameter integer A = 18, B = 18) (
  input a_clk, a_enable, a_write, a_reset, input [13:0] a_address, input [3:0] a_bytes,
  input [35:0] a_in, output reg [35:0] a_out,
  input b_clk, b_enable, b_write, b_reset, input [13:0] b_address, input [3:0] b_bytes,
  input [35:0] b_in, output reg [35:0] b_out
);
  localparam integer BYTE = A % 9 == 0 ? 9 : 8;
  reg [BYTE-1:0] memory [0:2047];
  integer j, k;

  always @(posedge a_clk)
    if (a_enable) begin
      if (A < 8) begin
        if (a_write) memory[a_address[13:3]][a_address[2:0] & ~(A - 1) +: A < 8 ? A : 1] <= a_in[A-1:0];
        else a_out <= memory[a_address[13:3]] >> (a_address[2:0] & ~(A - 1));
      end else for (j = 0; j < A / 8; j = j + 1) begin
        if (!a_write) a_out[BYTE * j +: BYTE] <= memory[(a_address[13:3] & ~(A / 8 - 1)) + j];
        else if (A < 16 || a_bytes[j])
          memory[(a_address[13:3] & ~(A / 8 - 1)) + j] <= a_in[BYTE * j +: BYTE];
      end
      if (a_reset) a_out <= 0;
    end

  always @(posedge b_clk)
    if (b_enable) begin
      if (B < 8) begin
        if (b_write) memory[b_address[13:3]][b_address[2:0] & ~(B - 1) +: B < 8 ? B : 1] <= b_in[B-1:0];
        else b_out <= memory[b_address[13:3]] >> (b_address[2:0] & ~(B - 1));
      end else for (k = 0; k < B / 8; k = k + 1) begin
        if (!b_write) b_out[BYTE * k +: BYTE] <= memory[(b_address[13:3] & ~(B / 8 - 1)) + k];
        else if (B < 16 || b_bytes[k])
          memory[(b_address[13:3] & ~(B / 8 - 1)) + k] <= b_in[BYTE * k +: BYTE];
      end
      if (b_reset) b_out <= 0;
    end
endmodule
