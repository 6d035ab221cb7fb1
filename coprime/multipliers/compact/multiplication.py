"""What the multiplier of `compact` computes, and in how many cycles."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from coprime.model.compact import RADIX_BITS

from ..multiplication import Multiplication

NEWEST_AFTER = 4  # slots of a column before the newest digit of q is in the memory


@dataclass(frozen=True)
class CompactMultiplication(Multiplication):
    """X * Y * 2^(-17*rounds) mod c * M, not fully reduced; with `descale`, mod M.

    slack : 2^(17*D) > 2^slack * c * M with c < 2^17; 2 or more, for sums that are not reduced
    modulus_mask : further bits of c, so that a random multiple of M can be added to M'
    """

    slack: int = 2
    modulus_mask: int = 0

    digit_width = RADIX_BITS
    scale_bits = RADIX_BITS
    min_digits = 3  # of X and c * M: with fewer, AHEAD would read q_(k-L) while it is written
    canonical = False
    prepares = True
    scaled = True
    banked = True

    @property
    def keeps_scaled_modulus(self) -> bool:
        """Always: it is read from there."""
        return True

    @property
    def headroom(self) -> int:
        """Bits of c and the slack."""
        return self.slack + RADIX_BITS + self.modulus_mask

    @property
    def modulus_mask_bits(self) -> int:
        """Of c, beyond its digit."""
        return self.modulus_mask

    def cycles(self, inner: int, rounds: int, *, descale: bool = False) -> int:
        """Cycles of one multiplication; D^2 + 3D + 19 for D digits of both, 6 and more."""
        outer = rounds - descale
        total = (
            sum(self._columns(inner, outer)) + 2 + self._pairs_xy(inner, outer, inner + outer + 1)
        )
        return total + (self._linear(inner) if descale else 0)

    def prepare_cycles(self, inner: int) -> int:
        """Cycles of making M' of a modulus of `inner` digits."""
        return self._linear(inner)

    def _linear(self, inner: int) -> int:
        # Columns -1 and 0, which have DIAGONAL and NEWEST, then up to one for the last carry; its
        # digit is written as in a multiplication.
        return 2 * 6 + 4 * (inner + 1) + 3

    @classmethod
    @cache
    def _columns(cls, inner: int, outer: int) -> tuple[int, ...]:
        """Slots of the columns from column -1."""
        long = max(inner, outer)

        def slots() -> Iterator[int]:
            yield from (2, 2)
            for k in range(1, inner + outer + 1):
                xy = cls._pairs_xy(inner, outer, k)
                # Of the column before, but for the pair (0, k - 1) where k <= L.
                qm = max(1, k // 2 - max(1, k - long))
                pairs = 1 + xy + (k >= long) + qm
                yield max(pairs, NEWEST_AFTER) + 2 if k <= long else pairs

        return tuple(slots())

    @staticmethod
    def _pairs_xy(inner: int, outer: int, k: int) -> int:
        """Slots of XY in column k: from the outermost pair (i, k - i) to the innermost one."""
        return max(1, (k + 1) // 2 - max(0, k - max(inner, outer) + 1))

    def products(self, inner: int, rounds: int, *, descale: bool = False) -> int:
        """Digit products that the algorithm needs, each once: D^2 + D for D of both."""
        outer = rounds - descale
        short, long = min(inner, outer), max(inner, outer)
        pairs = short * (short - 1) // 2 + short * (long - short)
        return 2 * (short + pairs) + (1 + inner if descale else 0)
