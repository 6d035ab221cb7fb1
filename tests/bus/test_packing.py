"""Words to digits and back, against plain integers and what engines want."""

import random

import pytest
from amaranth.hdl import ResetInserter, Signal
from amaranth.sim import Simulator

from coprime.bus.packing import DigitsToWords, WordsToDigits
from coprime.engine.contract import Capabilities, Command, Operand

SEED = 5
QUICK = {(8, 0), (32, 1), (33, 2)}
HEADROOMS = [(0, False), (2, False), (0, True)]
SHAPES = pytest.mark.parametrize(
    ("width", "headroom", "aligned"),
    [
        pytest.param(w, *one, marks=[] if w == 17 or (w, k) in QUICK else pytest.mark.matrix)
        for w in (8, 16, 17, 24, 31, 32, 33, 64)
        for k, one in enumerate(HEADROOMS)
    ],
)
WORD = (1 << 32) - 1


def simulate(component, process):
    simulator = Simulator(component)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()


def split(value, width, count):
    return [value >> width * place & (1 << width) - 1 for place in range(count)]


def capabilities(width, headroom, aligned, longest):
    return Capabilities(
        family="test",
        family_number=0,
        digit_width=width,
        headroom=headroom,
        min_length=1,
        max_length=longest,
        max_prime_length=longest,
        required={Command.MODMUL: frozenset({Operand.X, Operand.E})},
        round_bits=width,
        aligned=aligned,
    )


def interesting_lengths(width, headroom, longest):
    """One bit around the ends of words and of digits, with the headroom and without."""
    edges = {1, 2, longest - 1, longest}
    for step, beyond in ((32, 0), (width, 0), (width, headroom)):
        for place in range(step, longest + step, step):
            edges |= {place - beyond - 1, place - beyond, place - beyond + 1}
    edges = sorted(edge for edge in edges if 1 <= edge <= longest)
    return edges if len(edges) <= 25 else random.Random(width).sample(edges, 25)


class Pattern:
    """How willing a side is: always, or now and then."""

    def __init__(self, generator):
        self.generator = generator
        self.chance = generator.choice([1, 1, 0.5, 0.15])

    def __bool__(self):
        return self.generator.random() < self.chance


# --- Words to digits ----------------------------------------------------------------------------


async def give_words(ctx, loader, words, length, generator, *, padded=False, aligned=False):
    """One number: its digits, excess, and how many words were taken. Inputs change all the time."""
    ctx.set(loader.start, 1)
    ctx.set(loader.length, length)
    ctx.set(loader.padded, padded)
    if loader.alignable:
        ctx.set(loader.aligned, aligned)
    # A word that is offered too early is not taken.
    ctx.set(loader.words.valid, generator.random() < 0.5)
    ctx.set(loader.words.payload, WORD)
    assert not ctx.get(loader.busy)
    assert not ctx.get(loader.words.ready)
    await ctx.tick()
    ctx.set(loader.start, generator.random() < 0.5)
    ctx.set(loader.padded, not padded)
    if loader.alignable:
        ctx.set(loader.aligned, not aligned)
    if not aligned:
        ctx.set(loader.length, generator.randint(1, loader.max_length))
    gives, takes = Pattern(generator), Pattern(generator)
    digits, taken, cycles = [], 0, 0
    while True:
        assert ctx.get(loader.busy)
        cycles += 1
        assert cycles < 10_000
        valid, ready = bool(gives), bool(takes)
        ctx.set(loader.words.valid, valid)
        ctx.set(loader.words.payload, words[taken] if valid and taken < len(words) else WORD)
        ctx.set(loader.digits.ready, ready)
        assert not (ctx.get(loader.words.ready) and taken == len(words))
        if ctx.get(loader.digits.valid):
            assert ctx.get(loader.digit_index) == len(digits)
            if ready:
                digits.append(ctx.get(loader.digits.payload))
        taken += valid and ctx.get(loader.words.ready)
        done = ctx.get(loader.done)
        if done:
            ctx.set(loader.start, 0)
            assert ctx.get(loader.digit_index) == len(digits)
            excess = ctx.get(loader.excess)
        await ctx.tick()
        if done:
            assert not ctx.get(loader.busy)
            assert not ctx.get(loader.done)
            assert not ctx.get(loader.digits.valid)
            assert ctx.get(loader.digits.payload) == 0
            return digits, excess, taken


