"""A bus master in plain Verilog, which repeats recorded accesses on an accelerator."""

import re

# Inputs change between rising edges, so that no simulator's order of events matters.
MASTER = """
module bench;
  reg s_axi_aclk = 0;
  reg s_axi_aresetn = 0;
  reg [11:0] s_axi_awaddr = 0, s_axi_araddr = 0;
  reg [2:0] s_axi_awprot = 0, s_axi_arprot = 0;
  reg [31:0] s_axi_wdata = 0;
  reg [3:0] s_axi_wstrb = 4'hf;
  reg s_axi_awvalid = 0, s_axi_wvalid = 0, s_axi_bready = 0, s_axi_arvalid = 0, s_axi_rready = 0;
  wire s_axi_awready, s_axi_wready, s_axi_bvalid, s_axi_arready, s_axi_rvalid, irq;
  wire [1:0] s_axi_bresp, s_axi_rresp;
  wire [31:0] s_axi_rdata;
  reg data_taken, address_taken;

  TOP dut (PORTS);

  always #5 s_axi_aclk = ~s_axi_aclk;

  task write(input [11:0] address, input [31:0] value);
    begin
      s_axi_awaddr = address;
      s_axi_wdata = value;
      s_axi_awvalid = 1;
      s_axi_wvalid = 1;
      s_axi_bready = 1;
      while (s_axi_awvalid || s_axi_wvalid) begin
        address_taken = s_axi_awready;
        data_taken = s_axi_wready;
        @(negedge s_axi_aclk);
        if (address_taken === 1) s_axi_awvalid = 0;
        if (data_taken === 1) s_axi_wvalid = 0;
      end
      while (s_axi_bvalid !== 1) @(negedge s_axi_aclk);
      if (s_axi_bresp !== 0) $display("WRONG: response of a write to %h: %b", address, s_axi_bresp);
      @(negedge s_axi_aclk) s_axi_bready = 0;
    end
  endtask

  task read(input [11:0] address, input [31:0] value);
    begin
      s_axi_araddr = address;
      s_axi_arvalid = 1;
      s_axi_rready = 1;
      while (s_axi_arvalid) begin
        address_taken = s_axi_arready;
        @(negedge s_axi_aclk);
        if (address_taken === 1) s_axi_arvalid = 0;
      end
      while (s_axi_rvalid !== 1) @(negedge s_axi_aclk);
      if (s_axi_rdata !== value) $display("WRONG: %h has %h, not %h", address, s_axi_rdata, value);
      @(negedge s_axi_aclk) s_axi_rready = 0;
    end
  endtask

  initial begin
    repeat (8) @(negedge s_axi_aclk);
    s_axi_aresetn = 1;
    repeat (2) @(negedge s_axi_aclk);
ACCESSES
    $display("PASSED");
    $finish;
  end

  initial begin
    repeat (200000) @(negedge s_axi_aclk);
    $display("TIMEOUT");
    $finish;
  end
endmodule
"""


def bench(verilog: str, top: str, accesses: list[tuple[str, int, int]]) -> str:
    """Module `bench`: it prints PASSED, or WRONG for what is read otherwise than recorded."""
    head = re.search(rf"^module {top} \((.*?)^\);", verilog, re.MULTILINE | re.DOTALL)
    assert head
    ports = re.findall(r"(\w+)(?: = [^,]*)?,?(?:  //.*)?$", head[1], re.MULTILINE)
    statements = {
        "write": "write(12'h{:x}, 32'h{:x});",
        "read": "read(12'h{:x}, 32'h{:x});",
        "wait": "while (irq !== 1) @(negedge s_axi_aclk);",
    }
    lines = [f"    {statements[kind].format(address, value)}" for kind, address, value in accesses]
    connections = ", ".join(f".{port}({port})" for port in ports if port)
    return (
        MASTER.replace("TOP", top)
        .replace("PORTS", connections)
        .replace("ACCESSES", "\n".join(lines))
    )
