"""The radix-2 multiplier without a last subtraction: results, cycles, and S round by round."""

import itertools
import random

import pytest

from coprime.model.montgomery_r2 import HEADROOM, multiply_rounds
from coprime.multipliers.contract import Role
from coprime.multipliers.montgomery_r2 import MontgomeryRadix2
from tests.multipliers.bit_serial_bench import Case, make, run_cases, simulate


def digits(length, width):
    return -(-length // width)


def case_of(x, y, m, width, rounds=None, is_one=False):
    length = m.bit_length() + HEADROOM
    rounds = length if rounds is None else rounds
    return Case(x, y, m, rounds, digits(length, width), digits(rounds, width), is_one)


def check(multiplier, cases):
    """Everything that is known of a multiplication. That the model runs checks its bounds."""
    for case, outcome in zip(cases, run_cases(multiplier, cases), strict=True):
        radix = 1 << case.rounds
        assert outcome.result % case.m == case.x * case.y * pow(radix, -1, case.m) % case.m, case
        assert outcome.result * radix < case.x * case.y + radix * case.m, case
        assert outcome.result == multiplier.multiplication.product(
            case.y, case.x, case.m, case.rounds
        ), case
        trace = multiply_rounds(case.x, case.y, case.m, case.rounds, multiplier.width)
        assert outcome.trace == list(trace), case
        assert outcome.cycles == multiplier.multiplication.cycles(case.inner, case.rounds), case
        assert (
            outcome.products
            == multiplier.multiplication.products(case.inner, case.rounds)
            == case.rounds
        )


def all_cases(length, width):
    """Every X, Y < 2M, for every odd M of this length."""
    for m in range(1 << (length - 1) | 1, 1 << length, 2):
        for y, x in itertools.product(range(2 * m), repeat=2):
            yield case_of(x, y, m, width)


def slow(*arguments):
    return pytest.param(*arguments, marks=pytest.mark.matrix)


@pytest.mark.parametrize(("length", "words"), [(1, 1), (2, 1), (2, 2), slow(3, 1), slow(3, 5)])
def test_every_operand(length, words):
    width = digits(length + HEADROOM, words)
    check(make(MontgomeryRadix2, words, width), list(all_cases(length, width)))


@pytest.mark.matrix
@pytest.mark.parametrize(("length", "words"), [(4, 1), (4, 2), (5, 2)])
def test_every_operand_of_four_and_five_bits(length, words):
    width = digits(length + HEADROOM, words)
    check(make(MontgomeryRadix2, words, width), list(all_cases(length, width)))


@pytest.mark.parametrize(
    ("length", "width"),
    [(13, 8), (14, 8), *(slow(*one) for one in ((29, 8), (30, 8), (31, 8), (62, 32)))],
)
def test_edges(length, width):
    """Moduli of all ones and with two; a register that they fill, and one that they do not."""
    cases = []
    for m in ((1 << length) - 1, (1 << (length - 1)) + 1):
        values = sorted({0, 1, m - 1, m, 2 * m - 1, (1 << length) - 1, 1 << length})
        cases += [case_of(x, y, m, width) for x, y in itertools.product(values, repeat=2)]
    check(make(MontgomeryRadix2, digits(length + HEADROOM, width), width), cases)


@pytest.mark.parametrize(
    ("words", "width"),
    [(1, 64), (7, 3), *(slow(*one) for one in ((8, 8), (4, 16), (4, 32), (9, 1)))],
)
def test_random_lengths(words, width):
    """Any length up to the longest; factors longer and shorter than the modulus; 1 as a factor."""
    generator = random.Random(words * 100 + width)
    longest = words * width - HEADROOM
    cases = []
    for length in [longest, *(generator.randrange(1, longest + 1) for _ in range(6))]:
        m = generator.getrandbits(length) | 1 << (length - 1) | 1
        for rounds in (length + HEADROOM, generator.randrange(1, words * width + 1)):
            x, y = generator.getrandbits(rounds), generator.randrange(2 * m)
            cases.append(case_of(x, y, m, width, rounds))
            cases.append(case_of((1 << rounds) - 1, 2 * m - 1, m, width, rounds))
            cases.append(case_of(1, y, m, width, rounds, is_one=True))
    check(make(MontgomeryRadix2, words, width), cases)


@pytest.mark.parametrize("length", [256, slow(512), slow(1031), slow(2048)])
def test_long_operands(length):
    generator = random.Random(length)
    m = generator.getrandbits(length) | 1 << (length - 1) | 1
    words = digits(length + HEADROOM, 64)
    check(
        make(MontgomeryRadix2, words, 64),
        [case_of(2 * m - 1, generator.randrange(2 * m), m, 64)],
    )


def test_moduli_change():
    """Each modulus after a longer one, and after a shorter one."""
    moduli = [0x3123456789ABCDEF, 0xD1, 0xFFFF_FFFF, 0x8001, 0x3123456789ABCDEF]
    cases = [case_of(m // 3, 2 * m - 2, m, 8) for m in moduli for _ in range(2)]
    check(make(MontgomeryRadix2, 8, 8), cases)


def test_wipe():
    """It forgets every operand, and works on afterwards."""
    multiplier = make(MontgomeryRadix2, 4, 8)
    case = case_of(0x5EADBEEF, 0x47654321, 0x31234567, 8)
    expected = multiplier.multiplication.product(case.y, case.x, case.m, case.rounds)

    async def steps(run):
        context = run.context
        await run.prepare(case)
        assert (await run.multiply(case)).result == expected
        context.set(multiplier.wipe, 1)
        await context.tick()
        context.set(multiplier.wipe, 0)
        await context.tick().repeat(2)
        secrets = multiplier.secrets
        assert len(secrets) > 4
        assert [context.get(value) for value in secrets] == [0] * len(secrets)
        # No word of the operands can come from the multiplier now: the sum of nothing is nothing.
        await run.store(Role.MULTIPLICAND, 0, case.inner)
        await run.go(multiplier.start, case)
        assert await run.load(case.inner) == 0
        await run.prepare(case)
        assert (await run.multiply(case)).result == expected

    simulate(multiplier, steps)


@pytest.mark.parametrize(("words", "width"), [(1, 32), (4, 8), (32, 32), (64, 64)])
def test_cycles_are_composed(words, width):
    """The thesis's n + 2 rounds; beside them STARTING, loading and unloading."""
    own = MontgomeryRadix2.computes(words, width)
    n = words * width - HEADROOM
    parts = (
        own.loading_cycles,
        own.constant_cycles,
        own.unloading_cycles,
    )
    assert own.cycles(words, n + HEADROOM) == n + 2 + sum(parts)
    assert own.cycles(1, n + HEADROOM) == n + 2 + 2 * words + 6
    assert own.prepare_cycles(1) == words + 4
