"""The tile `kara95`: words of 95 bits on 18 DSP slices, two halves by Karatsuba.

A difference of words is cut into a lower half L of 48 bits, which may be negative, and the rest:

    x_0 - x_1 = L + 2^48 H,   L = -2^47 to 2^47 - 1,   H = -2^47 to 2^47.

With the halves L' and H' of y, and S = 2^48,

    (L + S H) (L' + S H') = L L' + S (L L' + H H' - (L - H) (L' - H')) + S^2 H H'.

Each of the three products is made of six products of digits:

* On XC7 a half of x has two digits, of 24 bits, and one of y three, of 16 bits; each is multiplied
  by each. L - H is the difference digit by digit. It fits 25 and 17 bits, as only the highest
  digits of L and H are signed, and their ranges are alike; in words of 96 bits they are not.
* On ECP5 all halves have three digits of 16 bits, and their products are made as in `bal50`: three
  products of digits with the same place, and three of differences of two digits. The differences
  are those of a digit and a higher one, or both the negative of that.
"""

from collections.abc import Iterable, Sequence

from amaranth.hdl import Cat, Const, Module, Value, ValueLike

from coprime.cells.adders import add_three, add_two
from coprime.cells.facts import Kara95Facts
from coprime.cells.target import Target

from .cuts import cut
from .tile import Tile, later

HALF = 48
LEFT, RIGHT = (24, 24), (16, 16, 16)
DIGIT = 16
PAIRS = ((0, 1), (0, 2), (1, 2))


