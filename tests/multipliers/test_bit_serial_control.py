"""The counters of the bit-serial multipliers' control, and the adder of their passes."""

import random

import pytest
from amaranth.sim import Simulator

from coprime.multipliers.bit_serial_control import (
    MultiplierScanner,
    OperandReader,
    PassCounter,
    RoundCounter,
)
from coprime.multipliers.carry_save import PassAdder


def simulate(dut, bench):
    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("digits", [1, 3, 4])
@pytest.mark.parametrize("aligned", [False, True])
def test_reader_asks_for_every_word(aligned, digits):
    """An aligned operand with fewer digits begins below its digit 0."""
    dut = OperandReader(4, 3, aligned=aligned)
    first = digits - 4 if aligned else 0

    async def bench(context):
        context.set(dut.inner_digits, digits)
        await context.tick()
        for _ in range(2):
            context.set(dut.read, 1)
            await context.tick()
            context.set(dut.read, 0)
            for index in range(first, first + 4):
                assert context.get(dut.asking)
                assert context.get(dut.index) == index % 16
                assert context.get(dut.exists) == (0 <= index < digits)
                assert context.get(dut.last) == (index == first + 3)
                await context.tick()
            assert not context.get(dut.asking)
            await context.tick()

    simulate(dut, bench)


@pytest.mark.parametrize("width", [1, 5])
@pytest.mark.parametrize("aligned", [False, True])
def test_scanner_gives_bits(aligned, width):
    """A word's bits while the next word is on its way, three cycles after it is asked for."""
    dut = MultiplierScanner(width, 3, aligned=aligned)
    generator = random.Random(width)
    words = [generator.getrandbits(width) for _ in range(4)]
    value = sum(word << width * k for k, word in enumerate(words))
    wanted = [value >> k & 1 for k in range(4 * width)]

    async def bench(context):
        context.set(dut.outer_digits, 4)
        await context.tick()
        context.set(dut.scan, 1)
        coming, found, asked = [None] * 3, [], []
        for _ in range(3 + 4 * width):
            if context.get(dut.ask):
                asked.append(context.get(dut.index))
            coming.append(asked[-1] if context.get(dut.ask) else None)
            index = coming.pop(0)
            context.set(dut.here, index is not None)
            if index in range(4):
                context.set(dut.word, words[index])
            found.append(context.get(dut.bit))
            await context.tick()
        assert asked[:4] == ([3, 2, 1, 0] if aligned else [0, 1, 2, 3])
        assert found[3:] == (wanted[::-1] if aligned else wanted)
        context.set(dut.forget, 1)
        await context.tick()
        assert context.get(dut.rest) == 0

    simulate(dut, bench)


@pytest.mark.parametrize("rounds", [1, 2, 3, 9])
def test_rounds(rounds):
    """`last` in the last round; the last bit is chosen two cycles before."""
    dut = RoundCounter(4)

    async def bench(context):
        context.set(dut.rounds, rounds)
        context.set(dut.begins, 1)
        await context.tick()
        context.set(dut.begins, 0)
        await context.tick()
        context.set(dut.counts, 1)
        chosen, last = [], []
        for _ in range(2 + rounds):  # the cycle before STARTING, STARTING, the rounds
            chosen.append(context.get(dut.last_chosen))
            last.append(context.get(dut.last))
            await context.tick()
        assert chosen.index(1) == rounds - 1
        assert last[2:] == [0] * (rounds - 1) + [1]

    simulate(dut, bench)


@pytest.mark.parametrize("words", [1, 2, 5])
def test_passes(words):
    """Two passes, one after the other."""
    dut = PassCounter(words)
    length = words + 2
    events = {"first": 0, "second": 1, "final": words - 1, "closing": words + 1}

    async def bench(context):
        context.set(dut.next, 1)
        for cycle in range(2 * length):
            takes = context.get(dut.passing_next)
            await context.tick()
            context.set(dut.now, 1)
            context.set(dut.next, cycle != 2 * length - 1)
            assert context.get(dut.cycle) == cycle % length
            assert takes == (cycle % length < words)
            for name, expected in events.items():
                assert context.get(getattr(dut, name)) == (cycle % length == expected), name

    simulate(dut, bench)


@pytest.mark.parametrize("summing", [False, True])
def test_pass_adder(summing):
    """Sums and differences of any words, compared with a multiple."""
    words, width = 3, 4
    top = 1 << words * width
    dut = PassAdder(width)
    generator = random.Random(3)
    cases = [(top - 1, 1, 0), (0, 0, 0), (top - 1, top - 1, top - 2)]
    cases += [tuple(generator.randrange(top) for _ in range(3)) for _ in range(50)]

    async def bench(context):
        context.set(dut.summing, summing)
        for left, right, multiple in cases:
            total = left + right if summing else left + (top - 1 - right) + 1
            shown = right if summing else top - 1 - right
            found = 0
            for cycle in range(words + 3):
                context.set(dut.passing_next, cycle < words)
                for port, value, late in (
                    (dut.left, left, 1),
                    (dut.right, shown, 1),
                    (dut.compared, multiple, 2),
                ):
                    word = value >> width * (cycle - late) if cycle >= late else 0
                    context.set(port, word & ((1 << width) - 1))
                if cycle >= 3:
                    assert context.get(dut.comparing)
                    found |= context.get(dut.sum) << width * (cycle - 3)
                if cycle == words + 2:
                    assert context.get(dut.carry) == total // top
                    assert context.get(dut.reaches) == (total % top >= multiple)
                await context.tick()
            assert found == total % top
            await context.tick().repeat(3)

    simulate(dut, bench)
