import itertools
import random

import pytest

from coprime.model.compact import (
    RADIX_BITS,
    accumulator_bits,
    last_round,
    montgomery,
    scaled_modulus,
    scaling,
    to_digits,
)


def digits_of(m, radix_bits):
    """Digits that hold 4 * c * m."""
    return -(-((scaling(m, radix_bits) * m).bit_length() + 2) // radix_bits)


def check(x, y, m, inner, outer, radix_bits=RADIX_BITS):
    product = montgomery(x, y, m, inner, outer, radix_bits)
    assert product.value % m == x * y * pow(2, -radix_bits * outer, m) % m
    return product


@pytest.mark.parametrize("radix_bits", [2, 3])
def test_exhaustive_at_a_small_radix(radix_bits):
    """Every x and y below 2 * c * m, for every odd m of up to 4 bits."""
    for m in range(1, 16, 2):
        inner, whole = digits_of(m, radix_bits), scaling(m, radix_bits) * m
        for x in range(2 * whole):
            for y in range(2 * whole):
                assert check(x, y, m, inner, inner, radix_bits).value < 2 * whole


@pytest.mark.proof
def test_exhaustive_with_masks():
    """All x and y below 2 * (c + 2^r * mask) * m have right products, below that again."""
    radix_bits = 2
    for m, mask in itertools.product(range(1, 8, 2), range(1, 4)):
        whole = (scaling(m, radix_bits) + (mask << radix_bits)) * m
        inner = -(-(whole.bit_length() + 2) // radix_bits)
        inverse = pow(2, -radix_bits * inner, m)
        for x, y in itertools.product(range(2 * whole), repeat=2):
            value = montgomery(x, y, m, inner, inner, radix_bits, mask=mask).value
            assert value % m == x * y * inverse % m and value < 2 * whole


@pytest.mark.parametrize("radix_bits", [2, 17])
def test_unequal_lengths(radix_bits):
    generator = random.Random(radix_bits)
    for _ in range(300):
        m = generator.getrandbits(generator.randrange(1, 12 * radix_bits)) | 1
        inner, outer = digits_of(m, radix_bits), generator.randrange(1, 20)
        whole = scaling(m, radix_bits) * m
        x = generator.randrange(whole)
        y = generator.getrandbits(radix_bits * outer)
        assert check(x, y, m, inner, outer, radix_bits).value < 2 * whole


@pytest.mark.parametrize("length", [512, 1024, 2048])
def test_products(length):
    """D^2 + D, also with the digits that make the largest sums."""
    m = (1 << length) - 1
    inner = digits_of(m, RADIX_BITS)
    whole = scaling(m) * m
    ones = (1 << (RADIX_BITS * inner - 1)) - 1
    for x, y in ((2 * whole - 1, 2 * whole - 1), (ones % whole, ones % whole), (0, whole)):
        assert check(x, y, m, inner, inner).products == inner**2 + inner


def test_chain_stays_below_twice_the_scaled_modulus():
    m = (1 << 89) - 1
    inner, whole = digits_of(m, RADIX_BITS), scaling(m) * m
    x, power = 12345, 12345
    for _ in range(50):
        x = check(x, x, m, inner, inner).value
        power = power * power * pow(2, -RADIX_BITS * inner, m) % m
        assert x < 2 * whole and x % m == power


@pytest.mark.parametrize("radix_bits", [2, 3])
def test_last_round_exhaustive(radix_bits):
    for m in range(1, 32, 2):
        inner, whole = digits_of(m, radix_bits), scaling(m, radix_bits) * m
        for s in range(2 * whole):
            left = last_round(s, m, inner, radix_bits)
            assert left % m == s * pow(2, -radix_bits, m) % m
            assert left < s / (1 << radix_bits) + m


def test_scaled_modulus():
    for m in (1, 3, (1 << 100) - 1, (1 << 100) + 1):
        inner = digits_of(m, RADIX_BITS)
        assert (scaled_modulus(m, inner) << RADIX_BITS) - 1 == scaling(m) * m


def test_accumulator_of_a_dsp_slice():
    assert accumulator_bits(122) == 42 <= 47
    assert accumulator_bits(243) <= 47


def test_too_many_digits():
    with pytest.raises(ValueError, match="131072 does not fit 1 digits of 17 bits"):
        to_digits(1 << 17, 1)
