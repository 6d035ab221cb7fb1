"""The tile `adk2x16`: words of 32 bits on three DSP slices, two digits of 16 bits by Karatsuba.

Digits are differences of digits of words, signed 17 bits; the difference of two of them has 18.
With digits A_0, A_1 and B_0, B_1

    A * B = 2^32 A_1 B_1 + 2^16 (A_0 B_0 + A_1 B_1 - (A_0 - A_1)(B_0 - B_1)) + A_0 B_0.
"""

from collections.abc import Sequence

from amaranth.hdl import Module, Value, ValueLike

from .digits import cut, differences
from .tile import Tile, later

__all__ = ["Adk2x16"]

DIGITS = (16, 16)


class Adk2x16(Tile):
    """Three products, of two digits and of their difference; a tree of two levels."""

    NAME = "adk2x16"
    WORD = 32
    SLICES = 3
    TREE = 2
    LATENCY = 6
    PRODUCT = (2 * ((1 << 16) - 1)) ** 2

    def differences(self) -> list[tuple[ValueLike, ValueLike]]:
        """Of the words' digits, and of two such differences."""
        pairs = zip(cut(self.x_0, DIGITS), cut(self.x_1, DIGITS), strict=True)
        low, high = differences(self.x_0, self.x_1, DIGITS)
        return [*pairs, (low, high)]

    def factors(self, m: Module, word_0: Value, word_1: Value) -> list[Value]:
        """Differences digit by digit, and the difference of these."""
        low, high = (later(m, digit) for digit in differences(word_0, word_1, DIGITS))
        return [low, high, low - high]

    def recombine(self, m: Module, products: Sequence[Value]) -> Value:
        """Add what has the same weight, then all weights."""
        low, high, pair = products
        columns = [later(m, column) for column in (low, low + high - pair, high)]
        return later(m, columns[0] + (columns[1] << 16) + (columns[2] << 32))