class Kara95(Kara95Facts, Tile):
    """Six products for each half and for their difference; a tree of three levels."""

    def differences(self, m: Module) -> list[tuple[ValueLike, ValueLike]]:
        """Digits of the difference of the words, and the differences of two of them."""
        low, high = _halves(self._difference(m, self.x_0, self.x_1), LEFT)
        none = [Const(0, 1)] * len(LEFT)
        pairs = [*zip(low, none, strict=True), *zip(high, none, strict=True)]
        return [pair for pair in (*pairs, *zip(low, high, strict=True)) for _ in RIGHT]

    def factors(self, m: Module, word_0: Value, word_1: Value) -> list[Value]:
        """Digits of the difference of the words, and the differences of two of them."""
        if self.target is Target.ECP5:
            return self._small_factors(m, word_0, word_1)
        low, high = _halves(later(m, self._difference(m, word_0, word_1)), RIGHT)
        middle = [a - b for a, b in zip(low, high, strict=True)]
        return [factor for part in (low, high, middle) for _ in LEFT for factor in part]

    def add_sums(self, m: Module, sums: Sequence[Value]) -> Value:
        """Add what a digit of x multiplies; the terms in the middle; all."""
        triples = [sums[k : k + 3] for k in range(0, self.SLICES, 3)]
        # A digit of 24 bits times one of the halves of 48, or the difference of these.
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
        last = ((outer[0], 0), (outer[1], LEFT[0]), (middle, HALF))
        return self.ends_tree(m, add_three(m, last, self.sum_bits, self.target))

    def add_products(self, m: Module, products: Sequence[Value]) -> Value:
        """The products of halves; from the upper half of the lowest one on; all."""
        low, high, middle = (
            later(m, self._product_of_halves(m, products[k : k + 6])) for k in (0, 6, 12)
        )
        target, bits = self.target, 2 * HALF + 1
        both = add_two(m, low, high, bits, target)
        rest = add_two(m, low[HALF:].as_signed(), middle, bits, target, subtract=True)
        inner = add_two(m, both, rest, bits, target)
        low, bits = low[:HALF], 2 * self.WORD + 1 - 2 * HALF
        if not self.skewed:
            outer = add_two(m, inner[HALF:].as_signed(), high, bits, target)
            return later(m, Cat(low, inner[:HALF], outer).as_signed())
        low, high, inner = (later(m, number) for number in (low, high, inner))
        outer = add_two(m, inner[HALF:].as_signed(), high, bits, target)
        below = self.WORD - HALF
        upper = later(m, Cat(inner[below:HALF], outer))
        return Cat(low, inner[:below], upper).as_signed()

    def _difference(self, m: Module, word_0: Value, word_1: Value) -> Value:
        """word_0 - word_1 + 2^47, so that what is above bit 48 is H."""
        rows = ((word_0, 0), (Const(1), HALF - 1), (word_1, 0))
        return add_three(m, rows, self.WORD + 2, self.target, subtract_last=True)

    def _small_factors(self, m: Module, word_0: Value, word_1: Value) -> list[Value]:
        """Three digits of each half and of their difference, and differences of two of them."""
        target, bits = self.target, DIGIT + 2

        def subtract(a: Value, b: Value, carry: ValueLike = 1) -> Value:
            return add_two(m, a, b, bits, target, subtract=True, carry=carry)

        difference = add_two(m, word_0, word_1, self.WORD + 1, target, subtract=True)
        digits = cut(later(m, difference), (DIGIT,) * 6)
        negative = digits[2][-1]
        low = [*digits[:2], digits[2].as_signed()]
        # With a negative L, digit 0 of H is greater by 1: up to 2^16, so that no carry leaves it.
        raised = add_two(m, digits[3], Const(0, 1), bits, target, carry=negative)
        high = [raised, *digits[4:]]
        middle = [
            subtract(low[0], digits[3], ~negative),
            *(subtract(a, b) for a, b in zip(low[1:], high[1:], strict=True)),
        ]
        return [
            *(*low, *(subtract(low[j], low[k]) for j, k in PAIRS)),
            # Those of two digits of H the other way round, where 1 more is 1 less.
            *(*high, *(subtract(high[k], digits[3], ~negative) for k in (1, 2))),
            subtract(high[1], high[2]),
            *(*middle, *(subtract(middle[j], middle[k]) for j, k in PAIRS)),
        ]

    def _product_of_halves(self, m: Module, products: Sequence[Value]) -> Value:
        """Of three products of digits and three of differences, a cycle later.

        With E = d_0 + B d_1 + B^2 d_2 and F = p_01 + B p_02 + B^2 p_12 it is, with B = 2^16,

            E + B (E - F) + B^2 E.
        """
        target = self.target

        def row(numbers: Sequence[Value], bits: int) -> Value:
            """Numbers of up to so many bits, each 16 bits higher than the one before."""
            found, total = [], numbers[0][:bits].as_signed()
            for number in numbers[1:]:
                found.append(total[:DIGIT])
                total = add_two(
                    m, total[DIGIT:].as_signed(), number[:bits].as_signed(), bits, target
                )
            return Cat(*found, total).as_signed()

        # Digits have up to 17 bits, their differences 18: 2^32 is the greatest product of digits,
        # and less than 2^34 that of differences, to which the sum of those below adds little.
        digits = later(m, row(products[:3], 2 * DIGIT + 2))
        pairs = later(m, row(products[3:], 2 * DIGIT + 4))
        inner = add_two(m, digits, pairs, len(pairs), target, subtract=True)
        outer = add_two(m, digits[2 * DIGIT :].as_signed(), digits, len(digits) + 1, target)
        outer = Cat(digits[: 2 * DIGIT], outer).as_signed()
        bits = 2 * HALF + 2 - DIGIT
        total = add_two(m, outer[DIGIT:].as_signed(), inner, bits, target)
        return Cat(outer[:DIGIT], total).as_signed()

    def _add(self, m: Module, rows: Iterable[tuple[Value, int]], bits: int) -> Value:
        return later(m, add_three(m, tuple(rows), bits, self.target))


def _halves(raised: Value, digits: Sequence[int]) -> tuple[list[Value], list[Value]]:
    """The digits of L and of H, from the difference plus 2^47."""
    low = Cat(raised[: HALF - 1], ~raised[HALF - 1]).as_signed()
    return cut(low, digits), cut(raised[HALF:].as_signed(), digits)
