"""What FDFM's multiplier computes, and in how many cycles: without hardware."""

from dataclasses import dataclass

from coprime.cells.facts import DSP_LATENCY
from coprime.model.fdfm import RADIX_BITS

from .multiplication import READ_LATENCY, Multiplication


@dataclass(frozen=True)
class FdfmMultiplication(Multiplication):
    """X * Y * 2^(-17*outer) mod M, not fully reduced.

    X, the multiplicand, and M have `inner` digits, at least 2; Y, the multiplier, has `outer`. The
    result is below X*Y / 2^(17*outer) + M, so below 2M where X < 2M, Y < 2M and 2^(17*outer) > 4M;
    it must fit in `inner` digits. M is odd. 2^(17d) is 2^headroom * M or more; X is below half of
    that.
    """

    headroom = 2
    digit_width = RADIX_BITS
    min_digits = 2  # of X and M: S_0 is the sum of j = 1
    canonical = False
    prepares = False

    @property
    def most_multiplicand(self) -> int:
        """S, below X + M, fits in d digits."""
        return 1 << (self.headroom - 1)

    def cycles(self, inner: int, rounds: int) -> int:
        """Cycles of one multiplication; 2d^2 + 6d + 7 for equal lengths."""
        # One cycle asks for Y_0 before the iterations; S_(d-1) is finished after them.
        return 1 + rounds * (2 * inner + 6) + READ_LATENCY + DSP_LATENCY

    def products(self, inner: int, rounds: int) -> int:
        """Products that Algorithm 3 needs (equation 7): X_j * Y_i, q * M_j and one for q."""
        return rounds * (2 * inner + 1)
