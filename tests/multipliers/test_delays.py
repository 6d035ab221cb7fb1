import random

import pytest
from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.sim import Simulator

from coprime.multipliers.delays import delays, history

CYCLES = 3


@pytest.mark.parametrize("named", [False, True])
def test_what_a_signal_was(named):
    """Also through a reset, which such shift registers do not see."""
    m = Module()
    signal = Signal(8, name="signal")
    reset = Signal()
    taps = history(m, "sum", signal + 1, CYCLES) if named else delays(m, signal, CYCLES)
    stem = "sum" if named else "signal"
    assert [tap.name for tap in taps] == [stem, f"{stem}_1", f"{stem}_2", f"{stem}_3"]
    generator = random.Random(3)
    values = [generator.randrange(256) for _ in range(50)]

    async def bench(context):
        for cycle, value in enumerate(values):
            context.set(signal, value)
            context.set(reset, cycle % 7 == 5)
            past = [value + named for value in reversed(values[: cycle + 1])][: CYCLES + 1]
            assert [context.get(tap) for tap in taps[: len(past)]] == past
            await context.tick()

    simulator = Simulator(ResetInserter(reset)(m))
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
