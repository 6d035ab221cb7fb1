"""Numbers to words and back in the Amaranth simulator, at the highest rate, for each phase."""

import random

import pytest
from amaranth.sim import Simulator

from coprime.lattice.arithmetic.number_packer import ML_DSA_WIDTHS, NumberPacker, interval
from coprime.lattice.arithmetic.number_unpacker import NumberUnpacker
from coprime.model.lattice.ml_dsa import pack
from coprime.model.lattice.ml_dsa_sets import DROPPED_BITS, ML_DSA_SETS, T1_BITS

WIDTHS = pytest.mark.parametrize("width", ML_DSA_WIDTHS)
PHASES = pytest.mark.parametrize("phase", [0, 1])


def polynomials(width):
    generator = random.Random(width)
    yield [generator.randrange(1 << width) for _ in range(256)]
    yield [(1 << width) - 1] * 256


def as_words(data):
    return [int.from_bytes(data[k : k + 4], "little") for k in range(0, len(data), 4)]


def test_every_width_of_the_parameter_sets_is_there():
    needed = {T1_BITS, DROPPED_BITS, 8}
    for p in ML_DSA_SETS:
        needed |= {p.s_bits, p.w1_bits, p.z_bits}
    assert needed == set(ML_DSA_WIDTHS)


@PHASES
@WIDTHS
def test_numbers_become_words(width, phase):
    dut = NumberPacker(ML_DSA_WIDTHS)
    simulator = Simulator(dut)
    simulator.add_clock(1e-8)

    async def bench(context):
        cycle = phase
        context.set(dut.width, ML_DSA_WIDTHS.index(width))
        for numbers in polynomials(width):
            words = []

            async def tick(words=words):
                nonlocal cycle
                context.set(dut.turn, cycle % 2)
                if context.get(dut.write):
                    words.append(context.get(dut.word))
                await context.tick()
                cycle += 1

            context.set(dut.start, 1)
            await tick()
            context.set(dut.start, 0)
            for number in numbers:
                above = -1 << width  # bits above the width are ignored
                context.set(dut.number, (number | above) & (1 << dut.number_bits) - 1)
                context.set(dut.put, 1)
                await tick()
                context.set(dut.put, 0)
                for _ in range(interval(width) - 1):
                    await tick()
            for _ in range(3):
                await tick()
            assert words == as_words(pack(numbers, width))

    simulator.add_testbench(bench)
    simulator.run()


@PHASES
@WIDTHS
def test_words_become_numbers(width, phase):
    dut = NumberUnpacker(ML_DSA_WIDTHS)
    simulator = Simulator(dut)
    simulator.add_clock(1e-8)

    async def bench(context):
        cycle = phase
        context.set(dut.width, ML_DSA_WIDTHS.index(width))
        for numbers in polynomials(width):
            words, place = as_words(pack(numbers, width)), 0

            async def tick(words=words):
                nonlocal cycle, place
                context.set(dut.turn, cycle % 2)
                reads = context.get(dut.read)
                await context.tick()
                # What was not read is anything.
                context.set(dut.word, words[place] if reads else 0x5A5A5A5A)
                place += reads
                cycle += 1

            context.set(dut.start, 1)
            await tick()
            context.set(dut.start, 0)
            for _ in range(NumberUnpacker.READY - 1):
                await tick()
            for number in numbers:
                assert context.get(dut.number) == number
                context.set(dut.take, 1)
                await tick()
                context.set(dut.take, 0)
                for _ in range(interval(width) - 1):
                    await tick()
            assert place == len(words)

    simulator.add_testbench(bench)
    simulator.run()
