"""Butterflies modulo 8380417 in the Amaranth simulator, back to back, against the model."""

import random

import pytest
from amaranth.sim import Simulator

from coprime.lattice.arithmetic.large_butterfly import (
    CONSTANT,
    INTERVAL,
    REDUCED,
    TOTAL,
    Butterfly,
    LargeButterfly,
)
from coprime.model.lattice.large_arithmetic import Q, corrected, product

EDGES = (-Q, 1 - Q, -1, 0, 1, (1 << 17) - 1, 1 << 17, -(1 << 17), Q - 1)


def operands(generator):
    """a, b, and two constants."""
    found = [(a, b, c, c) for a in EDGES for b in EDGES for c in (-Q, -1, 1 << 17, Q - 1)]
    generator.shuffle(found)
    return found[:60] + [tuple(generator.randrange(-Q, Q) for _ in range(4)) for _ in range(200)]


def expected(kind, a, b, c, d):
    """Sum and difference, and the products."""
    if kind is Butterfly.FORWARD:
        t = product(b, c)
        return (corrected(a + t), corrected(a - t)), (t,)
    total, difference = corrected(a + b), corrected(a - b)
    if kind is Butterfly.INVERSE:
        return (total, difference), (product(difference, c),)
    return (total, difference), (product(total, c), product(difference, d))


@pytest.mark.parametrize("kind", Butterfly)
def test_butterflies_are_the_models_in_their_cycles(kind):
    dut, tried = LargeButterfly(), operands(random.Random(f"{kind}"))
    interval, checked = INTERVAL[kind], 0
    results, constants = {}, {}
    for number, one in enumerate(tried):
        totals, products = expected(kind, *one)
        start = number * interval
        for later, value in zip(TOTAL[kind], totals, strict=True):
            results[start + later, "total"] = value
        for later, value in zip(CONSTANT[kind], one[2:], strict=False):
            constants[start + later] = value
        for cycle, value in zip(REDUCED[kind], products, strict=True):
            results[start + cycle, "reduced"] = value

    async def bench(context):
        nonlocal checked
        context.set(dut.kind, kind)
        for cycle in range(len(tried) * interval + 16):
            number, phase = divmod(cycle, interval)
            begins = number < len(tried) and phase == 0
            context.set(dut.start, begins)
            a, b, *_ = tried[number] if number < len(tried) else (0, 0)
            # What is not taken is anything.
            context.set(dut.a, a if begins else 12345)
            context.set(dut.b, b if begins else -54321)
            context.set(dut.constant, constants.get(cycle, 777))
            for name in ("total", "reduced"):
                if (cycle, name) in results:
                    assert context.get(getattr(dut, name)) == results[cycle, name], (cycle, name)
                    checked += 1
            await context.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    assert checked == len(results)
