"""High and low parts, hints and their encoding: every number modulo q."""

import random

import numpy
import pytest

from coprime.model.lattice import rounding
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS, Q

ALL = numpy.arange(Q, dtype=numpy.int64)
SETS = pytest.mark.parametrize("p", ML_DSA_SETS, ids=lambda p: p.name)
BOTH_GAMMAS = pytest.mark.parametrize("p", ML_DSA_SETS[:2], ids=lambda p: f"{p.parts}-parts")


def decomposed_exactly(p, r):
    """FIPS 204, algorithm 36, of one number or of many."""
    m = 2 * p.gamma2
    r0 = r % m
    r0 = r0 - m * (r0 > p.gamma2)
    wraps = r - r0 == Q - 1
    return (r - r0) // m * (1 - wraps), r0 - wraps


def ends(p):
    """Numbers near each place where the high part or the low part's sign changes."""
    m = 2 * p.gamma2
    near = {
        j * m + base + d
        for j in range(p.parts // 2 + 1)
        for base in (0, p.gamma2)
        for d in (-1, 0, 1, 2)
    }
    return sorted(r for r in near | {Q - 2, Q - 1} if 0 <= r < Q)


@pytest.mark.proof
def test_every_number_has_the_standards_power_of_two_parts():
    r0 = ALL % 8192
    r0 = r0 - 8192 * (r0 > 4096)
    assert numpy.array_equal(ALL + 4095 >> 13, (ALL - r0) // 8192)
    for r in (0, 1, 4095, 4096, 4097, 8191, 8192, Q - 4097, Q - 4096, Q - 1):
        assert rounding.power2round(r) == ((r - int(r0[r])) // 8192, int(r0[r]))
    assert rounding.power2round(Q - 1)[0] == 1023


@BOTH_GAMMAS
def test_the_constants_divide_every_number(p):
    found = rounding.division_of(p)
    x = ALL + p.gamma2 - 1
    assert found.limit > x[-1]
    assert numpy.array_equal(
        (x >> found.shift_before) * found.factor >> found.shift_after, x // (2 * p.gamma2)
    )


def test_the_constants_are_those_of_the_design():
    """A multiplier's constant of 12 and 15 bits, and products of 25 and 29 bits."""
    constants = [
        (found.shift_before, found.factor, found.shift_after)
        for found in map(rounding.division_of, ML_DSA_SETS)
    ]
    assert constants == [(11, 2819, 18), (9, 16401, 24), (9, 16401, 24)]


@pytest.mark.proof
@BOTH_GAMMAS
def test_every_number_has_the_standards_high_and_low_parts(p):
    """The quotient is exact, by the test above, so that the parts can only differ at ends."""
    r1, r0 = decomposed_exactly(p, ALL)
    x = ALL + p.gamma2 - 1
    quotient = x // (2 * p.gamma2)
    last = quotient == p.parts // 2
    assert numpy.array_equal(numpy.where(last, 0, quotient), r1)
    assert numpy.array_equal(ALL - 2 * p.gamma2 * quotient - last, r0)
    for r in ends(p):
        assert rounding.decompose(p, r) == decomposed_exactly(p, r)


@BOTH_GAMMAS
def test_hints_move_the_high_part_as_the_standard_says(p):
    m = p.parts // 2
    for r in ends(p):
        r1, r0 = decomposed_exactly(p, r)
        assert rounding.use_hint(p, 0, r) == r1
        assert rounding.use_hint(p, 1, r) == (r1 + (1 if r0 > 0 else -1)) % m


@BOTH_GAMMAS
def test_a_hint_gives_the_high_part_of_a_sum(p):
    """FIPS 204, algorithms 39 and 40: for |z| <= gamma2, the hint of z and r restores r + z."""
    generator = random.Random(39)
    for r in [*ends(p), *(generator.randrange(Q) for _ in range(500))]:
        for z in (-p.gamma2, -1, 0, 1, p.gamma2, generator.randrange(-p.gamma2, p.gamma2 + 1)):
            high, _ = rounding.decompose(p, (r + z) % Q)
            hint = int(high != rounding.decompose(p, r)[0])
            assert rounding.use_hint(p, hint, r) == high


def test_every_coefficient_is_looked_at():
    for place in (0, 128, 255):
        f = [0] * 256
        f[place] = 5
        assert rounding.exceeds(f, 5) and not rounding.exceeds(f, 6)
        f[place] = -5
        assert rounding.exceeds(f, 5) and not rounding.exceeds(f, 6)


def random_hints(p, count, generator):
    hints = [[0] * 256 for _ in range(p.k)]
    for place in generator.sample(range(256 * p.k), count):
        hints[place // 256][place % 256] = 1
    return hints


@SETS
def test_hints_come_back(p):
    generator = random.Random(20)
    for count in (0, 1, p.omega - 1, p.omega):
        hints = random_hints(p, count, generator)
        data = rounding.pack_hints(p, hints)
        assert len(data) == p.omega + p.k
        assert rounding.unpack_hints(p, data) == hints


@SETS
def test_every_rule_of_the_encoding_is_checked(p):
    good = bytearray(rounding.pack_hints(p, random_hints(p, 10, random.Random(21))))
    counts = list(good[p.omega :])
    first = next(row for row in range(p.k) if counts[row] - (counts[row - 1] if row else 0) > 1)
    begin = counts[first - 1] if first else 0

    def changed(*changes):
        data = bytearray(good)
        for place, value in changes:
            data[place] = value
        return bytes(data)

    assert rounding.unpack_hints(p, bytes(good)) is not None
    wrong = {
        "places fall": changed((begin, good[begin + 1]), (begin + 1, good[begin])),
        "a place repeats": changed((begin + 1, good[begin])),
        "a byte after the last place is not 0": changed((p.omega - 1, 1)),
        "a count falls": changed((p.omega + p.k - 1, 9))
        if counts[-2] == 10
        else changed((p.omega, 11)),
        "a count is more than omega": changed((p.omega + p.k - 1, p.omega + 1)),
        "the last place is not counted": changed((p.omega + p.k - 1, 9)),
    }
    for rule, data in wrong.items():
        assert rounding.unpack_hints(p, data) is None, rule
