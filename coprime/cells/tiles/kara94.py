"""The tile `kara94`: words of 94 bits on 18 DSP slices, two halves of 47 bits by Karatsuba.

A difference of words is cut into halves of 47 bits, of which the higher one is signed, and each
half into digits: 24 + 23 bits of x, 16 + 16 + 15 bits of y. The differences of two digits of the
same place are the digits of the third factor of Karatsuba's method. With a whole difference of
words, not one digit by digit, only the highest digit is signed, and all differences of digits fit:
25 bits of x, 17 of y.
"""

from collections.abc import Sequence
from itertools import product

from amaranth.hdl import Const, Module, Value, ValueLike

from coprime.cells.target import Target

from .digits import cut
from .tile import Tile, later

__all__ = ["Kara94"]

HALF = 47
LEFT, RIGHT = (24, 23), (16, 16, 15)


class Kara94(Tile):
    """Six products for each half and for their difference; a tree of three levels."""

    NAME = "kara94"
    WORD = 94
    SLICES = 18
    TREE = 3
    LATENCY = 7
    TARGETS = frozenset((Target.GENERIC, Target.XC7))
    PRODUCT = ((1 << 24) - 1) * ((1 << 16) - 1)

    def differences(self) -> list[tuple[ValueLike, ValueLike]]:
        """Digits of the difference of the words, and the differences of two of them."""
        low, high = _halves(self.x_0 - self.x_1, LEFT)
        none = [Const(0, 1)] * len(LEFT)
        pairs = [*zip(low, none, strict=True), *zip(high, none, strict=True)]
        return [pair for pair in (*pairs, *zip(low, high, strict=True)) for _ in RIGHT]

    def factors(self, m: Module, word_0: Value, word_1: Value) -> list[Value]:
        """Digits of the difference of the words, and the differences of two of them."""
        low, high = _halves(later(m, word_0 - word_1), RIGHT)
        middle = [a - b for a, b in zip(low, high, strict=True)]
        return [factor for part in (low, high, middle) for _ in LEFT for factor in part]

    def recombine(self, m: Module, products: Sequence[Value]) -> Value:
        """Add what a digit of x multiplies; halves; all."""
        rows = {
            (part, digit): later(m, _row(products[3 * (2 * part + digit) :][:3]))
            for part, digit in product(range(3), range(2))
        }
        outer = later(
            m,
            rows[0, 0] + (rows[0, 1] << 24) + (rows[1, 0] << 2 * HALF) + (rows[1, 1] << 118),
        )
        middle = [later(m, rows[0, digit] + rows[1, digit] - rows[2, digit]) for digit in range(2)]
        return later(m, outer + (middle[0] << HALF) + (middle[1] << HALF + 24))


def _halves(difference: Value, digits: Sequence[int]) -> tuple[list[Value], list[Value]]:
    """The digits of the lower half of a difference, and those of the higher one."""
    found = cut(difference, (*digits, *digits))
    return found[: len(digits)], found[len(digits) :]


def _row(products: Sequence[Value]) -> Value:
    low, middle, high = products
    return low + (middle << 16) + (high << 32)
