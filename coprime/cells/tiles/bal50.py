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

from amaranth.hdl import Const, Module, Value, ValueLike

from .tile import Tile, later

__all__ = ["Bal50"]

DIGIT = 17
PAIRS = ((0, 1), (0, 2), (1, 2))


class Bal50(Tile):
    """Six products, of three digits and their three differences; a tree of two levels."""

    NAME = "bal50"
    WORD = 50
    SLICES = 6
    TREE = 2
    LATENCY = 6
    # The lower pair's: the difference of two unsigned differences, times that of two digits.
    PRODUCT = 2 * ((1 << DIGIT) - 1) ** 2

    def differences(self) -> list[tuple[ValueLike, ValueLike]]:
        """Differences digit by digit, and those of two of them."""
        digits = [
            self.x_0[k : k + DIGIT] - self.x_1[k : k + DIGIT] for k in range(0, self.WORD, DIGIT)
        ]
        return [*((digit, Const(0, 1)) for digit in digits), *_pairs(digits)]

    def factors(self, m: Module, word_0: Value, word_1: Value) -> list[Value]:
        """Balanced digits of the difference, and differences of two of them."""
        # Half a digit is added, and subtracted again by what the digit's highest bit means.
        half = 1 << DIGIT - 1
        raised = later(m, word_0 - word_1 + (half | half << DIGIT))
        digits = [
            *((raised[k : k + DIGIT] ^ half).as_signed() for k in (0, DIGIT)),
            raised[2 * DIGIT :].as_signed(),
        ]
        return [*digits, *(low - high for low, high in _pairs(digits))]

    def recombine(self, m: Module, products: Sequence[Value]) -> Value:
        """Add what has the same weight, then all weights."""
        diagonal, pair = products[:3], dict(zip(PAIRS, products[3:], strict=True))
        columns = [
            diagonal[0],
            diagonal[0] + diagonal[1] - pair[0, 1],
            diagonal[0] + diagonal[1] + diagonal[2] - pair[0, 2],
            diagonal[1] + diagonal[2] - pair[1, 2],
            diagonal[2],
        ]
        kept = [later(m, column) for column in columns]
        total = sum(column << k * DIGIT for k, column in enumerate(kept))
        return later(m, Value.cast(total)[: self.sum_bits].as_signed())


def _pairs(digits: Sequence[Value]) -> list[tuple[Value, Value]]:
    return [(digits[low], digits[high]) for low, high in PAIRS]
