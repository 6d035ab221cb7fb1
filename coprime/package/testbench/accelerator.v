  task load(input [5:0] operand, input integer bits, input [LONGEST-1:0] wide);
    begin
      write(REG_KEY_OPERAND, operand);
      write_number(REG_KEY_WINDOW, 4, (bits + 31) / 32, wide);
    end
  endtask

  task give(input integer bytes, input [LONGEST-1:0] wide);
    begin
      write_number(REG_INPUT_WINDOW, 4, (bytes + 3) / 4, wide);
      write(REG_INPUT_LENGTH, bytes);
    end
  endtask

  task write_window(input [11:0] place, input integer number, input [LONGEST-1:0] wide);
    write_number(place, 4, number, wide);
  endtask

  // Wait for the end of a command, and clear its interrupt.
  task await_end;
    begin
      await_interrupt;
      write(REG_INTERRUPT_STATUS, 1);
    end
  endtask

  task run(input [5:0] command);
    begin
      write(REG_COMMAND, command);
      await_end;
    end
  endtask

  // ERROR, which is then cleared.
  task expect_error(input [8*72-1:0] text, input [7:0] refusal, input [7:0] code);
    begin
      expect_word(text, REG_ERROR, {16'd0, refusal, code});
      write(REG_ERROR, 0);
    end
  endtask

  task expect_result(input [8*72-1:0] text, input integer bytes, input [LONGEST-1:0] wide);
    begin
      expect_error("... ends without an error", 0, 0);
      expect_word("... OUTPUT_LENGTH", REG_OUTPUT_LENGTH, bytes);
      expect_number(text, REG_OUTPUT_WINDOW, 4, (bytes + 3) / 4, wide);
      read(REG_CYCLES);
      $display("      %0d cycles of the engine", words[0]);
    end
  endtask

  task expect_no_result(input [8*72-1:0] text, input integer bytes);
    begin
      expect_word("... OUTPUT_LENGTH is 0", REG_OUTPUT_LENGTH, 0);
      expect_number(text, REG_OUTPUT_WINDOW, 4, (bytes + 3) / 4, 0);
    end
  endtask
