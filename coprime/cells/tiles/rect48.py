"""The tile `rect48`: words of 48 bits on six DSP slices, 24 + 24 by 16 + 16 + 16 bits.

Digits are differences of digits of words: those of x in the pre-adder, those of y in fabric logic.
"""

from collections.abc import Sequence

from amaranth.hdl import Module, Value, ValueLike

from coprime.cells.target import Target

from .digits import cut, differences
from .tile import Tile, later

__all__ = ["Rect48"]

LEFT, RIGHT = (24, 24), (16, 16, 16)


class Rect48(Tile):
    """Each digit of x times each of y; a tree of two levels."""

    NAME = "rect48"
    WORD = 48
    SLICES = 6
    TREE = 2
    LATENCY = 6
    TARGETS = frozenset((Target.GENERIC, Target.XC7))
    PRODUCT = ((1 << 24) - 1) * ((1 << 16) - 1)

    def differences(self) -> list[tuple[ValueLike, ValueLike]]:
        """Of the words' digits."""
        digits = zip(cut(self.x_0, LEFT), cut(self.x_1, LEFT), strict=True)
        return [pair for pair in digits for _ in RIGHT]

    def factors(self, m: Module, word_0: Value, word_1: Value) -> list[Value]:
        """Differences digit by digit."""
        return [later(m, digit) for digit in differences(word_0, word_1, RIGHT)] * len(LEFT)

    def recombine(self, m: Module, products: Sequence[Value]) -> Value:
        """Add what a digit of x multiplies, then both digits."""
        low, high = (
            later(m, products[k] + (products[k + 1] << 16) + (products[k + 2] << 32))
            for k in (0, 3)
        )
        return later(m, low + (high << 24))
