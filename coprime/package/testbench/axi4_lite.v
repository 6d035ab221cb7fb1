  // Master of AXI4-Lite. Its outputs change at the falling edge of the clock; what is transferred at
  // the rising edge is recorded there.
  reg aw_taken, w_taken, b_taken, ar_taken, r_taken;
  reg [1:0] b_response, r_response;
  reg [31:0] r_data;
  always @(posedge s_axi_aclk) begin
    aw_taken <= s_axi_awvalid && s_axi_awready;
    w_taken <= s_axi_wvalid && s_axi_wready;
    b_taken <= s_axi_bvalid && s_axi_bready;
    ar_taken <= s_axi_arvalid && s_axi_arready;
    r_taken <= s_axi_rvalid && s_axi_rready;
    b_response <= s_axi_bresp;
    r_response <= s_axi_rresp;
    r_data <= s_axi_rdata;
  end

  // Answers come after the whole of an access, and stay until they are taken.
  task write_words;
    for (beat = 0; beat < count; beat = beat + 1) begin
      s_axi_awaddr = address + step * beat;
      s_axi_wdata = words[beat];
      s_axi_awvalid = pace != 1;
      s_axi_wvalid = pace != 2;
      s_axi_bready = pace != 3;
      late = pace == 0 ? 0 : 9;
      answered = 0;
      while (!answered) begin
        @(negedge s_axi_aclk);
        if (aw_taken === 1'b1) s_axi_awvalid = 0;
        if (w_taken === 1'b1) s_axi_wvalid = 0;
        if (b_taken === 1'b1) begin
          s_axi_bready = 0;
          answered = 1;
        end else if (late > 0) begin
          follows_protocol(pace == 3 || s_axi_bvalid === 1'b0);
          late = late - 1;
          if (late == 0) begin
            follows_protocol(pace != 3 || s_axi_bvalid === 1'b1);
            s_axi_awvalid = pace == 1;
            s_axi_wvalid = pace == 2;
            s_axi_bready = 1;
          end
        end
      end
      if (b_response !== 2'd0) response = b_response;
    end
  endtask

  task read_words;
    for (beat = 0; beat < count; beat = beat + 1) begin
      s_axi_araddr = address + step * beat;
      s_axi_arvalid = 1;
      s_axi_rready = pace != 3;
      late = pace != 3 ? 0 : 9;
      answered = 0;
      while (!answered) begin
        @(negedge s_axi_aclk);
        if (ar_taken === 1'b1) s_axi_arvalid = 0;
        if (r_taken === 1'b1) begin
          s_axi_rready = 0;
          answered = 1;
        end else if (late > 0) begin
          late = late - 1;
          s_axi_rready = late == 0;
          if (late == 0) follows_protocol(s_axi_rvalid === 1'b1);
        end
      end
      words[beat] = r_data;
      if (r_response !== 2'd0) response = r_response;
    end
  endtask
