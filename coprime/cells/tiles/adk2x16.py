"""The tile `adk2x16`: words of 32 bits on three DSP slices, two digits of 16 bits by Karatsuba.

Digits are differences of digits of words, signed 17 bits; the difference of two of them has 18.
With digits A_0, A_1 and B_0, B_1

    A * B = 2^32 A_1 B_1 + 2^16 (A_0 B_0 + A_1 B_1 - (A_0 - A_1)(B_0 - B_1)) + A_0 B_0.
"""

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Value, ValueLike

from coprime.cells.adders import add_three, add_two
from coprime.cells.facts import Adk2x16Facts

from .cuts import cut, differences
from .tile import Tile, later

DIGITS = (16, 16)
ONES = (1 << 16) - 1


class Adk2x16(Adk2x16Facts, Tile):
    """Three products, of two digits and of their difference; a tree of two levels."""

    def differences(self, m: Module) -> list[tuple[ValueLike, ValueLike]]:
        """Of the words' digits, and of two such differences."""
        pairs = zip(cut(self.x_0, DIGITS), cut(self.x_1, DIGITS), strict=True)
        low, high = differences(self.x_0, self.x_1, DIGITS)
        return [*pairs, (low, high)]

    def factors(self, m: Module, word_0: Value, word_1: Value) -> list[Value]:
        """Differences digit by digit, and the difference of these."""
        low, high = (later(m, digit) for digit in differences(word_0, word_1, DIGITS))
        return [low, high, low - high]

    def add_sums(self, m: Module, sums: Sequence[Value]) -> Value:
        """Add what has the same weight, then all weights."""
        low, high, pair = sums
        rows: Sequence[tuple[Value, int]] = ((low, 0), (high, 0), (pair, 0))
        middle = add_three(m, rows, self.bits(2 * ONES**2), self.target, subtract_last=True)
        rows = ((later(m, low), 0), (later(m, middle), 16), (later(m, high), 32))
        return self.ends_tree(m, add_three(m, rows, self.sum_bits, self.target))

    def add_products(self, m: Module, products: Sequence[Value]) -> Value:
        """Add what has the same weight, then all weights."""
        # Products of digits have 33 bits, and what is in the middle 34.
        low, high = (product[:33].as_signed() for product in products[:2])
        both = add_two(m, low, high, 34, self.target)
        middle = add_two(m, both, products[2], 34, self.target, subtract=True)
        upper = add_two(m, low[32:].as_signed(), high, 33, self.target)
        low, middle, upper = later(m, low[:32]), later(m, middle), later(m, upper)
        total = add_two(m, Cat(low[16:], upper).as_signed(), middle, 49, self.target)
        return later(m, Cat(low[:16], total).as_signed())
