import random

import pytest
from amaranth.sim import Simulator

from coprime.cells.difference_slice import Base, DifferenceSlice
from coprime.cells.target import Target
from coprime.flow.ecp5 import map_ecp5
from coprime.flow.verilog import to_verilog
from coprime.flow.xc7 import map_xc7
from tests.netlists import ecp5_library, first_difference, xc7_library

FULL = (1 << 17) - 1
EDGES = [0, 1, FULL, FULL - 1, 1 << 16, 0x15555]
INPUTS = {"a": 17, "b": 17, "x": 17, "y": 17, "subtract": 1, "base": 2, "c": 44}


@pytest.mark.parametrize("width", [36, 44, 48])
def test_behaviour(width):
    dut = DifferenceSlice(width)
    generator = random.Random(17)

    def digit():
        return generator.choice([*EDGES, generator.getrandbits(17)])

    operations = [
        {
            **{name: digit() for name in "abxy"},
            "subtract": generator.randrange(2),
            "base": generator.choice(list(Base)),
            "c": generator.randrange(-(1 << width - 1), 1 << width - 1),
        }
        for _ in range(2000)
    ]
    operations[0]["base"] = Base.ZERO

    async def bench(context):
        p = 0
        for cycle in range(len(operations)):
            for name, value in operations[cycle].items():
                if name in "xy":  # taken a cycle later than the others
                    value = operations[max(cycle - 1, 0)][name]
                context.set(getattr(dut, name), value.value if name == "base" else value)
            if cycle >= DifferenceSlice.LATENCY:
                now = operations[cycle - DifferenceSlice.LATENCY]
                c = operations[cycle - 2]["c"]
                product = (now["a"] - now["b"]) * (now["x"] - now["y"])
                base = {Base.ZERO: 0, Base.P: p, Base.C: c}[now["base"]]
                p = base - product if now["subtract"] else base + product
                p = (p + (1 << width - 1)) % (1 << width) - (1 << width - 1)
                assert context.get(dut.p) == p
            await context.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()


# Only the bases that exist: OPMODE code 01 means another thing to a DSP48E1.
GUARD = """
module coprime_{name} (input clk, rst, input [16:0] a, b, x, y, input subtract,
                       input [1:0] base, input [43:0] c, output [43:0] p);
  {inner} inner (.clk(clk), .rst(rst), .a(a), .b(b), .x(x), .y(y),
    .subtract(subtract), .base(base == 1 ? 2'b00 : base), .c(c), .p(p));
endmodule
"""


def guarded(name, text, inner):
    return GUARD.format(name=name, inner=inner) + text


@pytest.fixture(scope="module")
def gold():
    return guarded("gold", to_verilog(DifferenceSlice(44), "coprime_twin"), "coprime_twin")


def test_xc7_netlist_agrees_with_twin(gold):
    mapped = map_xc7(DifferenceSlice(44, Target.XC7), "coprime_mapped")
    assert mapped.dsp == 1
    assert mapped.lut <= 17 + 1  # the one difference
    gate = guarded("gate", mapped.netlist + xc7_library(), "coprime_mapped")
    assert first_difference(gold, gate, INPUTS, {"p": 44}) is None


def test_ecp5_netlist_agrees_with_twin(gold):
    mapped = map_ecp5(DifferenceSlice(44, Target.ECP5), "coprime_mapped")
    assert mapped.dsp == 1
    gate = guarded("gate", mapped.netlist + ecp5_library(), "coprime_mapped")
    assert first_difference(gold, gate, INPUTS, {"p": 44}) is None


def test_comparison_sees_a_difference(gold):
    # A 43-bit accumulator wraps where the 44-bit one does not.
    gate = guarded("gate", to_verilog(DifferenceSlice(43), "coprime_narrow"), "coprime_narrow")
    assert first_difference(gold, gate, INPUTS, {"p": 44}) is not None


@pytest.mark.parametrize("width", [35, 49])
def test_width_out_of_range(width):
    with pytest.raises(ValueError, match=rf"accumulator_width must be in 36\.\.48, not {width}"):
        DifferenceSlice(width)


def test_width_of_wrong_type():
    with pytest.raises(TypeError, match=r"accumulator_width must be an int, not '44'"):
        DifferenceSlice("44")
