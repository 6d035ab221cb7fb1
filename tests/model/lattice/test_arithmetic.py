"""The datapath's arithmetic in integers: every value where there are few, extremes elsewhere."""

import random

import pytest

from coprime.model.lattice import arithmetic as model
from coprime.model.lattice.arithmetic import N, Q

SEED = 7


def test_a_reduction_step_is_minus_k_times():
    """For every low part, with high parts of all signs."""
    for high in (-(1 << 17), -1, 0, 1, 77777, (1 << 17) - 1):
        for low in range(256):
            t = (high << 8) + low
            assert (model.reduction_step(t) + model.K * t) % Q == 0


def test_every_result_of_the_first_step_is_reduced_to_less_than_q():
    """The first step's result is at most 2^17 + 13 * 128 in magnitude: the high part's bound, and
    the low part's. So this covers the reduction of every product of 26 bits."""
    first = (1 << model.PRODUCT_BITS - 1 - model.M) + model.K * 128
    found = [model.reduction_step(t) for t in range(-first, first + 1)]
    assert max(map(abs, found)) == model.REDUCED < Q


def test_products_of_the_largest_factors_have_26_bits():
    """Of MULTIPLY: a number of 12 bits times one in [-q, q), and another such product."""
    assert 2 * 4095 * Q < 1 << model.PRODUCT_BITS - 1


def test_every_sum_is_corrected():
    for total in range(-2 * Q, 2 * Q):
        found = model.corrected(total)
        assert -Q <= found < Q
        assert (found - total) % Q == 0


@pytest.mark.parametrize("width", model.WIDTHS)
def test_every_value_is_compressed_exactly(width):
    assert all(model.compressed(x, width) == model.compressed_exactly(x, width) for x in range(Q))


@pytest.mark.parametrize("width", model.WIDTHS)
def test_every_value_is_expanded_exactly(width):
    assert all(
        model.expanded(y, width) == model.expanded_exactly(y, width) for y in range(1 << width)
    )


def extremes(generator):
    yield [generator.randrange(-Q, Q) for _ in range(N)]
    yield [-Q] * N
    yield [Q - 1] * N
    yield [generator.choice((-Q, Q - 1)) for _ in range(N)]
    yield [1] + [0] * (N - 1)


def by_school(f, g):
    """The product modulo X^256 + 1."""
    found = [0] * N
    for i, x in enumerate(f):
        for j, y in enumerate(g):
            found[(i + j) % N] += x * y if i + j < N else -x * y
    return [x % Q for x in found]


def test_products_equal_those_of_the_school_method():
    generator = random.Random(SEED)
    for f in extremes(generator):
        for g in extremes(generator):
            transformed = model.multiply_add(None, model.transform(f), model.transform(g))
            assert [x % Q for x in model.inverse(transformed)] == by_school(f, g)


def test_a_transform_is_the_standards():
    """FIPS 203, (4.12): the remainders modulo X^2 - 17^(2 BitRev7(i) + 1)."""
    generator = random.Random(SEED)
    for f in extremes(generator):
        found = model.transform(f)
        for i in range(N // 2):
            root = pow(model.ROOT, 2 * model.bit_reversed(i, 7) + 1, Q)
            powers = [pow(root, k, Q) for k in range(N // 2)]
            for odd in range(2):
                value = sum(x * power for x, power in zip(f[odd::2], powers, strict=True))
                assert (found[2 * i + odd] - value) % Q == 0


def test_sums_of_products_become_exact():
    generator = random.Random(SEED)
    for acc in extremes(generator):
        for e in extremes(generator):
            found = model.exact_sum(acc, e)
            assert all(
                (model.K**2 * (z - y) - x) % Q == 0 for x, y, z in zip(acc, e, found, strict=True)
            )


@pytest.mark.parametrize("width", [*model.WIDTHS, 12])
def test_bytes_are_unpacked_as_they_were_packed(width):
    generator = random.Random(SEED)
    values = [generator.randrange(1 << width) for _ in range(N)]
    data = model.packed(values, width)
    assert len(data) == 32 * width
    assert model.unpacked(data, width) == values
