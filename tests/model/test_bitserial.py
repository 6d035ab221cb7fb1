"""The three algorithms in integers, against Python's own arithmetic; bounds are asserted inside."""

import random

import pytest

from coprime.model import bitserial

MONTGOMERY = [bitserial.montgomery_two, bitserial.montgomery_one]


@pytest.mark.parametrize("multiply", MONTGOMERY)
@pytest.mark.parametrize("width", range(1, 7))
def test_montgomery_exhaustively(multiply, width):
    """Every X < 2^rounds, Y < M and odd M, also of fewer bits than the registers."""
    for m in range(1, 1 << width, 2):
        for y in range(m):
            for x in range(1 << width):
                wanted = x * y * pow(2, -width, m) % m
                assert multiply(x, y, m, width, width) == wanted


@pytest.mark.parametrize("width", range(1, 7))
def test_interleaved_exhaustively(width):
    """Every X < 2^rounds, Y < M and M of the registers' length."""
    for m in range(1 << (width - 1), 1 << width):
        for y in range(m):
            for x in range(1 << width):
                assert bitserial.interleaved(x, y, m, width, width) == x * y % m


@pytest.mark.parametrize("length", [32, 64, 128, 256, 512, 1024, 1031, 2048])
def test_long_operands(length):
    generator = random.Random(length)
    for m in ((1 << length) - 1, generator.getrandbits(length) | 1 << (length - 1) | 1):
        for rounds in (length, length // 2, 2 * length):
            any_x, any_y = generator.getrandbits(rounds), generator.randrange(m)
            for x, y in ((any_x, any_y), ((1 << rounds) - 1, m - 1)):
                power = pow(2, -rounds, m)
                for multiply in MONTGOMERY:
                    assert multiply(x, y, m, rounds, length) == x * y * power % m
                assert bitserial.interleaved(x, y, m, rounds, length) == x * y % m


def test_each_count_occurs():
    """A smaller table would not do; a larger one would be waste."""
    width, counts = 6, set()
    for m in range(1 << (width - 1), 1 << width):
        for y in range(m):
            for x in range(1 << width):
                s = c = o = 0
                for after in bitserial.interleaved_rounds(x, y, m, width, width):
                    counts.add((s >> (width - 1)) + (c >> (width - 1)) + 2 * o)
                    s, c, o = after
    assert counts == set(range(bitserial.COUNTS))


def test_each_subtraction_is_needed():
    """Of 2M, 2M and M: some value reaches 4M, so two of 2M and one of M are not too many."""
    width = 6
    most = 0.0
    for m in range(1 << (width - 1), 1 << width):
        for y in range(m):
            for x in range(1 << width):
                *_, (s, c, o) = bitserial.interleaved_rounds(x, y, m, width, width)
                most = max(most, (s + c + (o << width)) / m)
    assert 4 <= most < 5


def test_operands_out_of_range():
    for refused in (
        lambda: bitserial.montgomery_one(0, 5, 5, 3, 3),  # Y = M
        lambda: bitserial.montgomery_one(0, 1, 6, 3, 3),  # M even
        lambda: bitserial.montgomery_two(8, 1, 5, 3, 3),  # X of four bits
        lambda: bitserial.interleaved(0, 1, 3, 3, 3),  # M has two bits, not three
    ):
        with pytest.raises(AssertionError):
            refused()