@pytest.mark.matrix(quick=2)
@SHAPES
def test_words_become_digits(width, headroom, aligned):
    longest = max(3 * width + 5, 140)
    own = capabilities(width, headroom, aligned, longest)
    loader = WordsToDigits(width, headroom, longest, alignable=aligned)
    generator = random.Random(SEED)

    async def process(ctx):
        for length in interesting_lengths(width, headroom, longest):
            words = -(-length // 32)
            for value in ((1 << length) - 1, generator.getrandbits(length)):
                # X stands as the engine wants it, E always at the lower end.
                for operand in (Operand.X, Operand.E):
                    digits, excess, taken = await give_words(
                        ctx,
                        loader,
                        split(value, 32, words),
                        length,
                        generator,
                        padded=True,
                        aligned=aligned and not operand.is_exponent,
                    )
                    assert digits == own.to_digits(operand, value, length), (length, operand)
                    assert (excess, taken) == (0, words)
                    if not aligned:
                        break
            digits, excess, taken = await give_words(
                ctx, loader, split(value, 32, words), length, generator
            )
            assert digits == split(value, width, -(-length // width)), length
            assert (excess, taken) == (0, words)

    simulate(loader, process)


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize(
    "width", [17, 64, *(pytest.param(one, marks=pytest.mark.matrix) for one in (8, 32))]
)
def test_each_bit_above_the_length_is_excess(width, aligned):
    """And none below it, nor one of the number after."""
    loader = WordsToDigits(width, 0 if aligned else 2, 200, alignable=aligned)
    generator = random.Random(SEED)

    async def process(ctx):
        for length in (1, 8, 17, 31, 32, 33, 40, 63, 64, 65, 96, 97, 127, 190):
            words = -(-length // 32)
            last = generator.sample(range(length, 32 * words), min(8, 32 * words - length))
            for place in {length, 32 * words - 1, *last} & {*range(length, 32 * words)}:
                value = 1 << place | generator.choice([0, (1 << length) - 1])
                _, excess, taken = await give_words(
                    ctx, loader, split(value, 32, words), length, generator, aligned=aligned
                )
                assert (excess, taken) == (1, words), (length, place)
            for value in (1 << length - 1, (1 << length) - 1):
                digits, excess, _ = await give_words(
                    ctx, loader, split(value, 32, words), length, generator, aligned=aligned
                )
                count = -(-length // width)
                below = count * width - length if aligned else 0
                assert (digits, excess) == (split(value << below, width, count), 0)

    simulate(loader, process)


def test_every_place_of_a_word_is_watched():
    loader = WordsToDigits(17, 2, 70)
    generator = random.Random(SEED)

    async def process(ctx):
        for length in (1, 5, 33, 50, 63):
            words = -(-length // 32)
            for place in range(32 * (words - 1), 32 * words):
                _, excess, _ = await give_words(
                    ctx, loader, split(1 << place, 32, words), length, generator, padded=True
                )
                assert excess == (place >= length), (length, place)

    simulate(loader, process)


@pytest.mark.parametrize("width", [8, 17, 64])
def test_a_number_that_is_given_up_leaves_nothing(width):
    loader = WordsToDigits(width, 2, 200)
    gives_up = Signal()
    generator = random.Random(SEED)
    number = generator.getrandbits(150)

    async def process(ctx):
        for cycles in range(1, 25):
            ctx.set(loader.start, 1)
            ctx.set(loader.length, 200)
            ctx.set(loader.padded, 1)
            await ctx.tick()
            ctx.set(loader.start, 0)
            ctx.set(loader.words.payload, WORD)
            ctx.set(loader.words.valid, 1)
            ctx.set(loader.digits.ready, cycles % 3 != 0)
            for _ in range(cycles):
                await ctx.tick()
            ctx.set(gives_up, 1)
            await ctx.tick()
            ctx.set(gives_up, 0)
            assert not ctx.get(loader.busy)
            assert ctx.get(loader.digits.payload) == 0
            digits, excess, taken = await give_words(
                ctx, loader, split(number, 32, 5), 150, generator
            )
            assert (digits, excess, taken) == (split(number, width, -(-150 // width)), 0, 5)

    simulate(ResetInserter(gives_up)(loader), process)


@pytest.mark.parametrize(
    ("width", "headroom", "length"), [(200, 250, 1), (17, 255, 5), (1, 255, 1), (255, 255, 33)]
)
def test_headroom_beyond_the_length(width, headroom, length):
    loader = WordsToDigits(width, headroom, length)
    generator = random.Random(SEED)
    value = (1 << length) - 1

    async def process(ctx):
        digits, excess, _ = await give_words(
            ctx, loader, split(value, 32, -(-length // 32)), length, generator, padded=True
        )
        assert (digits, excess) == (split(value, width, -(-(length + headroom) // width)), 0)

    simulate(loader, process)


def test_as_fast_as_words_come():
    """17 bits: a number is through in 2 cycles for a word and 1 for a digit."""
    loader = WordsToDigits(17, 2, 1024)

    async def process(ctx):
        ctx.set(loader.start, 1)
        ctx.set(loader.length, 1024)
        ctx.set(loader.padded, 1)
        await ctx.tick()
        ctx.set(loader.start, 0)
        ctx.set(loader.words.valid, 1)
        ctx.set(loader.digits.ready, 1)
        cycles = 0
        while ctx.get(loader.busy):
            cycles += 1
            await ctx.tick()
        # One to begin, one at the end.
        assert cycles == 2 * 32 + -(-1026 // 17) + 2

    simulate(loader, process)


# --- Digits to words ----------------------------------------------------------------------------


async def ask_for_words(ctx, shower, digits, length, generator):
    """The words of one number, whose digits come from a memory with a latency of 1 or 2 cycles."""
    ctx.set(shower.start, 1)
    ctx.set(shower.digits, len(digits))
    ctx.set(shower.length, length)
    # Between numbers the digit that is asked for is the first.
    assert not ctx.get(shower.busy)
    assert not ctx.get(shower.words.valid)
    assert ctx.get(shower.digit_index) == 0
    await ctx.tick()
    ctx.set(shower.start, 0)
    ctx.set(shower.length, generator.randint(1, shower.max_length))
    takes = Pattern(generator)
    words, cycles = [], 0
    asked = [None, 0]
    late = generator.randrange(2)
    while ctx.get(shower.busy):
        cycles += 1
        assert cycles < 10_000
        # All ones where there is no digit.
        index = asked[-1 - late]
        found = digits[index] if index in range(len(digits)) else (1 << shower.digit_width) - 1
        ctx.set(shower.digit, found)
        asked.append(ctx.get(shower.digit_index))
        ready = bool(takes)
        ctx.set(shower.words.ready, ready)
        ctx.set(shower.start, generator.random() < 0.5)
        if ready and ctx.get(shower.words.valid):
            words.append(ctx.get(shower.words.payload))
            if len(words) == -(-length // 32):
                ctx.set(shower.start, 0)
        await ctx.tick()
    ctx.set(shower.words.ready, 1)
    for _ in range(generator.randrange(1, 4)):
        assert not ctx.get(shower.words.valid)
        await ctx.tick()
    assert ctx.get(shower.words.payload) == 0
    return words, cycles


@pytest.mark.matrix(quick=2)
@SHAPES
def test_digits_become_words(width, headroom, aligned):
    longest = max(3 * width + 5, 140)
    own = capabilities(width, headroom, aligned, longest)
    shower = DigitsToWords(width, headroom, longest, alignable=aligned)
    generator = random.Random(SEED)

    async def process(ctx):
        for length in interesting_lengths(width, headroom, longest):
            for value in ((1 << length) - 1, 1 << length - 1, generator.getrandbits(length)):
                digits = own.to_digits(Operand.X, value, length)
                words, _ = await ask_for_words(ctx, shower, digits, length, generator)
                assert words == split(value, 32, -(-length // 32)), length
                if aligned and length % width:  # what stands below the number does not count
                    digits[0] |= (1 << -length % width) - 1
                    words, _ = await ask_for_words(ctx, shower, digits, length, generator)
                    assert words == split(value, 32, -(-length // 32)), length

    simulate(shower, process)


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("width", [8, 17, 64])
def test_words_that_are_given_up_leave_nothing(width, aligned):
    shower = DigitsToWords(width, 0 if aligned else 2, 200, alignable=aligned)
    own = capabilities(width, 0 if aligned else 2, aligned, 200)
    gives_up = Signal()
    generator = random.Random(SEED)
    number = generator.getrandbits(150)

    async def process(ctx):
        for cycles in range(1, 30):
            ctx.set(shower.start, 1)
            ctx.set(shower.digits, own.digits(190))
            ctx.set(shower.length, 190)
            ctx.set(shower.digit, (1 << width) - 1)
            ctx.set(shower.words.ready, cycles % 3 != 0)
            await ctx.tick()
            ctx.set(shower.start, 0)
            for _ in range(cycles):
                await ctx.tick()
            ctx.set(gives_up, 1)
            await ctx.tick()
            ctx.set(gives_up, 0)
            assert not ctx.get(shower.busy)
            assert ctx.get(shower.words.payload) == 0
            digits = own.to_digits(Operand.X, number, 150)
            words, _ = await ask_for_words(ctx, shower, digits, 150, generator)
            assert words == split(number, 32, 5)

    simulate(ResetInserter(gives_up)(shower), process)


@pytest.mark.parametrize("component", [WordsToDigits, DigitsToWords])
def test_aligned_numbers_have_no_headroom(component):
    with pytest.raises(ValueError, match="headroom must be 0 where numbers are aligned, not 3"):
        component(8, 3, 64, alignable=True)
