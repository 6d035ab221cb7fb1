"""Arithmetic modulo 8380417 in integers: extremes, and the method of the school."""

import random

import pytest

from coprime.model.lattice import large_arithmetic as model
from coprime.model.lattice.large_arithmetic import K, N, Q

SEED = 8380417
EDGES = (-Q, 1 - Q, -(Q >> 1), -(1 << 17), -1, 0, 1, (1 << 17) - 1, 1 << 17, Q >> 1, Q - 1)


def test_a_reduction_step_is_minus_k_times():
    """For every low part, with high parts of all signs."""
    for high in (-(1 << 33), -1, 0, 1, (1 << 33) - 1):
        for low in range(1 << 13):
            t = (high << 13) + low
            assert (model.reduction_step(t) + K * t) % Q == 0


def test_products_are_reduced_to_five_eighths_of_q():
    generator = random.Random(SEED)
    factors = [*EDGES, *(generator.randrange(-Q, Q) for _ in range(200))]
    for x in factors:
        for y in factors:
            first, second = model.product_in_two_passes(x, y)
            assert (second << 17) + first % (1 << 17) == x * y
            found = model.product(x, y)
            assert abs(found) <= model.REDUCED < 5 * Q // 8
            assert (found - K * K * x * y) % Q == 0


def test_the_second_step_is_bounded_for_every_low_part():
    """The largest first result and each low part: no reduced number is larger than REDUCED."""
    most = (Q * Q + (1 << 12) >> 13) + (K << 12)
    for low in range(1 << 13):
        for t in ((most >> 13 << 13) + low, -(most >> 13 << 13) - low):
            assert abs(model.reduction_step(t)) <= model.REDUCED + 1


def test_sums_are_corrected():
    for total in (-2 * Q, -2 * Q + 1, -Q, -1, 0, 1, Q, 2 * Q - 1):
        found = model.corrected(total)
        assert -Q <= found < Q
        assert (found - total) % Q == 0
    with pytest.raises(AssertionError):
        model.corrected(2 * Q)


def test_constants_come_out_exact():
    for value in EDGES:
        assert (model.product(12345, model.constant(value)) - 12345 * value) % Q == 0


def test_a_transform_is_the_standards():
    """FIPS 204, section 2.5: values at 1753^(2 BitRev8(i) + 1)."""
    generator = random.Random(SEED)
    f = [generator.randrange(-Q, Q) for _ in range(N)]
    found = model.transform(f)
    for i in (0, 1, 2, 100, 255):
        point = pow(model.ROOT, 2 * model.bit_reversed(i) + 1, Q)
        assert (found[i] - sum(x * pow(point, k, Q) for k, x in enumerate(f))) % Q == 0


def extremes(generator):
    yield [generator.randrange(-Q, Q) for _ in range(N)]
    yield [generator.choice((-Q, Q - 1)) for _ in range(N)]
    yield [-Q] * N


def by_school(f, g):
    """The product modulo X^256 + 1."""
    found = [0] * N
    for i, x in enumerate(f):
        for j, y in enumerate(g):
            found[(i + j) % N] += x * y if i + j < N else -x * y
    return [x % Q for x in found]


def test_products_equal_those_of_the_school_method():
    generator = random.Random(SEED)
    for f, g in zip(extremes(generator), extremes(generator), strict=True):
        product = model.multiply_add(None, model.transform(f), model.transform(g))
        assert [x % Q for x in model.inverse(product)] == by_school(f, g)


def test_sums_of_products():
    generator = random.Random(SEED)
    f, g, a = extremes(generator)
    plus, minus = model.multiply_add(a, f, g), model.multiply_subtract(a, f, g)
    for x, y, old, up, down in zip(f, g, a, plus, minus, strict=True):
        assert (up - old - K * K * x * y) % Q == 0
        assert (down - old + K * K * x * y) % Q == 0
    assert [x % Q for x in model.differences(model.sums(a, f), f)] == [x % Q for x in a]
