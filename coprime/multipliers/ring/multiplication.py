"""What the multiplier of `ring` computes, and in how many cycles."""

from dataclasses import dataclass
from functools import cache

from coprime.model.montgomery import scaled_product

from ..contract import READ_LATENCY, Multiplication

__all__ = ["RingMultiplication"]


@dataclass(frozen=True)
class RingMultiplication(Multiplication):
    """X * Y * 2^(-w*rounds) mod c * M, not fully reduced; with `descale`, mod M.

    D is the greater of the words of c * M and of the rounds, and `LEAST` at least.

    Parameters
    ----------
    digit_width : w, bits of a word
    latency : cycles from a tile's words to the sum of their products, at least 1
    """

    digit_width: int
    latency: int

    LEAST = 5
    """D at the least: with fewer words a step's sums would meet those of the step before."""
    canonical = False
    prepares = True
    scaled = True
    banked = True
    overlaps = True

    @property
    def headroom(self) -> int:
        """2^(w*D) > 4cM with c < 2^w."""
        return 2 + self.digit_width

    @property
    def loop(self) -> int:
        """Cycles from a column's last slot to the first one that can use its word.

        The word's factors are read in the slot, enter the tile in the next cycle, are in its sum
        `latency` cycles later, in the column's sum a cycle later, and in the ring after another.
        """
        return self.latency + 3

    def words(self, *counts: int) -> int:
        """D, of operands of so many words."""
        return max(*counts, self.LEAST)

    def step(self, s: int, count: int) -> int:
        """Cycles of step s, 0 to D, of a product of D = `count` words.

        The old product's column has D - 2 - s pairs, or one slot if it has none. The new one's has
        s - 1 pairs that do not need the newest word of q; then come two diagonals and the pair that
        does, as far as there are such, of which the first may need the word of the step before.
        """
        old = max(count - 2 - s, 1) if s <= count - 2 else 0
        if s == count:
            return max(count - 2, self.loop - 1) + 1
        early = s if s < 2 else s - 1
        return max(old + early, self.loop - 1) + min(s + 1, 3)

    @cache  # noqa: B019
    def period(self, count: int) -> int:
        """Cycles from one product to the next that follows it without a break: D^2 + D.

        For D = `count` words, `loop` + 2 or more.
        """
        return sum(self.step(s, count) for s in range(count + 1))

    @staticmethod
    def loading(count: int, shift: int = 0) -> int:
        """Cycles of reading D = `count` words into a ring, with a 0 behind and `shift` before."""
        return shift + count + 1

    @property
    def settling(self) -> int:
        """Cycles in which the last words go to their rings."""
        return self.loop + 1

    @cache  # noqa: B019
    def draining(self, count: int) -> int:
        """Cycles from the end of a product's D + 1 steps until its result is in the memory.

        Each of the D - 1 columns that are left has the old product's slots and one more.
        """
        return sum(max(count - 2 - s, 1) + 1 for s in range(count - 1)) + self.settling

    def rounds_after(self, last: int, count: int) -> int:
        """The last cycle of SETTLE and of a round modulo M, after the cycle `last`."""
        read_c, quotient = READ_LATENCY + 2, 1
        columns = self.loading(count) + self.settling + 2 * (count + 1)
        return last + self.settling + read_c + quotient + columns + self.settling

    def prepare_cycles(self, inner: int) -> int:
        """Cycles of making M' of a modulus of `inner` words, the longest one."""
        count = self.words(inner)
        return self.rounds_after(2 + self.loading(count), count)

    def cycles(self, inner: int, rounds: int, *, descale: bool = False) -> int:
        """Cycles of one multiplication by itself, which no other one follows without a break."""
        count = self.words(inner, rounds)
        closes = 2 + self.loading(count, count - rounds + descale) + self.period(count)
        if descale:
            return self.rounds_after(closes + self.draining(count) - self.settling, count)
        return closes + self.draining(count)

    def products(self, inner: int, rounds: int, *, descale: bool = False) -> int:
        """Products of words that the algorithm needs, each once: D^2 + D - 1; none of a round."""
        count = self.words(inner, rounds)
        return count * count + count - 1

    def product(
        self,
        multiplicand: int,
        multiplier: int,
        modulus: int,
        rounds: int,
        *,
        descale: bool = False,
    ) -> int:
        """(X * Y + q * c * M) / R with the q below R = 2^(w*rounds) that makes it an integer.

        With `descale`, the last round is modulo M.
        """
        width = self.digit_width
        return scaled_product(multiplicand, multiplier, modulus, width, rounds, descale=descale)
