import random

import pytest
from amaranth.sim import Simulator

from coprime.cells.dsp_slice import ADD_C, Accumulate, DspSlice

EDGES = [0, 1, -1, (1 << 17) - 1, -(1 << 17), (1 << 16), 0x15555, -0x15556]


def expected(p, a, b, accumulate, product, c, width):
    bases = {
        Accumulate.LOAD.value: 0,
        Accumulate.ADD.value: p,
        Accumulate.SHIFT_ADD.value: p >> 17,
        ADD_C: c,
    }
    base = bases[accumulate]
    total = base + (a * b if product else 0)
    return (total + (1 << width - 1)) % (1 << width) - (1 << width - 1)


@pytest.mark.parametrize("adds_c", [False, True])
@pytest.mark.parametrize("width", [36, 37, 48])
def test_behaviour(width, adds_c):
    dut = DspSlice(width, adds_c=adds_c)
    kinds = [*(one.value for one in Accumulate), *[ADD_C] * adds_c]
    generator = random.Random(17)
    operations = [
        (
            generator.choice([*EDGES, generator.randrange(-(1 << 17), 1 << 17)]),
            generator.choice([*EDGES, generator.randrange(-(1 << 17), 1 << 17)]),
            generator.choice(kinds),
            generator.randrange(2),
            generator.randrange(-(1 << width - 1), 1 << width - 1),
        )
        for _ in range(2000)
    ]
    operations[0] = (3, 5, Accumulate.LOAD.value, 1, 0)

    async def bench(context):
        p = 0
        late = 0  # c enters a cycle after its operation
        for cycle, (a, b, accumulate, product, c) in enumerate(
            operations + [(0, 0, Accumulate.ADD.value, 0, 0)] * DspSlice.LATENCY
        ):
            if adds_c:
                context.set(dut.c, late)
            late = c
            context.set(dut.a, a)
            context.set(dut.b, b)
            context.set(dut.accumulate, accumulate)
            context.set(dut.product, product)
            if cycle >= DspSlice.LATENCY:
                p = expected(p, *operations[cycle - DspSlice.LATENCY], width)
                assert context.get(dut.p) == p
            await context.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
