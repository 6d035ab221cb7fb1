import random

import pytest

from coprime.model.ring_counts import (
    PrivateCount,
    best_count,
    public_products,
    window_products,
)


class Counted:
    """A number modulo m that counts its products."""

    def __init__(self, m):
        self.m, self.products = m, 0

    def times(self, x, y):
        self.products += 1
        return x * y % self.m


@pytest.mark.parametrize("window", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("bits", [1, 5, 64, 65, 512])
def test_window_products(bits, window):
    """A fixed-window power that counts, with the lowest and the highest exponent of its length."""
    m = random.Random(bits).getrandbits(bits + 8) | 1
    for exponent in (1 << bits - 1, (1 << bits) - 1):
        counted = Counted(m)
        table = [1, 3 % m]
        while len(table) < 1 << window:
            table.append(counted.times(table[-1], 3))
        digits = [exponent >> k & (1 << window) - 1 for k in range(0, bits, window)][::-1]
        power = table[digits[0]]
        for digit in digits[1:]:
            for _ in range(window):
                power = counted.times(power, power)
            power = counted.times(power, table[digit])
        assert power % m == pow(3, exponent, m)
        assert counted.products == window_products(bits, window)


@pytest.mark.parametrize("exponent", [1, 3, 17, 65537, 0xFFFF])
def test_public_products(exponent):
    counted = Counted((1 << 61) - 1)
    power = 5
    for bit in f"{exponent:b}"[1:]:
        power = counted.times(power, power)
        if bit == "1":
            power = counted.times(power, 5)
    assert power == pow(5, exponent, counted.m)
    assert counted.products == public_products(exponent)


def test_total_of_a_private_operation():
    """31 entries, 102 and 204 windows after the first of five squarings and a product."""
    assert PrivateCount(512, 5).power == 30 + 102 * 6
    assert PrivateCount(1024, 5).power == 30 + 204 * 6
    assert PrivateCount(1024, 5).total == 1254 + 7 + 23 + 5
    assert PrivateCount(1024, 5, 3).total == PrivateCount(1024, 5).total - 15


@pytest.mark.parametrize(
    ("bits", "window"), [(16, 2), (30, 3), (64, 4), (256, 4), (512, 5), (2048, 5)]
)
def test_best_window(bits, window):
    assert best_count(bits).window == window
