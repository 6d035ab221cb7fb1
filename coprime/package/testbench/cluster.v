  task load(input [5:0] operand, input integer bits, input [LONGEST-1:0] wide);
    begin
      write(REG_KEY_OPERAND, operand);
      write_number(REG_KEY_DATA, 0, (bits + 31) / 32, wide);
    end
  endtask

  // ERROR, which is then cleared.
  task expect_refusal(input [8*72-1:0] text, input [7:0] refusal);
    begin
      expect_word(text, REG_ERROR, {16'd0, refusal, 8'd0});
      write(REG_ERROR, 0);
    end
  endtask

  // The oldest completion, which is removed after its result was read: none where `bytes` is 0.
  task expect_completion(input [8*72-1:0] text, input [15:0] core, input [7:0] code,
                         input integer bytes, input [LONGEST-1:0] wide);
    begin
      await_interrupt;
      expect_word("... COMPLETION", REG_COMPLETION, {8'h80, code, core});
      expect_word("... RESULT_LENGTH", REG_RESULT_LENGTH, bytes);
      expect_number(text, REG_RESULT, 0, bytes == 0 ? 1 : (bytes + 3) / 4, wide);
      write(REG_NEXT, 0);
    end
  endtask
