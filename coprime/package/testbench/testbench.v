// SPDX-License-Identifier: Apache-2.0
// Self-checking testbench of ${name}.
// Made by Coprime ${version}. Expected results are Python's, not the generator's own.
//
// Each check prints a line that begins with PASS or FAIL. The verdict is the last of these: PASS or
// FAIL alone on a line. After FAIL the simulator ends with a status other than 0.
// +vcd writes all waveforms to ${name}.vcd. Verilog-2005; also read by Verilator 5 (--timing).
`timescale 1ns / 1ps

module ${name}_tb;
  localparam LONGEST = ${longest};  // bits of the longest number below
  localparam LIMIT = ${limit};  // cycles after which something hangs

  // Registers
${registers}

  // Codes
${codes}

${declarations}

  ${name} dut (
${connections}
  );

  // An access: `count` words, to addresses that are `step` bytes apart.
  reg accessing = 0, writes;
  reg [11:0] address;
  integer step, count, beat;
  reg [31:0] words [0:255];  // what is written next, or was read last
  reg [1:0] response;  // 0 OKAY, 2 SLVERR; of several words the last one that is not OKAY
  integer failures = 0;
  integer checks = 0;

  always #5 s_axi_aclk = ~s_axi_aclk;

  initial begin
    if ($test$plusargs("vcd")) begin
      $dumpfile("${name}.vcd");
      $dumpvars(0, ${name}_tb);
    end
  end

  initial begin
    repeat (LIMIT) @(posedge s_axi_aclk);
    $display("FAIL  no end after %0d cycles", LIMIT);
    failures = failures + 1;
    finish;
  end

${bus}
  // The master is one process, lest its tasks be copied to wherever they are called.
  always @(posedge accessing) begin
    response = 2'd0;
    if (writes) write_words;
    else read_words;
    accessing = 0;
  end

  task access(input is_write, input [11:0] first, input integer apart, input integer number);
    begin
      writes = is_write;
      address = first;
      step = apart;
      count = number;
      accessing = 1;
      @(negedge accessing);
    end
  endtask
${random}
  task check(input [8*72-1:0] text, input passed);
    begin
      checks = checks + 1;
      if (passed === 1'b1) $display("PASS  %0s", text);
      else begin
        failures = failures + 1;
        $display("FAIL  %0s", text);
      end
    end
  endtask

  task finish;
    begin
      $display("%0d checks, %0d failed, %0d ns", checks, failures, $time);
      if (failures == 0 && checks > 0) begin
        $display("PASS");
        $finish;
      end else begin
        $display("FAIL");
        $fatal(1, "%0d of %0d checks failed", failures, checks);
      end
    end
  endtask

  // An access that the registers must accept; only a refusal is a line.
  task accepted(input [11:0] place);
    if (response !== 2'd0) begin
      failures = failures + 1;
      $display("FAIL  access to %h answers %b", place, response);
    end
  endtask

  task write(input [11:0] place, input [31:0] word);
    begin
      words[0] = word;
      access(1, place, 4, 1);
      accepted(place);
    end
  endtask

  task read(input [11:0] place);
    begin
      access(0, place, 4, 1);
      accepted(place);
    end
  endtask

  task expect_word(input [8*72-1:0] text, input [11:0] place, input [31:0] word);
    begin
      read(place);
      check(text, words[0] === word);
      if (words[0] !== word) $display("      %h is %h, not %h", place, words[0], word);
    end
  endtask

  task expect_read_refused(input [8*72-1:0] text, input [11:0] place);
    begin
      access(0, place, 4, 1);
      check(text, response === 2'd2);
    end
  endtask

  task expect_write_refused(input [8*72-1:0] text, input [11:0] place, input [3:0] strobe);
    begin
      words[0] = 32'hffffffff;
      s_axi_wstrb = strobe;
      access(1, place, 4, 1);
      s_axi_wstrb = 4'hf;
      check(text, response === 2'd2);
    end
  endtask

  // A number, least significant word first, to one register (0 bytes apart) or to a window (4).
  task write_number(input [11:0] place, input integer apart, input integer number,
                    input [LONGEST-1:0] wide);
    integer k;
    begin
      for (k = 0; k < number; k = k + 1) words[k] = wide[32*k +: 32];
      access(1, place, apart, number);
      accepted(place);
    end
  endtask

  task expect_number(input [8*72-1:0] text, input [11:0] place, input integer apart,
                     input integer number, input [LONGEST-1:0] wide);
    integer k;
    reg [LONGEST-1:0] found;
    begin
      found = 0;
      access(0, place, apart, number);
      accepted(place);
      for (k = 0; k < number; k = k + 1) found[32*k +: 32] = words[k];
      check(text, found === wide);
      if (found !== wide) $display("      %h\n      and not\n      %h", found, wide);
    end
  endtask

  task reset;
    begin
      s_axi_aresetn = 0;
      repeat (4) @(negedge s_axi_aclk);
      s_axi_aresetn = 1;
    end
  endtask

  task await_interrupt;
    while (irq !== 1'b1) @(negedge s_axi_aclk);
  endtask

${tasks}
  initial begin
    $display("${name}: ${summary}");
    reset;
${checks}
    finish;
  end
endmodule
