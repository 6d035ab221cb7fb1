import random

import pytest
from amaranth.sim import Simulator

from coprime.cells.dsp_slice import Accumulate, DspSlice

EDGES = [0, 1, -1, (1 << 17) - 1, -(1 << 17), (1 << 16), 0x15555, -0x15556]


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
