import random

import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator

from coprime.multipliers.one_hot import OneHot

CHANGES = {"idle": ("work", "go"), "work": ("rest", "enough"), "rest": ("idle", None)}


def following(state, inputs):
    target, condition = CHANGES[state]
    return target if condition is None or inputs[condition] else state


def test_walk():
    """One state at a time, each announced in the cycle before it."""
    m = Module()
    inputs = {name: Signal(name=name) for name in ("go", "enough")}
    machine = OneHot(CHANGES, "idle")
    for source, (target, condition) in CHANGES.items():
        machine.change(source, target, *([inputs[condition]] if condition else []))
    machine.build(m)
    generator = random.Random(1)

    async def bench(context):
        state, visited = "idle", set()
        for _ in range(100):
            values = {name: generator.getrandbits(1) for name in inputs}
            for name, value in values.items():
                context.set(inputs[name], value)
            coming = following(state, values)
            assert [name for name, now in machine.now.items() if context.get(now)] == [state]
            assert [name for name, next_ in machine.next.items() if context.get(next_)] == [coming]
            await context.tick()
            state = coming
            visited.add(state)
        assert visited == {*CHANGES}

    simulator = Simulator(m)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()


def test_several_ways_out():
    m = Module()
    left = Signal()
    machine = OneHot(("start", "left", "right"), "start")
    machine.change("start", "left", left)
    machine.change("start", "right", ~left)
    machine.build(m)  # no way leads out of the other two

    async def bench(context):
        await context.tick().repeat(3)
        assert [context.get(now) for now in machine.now.values()] == [0, 0, 1]

    simulator = Simulator(m)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()


def test_unknown_states():
    with pytest.raises(ValueError, match="init must be one of start, end, not 'begin'"):
        OneHot(("start", "end"), "begin")
    with pytest.raises(KeyError, match="begin"):
        OneHot(("start", "end"), "end").change("end", "begin")
