"""Radix-2 Montgomery multiplication without a last subtraction, against Python's `pow`."""

import itertools
import random

import pytest

from coprime.model.montgomery_r2 import HEADROOM, multiply, multiply_rounds


def right(x, y, m, rounds, width):
    """Right modulo M; that the model runs checks its bounds."""
    result = multiply(x, y, m, rounds, width)
    return result % m == x * y * pow(2, -rounds, m) % m


@pytest.mark.parametrize("length", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.matrix)])
def test_every_operand(length):
    """Factors below 2M give results below 2M, for every odd M of this length."""
    rounds = length + HEADROOM
    for m in range(1, 1 << length, 2):
        for x, y in itertools.product(range(2 * m), repeat=2):
            assert right(x, y, m, rounds, rounds)
            assert multiply(x, y, m, rounds, rounds) < 2 * m


def test_one_round_less_is_not_enough():
    m, length = 0b111, 3
    for rounds, enough in ((length + 1, False), (length + 2, True)):
        results = [
            multiply(x, y, m, rounds, length + HEADROOM)
            for x, y in itertools.product(range(2 * m), repeat=2)
        ]
        assert (max(results) < 2 * m) is enough


def test_the_register_is_filled():
    """Values from 2^(n+1) on do occur in it, though no result is that long."""
    m = (1 << 8) - 1
    values = list(multiply_rounds(2 * m - 1, 2 * m - 1, m, 10, 10))
    assert max(values) >= 1 << 9
    assert values[-1] < 2 * m


@pytest.mark.parametrize("length", [16, 17, 255, 256, 1031, 2048])
def test_long_operands(length):
    generator = random.Random(length)
    top = 1 << (length - 1)
    for m in ((1 << length) - 1, top + 1, generator.getrandbits(length) | top | 1):
        rounds = length + HEADROOM
        for x in (0, 1, m - 1, m, 2 * m - 1, generator.randrange(2 * m)):
            for y in (0, 1, 2 * m - 1, generator.randrange(2 * m)):
                assert right(x, y, m, rounds, rounds)


def test_a_longer_factor_is_reduced():
    """X as long as another modulus, with that one's rounds: how a message is reduced modulo P."""
    generator = random.Random(1)
    p = generator.getrandbits(64) | 1 << 63 | 1
    for _ in range(100):
        x, y = generator.getrandbits(128), generator.randrange(p)
        assert right(x, y, p, 128 + HEADROOM, 66)
        assert multiply(x, y, p, 128 + HEADROOM, 66) < 5 * p // 4


@pytest.mark.parametrize(
    ("x", "y", "m", "rounds", "width"),
    [(1, 1, 4, 5, 5), (1, 10, 5, 5, 5), (32, 1, 5, 5, 5), (1, 1, 5, 5, 4), (0, 0, 0, 5, 5)],
)
def test_out_of_range(x, y, m, rounds, width):
    with pytest.raises(AssertionError):
        multiply(x, y, m, rounds, width)
