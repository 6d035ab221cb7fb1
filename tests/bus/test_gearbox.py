import random

import pytest
from amaranth.sim import Simulator

from coprime.bus.gearbox import Gearbox

HEADROOM = 3
LENGTHS = [1, 2, 16, 17, 18, 31, 32, 33, 34, 47, 48, 63, 64, 65, 127, 128, 129]
LONG = [1023, 1024, 1025, 1031]
SEED = 20


def split(value, width, count):
    return [value >> width * i & (1 << width) - 1 for i in range(count)]


def simulate(gearbox, process):
    simulator = Simulator(gearbox)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()


async def convert(
    ctx, gearbox, source, length, *, padded=False, to_words=False, aligned=False, stalls=None
):
    """Run one conversion: what was written, how much was taken, excess, and the busy cycles."""
    written, taken, cycles = [], 0, 0
    ctx.set(gearbox.start, 1)
    ctx.set(gearbox.length, length)
    ctx.set(gearbox.padded, padded)
    ctx.set(gearbox.to_words, to_words)
    if gearbox.alignable:
        ctx.set(gearbox.aligned, aligned)
    await ctx.tick()
    # All but the length is sampled with the start.
    ctx.set(gearbox.start, 0)
    ctx.set(gearbox.padded, not padded)
    ctx.set(gearbox.to_words, not to_words)
    if gearbox.alignable:
        ctx.set(gearbox.aligned, not aligned)
    else:
        ctx.set(gearbox.length, 1)
    asked = [None] * 3
    while ctx.get(gearbox.busy):
        cycles += 1
        assert cycles < 10_000
        assert not ctx.get(gearbox.digits_out.valid) or not to_words
        assert not ctx.get(gearbox.words_out.valid) or to_words
        if to_words:
            # A memory with three cycles of latency; all ones behind the number.
            digit = source[asked[0]] if asked[0] in range(len(source)) else ~0
            ctx.set(gearbox.digit_in, digit)
            taken = ctx.get(gearbox.digit_index)
            asked = [*asked[1:], taken]
            if ctx.get(gearbox.words_out.valid):
                assert ctx.get(gearbox.word_index) == len(written)
                written.append(ctx.get(gearbox.words_out.payload))
        else:
            if ctx.get(gearbox.digits_out.valid):
                assert ctx.get(gearbox.digit_index) == len(written)
                written.append(ctx.get(gearbox.digits_out.payload))
            valid = stalls is None or stalls.random() < 0.3
            ctx.set(gearbox.words_in.valid, valid)
            ctx.set(
                gearbox.words_in.payload, source[taken] if valid and taken < len(source) else ~0
            )
            assert ctx.get(gearbox.word_index) == taken
            taken += valid and ctx.get(gearbox.words_in.ready)
        done, excess = ctx.get(gearbox.done), ctx.get(gearbox.excess)
        if done and not to_words:
            assert ctx.get(gearbox.digit_index) == len(written) - 1
        await ctx.tick()
        assert done == (not ctx.get(gearbox.busy))
    assert ctx.get(gearbox.words_out.payload) == 0
    assert ctx.get(gearbox.digits_out.payload) == 0
    return written, taken, excess, cycles


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize(
    ("width", "lengths"),
    [(1, LENGTHS), (17, [*LENGTHS, 1031]), (32, LENGTHS)]
    + [pytest.param(w, LENGTHS, marks=pytest.mark.matrix) for w in (3, 8, 16)]
    + [pytest.param(w, LENGTHS + LONG, marks=pytest.mark.matrix) for w in (17, 32, 48, 64, 96)],
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


def near(length, width):
    """Whether a length is at most 2 bits from a whole number of digits or words."""
    return any((length + 2) % unit <= 4 for unit in (width, 32))


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize(
    ("width", "every"),
    [(3, True), (17, False)]
    + [pytest.param(width, False, marks=pytest.mark.matrix) for width in (31, 32, 33, 64, 65)]
    + [
        pytest.param(width, True, marks=pytest.mark.matrix)
        for width in (1, 8, 16, 17, 31, 32, 33, 64, 65)
    ],
)
def test_aligned_digits_and_back(width, every):
    """Lengths to 3 digits and beyond; now and then a number that is not aligned between."""
    lengths = [length for length in range(1, 3 * width + 3) if every or near(length, width)]
    lengths += [31, 32, 33, 63, 64, 65, 95, 96, 97, 255, 256, 257]
    gearbox = Gearbox(width, 0, max(lengths), alignable=True)
    rng = random.Random(SEED)

    async def process(ctx):
        for length in lengths:
            words, digits = -(-length // 32), -(-length // width)
            below = digits * width - length
            conversions = [(rng.getrandbits(length) | 1 | 1 << length - 1, True)]
            if length % 8 == 0:
                conversions += [((1 << length) - 1, True), (1 << length - 1, False), (0, True)]
            for value, aligned in conversions:
                source = split(value, 32, words)
                expected = split(value << below * aligned, width, digits)
                written, taken, excess, cycles = await convert(
                    ctx, gearbox, source, length, aligned=aligned
                )
                assert (written, taken, excess) == (expected, words, 0), (length, value)
                assert cycles == gearbox.cycles(length, aligned=aligned)
                # The digits' other bits do not count, below the number or above it.
                if aligned:
                    expected[0] |= (1 << below) - 1
                else:
                    expected[-1] |= (1 << width) - (1 << width - below)
                written, taken, _, cycles = await convert(
                    ctx, gearbox, expected, length, to_words=True, aligned=aligned
                )
                assert (written, taken) == (source, digits), (length, value)
                assert cycles == gearbox.cycles(length, to_words=True, aligned=aligned)

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


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("width", [1, 17, 32, 64])
def test_words_that_come_late(width, aligned):
    gearbox = Gearbox(width, 0 if aligned else HEADROOM, 200, alignable=aligned)
    rng = random.Random(SEED)

    async def process(ctx):
        for length in (1, 33, 64, 200):
            value = rng.getrandbits(length)
            words = -(-length // 32)
            written, taken, _, _ = await convert(
                ctx, gearbox, split(value, 32, words), length, aligned=aligned, stalls=rng
            )
            digits = -(-length // width)
            below = digits * width - length if aligned else 0
            assert written == split(value << below, width, digits)
            assert taken == words

    simulate(gearbox, process)


# An alignable gearbox moves by one bit, whatever the width, and has no headroom to pad with.
@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize(
    ("width", "padded", "aligned"),
    [(1, False, False), (17, True, False), (17, True, True)]
    + [
        pytest.param(width, padded, aligned, marks=pytest.mark.matrix)
        for width, padded, aligned in (
            *((1, True, False), (32, False, False), (32, True, False), (64, False, False)),
            *((1, False, True), (17, False, False), (64, True, False), (64, False, True)),
        )
    ],
)
def test_every_bit_above_the_length_is_excess(width, padded, aligned):
    gearbox = Gearbox(width, 0 if aligned else HEADROOM, 70, alignable=aligned)

    async def process(ctx):
        async def excess_of(value, length):
            source = split(value, 32, -(-length // 32))
            *_, excess, _ = await convert(
                ctx, gearbox, source, length, padded=padded, aligned=aligned
            )
            return excess

        for length in (1, 15, 17, 31, 32, 33, 34, 63, 64, 65):
            for bit in range(length, 32 * -(-length // 32)):
                assert await excess_of(1 << bit, length), (length, bit)
            assert await excess_of((1 << 32 * -(-length // 32)) - 1, length) == (length % 32 != 0)
            assert not await excess_of((1 << length) - 1, length), length

    simulate(gearbox, process)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 0, 8), ValueError, "digit_width must be in 1..255, not 0"),
        ((17, 256, 8), ValueError, "headroom must be in 0..255, not 256"),
        ((17, -1, 8), ValueError, "headroom must be in 0..255, not -1"),
        ((17, 0, 65536), ValueError, "max_length must be in 1..65535, not 65536"),
        ((17.0, 0, 8), TypeError, "digit_width must be an int, not 17.0"),
    ],
)
def test_bad_parameters(rejects, arguments, error, message):
    rejects(lambda: Gearbox(*arguments), error, message)


def test_no_headroom_where_numbers_are_aligned(rejects):
    rejects(
        lambda: Gearbox(32, 2, 64, alignable=True),
        ValueError,
        "headroom must be 0 where numbers are aligned, not 2",
    )
