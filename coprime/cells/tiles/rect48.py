"""The tile `rect48`: words of 48 bits on six DSP slices, 24 + 24 by 16 + 16 + 16 bits.

Digits are differences of digits of words: those of x in the pre-adder, those of y in fabric logic.
"""

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Value, ValueLike

from coprime.cells.adders import add_three
from coprime.cells.target import Target

from .cuts import cut, differences
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
    PRODUCTS = (((1 << 24) - 1) * ((1 << 16) - 1),) * 6

    def differences(self, m: Module) -> list[tuple[ValueLike, ValueLike]]:
        """Of the words' digits."""
        digits = zip(cut(self.x_0, LEFT), cut(self.x_1, LEFT), strict=True)
        return [pair for pair in digits for _ in RIGHT]

    def factors(self, m: Module, word_0: Value, word_1: Value) -> list[Value]:
        """Differences digit by digit."""
        return [later(m, digit) for digit in differences(word_0, word_1, RIGHT)] * len(LEFT)

    def add_sums(self, m: Module, sums: Sequence[Value]) -> Value:
        """Add three sums, then the other three."""
        at_0, at_16, at_32, at_24, at_40, at_56 = sums
        bits = self.bits(self.PRODUCTS[0] * 0x10101)
        rows = ((at_16, 0), (at_24, 8), (at_32, 16))
        middle = later(m, add_three(m, rows, bits, self.target))
        # The lowest and the highest sum are one row; where the lowest is negative, its sign reaches
        # into the highest one.
        lowest = later(m, at_0)
        highest = later(m, at_56 + at_0[-1:].as_signed())
        outer = Cat(*(lowest[min(k, len(lowest) - 1)] for k in range(56)), highest).as_signed()
        rows = ((outer, 0), (later(m, at_40), 40), (middle, 16))
        return later(m, add_three(m, rows, self.sum_bits, self.target))
