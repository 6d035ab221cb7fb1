"""The linear unit on a memory of a list."""

import random
from collections import deque

from amaranth.sim import Simulator

from coprime.engine.linear import LinearOperation, LinearUnit
from coprime.multipliers.multiplication import READ_LATENCY

WIDTH, DIGITS = 5, 3


async def run(context, unit, x, z, operation):
    """The digits that an operation writes, and its cycles."""
    context.set(unit.operation, operation)
    context.set(unit.digits, DIGITS)
    context.set(unit.start, 1)
    await context.tick()
    context.set(unit.start, 0)
    asked = deque([0] * (READ_LATENCY - 1))
    written, cycles, done = {}, 0, False
    while not done:
        cycles += 1
        done = bool(context.get(unit.done))
        asked.append(context.get(unit.index))
        if context.get(unit.b_write):
            written[context.get(unit.index)] = context.get(unit.b_write_data)
        await context.tick()
        at = asked.popleft()
        digit_x, digit_z = (number >> WIDTH * at & (1 << WIDTH) - 1 for number in (x, z))
        context.set(unit.a_data, digit_x)
        context.set(unit.b_data, digit_z)
    assert cycles == unit.cycles(DIGITS)
    return sum(digit << WIDTH * place for place, digit in written.items())


def test_operations():
    unit = LinearUnit(WIDTH, 3, 8)
    generator, bound = random.Random(1), 1 << WIDTH * DIGITS

    async def process(context):
        pairs = [(0, 0), (0, 1), (1, 0), (bound - 1, bound - 1), (bound - 1, 0), (1 << 9, 1 << 9)]
        pairs += [(generator.randrange(bound), generator.randrange(bound)) for _ in range(10)]
        for x, z in pairs:
            for operation, value in (
                (LinearOperation.COMPARE, 0),
                (LinearOperation.RESTORE, x + z if x < z else x),
                (LinearOperation.ADD, x + z),
                (LinearOperation.SUBTRACT, x - z),
            ):
                found = await run(context, unit, x, z, operation)
                assert found == value % bound, (operation, x, z)
                assert context.get(unit.borrow) == (x < z)
            assert context.get(unit.z_is_zero) == (z == 0)
            assert context.get(unit.z_is_odd) == z % 2
            assert context.get(unit.z_is_normalized) == z >> WIDTH * DIGITS - 1

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()
