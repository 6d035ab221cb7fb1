  // Master of AXI4: several words are a burst. Its outputs change at the falling edge of the clock;
  // what is transferred at the rising edge is recorded there. Each burst has an ID of its own.
  reg aw_taken, w_taken, b_taken, ar_taken, r_taken, r_last;
  reg [1:0] b_response, r_response;
  reg [3:0] b_id, r_id;
  reg [31:0] r_data;
  always @(posedge s_axi_aclk) begin
    aw_taken <= s_axi_awvalid && s_axi_awready;
    w_taken <= s_axi_wvalid && s_axi_wready;
    b_taken <= s_axi_bvalid && s_axi_bready;
    ar_taken <= s_axi_arvalid && s_axi_arready;
    r_taken <= s_axi_rvalid && s_axi_rready;
    b_response <= s_axi_bresp;
    b_id <= s_axi_bid;
    r_response <= s_axi_rresp;
    r_id <= s_axi_rid;
    r_last <= s_axi_rlast;
    r_data <= s_axi_rdata;
  end

  // INCR, or FIXED where `step` is 0, of which a burst has 16 beats at most.
  integer first, beats;

  // Answers come after the whole of an access, and stay until they are taken.
  task write_words;
    for (first = 0; first < count; first = first + beats) begin
      beats = step == 0 && count - first > 16 ? 16 : count - first;
      s_axi_awid = s_axi_awid + 1;
      s_axi_awaddr = address + step * first;
      s_axi_awlen = beats - 1;
      s_axi_awburst = step == 0 ? 2'd0 : 2'd1;
      s_axi_wdata = words[first];
      s_axi_wlast = beats == 1;
      s_axi_awvalid = pace != 1;
      s_axi_wvalid = pace != 2;
      s_axi_bready = pace != 3;
      late = pace == 0 ? 0 : 9;
      answered = 0;
      beat = 0;
      while (!answered) begin
        @(negedge s_axi_aclk);
        if (aw_taken === 1'b1) s_axi_awvalid = 0;
        if (w_taken === 1'b1) begin
          beat = beat + 1;
          if (beat == beats) s_axi_wvalid = 0;
          else begin
            s_axi_wdata = words[first + beat];
            s_axi_wlast = beat == beats - 1;
          end
        end
        if (b_taken === 1'b1) begin
          s_axi_bready = 0;
          answered = 1;
        end else if (late > 0) begin
          follows_protocol(pace == 3 || s_axi_bvalid === 1'b0);
          late = late - 1;
          if (late == 0) begin
            follows_protocol(pace != 3 || beats > 1 || s_axi_bvalid === 1'b1);
            if (pace == 1) s_axi_awvalid = 1;
            if (pace == 2) s_axi_wvalid = 1;
            s_axi_bready = 1;
          end
        end
      end
      follows_protocol(b_id === s_axi_awid && beat == beats);
      if (b_response !== 2'd0) response = b_response;
    end
  endtask

  task read_words;
    for (first = 0; first < count; first = first + beats) begin
      beats = step == 0 && count - first > 16 ? 16 : count - first;
      s_axi_arid = s_axi_arid + 1;
      s_axi_araddr = address + step * first;
      s_axi_arlen = beats - 1;
      s_axi_arburst = step == 0 ? 2'd0 : 2'd1;
      s_axi_arvalid = 1;
      s_axi_rready = pace != 3;
      late = pace != 3 ? 0 : 9;
      beat = 0;
      while (beat < beats) begin
        @(negedge s_axi_aclk);
        if (ar_taken === 1'b1) s_axi_arvalid = 0;
        if (late > 0) begin
          late = late - 1;
          s_axi_rready = late == 0;
          if (late == 0) follows_protocol(s_axi_rvalid === 1'b1);
        end
        if (r_taken === 1'b1) begin
          words[first + beat] = r_data;
          if (r_response !== 2'd0) response = r_response;
          beat = beat + 1;
          follows_protocol(r_id === s_axi_arid && r_last === (beat == beats));
          if (beat == beats) s_axi_rready = 0;
        end
      end
    end
  endtask
