"""The tile `kara94`: words of 94 bits on 18 DSP slices, two halves of 47 bits by Karatsuba.

A difference of words is cut into halves of 47 bits, of which the higher one is signed, and each
half into digits: 24 + 23 bits of x, 16 + 16 + 15 bits of y. The differences of two digits of the
same place are the digits of the third factor of Karatsuba's method. With a whole difference of
words, not one digit by digit, only the highest digit is signed, and all differences of digits fit:
25 bits of x, 17 of y.
"""

from collections.abc import Iterable, Sequence

from amaranth.hdl import Cat, Const, Module, Value, ValueLike

from coprime.cells.adders import add_three
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
    PRODUCTS = (((1 << 24) - 1) * ((1 << 16) - 1),) * 18

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

    def add_sums(self, m: Module, sums: Sequence[Value]) -> Value:
        """Add what a digit of x multiplies; the terms in the middle; all."""
        triples = [sums[k : k + 3] for k in range(0, self.SLICES, 3)]
        # A digit of 24 bits times one of the halves of 47, or the difference of these.
        bits = self.bits(1 << LEFT[0] + HALF)
        rows = [self._add(m, zip(row, (0, 16, 32), strict=True), bits) for row in triples]
        low, high = rows[:2], rows[2:4]
        # Lower halves become positive, so that they and the higher halves make one row of bits.
        shifts = (0, LEFT[0])
        raised = -sum(1 << bits - 1 + shift for shift in shifts) >> HALF
        columns = [
            add_three(m, ((a, 0), (b, 0), (c, 0)), bits + 1, self.target, subtract_last=True)
            for a, b, c in zip(low, high, rows[4:], strict=True)
        ]
        middle = self._add(
            m,
            ((columns[0], 0), (columns[1], LEFT[0]), (Const(raised), 0)),
            self.bits(2 << 2 * HALF),
        )
        outer = [
            Cat(a[:-1], ~a[-1], Const(0, 2 * HALF - bits), b).as_signed()
            for a, b in ((later(m, a), later(m, b)) for a, b in zip(low, high, strict=True))
        ]
        return self._add(m, ((outer[0], 0), (outer[1], LEFT[0]), (middle, HALF)), self.sum_bits)

    def _add(self, m: Module, rows: Iterable[tuple[Value, int]], bits: int) -> Value:
        return later(m, add_three(m, tuple(rows), bits, self.target))


def _halves(difference: Value, digits: Sequence[int]) -> tuple[list[Value], list[Value]]:
    """The digits of the lower half of a difference, and those of the higher one."""
    found = cut(difference, (*digits, *digits))
    return found[: len(digits)], found[len(digits) :]
