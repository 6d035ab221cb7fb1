"""Exponentiation around one product of a cycle, in integers: which products, in how many cycles.

Source: COMPRESSION (Vassoler 2023), section 2.3, Algorithms 3, 4, 5, 7 and 8. The hardware is in
`exponentiators.py`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from coprime.exponentiators.names import Exponentiator

from .arithmetic import FixedModulus


@dataclass(frozen=True)
class RegisterExponentiation:
    """X ^ E mod m, or X * Y mod m, with all numbers in registers.

    ValueError for two multipliers with another exponentiator than right to left, which is the only
    one that has work for both, or for a window out of range.

    Parameters
    ----------
    multipliers (int): 1 or 2
    window (int): bits of a window, 1 to 4; ignored where the exponentiator has no windows
    """

    which: Exponentiator
    arithmetic: FixedModulus
    multipliers: int = 1
    window: int = 1

    def __post_init__(self) -> None:
        """Refuse what no hardware does."""
        if self.multipliers == 2 and self.which is not Exponentiator.RIGHT_TO_LEFT:
            raise ValueError(
                f"two multipliers work right to left only, not {self.which.value}: "
                "set multipliers=1"
            )
        if self.which.has_window and self.window not in range(1, 5):
            raise ValueError(f"window must be 1 to 4, not {self.window}")

    @property
    def constant_time(self) -> bool:
        """Whether all exponents of a length take the same cycles."""
        return self.multipliers == 2 or self.which is Exponentiator.FIXED_WINDOW

    @property
    def counts_exponent(self) -> bool:
        """Whether the exponent is compared with a count, so that COUNTER_BITS limits its length."""
        return self.which is Exponentiator.REPEATED

    # --- The windows ----------------------------------------------------------------------------

    @property
    def window_bits(self) -> int:
        """Bits of E in a round from left to right: 1 without windows."""
        return self.window if self.which.has_window else 1

    @property
    def aligned(self) -> bool:
        """Whether windows begin at multiples of their length."""
        return self.which is not Exponentiator.SLIDING_WINDOW

    @property
    def table_words(self) -> int:
        """Words of the table: powers of X up to 2^W - 1; a sliding window uses only X^2 and odd
        powers."""
        return 1 << self.window if self.which.has_window else 0

    @property
    def precomputed(self) -> list[int]:
        """Entries of the table that are products, in their order."""
        if not self.which.has_window:
            return []
        if self.which is Exponentiator.SLIDING_WINDOW:
            return [2, *range(3, self.table_words, 2)] if self.window > 1 else []
        return list(range(2, self.table_words))

    def rounds(self, e: int, length: int) -> Iterator[tuple[int, bool]]:
        """The bits of E, so many squares, of each round; and whether it multiplies after them."""
        window = self.window_bits
        left = -(-length // window) * window if self.aligned else length
        while left:
            ahead = (e << window) >> left & (1 << window) - 1
            taken, multiplies = window, True
            if self.which is Exponentiator.SLIDING_WINDOW:
                multiplies = bool(ahead >> window - 1)
                taken = window + 1 - (ahead & -ahead).bit_length() if multiplies else 1
            elif self.which is not Exponentiator.FIXED_WINDOW:
                multiplies = ahead != 0
            left -= taken
            yield taken, multiplies

    # --- Cycles and products --------------------------------------------------------------------

    @property
    def product_cycles(self) -> int:
        """Cycles of a product."""
        return self.arithmetic.stages + 1

    @property
    def single_cycles(self) -> int:
        """Cycles of X * Y, the correction included."""
        return self.product_cycles + self.arithmetic.corrects

    @property
    def wipe_cycles(self) -> int:
        """Cycles of the engine's state WIPE: for each word of a table, and until a product is 0."""
        return max(self.table_words, self.product_cycles)

    def cycles(self, e: int, length: int) -> int:
        """Cycles of X ^ e for an exponent of `length` bits, the correction included."""
        return self._power(e, length)[0] + self.arithmetic.corrects

    def products(self, e: int, length: int) -> int:
        """Products that X ^ e needs."""
        return self._power(e, length)[1]

    def _power(self, e: int, length: int) -> tuple[int, int]:
        """Cycles without the correction, and products."""
        each = self.product_cycles
        if self.which is Exponentiator.REPEATED:
            return e * each + 1, e
        if self.which is Exponentiator.RIGHT_TO_LEFT:
            if self.multipliers == 2:
                return length * each, length + e.bit_count()
            below = (e & ~(1 << length - 1)).bit_count()
            return length * each + below, length + below
        count = sum(taken + multiplies for taken, multiplies in self.rounds(e, length))
        count += len(self.precomputed)
        return count * each, count
