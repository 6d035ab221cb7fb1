import random

import pytest
from amaranth.sim import Simulator

from coprime.cells.dsp_slice import Accumulate, DspSlice
from coprime.cells.target import Target
from coprime.flow.ecp5 import map_ecp5
from coprime.flow.verilog import to_verilog
from coprime.flow.xc7 import map_xc7
from tests.netlists import ecp5_library, first_difference, xc7_library

EDGES = [0, 1, -1, (1 << 17) - 1, -(1 << 17), (1 << 16), 0x15555, -0x15556]
INPUTS = {"a": 18, "b": 18, "accumulate": 3, "product": 1}


def expected(p, a, b, accumulate, product, width):
    base = {Accumulate.LOAD: 0, Accumulate.ADD: p, Accumulate.SHIFT_ADD: p >> 17}[accumulate]
    total = base + (a * b if product else 0)
    return (total + (1 << width - 1)) % (1 << width) - (1 << width - 1)


@pytest.mark.parametrize("width", [36, 37, 48])
def test_behaviour(width):
    dut = DspSlice(width)
    generator = random.Random(17)
    operations = [
        (
            generator.choice([*EDGES, generator.randrange(-(1 << 17), 1 << 17)]),
            generator.choice([*EDGES, generator.randrange(-(1 << 17), 1 << 17)]),
            generator.choice(list(Accumulate)),
            generator.randrange(2),
        )
        for _ in range(2000)
    ]
    operations[0] = (3, 5, Accumulate.LOAD, 1)

    async def bench(context):
        p = 0
        for cycle, (a, b, accumulate, product) in enumerate(
            operations + [(0, 0, Accumulate.ADD, 0)] * DspSlice.LATENCY
        ):
            context.set(dut.a, a)
            context.set(dut.b, b)
            context.set(dut.accumulate, accumulate.value)
            context.set(dut.product, product)
            if cycle >= DspSlice.LATENCY:
                p = expected(p, *operations[cycle - DspSlice.LATENCY], width)
                assert context.get(dut.p) == p
            await context.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()


# Only the operations that exist: OPMODE codes 1, 3, 4, 5 and 7 mean other things to a DSP48E1.
GUARD = """
module coprime_{name} (input clk, rst, input [17:0] a, b, input [2:0] accumulate, input product,
                       output [36:0] p);
  wire [2:0] known = accumulate[1] ? (accumulate[2] ? 3'b110 : 3'b010) : 3'b000;
  {inner} inner (.clk(clk), .rst(rst), .a(a), .b(b), .accumulate(known), .product(product), .p(p));
endmodule
"""


def guarded(name, text, inner):
    return GUARD.format(name=name, inner=inner) + text


@pytest.fixture(scope="module")
def gold():
    return guarded("gold", to_verilog(DspSlice(37), "coprime_twin"), "coprime_twin")


def test_xc7_netlist_agrees_with_twin(gold):
    mapped = map_xc7(DspSlice(37, Target.XC7), "coprime_mapped")
    assert mapped.dsp == 1
    assert mapped.lut <= 4
    gate = guarded("gate", mapped.netlist + xc7_library(), "coprime_mapped")
    assert first_difference(gold, gate, INPUTS, {"p": 37}) is None


def test_ecp5_netlist_agrees_with_twin(gold):
    mapped = map_ecp5(DspSlice(37, Target.ECP5), "coprime_mapped")
    assert mapped.dsp == 1
    gate = guarded("gate", mapped.netlist + ecp5_library(), "coprime_mapped")
    assert first_difference(gold, gate, INPUTS, {"p": 37}) is None


def test_comparison_sees_a_difference(gold):
    # A 36-bit accumulator wraps where the 37-bit one does not.
    gate = guarded("gate", to_verilog(DspSlice(36), "coprime_narrow"), "coprime_narrow")
    assert first_difference(gold, gate, INPUTS, {"p": 37}) is not None


@pytest.mark.parametrize("width", [35, 49])
def test_width_out_of_range(width):
    with pytest.raises(ValueError, match=rf"accumulator_width must be in 36\.\.48, not {width}"):
        DspSlice(width)


def test_width_of_wrong_type():
    with pytest.raises(TypeError, match=r"accumulator_width must be an int, not '37'"):
        DspSlice("37")
