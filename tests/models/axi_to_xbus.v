// An AXI4-Lite slave that is the master of a NEORV32's XBUS, so that a simulated device can drive
// what hangs on an XBUS: coprime_xbus, at 0xF0000000. An answer at the wrong time spoils all later
// ones.
module axi_to_xbus(
  input s_axi_aclk, input s_axi_aresetn,
  input [11:0] s_axi_awaddr, input [2:0] s_axi_awprot, input s_axi_awvalid, output s_axi_awready,
  input [31:0] s_axi_wdata, input [3:0] s_axi_wstrb, input s_axi_wvalid, output s_axi_wready,
  output [1:0] s_axi_bresp, output s_axi_bvalid, input s_axi_bready,
  input [11:0] s_axi_araddr, input [2:0] s_axi_arprot, input s_axi_arvalid, output s_axi_arready,
  output [31:0] s_axi_rdata, output [1:0] s_axi_rresp, output s_axi_rvalid, input s_axi_rready,
  output irq
);
  localparam IDLE = 0, STROBE = 1, WAIT = 2, ANSWER = 3;
  reg [1:0] state;
  reg write, refused, spoiled;
  reg [3:0] strobes;
  reg [31:0] address, data, answer;
  wire [31:0] read;
  wire ack, err;

  wire take_write = state == IDLE && s_axi_awvalid && s_axi_wvalid;
  wire take_read = state == IDLE && s_axi_arvalid && !take_write;
  assign s_axi_awready = take_write;
  assign s_axi_wready = take_write;
  assign s_axi_arready = take_read;
  assign s_axi_bvalid = state == ANSWER && write;
  assign s_axi_rvalid = state == ANSWER && !write;
  assign s_axi_bresp = {refused || spoiled, 1'b0};
  assign s_axi_rresp = s_axi_bresp;
  assign s_axi_rdata = answer;

  always @(posedge s_axi_aclk) begin
    if (!s_axi_aresetn) begin
      state <= IDLE;
      spoiled <= 0;
    end else begin
      if ((ack || err) && state != WAIT || ack && err) spoiled <= 1;
      case (state)
        IDLE: if (take_write || take_read) begin
          write <= take_write;
          address <= {20'hF0000, take_write ? s_axi_awaddr : s_axi_araddr};
          data <= s_axi_wdata;
          strobes <= s_axi_wstrb;
          state <= STROBE;
        end
        STROBE: state <= WAIT;
        WAIT: if (ack || err) begin
          answer <= read;
          refused <= err;
          state <= ANSWER;
        end
        ANSWER: if (write ? s_axi_bready : s_axi_rready) state <= IDLE;
      endcase
    end
  end

  // What XBUS does not hold after the strobe is spoiled here.
  wire strobe = state == STROBE;
  coprime_xbus device(
    .clk(s_axi_aclk), .rstn(s_axi_aresetn),
    .select_i(address[31:12] == 20'hF0000),
    .xbus_adr_i(strobe ? address : 32'hFFFFFFFF), .xbus_dat_i(strobe ? data : 32'hFFFFFFFF),
    .xbus_dat_o(read), .xbus_we_i(strobe && write), .xbus_sel_i(strobe ? strobes : 4'h0),
    .xbus_stb_i(strobe), .xbus_ack_o(ack), .xbus_err_o(err), .irq_o(irq)
  );
endmodule
