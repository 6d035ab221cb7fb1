"""The pipelined linear unit on two banks of lists, with and without sums."""

import random
from collections import deque

import pytest
from amaranth.sim import Simulator

from coprime.engine.linear import LinearOperation
from coprime.engine.linear_pipeline import LinearPipeline
from coprime.multipliers.multiplication import READ_LATENCY

WIDTH, DIGITS = 7, 3
MASK, BOUND = (1 << WIDTH) - 1, 1 << WIDTH * DIGITS
JUNK = 0b1010101 & MASK


async def run(
    context,
    unit,
    x,
    z,
    operation,
    *,
    x_other=False,
    z_other=False,
    modulus=0,
    shift=0,
    holds=None,
):
    """What an operation writes; with a generator of `holds`, its digits have to wait."""
    context.set(unit.operation, operation)
    context.set(unit.digits, DIGITS)
    context.set(unit.x_is_other, x_other)
    if unit.sums:
        context.set(unit.z_is_other, z_other)
        context.set(unit.shift, shift)
    context.set(unit.start, 1)
    await context.tick()
    context.set(unit.start, 0)
    asked = deque([(0, 0, False)] * (READ_LATENCY - 1))
    written, places, given, cycles, after = {}, deque([None] * 2), [], 0, 0
    while after < 3:
        if holds:
            context.set(unit.hold, holds.getrandbits(1))
        cycles += not after
        after += bool(after or context.get(unit.done))
        of_modulus = unit.sums and bool(context.get(unit.reads_modulus))
        asked.append((context.get(unit.index), context.get(unit.b_index), of_modulus))
        places.append(context.get(unit.b_index) if context.get(unit.b_write) else None)
        place = places.popleft()
        if context.get(unit.gives):
            given.append(context.get(unit.b_write_data))
        if place is not None:
            assert context.get(unit.gives)
            written[place] = context.get(unit.b_write_data)
        await context.tick()
        index, b_index, of_modulus = asked.popleft()
        number = modulus if of_modulus else x
        digit_x, digit_z = number >> WIDTH * index & MASK, z >> WIDTH * b_index & MASK
        context.set(unit.a_data, JUNK if x_other and not of_modulus else digit_x)
        context.set(unit.a_other, digit_x if x_other and not of_modulus else JUNK)
        context.set(unit.b_data, JUNK if z_other else digit_z)
        if unit.sums:
            context.set(unit.b_other, digit_z if z_other else JUNK)
    assert holds or cycles == unit.cycles(DIGITS, sums=unit.sums)
    assert operation is LinearOperation.COMPARE or list(written.values()) == given
    return sum(digit << WIDTH * place for place, digit in written.items())


def pairs(generator):
    yield from [(0, 0), (0, 1), (1, 0), (BOUND - 1, BOUND - 1), (BOUND - 1, 0), (1 << 9, 1 << 9)]
    yield from ((generator.randrange(BOUND), generator.randrange(BOUND)) for _ in range(10))


def simulate(unit, process):
    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()


@pytest.mark.parametrize("sums", [False, True])
def test_operations(sums):
    unit = LinearPipeline(WIDTH, 3, 8, sums=sums)
    generator = random.Random(1)

    async def process(context):
        for x, z in pairs(generator):
            other = bool(generator.getrandbits(1))
            for operation, value in (
                (LinearOperation.COMPARE, 0),
                (LinearOperation.RESTORE, x + z if x < z else x),
                (LinearOperation.ADD, x + z),
                (LinearOperation.SUBTRACT, x - z),
                (LinearOperation.MOVE, x),
            ):
                found = await run(context, unit, x, z, operation, x_other=other)
                assert found == value % BOUND, (operation, x, z)
                assert context.get(unit.borrow) == (x < z)
            # MOVE takes no z.
            await run(context, unit, x, z, LinearOperation.COMPARE, x_other=other)
            assert context.get(unit.z_is_zero) == (z == 0)
            assert context.get(unit.z_is_odd) == z % 2
            assert context.get(unit.z_is_normalized) == z >> WIDTH * DIGITS - 1

    simulate(unit, process)


def test_multiples_of_the_modulus():
    """Every multiple, with x and z in both banks; what a sum is modulo the unit's length."""
    unit = LinearPipeline(WIDTH, 3, 8, sums=True)
    generator = random.Random(2)

    async def process(context):
        for x, z in pairs(generator):
            for modulus in (BOUND - 1, 1, MASK, generator.randrange(BOUND)):
                for shift in range(7):
                    multiple = (1 << shift >> 1) * modulus
                    banks = {
                        name: bool(generator.getrandbits(1)) for name in ("x_other", "z_other")
                    }
                    for operation, value in (
                        (LinearOperation.ADD, x + z + multiple),
                        (LinearOperation.SUBTRACT, x - z + multiple),
                    ):
                        found = await run(
                            *(context, unit, x, z, operation),
                            **banks,
                            modulus=modulus,
                            shift=shift,
                        )
                        assert found == value % BOUND, (operation, x, z, modulus, shift)

    simulate(unit, process)


def test_ports_that_are_shared():
    """However long each digit waits, nothing is read where a digit is written."""
    unit = LinearPipeline(WIDTH, 3, 8, sums=True, shares=True)
    generator = random.Random(1)

    async def process(context):
        for x, z in pairs(generator):
            modulus, shift = generator.randrange(BOUND >> 7), generator.randrange(1, 7)
            added = modulus << shift - 1
            for operation, value in (
                (LinearOperation.ADD, x + z + added),
                (LinearOperation.SUBTRACT, x - z + added),
                (LinearOperation.MOVE, x + added),
            ):
                settings = {"modulus": modulus, "shift": shift, "holds": generator}
                found = await run(context, unit, x, z, operation, **settings)
                assert found == value % BOUND

    simulate(unit, process)


def test_digits_that_are_waited_for():
    """None is begun while `hold` is 1; a digit is waited for from the second cycle on."""
    unit = LinearPipeline(WIDTH, 3, 8, waits=True)

    async def process(context):
        context.set(unit.operation, LinearOperation.MOVE)
        context.set(unit.digits, DIGITS)
        context.set(unit.start, 1)
        await context.tick()
        context.set(unit.start, 0)
        cycles, waits, delay, done = 0, 0, 3, False
        while not done:
            context.set(unit.hold, waits < delay)
            if context.get(unit.begins):
                waits += 1
                context.set(unit.hold, waits <= delay)
                if waits > delay:
                    waits = 0
            cycles, done = cycles + 1, bool(context.get(unit.done))
            await context.tick()
        assert cycles == unit.cycles(DIGITS) + DIGITS * unit.waiting_cycles(delay)

    simulate(unit, process)


@pytest.mark.parametrize("sums", [False, True])
def test_clearing(sums):
    """Zero in every word, one a cycle, after any operation."""
    unit = LinearPipeline(WIDTH, 3, 8, sums=sums)

    async def process(context):
        await run(context, unit, BOUND - 1, BOUND - 3, LinearOperation.SUBTRACT)
        context.set(unit.clear, 1)
        await context.tick()
        context.set(unit.clear, 0)
        for place in range(8):
            assert (context.get(unit.b_write), context.get(unit.b_index)) == (1, place)
            assert context.get(unit.done) == (place == 7)
            await context.tick()
            if place:
                assert context.get(unit.b_write_data) == 0
        assert not context.get(unit.b_write)
        await context.tick()
        assert context.get(unit.b_write_data) == 0

    simulate(unit, process)
