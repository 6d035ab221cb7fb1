"""The tile `rect24`: words of 24 bits on two DSP slices, 24 by 12 and 12 bits.

The difference of two 24-bit words is what a pre-adder holds. The other one is cut into two digits,
each the difference of two digits of words.
"""

from collections.abc import Sequence

from amaranth.hdl import Module, Value, ValueLike

from coprime.cells.target import Target

from .cuts import differences
from .tile import Tile, later

__all__ = ["Rect24"]

DIGITS = (12, 12)


class Rect24(Tile):
    """x times each of two digits of y; a tree of one addition."""

    NAME = "rect24"
    WORD = 24
    SLICES = 2
    TREE = 1
    LATENCY = 5
    TARGETS = frozenset((Target.GENERIC, Target.XC7))
    PRODUCTS = (((1 << 24) - 1) * ((1 << 12) - 1),) * 2

    def differences(self, m: Module) -> list[tuple[ValueLike, ValueLike]]:
        """Of the words themselves."""
        return [(self.x_0, self.x_1)] * len(DIGITS)

    def factors(self, m: Module, word_0: Value, word_1: Value) -> list[Value]:
        """Differences digit by digit."""
        return [later(m, digit) for digit in differences(word_0, word_1, DIGITS)]

    def add_sums(self, m: Module, sums: Sequence[Value]) -> Value:
        """Add both."""
        low, high = sums
        return later(m, low + (high << DIGITS[0]))
