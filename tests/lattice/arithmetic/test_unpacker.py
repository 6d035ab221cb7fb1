"""The unpacker alone: every width, at each pace that steps have, with either turn."""

import random

import pytest
from amaranth.sim import Simulator

from coprime.lattice.arithmetic.steps import BYTE_WIDTHS
from coprime.lattice.arithmetic.unpacker import Unpacker, words_of
from coprime.model.lattice.arithmetic import N, packed

SEED = 5
PACES = {"every cycle": (1,), "two of four": (1, 1, 0, 0)}


@pytest.mark.matrix(quick=3)
@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("width", BYTE_WIDTHS)
def test_numbers_come_without_gaps(width, pace):
    generator = random.Random(SEED)
    dut = Unpacker()

    async def bench(context):
        context.set(dut.width, BYTE_WIDTHS.index(width))
        cycle = 0

        async def tick():
            nonlocal cycle
            context.set(dut.turn, cycle % 2)
            cycle += 1
            reads = context.get(dut.read)
            await context.tick()
            # What was not read is anything.
            context.set(dut.word, words.pop(0) if reads else generator.getrandbits(32))

        def begins_at(place):
            context.set(dut.offset, place % 32)
            context.set(dut.completes, place % 32 + width >= 32)

        for turn in (0, 1, 0):
            begins_at(0)
            numbers = [generator.randrange(1 << width) for _ in range(N)]
            data = packed(numbers, width)
            words = [int.from_bytes(data[k : k + 4], "little") for k in range(0, len(data), 4)]
            assert len(words) == words_of(width)
            if cycle % 2 != turn:
                await tick()
            context.set(dut.start, 1)
            await tick()
            context.set(dut.start, 0)
            for _ in range(Unpacker.READY - 1):
                await tick()
            found = []
            while len(found) < N:
                for take in PACES[pace]:
                    context.set(dut.take, take)
                    if take:
                        found.append(context.get(dut.number))
                    await tick()
                    begins_at(width * len(found))
            context.set(dut.take, 0)
            assert found == numbers
            assert not words

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
