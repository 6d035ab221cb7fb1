import re

import pytest

from coprime.flow import simulation
from coprime.flow.simulation import Chain, build_simulation, load_simulation
from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import Compiler

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

# The count goes through all nodes of a chain, each of which is one register.
PACKETS = "output [9:0] packet_out, output reset_out, input [9:0] packet_in"
RECEIVER = "reg [9:0] got = 0; always @(FRONT_END_EDGE s_axi_aclk) got <= packet_in;"
CHAIN_FRONT_END = (
    VERILOG.replace("output irq,", f"output irq, {PACKETS},")
    .replace("@(EDGE", "@(posedge")
    .replace("EXTRA", f"{RECEIVER} assign packet_out = count; assign reset_out = 0;")
    .replace("irq = count == 1000", "irq = got == 1000")
)
CHAIN_NODE = """
module node(
  input clk, input [1:0] number, input reset_in, output reg reset_out,
  input [9:0] packet_in, output reg [9:0] packet_out
);
  always @(NODE_EDGE clk) {reset_out, packet_out} <= {reset_in, packet_in};
endmodule
"""
CHAIN = CHAIN_FRONT_END + CHAIN_NODE
POSEDGE_CHAIN = CHAIN.replace("FRONT_END_EDGE", "posedge").replace("NODE_EDGE", "posedge")


def cycles_to_interrupt(path, length=0):
    library = load_simulation(path)
    handle = library.coprime_create(10, length)
    start = library.coprime_cycles(handle)
    assert library.coprime_wait_interrupt(handle, 998) == 0
    assert library.coprime_wait_interrupt(handle, 10) == 1
    cycles = library.coprime_cycles(handle) - start
    library.coprime_destroy(handle)
    return cycles


def test_one_edge():
    # Reset ends with one cycle.
    assert cycles_to_interrupt(build_simulation(PLAIN, "counter")) == 999


def test_both_edges():
    assert cycles_to_interrupt(build_simulation(BOTH_EDGES, "counter")) == 1000


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("front_end", "node", "late"),
    [
        pytest.param("posedge", "posedge", 1 + 3, marks=pytest.mark.matrix),  # as clusters are
        ("posedge", "negedge", 3),  # the front end takes what the last node has for half a cycle
        ("negedge", "posedge", 1 + 3),  # and here what comes before the next rising edge
        pytest.param("negedge", "negedge", 1 + 3, marks=pytest.mark.matrix),
    ],
)
def test_edges_of_a_chain(monkeypatch, tmp_path, front_end, node, late):
    verilog = CHAIN.replace("FRONT_END_EDGE", front_end).replace("NODE_EDGE", node)
    macros = macros_of_a_build(monkeypatch, tmp_path, verilog, Chain("counter", "node", 3))
    assert cycles_to_interrupt(tmp_path / "simulation.so", 3) == 999 + late
    assert macros["-DNUMBER_WIDTH"] == "2"
    assert ("-DPREVIOUS_CLOCK" in macros) == (front_end == "posedge")
    assert ("-DPREVIOUS_NODE_CLOCK" in macros) == (node == "posedge")


@pytest.mark.parametrize(("verilog", "skips"), [(PLAIN, True), (BOTH_EDGES, False)])
def test_falling_edge_is_skipped_where_nothing_waits_for_it(monkeypatch, tmp_path, verilog, skips):
    macros = macros_of_a_build(monkeypatch, tmp_path, verilog, "counter")
    assert ("-DPREVIOUS_CLOCK" in macros) == skips
    assert "-DNUMBER_WIDTH" not in macros


def macros_of_a_build(monkeypatch, tmp_path, verilog, top):
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
    build_simulation(verilog, top)
    return dict(option.partition("=")[::2] for option in options if option.startswith("-D"))


@pytest.mark.parametrize(("command", "level"), [("c++", "-O1"), ("ccache c++ -O3", "-O3")])
def test_cxx_may_have_another_optimization(command, level):
    flags = simulation._compile_command(Compiler(tuple(command.split()), ""))
    assert [flag for flag in flags if flag.startswith("-O")] == [level]


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


def test_one_library_for_every_length():
    chains = [Chain("counter", "node", length) for length in (1, 4, 1000)]
    assert len({build_simulation(POSEDGE_CHAIN, chain) for chain in chains}) == 1
    assert build_simulation(POSEDGE_CHAIN, "counter") != build_simulation(POSEDGE_CHAIN, chains[0])


def test_lengths_of_a_chain():
    """Two bits of `number` count to four nodes."""
    path = build_simulation(POSEDGE_CHAIN, Chain("counter", "node", 1))
    for length in (0, 5, 1 << 63):
        assert load_simulation(path).coprime_create(10, length) is None
    for length in (1, 4):
        assert cycles_to_interrupt(path, length) == 1000 + length
    plain = load_simulation(build_simulation(PLAIN, "counter"))
    assert plain.coprime_create(10, 1) is None


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        (
            "input [9:0] packet_in, output reg [9:0]",
            "input [10:0] packet_in, output reg [9:0]",
            "packets of a chain must have one width, and not, .* [10, 11, 10, 10]",
        ),
        (
            "reset_out, input [9:0] packet_in",
            "reset_out, input [8:0] packet_in",
            "packets of a chain must have one width, and not, .* [10, 10, 10, 9]",
        ),
        ("packet_out", "out", "the front end of a chain must have the port packet_out"),
        ("number", "place", "the node of a chain must have the port number"),
    ],
)
def test_ports_of_a_chain(old, new, error):
    assert old in POSEDGE_CHAIN
    with pytest.raises(ValueError, match=error.replace("[", r"\[").replace("]", r"\]")):
        build_simulation(POSEDGE_CHAIN.replace(old, new), Chain("counter", "node", 1))


def test_module_that_does_not_exist():
    with pytest.raises(ToolError, match=re.compile("Verilator failed.*none", re.DOTALL)):
        build_simulation(PLAIN, "none")


def test_ports_that_are_missing():
    with pytest.raises(ToolError, match=re.compile(r"C\+\+ compiler failed.*irq", re.DOTALL)):
        build_simulation(PLAIN.replace("irq", "interrupt"), "counter")
