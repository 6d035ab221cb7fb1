"""Two numbers at once to pairs of words and back in the Amaranth simulator, at the highest rate,
for each phase of the byte memory's turns."""

import pytest
from amaranth.sim import Simulator

from coprime.lattice.arithmetic.large_steps import debts
from coprime.lattice.arithmetic.number_packer import ML_DSA_WIDTHS
from coprime.lattice.arithmetic.number_pairs import PAIR_BITS_A_CYCLE, PairPacker, PairUnpacker
from coprime.lattice.arithmetic.steps import BYTE_WIDTHS
from coprime.model.lattice.ml_dsa import pack
from tests.lattice.arithmetic.test_number_packing import polynomials

CASES = pytest.mark.parametrize(
    ("widths", "width", "pairs", "phase"),
    [
        (widths, width, pairs, phase)
        for widths in (BYTE_WIDTHS, ML_DSA_WIDTHS)
        for width in widths
        for pairs in (False, True)
        for phase in (0, 1)
        if pairs or width == 8
    ],
)


def rounds(width, pairs):
    """Whether numbers are taken, cycle by cycle."""
    return [debt < PAIR_BITS_A_CYCLE for debt in debts(width)] if pairs else [True] * 256


def as_words(data):
    return [int.from_bytes(data[k : k + 8], "little") for k in range(0, len(data), 8)]


@CASES
def test_numbers_become_words(widths, width, pairs, phase):
    dut = PairPacker(widths)
    simulator = Simulator(dut)
    simulator.add_clock(1e-8)

    async def bench(context):
        cycle = phase
        context.set(dut.width, widths.index(width))
        context.set(dut.pairs, pairs)
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
            left, above = iter(numbers), -1 << width  # bits above the width are ignored
            for puts in rounds(width, pairs):
                context.set(dut.put, puts)
                if puts:
                    for port in (dut.number, dut.second)[: 1 + pairs]:
                        context.set(port, (next(left) | above) & (1 << dut.number_bits) - 1)
                await tick()
            context.set(dut.put, 0)
            assert next(left, None) is None
            for _ in range(3 if max(widths) <= PAIR_BITS_A_CYCLE // 2 else 4):
                await tick()
            assert words == as_words(pack(numbers, width))

    simulator.add_testbench(bench)
    simulator.run()


@CASES
def test_words_become_numbers(widths, width, pairs, phase):
    dut = PairUnpacker(widths)
    simulator = Simulator(dut)
    simulator.add_clock(1e-8)

    async def bench(context):
        cycle = phase
        context.set(dut.width, widths.index(width))
        context.set(dut.pairs, pairs)
        for numbers in polynomials(width):
            words, place = as_words(pack(numbers, width)), 0

            async def tick(words=words):
                nonlocal cycle, place
                context.set(dut.turn, cycle % 2)
                reads = context.get(dut.read)
                await context.tick()
                # What was not read is anything.
                context.set(dut.word, words[place] if reads else 0x5A5A5A5AA5A5A5A5)
                place += reads
                cycle += 1

            context.set(dut.start, 1)
            await tick()
            context.set(dut.start, 0)
            is_short = max(widths) <= PAIR_BITS_A_CYCLE // 2
            ready = PairUnpacker.READY_SHORT if is_short else PairUnpacker.READY
            for _ in range(ready - 1):
                await tick()
            left = iter(numbers)
            for takes in rounds(width, pairs):
                context.set(dut.take, takes)
                if takes:
                    for port in (dut.number, dut.second)[: 1 + pairs]:
                        assert context.get(port) == next(left)
                await tick()
            context.set(dut.take, 0)
            assert next(left, None) is None
            assert place == len(words)

    simulator.add_testbench(bench)
    simulator.run()
