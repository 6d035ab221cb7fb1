import re

import pytest

from coprime.flow import simulation
from coprime.flow.simulation import build_simulation, load_simulation
from coprime.flow.tools import ToolError

# The ports of an accelerator, and a circuit that counts its cycles from reset on into irq.
VERILOG = """
module counter(
  input s_axi_aclk, input s_axi_aresetn, output irq,
  input [11:0] s_axi_awaddr, input [2:0] s_axi_awprot, input s_axi_awvalid, output s_axi_awready,
  input [31:0] s_axi_wdata, input [3:0] s_axi_wstrb, input s_axi_wvalid, output s_axi_wready,
  output [1:0] s_axi_bresp, output s_axi_bvalid, input s_axi_bready,
  input [11:0] s_axi_araddr, input [2:0] s_axi_arprot, input s_axi_arvalid, output s_axi_arready,
  output [31:0] s_axi_rdata, output [1:0] s_axi_rresp, output s_axi_rvalid, input s_axi_rready
);
  reg [31:0] count = 0;
  always @(EDGE s_axi_aclk) count <= s_axi_aresetn ? count + 1 : 0;
  EXTRA
  assign irq = count == 1000;
  assign {s_axi_awready, s_axi_wready, s_axi_bresp, s_axi_bvalid} = 0;
  assign {s_axi_arready, s_axi_rdata, s_axi_rresp, s_axi_rvalid} = 0;
endmodule
"""
PLAIN = VERILOG.replace("EDGE", "posedge").replace("EXTRA", "")
# A register on the falling edge, which must be seen: irq depends on both.
BOTH_EDGES = (
    VERILOG.replace("EDGE", "posedge")
    .replace("EXTRA", "reg [31:0] late = 0; always @(negedge s_axi_aclk) late <= count;")
    .replace("irq = count == 1000", "irq = late == 1000")
)


def cycles_to_interrupt(verilog):
    library = load_simulation(build_simulation(verilog, "counter"))
    handle = library.coprime_create(10)
    start = library.coprime_cycles(handle)
    assert library.coprime_wait_interrupt(handle, 998) == 0
    assert library.coprime_wait_interrupt(handle, 10) == 1
    cycles = library.coprime_cycles(handle) - start
    library.coprime_destroy(handle)
    return cycles


def test_one_edge():
    assert cycles_to_interrupt(PLAIN) == 999  # reset ends with one cycle


def test_both_edges():
    assert cycles_to_interrupt(BOTH_EDGES) == 1000


@pytest.mark.parametrize(("verilog", "skips"), [(PLAIN, True), (BOTH_EDGES, False)])
def test_falling_edge_is_skipped_where_nothing_waits_for_it(monkeypatch, tmp_path, verilog, skips):
    cached, run = simulation.cached, simulation.run_tool
    options = []

    def rebuild(kind, key, build):
        if kind != "simulation":
            return cached(kind, key, build)
        build(tmp_path)
        return tmp_path

    def record(what, command, **rest):
        options.extend(str(option) for option in command)
        return run(what, command, **rest)

    monkeypatch.setattr(simulation, "cached", rebuild)
    monkeypatch.setattr(simulation, "run_tool", record)
    build_simulation(verilog, "counter")
    assert any(option.startswith("-DPREVIOUS_CLOCK=") for option in options) == skips


def test_library_is_kept(monkeypatch):
    library = build_simulation(PLAIN, "counter")
    run = simulation.run_tool
    commands = []
    monkeypatch.setattr(
        simulation,
        "run_tool",
        lambda what, command, **rest: commands.append(command) or run(what, command, **rest),
    )
    assert build_simulation(PLAIN, "counter") == library
    assert [str(option) for command in commands for option in command[1:]] == ["--version"]
    assert sorted(path.name for path in library.parent.iterdir()) == ["design.v", "simulation.so"]
    assert build_simulation(PLAIN + "// another text", "counter") != library


def test_module_that_does_not_exist():
    with pytest.raises(ToolError, match=re.compile("Verilator failed.*none", re.DOTALL)):
        build_simulation(PLAIN, "none")


def test_ports_that_are_missing():
    with pytest.raises(ToolError, match=re.compile(r"C\+\+ compiler failed.*irq", re.DOTALL)):
        build_simulation(PLAIN.replace("irq", "interrupt"), "counter")
