"""The tile `bal50`: words of 50 bits on six DSP slices, three balanced digits by Karatsuba.

A difference of words is cut into digits of 17 bits, d = d_0 + 2^17 d_1 + 2^34 d_2, of which each
may be negative:

    d_0, d_1 = -2^16 to 2^16 - 1,   d_2 = -2^16 to 2^16,

so that the difference of a digit and a higher one, -2^17 to 2^17 - 1, still has 18 bits; it would
have 19 with unsigned digits. With A = x_0 - x_1 and B = y_0 - y_1 the products

    diagonal_k = A_k * B_k,   pair_jk = (A_j - A_k) * (B_j - B_k) with j < k

give A_j * B_k + A_k * B_j = diagonal_j + diagonal_k - pair_jk, as in Karatsuba's method of any
degree. On XC7 the pre-adder has room for 25 bits, so there A_k is the difference of the words'
digits, with no carry between digits.
"""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Value, ValueLike

from coprime.cells.adders import add_three, add_two
from coprime.cells.facts import Bal50Facts
from coprime.cells.target import Target

from .tile import Tile, later

DIGIT = 17
HALF, ONES = 1 << DIGIT - 1, (1 << DIGIT) - 1
PAIRS = ((0, 1), (0, 2), (1, 2))


class Bal50(Bal50Facts, Tile):
    """Six products, of three digits and their three differences; a tree of two levels."""

    def differences(self, m: Module) -> list[tuple[ValueLike, ValueLike]]:
        """Differences digit by digit, and those of two of them."""
        digits = [
            self.x_0[k : k + DIGIT] - self.x_1[k : k + DIGIT] for k in range(0, self.WORD, DIGIT)
        ]
        return [*((digit, Const(0, 1)) for digit in digits), *_pairs(digits)]

    def factors(self, m: Module, word_0: Value, word_1: Value) -> list[Value]:
        """Balanced digits of the difference, and differences of two of them."""
        # Half a digit is added, and subtracted again by what the digit's highest bit means.
        halves = HALF | HALF << DIGIT
        if self.target is Target.XC7:
            rows = ((word_0, 0), (Const(halves), 0), (word_1, 0))
            difference = add_three(m, rows, self.WORD + 2, self.target, subtract_last=True)
        else:
            plain = add_two(m, word_0, word_1, self.WORD + 1, self.target, subtract=True)
            low = DIGIT - 1
            upper = add_two(
                m, plain[low:].as_signed(), Const(halves >> low), self.WORD + 2 - low, self.target
            )
            difference = Cat(plain[:low], upper)
        raised = later(m, difference)
        digits = [
            *((raised[k : k + DIGIT] ^ HALF).as_signed() for k in (0, DIGIT)),
            raised[2 * DIGIT :].as_signed(),
        ]
        return [*digits, *(low - high for low, high in _pairs(digits))]

    def add_sums(self, m: Module, sums: Sequence[Value]) -> Value:
        """Add what has the same weight, then all weights."""
        low, middle, high, *pairs = sums
        pair_01, pair_02, pair_12 = pairs
        columns = (
            self._subtract(m, low, middle, pair_01, self.bits(2 * ONES * HALF)),
            add_three(
                m, ((low, 0), (middle, 0), (high, 0)), self.bits(3 * ONES * HALF), self.target
            ),
            self._subtract(m, middle, high, pair_12, self.bits(2 * ONES * HALF)),
        )
        # The lowest digits' sum and the first column become positive, so that what is next in a row
        # of bits can follow them; the column between pays for both.
        low = Cat(low, *[low[-1]] * 2).as_signed()
        raised = -(1 << len(low) - 1 - 2 * DIGIT) - (1 << len(columns[0]) - 1 - DIGIT)
        second = self._subtract(m, columns[1], Const(raised), pair_02, len(columns[1]) + 1)
        low, first, second, third, high = (
            later(m, number) for number in (low, columns[0], second, columns[2], high)
        )
        rows = (
            (Cat(_raise(low), Const(0, 3 * DIGIT - len(low)), third).as_signed(), 0),
            (Cat(_raise(first), Const(0, 3 * DIGIT - len(first)), high).as_signed(), DIGIT),
            (second, 2 * DIGIT),
        )
        return self.ends_tree(m, add_three(m, rows, self.sum_bits, self.target))

    def add_products(self, m: Module, products: Sequence[Value]) -> Value:
        """Add what has the same weight, then all weights."""
        # Products of digits have 34 bits, and sums of up to three of these 35.
        low, middle, high = (product[: 2 * DIGIT].as_signed() for product in products[:3])
        pair_01, pair_02, pair_12 = products[3:]
        target, bits = self.target, 2 * DIGIT + 1
        outer = add_two(m, low, middle, bits, target)
        first = add_two(m, outer, pair_01, bits, target, subtract=True)
        second = add_two(
            m, outer, add_two(m, high, pair_02, bits, target, subtract=True), bits, target
        )
        # Where the lowest product is negative, its sign reaches into the third column.
        third = add_two(m, middle, pair_12, bits, target, subtract=True, carry=~low[-1])
        third = add_two(m, third, high, bits, target)
        low, high, first, second, third = (
            later(m, number) for number in (low, high, first, second, third)
        )
        # From the second digit on; the second row follows the sign of the first column, too.
        outer = Cat(low[DIGIT:], *[low[-1]] * DIGIT, third).as_signed()
        inner = Cat(first, *[first[-1]] * (DIGIT - 1), high).as_signed()
        total = add_two(m, outer, inner, 5 * DIGIT, target)
        # The signs of the first two columns reach into all bits from the fifth digit on.
        either, both = first[-1] | second[-1], first[-1] ^ second[-1]
        row = Cat(second[:-1], both, *[either] * (2 * DIGIT)).as_signed()
        upper = add_two(m, total[DIGIT:].as_signed(), row, 4 * DIGIT, target)
        return later(m, Cat(low[:DIGIT], total[:DIGIT], upper)[: 2 * self.WORD + 1].as_signed())

    def _subtract(self, m: Module, a: Value, b: Value, c: Value, bits: int) -> Value:
        return add_three(m, ((a, 0), (b, 0), (c, 0)), bits, self.target, subtract_last=True)


def _raise(number: Value) -> Value:
    """Add half of its range to a signed number, which makes it positive."""
    return Cat(number[:-1], ~number[-1])


def _pairs(digits: Sequence[Value]) -> list[tuple[Value, Value]]:
    return [(digits[low], digits[high]) for low, high in PAIRS]
