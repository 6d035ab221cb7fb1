import itertools
import random
import re

import pytest
from amaranth.hdl import ClockDomain, Module
from amaranth.sim import Simulator

from coprime.cells.product import Product
from coprime.cells.target import Target
from coprime.flow.mapping import map_design
from coprime.flow.verilog import to_verilog
from tests.netlists import ecp5_library, first_difference, xc7_library

EDGES = [0, 1, -1, 2, -2, (1 << 17) - 1, -(1 << 17), 1 << 16, -(1 << 16), 0x15555, -0x15556]
SLOW = pytest.mark.route
INPUTS = {"a": 18, "b": 18}
REGISTERS = list(itertools.product([False, True], repeat=3))
MAPPED = [pytest.param(one, marks=[] if one == (True, True, True) else SLOW) for one in REGISTERS]


def make(registers, target=Target.GENERIC):
    inputs, middle, output = registers
    return Product(inputs=inputs, middle=middle, output=output, target=target)


def simulate(dut, process):
    """Also of what has no register, and so no clock."""
    m = Module()
    m.domains.sync = ClockDomain()
    m.submodules.dut = dut
    simulator = Simulator(m)
    simulator.add_clock(1e-8)
    simulator.add_testbench(process)
    simulator.run()


@pytest.mark.parametrize("registers", REGISTERS)
def test_a_new_product_in_every_cycle(registers):
    dut = make(registers)
    assert dut.latency == sum(registers)
    generator = random.Random(18)
    pairs = list(itertools.product(EDGES, repeat=2))
    pairs += [
        (generator.randrange(-(1 << 17), 1 << 17), generator.randrange(-(1 << 17), 1 << 17))
        for _ in range(1000)
    ]

    async def bench(context):
        for cycle in range(len(pairs) + dut.latency):
            a, b = pairs[min(cycle, len(pairs) - 1)]
            context.set(dut.a, a)
            context.set(dut.b, b)
            if cycle >= dut.latency:
                a, b = pairs[cycle - dut.latency]
                assert context.get(dut.p) == a * b
            await context.tick()

    simulate(dut, bench)


def test_registers_by_default():
    dut = Product()
    assert (dut.inputs, dut.middle, dut.output, dut.latency) == (True, False, True, 2)


# --- Mapped -------------------------------------------------------------------------------------

PORTS = ", ".join(f"output P{bit}" for bit in range(36))
FACTORS = ", ".join(f"input {name}{bit}" for name in ("A", "B") for bit in range(18))


def joined(name, bits):
    return "{" + ", ".join(f"{name}{bit}" for bit in reversed(range(bits))) + "}"


MULTIPLIER = f"""
// Signed, each of its registers on clock 0 or left out (FPGA-TN-02205).
module MULT18X18D (
  {FACTORS}, {PORTS},
  {", ".join(f"input SRI{name}{bit}" for name in ("A", "B") for bit in range(18))},
  input SIGNEDA, SIGNEDB, SOURCEA, SOURCEB,
  input CLK0, CLK1, CLK2, CLK3, CE0, CE1, CE2, CE3, RST0, RST1, RST2, RST3
);
  parameter REG_INPUTA_CLK = "NONE", REG_INPUTA_CE = "CE0", REG_INPUTA_RST = "RST0";
  parameter REG_INPUTB_CLK = "NONE", REG_INPUTB_CE = "CE0", REG_INPUTB_RST = "RST0";
  parameter REG_PIPELINE_CLK = "NONE", REG_PIPELINE_CE = "CE0", REG_PIPELINE_RST = "RST0";
  parameter REG_OUTPUT_CLK = "NONE", REG_OUTPUT_CE = "CE0", REG_OUTPUT_RST = "RST0";
  parameter GSR = "ENABLED", RESETMODE = "SYNC";

  wire signed [17:0] a_in = {joined("A", 18)}, b_in = {joined("B", 18)};
  reg signed [17:0] a_register, b_register;
  reg signed [35:0] p_register, q_register;
  wire signed [17:0] a = REG_INPUTA_CLK == "CLK0" ? a_register : a_in;
  wire signed [17:0] b = REG_INPUTB_CLK == "CLK0" ? b_register : b_in;
  wire signed [35:0] product = a * b;
  wire signed [35:0] p = REG_PIPELINE_CLK == "CLK0" ? p_register : product;
  wire signed [35:0] q = REG_OUTPUT_CLK == "CLK0" ? q_register : p;
  always @(posedge CLK0)
    if (RST0) begin
      a_register <= 0;
      b_register <= 0;
      p_register <= 0;
      q_register <= 0;
    end else if (CE0) begin
      a_register <= a_in;
      b_register <= b_in;
      p_register <= product;
      q_register <= p;
    end
  assign {joined("P", 36)} = SIGNEDA && SIGNEDB ? q : 36'bx;
endmodule
"""


def ecp5_cells():
    """The cell library, with a multiplier whose every register may be left out."""
    text = re.sub(r"^module MULT18X18D\b.*?^endmodule", "", ecp5_library(), flags=re.M | re.S)
    return text + MULTIPLIER


def clocked(name, text, inner):
    """With clock and reset, that a design without any register lacks."""
    clock = ".clk(clk), .rst(rst), " if re.search(r"^module [^;]*\bclk\b", text, re.M) else ""
    return (
        f"module coprime_{name} (input clk, rst, input [17:0] a, b, output [35:0] p);\n"
        f"  {inner} inner ({clock}.a(a), .b(b), .p(p));\nendmodule\n{text}"
    )


@pytest.mark.route
@pytest.mark.parametrize("registers", REGISTERS)
def test_xc7_netlist_agrees_with_twin(registers):
    gold = clocked("gold", to_verilog(make(registers), "coprime_twin"), "coprime_twin")
    mapped = map_design(Target.XC7, make(registers, Target.XC7), "coprime_mapped")
    assert mapped.dsp == 1
    assert mapped.ff == 0
    gate = clocked("gate", mapped.netlist, "coprime_mapped") + xc7_library()
    assert first_difference(gold, gate, INPUTS, {"p": 36}, cycles=20_000) is None


@pytest.mark.parametrize("registers", MAPPED)
def test_ecp5_netlist_agrees_with_twin(registers):
    gold = clocked("gold", to_verilog(make(registers), "coprime_twin"), "coprime_twin")
    mapped = map_design(Target.ECP5, make(registers, Target.ECP5), "coprime_mapped")
    assert mapped.dsp == 1
    assert mapped.ff == 0
    gate = clocked("gate", mapped.netlist, "coprime_mapped") + ecp5_cells()
    assert first_difference(gold, gate, INPUTS, {"p": 36}, cycles=20_000) is None


def test_comparison_sees_a_difference():
    """A register more on the way."""
    texts = [to_verilog(make(registers), "coprime_twin") for registers in REGISTERS[1:4:2]]
    gold = clocked("gold", texts[0], "coprime_twin")
    gate = clocked("gate", texts[1].replace("coprime_twin", "coprime_other"), "coprime_other")
    assert first_difference(gold, gate, INPUTS, {"p": 36}) is not None
