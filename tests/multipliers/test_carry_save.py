"""The three carry-save multipliers in simulation: results, cycles, and S and C round by round."""

import random

import pytest

from coprime.model import bitserial
from coprime.multipliers.contract import Role
from coprime.multipliers.interleaved_csa import InterleavedCsa
from coprime.multipliers.montgomery_1csa import MontgomeryOneCsa
from coprime.multipliers.montgomery_2csa import MontgomeryTwoCsa
from coprime.multipliers.multiplication import READ_LATENCY
from tests.multipliers.bit_serial_bench import Case, make, placed, run_cases, simulate

FAMILIES = [MontgomeryTwoCsa, MontgomeryOneCsa, InterleavedCsa]
each_family = pytest.mark.parametrize("family", FAMILIES)


def digits(length, width):
    return -(-length // width)


def case_of(x, y, m, width, rounds=None, is_one=False):
    rounds = m.bit_length() if rounds is None else rounds
    return Case(x, y, m, rounds, digits(m.bit_length(), width), digits(rounds, width), is_one)


def expected_trace(multiplier, case):
    """The model's S and C, in the multiplier's registers."""
    n = multiplier.width
    if isinstance(multiplier, InterleavedCsa):
        shift = n - case.m.bit_length()
        rounds = bitserial.interleaved_rounds(
            case.x, case.y << shift, case.m << shift, case.rounds, n
        )
        return [(s, c) for s, c, _ in rounds]
    if isinstance(multiplier, MontgomeryOneCsa):
        return list(bitserial.montgomery_one_rounds(case.x, case.y, case.m, case.rounds, n))
    return list(bitserial.montgomery_two_rounds(case.x, case.y, case.m, case.rounds, n))


def expected(multiplier, case):
    power = pow(2, -case.rounds, case.m) if multiplier.multiplication.montgomery else 1
    return case.x * case.y * power % case.m


def check(multiplier, cases):
    """Everything that is known of a multiplication. That the model runs checks its bounds."""
    for case, outcome in zip(cases, run_cases(multiplier, cases), strict=True):
        assert outcome.result == expected(multiplier, case), case
        assert outcome.trace == expected_trace(multiplier, case), case
        assert outcome.cycles == multiplier.multiplication.cycles(case.inner, case.rounds), case
        assert (
            outcome.products
            == multiplier.multiplication.products(case.inner, case.rounds)
            == case.rounds
        )


def slow(*arguments):
    return pytest.param(*arguments, marks=pytest.mark.matrix)


def all_cases(family, length, width):
    """Every X, Y < M, for every M of this length that the family takes."""
    for m in range(1 << (length - 1), 1 << length):
        if m % 2 or not family.computes.montgomery:
            for y in range(m):
                for x in range(m):
                    yield case_of(x, y, m, width)


@pytest.mark.covering(2)
@each_family
@pytest.mark.parametrize(
    ("length", "words"),
    [
        *((1, 1), (2, 1), (2, 2)),
        *(slow(*one) for one in ((1, 2), (3, 1), (3, 2), (4, 1), (4, 2))),
    ],
)
def test_every_operand(family, length, words):
    width = digits(length, words)
    check(make(family, words, width), list(all_cases(family, length, width)))


@pytest.mark.matrix
@each_family
@pytest.mark.parametrize("length", [5, 6])
def test_every_operand_of_five_and_six_bits(family, length):
    check(make(family, 2, 3), list(all_cases(family, length, 3)))


def edge_moduli(length):
    yield (1 << length) - 1  # all ones
    yield (1 << (length - 1)) + 1  # sparse


def edge_cases(family, length, width):
    for m in edge_moduli(length):
        values = sorted({0, 1, m - 2, m - 1, (1 << (length - 1)) - 1, 1 << (length - 2)})
        for y in values:
            for x in values:
                yield case_of(x, y, m, width)
    if not family.computes.montgomery:
        m = 1 << (length - 1)  # 2^N is 0 modulo M
        yield case_of(m - 1, m - 1, m, width)


@pytest.mark.matrix(quick=1)
@each_family
@pytest.mark.parametrize(
    ("length", "width"), [(9, 4), slow(31, 8), slow(32, 8), slow(33, 8), slow(64, 16), slow(64, 32)]
)
def test_edges(family, length, width):
    check(make(family, digits(length, width), width), list(edge_cases(family, length, width)))


@pytest.mark.matrix(quick=1)
@pytest.mark.covering(2)
@each_family
@pytest.mark.parametrize(
    ("words", "width"),
    [
        (7, 3),
        *(
            slow(*one)
            for one in ((1, 64), (4, 8), (9, 1), (8, 8), (8, 16), (4, 16), (2, 32), (4, 32))
        ),
    ],
)
def test_random_lengths(family, words, width):
    """Any length up to the longest; factors longer and shorter than the modulus; 1 as a factor."""
    generator = random.Random(words * 100 + width)
    cases = []
    for length in [words * width, *(generator.randrange(1, words * width) for _ in range(6))]:
        m = generator.getrandbits(length) | 1 << (length - 1) | family.computes.montgomery
        for rounds in (length, generator.randrange(1, words * width + 1)):
            x, y = generator.getrandbits(rounds), generator.randrange(m)
            cases.append(case_of(x, y, m, width, rounds))
            cases.append(case_of((1 << rounds) - 1, m - 1, m, width, rounds))
            cases.append(case_of(1, y, m, width, rounds, is_one=True))
    check(make(family, words, width), cases)


@each_family
@pytest.mark.parametrize("length", [256, slow(512), slow(1031)])
def test_long_operands(family, length):
    generator = random.Random(length)
    m = generator.getrandbits(length) | 1 << (length - 1) | 1
    check(make(family, digits(length, 64), 64), [case_of(m - 1, generator.randrange(m), m, 64)])


@pytest.mark.matrix
@each_family
def test_2048_bits(family):
    m = random.Random(2048).getrandbits(2048) | 1 << 2047 | 1
    check(make(family, 32, 64), [case_of(m - 1, m - 2, m, 64)])


@each_family
def test_moduli_change(family):
    """Each modulus after a longer one, and after a shorter one."""
    moduli = [0xF123456789ABCDEF, 0xD1, 0xFFFF_FFFF, 0x8001, 0xF123456789ABCDEF]
    cases = [case_of(m // 3, m - 2, m, 8) for m in moduli for _ in range(2)]
    check(make(family, 8, 8), cases)


@each_family
def test_wipe(family):
    """It forgets every operand, and works on afterwards."""
    multiplier = make(family, 4, 8)
    case = case_of(0xDEADBEEF, 0x87654321, 0xF1234567, 8)

    async def steps(run):
        context = run.context
        await run.prepare(case)
        assert (await run.multiply(case)).result == expected(multiplier, case)
        context.set(multiplier.wipe, 1)
        await context.tick()
        context.set(multiplier.wipe, 0)
        await context.tick().repeat(20)
        secrets = multiplier.secrets
        assert len(secrets) > 4
        assert [context.get(value) for value in secrets] == [0] * len(secrets)
        # No word of the operands can come from the multiplier now: the sum of nothing is nothing.
        await run.store(Role.MODULUS, 0, case.inner)
        await run.go(multiplier.prepare, case)
        await run.store(Role.MULTIPLICAND, 0, case.inner)
        await run.go(multiplier.start, case)
        assert await run.load(case.inner) == 0
        await run.prepare(case)
        assert (await run.multiply(case)).result == expected(multiplier, case)

    simulate(multiplier, steps)


@each_family
@pytest.mark.parametrize(("words", "width"), [(1, 32), (4, 8), (32, 32), (64, 64)])
def test_cycles_are_composed(family, words, width):
    """The rounds and a constant of at most 6, beside loading and unloading."""
    own = family.computes(words, width)
    assert own.constant_cycles <= 6
    n = words * width
    parts = (
        own.loading_cycles,
        own.constant_cycles,
        own.unloading_cycles,
    )
    assert own.cycles(words, n) == n + sum(parts)
    d, late = words, max(0, READ_LATENCY - words)
    if own.montgomery:
        assert own.cycles(1, n) == n + 4 * d + 11
        assert own.prepare_cycles(1) == d + 4
    else:
        assert own.cycles(1, n) == n + 10 * d + 25 + late
        assert own.prepare_cycles(1) == 6 * d + 15


@each_family
@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((0, 8, 4, 8), ValueError, "words must be in 1..4096, not 0"),
        ((4, 129, 4, 8), ValueError, "digit_width must be in 1..128, not 129"),
        ((4, "8", 4, 8), TypeError, "digit_width must be an int, not '8'"),
        ((8, 8, 3, 8), ValueError, "count_bits must hold words \\+ 1 = 9, not be 3"),
        ((8, 8, 4, 0), ValueError, "round_bits must be in 1..32, not 0"),
    ],
)
def test_refused_parameters(family, arguments, error, text):
    with pytest.raises(error, match=text):
        words, width, *bits = arguments
        family(family.computes(words, width), *bits)


def test_placed():
    assert placed(0b101, 3, 2, make(InterleavedCsa, 2, 4)) == 0b10100000
    assert placed(0b101, 3, 2, make(MontgomeryOneCsa, 2, 4)) == 0b101
