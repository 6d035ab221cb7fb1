import random

import pytest
from amaranth.sim import Simulator

from coprime.bus.gearbox import Gearbox

HEADROOM = 3
LENGTHS = [1, 2, 16, 17, 18, 31, 32, 33, 34, 47, 48, 63, 64, 65, 127, 128, 129]
LONG = [*range(1023, 1032)]
SEED = 20


def split(value, width, count):
    return [value >> width * i & (1 << width) - 1 for i in range(count)]


def simulate(gearbox, process):
    simulator = Simulator(gearbox)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()


async def convert(ctx, gearbox, source, length, *, padded=False, to_words=False, stalls=None):
    """Run one conversion: what was written, how much was taken, excess, and the busy cycles."""
    written, taken, cycles = [], 0, 0
    ctx.set(gearbox.start, 1)
    ctx.set(gearbox.length, length)
    ctx.set(gearbox.padded, padded)
    ctx.set(gearbox.to_words, to_words)
    await ctx.tick()
    ctx.set(gearbox.start, 0)
    asked = [None] * 3
    while ctx.get(gearbox.busy):
        cycles += 1
        assert cycles < 10_000
        assert not ctx.get(gearbox.digit_write) or not to_words
        assert not ctx.get(gearbox.word_write) or to_words
        if to_words:
            # A memory with three cycles of latency; all ones behind the number.
            digit = source[asked[0]] if asked[0] in range(len(source)) else ~0
            ctx.set(gearbox.digit_in, digit)
            taken = ctx.get(gearbox.digit_index)
            asked = [*asked[1:], taken]
            if ctx.get(gearbox.word_write):
                assert ctx.get(gearbox.word_index) == len(written)
                written.append(ctx.get(gearbox.word))
        else:
            if ctx.get(gearbox.digit_write):
                assert ctx.get(gearbox.digit_index) == len(written)
                written.append(ctx.get(gearbox.digit))
            valid = stalls is None or stalls.random() < 0.3
            ctx.set(gearbox.word_valid, valid)
            ctx.set(gearbox.word_in, source[taken] if valid and taken < len(source) else ~0)
            assert ctx.get(gearbox.word_index) == taken
            taken += valid and ctx.get(gearbox.word_ready)
        done, excess = ctx.get(gearbox.done), ctx.get(gearbox.excess)
        if done and not to_words:
            assert ctx.get(gearbox.digit_index) == len(written) - 1
        await ctx.tick()
        assert done == (not ctx.get(gearbox.busy))
    assert ctx.get(gearbox.word) == 0
    assert ctx.get(gearbox.digit) == 0
    return written, taken, excess, cycles


@pytest.mark.parametrize(
    ("width", "lengths"),
    [(1, LENGTHS), (3, LENGTHS), (8, LENGTHS), (16, LENGTHS), (17, LENGTHS + LONG)]
    + [(w, LENGTHS + LONG) for w in (32, 48, 64, 96)],
)
def test_words_to_digits_and_back(width, lengths):
    gearbox = Gearbox(width, HEADROOM, max(lengths))
    rng = random.Random(SEED)

    async def process(ctx):
        for length in lengths:
            words = -(-length // 32)
            for padded in (False, True):
                value = rng.choice([(1 << length) - 1, rng.getrandbits(length)])
                source = split(value, 32, words)
                written, taken, excess, cycles = await convert(
                    ctx, gearbox, source, length, padded=padded
                )
                digits = -(-(length + HEADROOM * padded) // width)
                assert (written, taken, excess) == (split(value, width, digits), words, 0), length
                assert cycles == gearbox.cycles(length, padded=padded)
            # Bits of the last digit above the length do not count.
            digits = split(value, width, -(-length // width))
            digits[-1] |= ~((1 << length - width * (len(digits) - 1)) - 1) & (1 << width) - 1
            # The headroom belongs to digits only.
            for padded in (False, True):
                written, taken, _, cycles = await convert(
                    ctx, gearbox, digits, length, padded=padded, to_words=True
                )
                assert written == source, length
                assert taken == len(digits)
                assert cycles == gearbox.cycles(length, to_words=True)

    simulate(gearbox, process)


@pytest.mark.parametrize(
    ("width", "headroom", "length"), [(200, 250, 1), (17, 255, 5), (1, 255, 1), (255, 255, 33)]
)
def test_headroom_beyond_the_length(width, headroom, length):
    gearbox = Gearbox(width, headroom, length)
    value = (1 << length) - 1

    async def process(ctx):
        written, *_, cycles = await convert(
            ctx, gearbox, split(value, 32, -(-length // 32)), length, padded=True
        )
        assert written == split(value, width, -(-(length + headroom) // width))
        assert cycles == gearbox.cycles(length, padded=True)

    simulate(gearbox, process)


@pytest.mark.parametrize("width", [1, 17, 32, 64])
def test_words_that_come_late(width):
    gearbox = Gearbox(width, HEADROOM, 200)
    rng = random.Random(SEED)

    async def process(ctx):
        for length in (1, 33, 64, 200):
            value = rng.getrandbits(length)
            words = -(-length // 32)
            written, taken, _, _ = await convert(
                ctx, gearbox, split(value, 32, words), length, stalls=rng
            )
            assert written == split(value, width, -(-length // width))
            assert taken == words

    simulate(gearbox, process)


@pytest.mark.parametrize("width", [1, 8, 16, 17, 32, 64])
@pytest.mark.parametrize("padded", [False, True])
def test_every_bit_above_the_length_is_excess(width, padded):
    gearbox = Gearbox(width, HEADROOM, 70)

    async def process(ctx):
        for length in (1, 15, 17, 31, 32, 33, 34, 63, 64, 65):
            words = -(-length // 32)
            for bit in range(length, 32 * words):
                for value in (1 << bit, (1 << length) - 1 | 1 << bit):
                    source = split(value, 32, words)
                    *_, excess, _ = await convert(ctx, gearbox, source, length, padded=padded)
                    assert excess, (length, bit)
            source = split((1 << length) - 1, 32, words)
            *_, excess, _ = await convert(ctx, gearbox, source, length, padded=padded)
            assert not excess, length

    simulate(gearbox, process)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 0, 8), ValueError, "digit_width must be 1 to 255, not 0"),
        ((17, 256, 8), ValueError, "headroom must be 0 to 255, not 256"),
        ((17, -1, 8), ValueError, "headroom must be 0 to 255, not -1"),
        ((17, 0, 65536), ValueError, "max_length must be 1 to 65535, not 65536"),
        ((17.0, 0, 8), TypeError, "digit_width must be an integer, not 17.0"),
    ],
)
def test_bad_parameters(rejects, arguments, error, message):
    rejects(lambda: Gearbox(*arguments), error, message)
