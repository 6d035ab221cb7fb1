  // Random bytes: those of a 32-bit xorshift generator, so that what is padded with them is known.
  reg [31:0] state = 32'd${seed};
  assign s_axis_random_tdata = state[7:0];
  assign s_axis_random_tvalid = 1'b1;

  function [31:0] following(input [31:0] x);
    reg [31:0] y;
    begin
      y = x ^ (x << 13);
      y = y ^ (y >> 17);
      following = y ^ (y << 5);
    end
  endfunction

  reg byte_taken;
  always @(posedge s_axi_aclk) byte_taken <= s_axis_random_tready;
  always @(negedge s_axi_aclk) if (byte_taken === 1'b1) state = following(state);

  task seed_random;
    state = 32'd${seed};
  endtask
