"""A slice with a wide factor in the Amaranth simulator, and what it becomes on a target."""

import random

import pytest
from amaranth.sim import Simulator

from coprime.cells.target import Target
from coprime.cells.wide_slice import WideSlice
from coprime.flow.mapping import map_design
from coprime.flow.verilog import to_verilog
from tests.netlists import ecp5_library, first_difference, xc7_library

EDGES_A = [0, 1, -1, (1 << 24) - 1, -(1 << 24), (1 << 13) - 1, 1 << 13, -(1 << 12)]
EDGES_B = [0, 1, -1, (1 << 17) - 1, -(1 << 17)]


def test_products_and_shifted_sums():
    dut, generator = WideSlice(), random.Random(25)
    operations = [(a, b, 0) for a in EDGES_A for b in EDGES_B]
    operations += [
        (
            generator.randrange(-(1 << 24), 1 << 24),
            generator.randrange(-(1 << 17), 1 << 17),
            generator.randrange(2),
        )
        for _ in range(500)
    ]

    async def bench(context):
        p = 0
        for cycle in range(len(operations) + WideSlice.LATENCY):
            if cycle < len(operations):
                a, b, adds = operations[cycle]
                context.set(dut.a, a)
                context.set(dut.b, b)
                context.set(dut.shift_add, adds)
            if cycle >= WideSlice.LATENCY:
                a, b, adds = operations[cycle - WideSlice.LATENCY]
                p = a * b + (p >> 17 if adds else 0)
                assert context.get(dut.p) == p
            await context.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()


GUARD = """
module coprime_{name} (input clk, rst, input [24:0] a, input [17:0] b, input shift_add,
                       output [47:0] p);
  {inner} inner (.clk(clk), .rst(rst), .a(a), .b(b), .shift_add(shift_add), .p(p));
endmodule
"""


@pytest.mark.route
@pytest.mark.parametrize(
    "target, dsp, library", [(Target.XC7, 1, xc7_library), (Target.ECP5, 2, ecp5_library)]
)
def test_netlists_agree_with_the_twin(target, dsp, library):
    mapped = map_design(target, WideSlice(target), "coprime_mapped")
    assert mapped.dsp == dsp
    gold = GUARD.format(name="gold", inner="coprime_twin") + to_verilog(WideSlice(), "coprime_twin")
    gate = GUARD.format(name="gate", inner="coprime_mapped") + mapped.netlist + library()
    assert first_difference(gold, gate, {"a": 25, "b": 18, "shift_add": 1}, {"p": 48}) is None
