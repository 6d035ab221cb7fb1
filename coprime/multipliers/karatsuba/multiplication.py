"""What KARATSUBA's multiplier computes, and how long each part of its schedule is."""

from dataclasses import dataclass

from ..multiplication import READ_LATENCY, Multiplication

ASK = READ_LATENCY + 1
"""Cycles from asking for a word to its use as a factor: a register takes what the memory gives."""
ADD = 3
"""Stages of the adders: halves of both products, with the upper half before, with S and carry."""


@dataclass(frozen=True)
class KaratsubaMultiplication(Multiplication):
    """X * Y * 2^(-w*rounds) mod M, not fully reduced; and the lengths of its schedule, in cycles.

    X, the multiplicand, and M have D = `inner` words of w bits, at least 2; Y, the multiplier, has
    as many as there are rounds. The result is below X*Y / 2^(w*rounds) + M, so below 2M where
    X < 2M, Y < 2M and 2^(w*rounds) > 4M; S stays below X + M, and must fit in D words. M is odd.

    Raises ValueError for a latency below 1.

    Parameters
    ----------
    digit_width : w, bits of a word: 16, 32, 64 or 128
    latency : k, cycles of a product of two words, 1 to KaratsubaProduct.most(digit_width)
    scaled : the modulus is scaled, and q needs no product of its own
    interleaved : there are ports for two multiplications
    """

    digit_width: int
    latency: int
    scaled: bool = False
    interleaved: bool = False

    slack = 2  # bits that R has above the modulus
    canonical = False
    prepares = True
    two_streams = True

    def __post_init__(self) -> None:
        if self.latency < 1:
            raise ValueError(f"latency must be at least 1, not {self.latency}")

    @property
    def chains(self) -> bool:
        """The multiplier of q has time for the next product: it is there, and serves one."""
        return not self.scaled and not self.interleaved

    @property
    def headroom(self) -> int:
        """2^(w*D) is above 2^slack * M; or that times c, where scaled, with c < 2^w."""
        return self.slack + (self.digit_width if self.scaled else 0)

    @property
    def most_multiplicand(self) -> int:
        """S, below X + M, fits in D words."""
        return 1 << (self.slack - 1)

    @property
    def made(self) -> int:
        """From asking for a word to the sum of its slot, before its register."""
        return ASK + self.latency + ADD

    @property
    def loading(self) -> int:
        """From the first cycle to the first slot: X_0 and Y_0 are read, and q_0 is made.

        Of one product where scaled, and there after a second Y has been asked for; else of two.
        """
        if self.scaled:
            return ASK + max(self.latency, 3 if self.interleaved else 1) + 1
        return ASK + 2 * self.latency + 2

    def period(self, inner: int, *, together: bool = False) -> int:
        """From one iteration to the next: `inner`, unless q takes longer.

        `together` with another multiplication the next iteration is that one's.
        """
        k = self.latency
        if self.scaled:
            least = k + ADD + 2
            return max(inner, -(-least // 2) if together else least)
        # Together, slot 1 of one must not meet slot k + 4 of the other in the multiplier of q.
        return max(inner, k + ADD + 1 if together else 2 * k + ADD + 2)

    def succession(self, inner: int) -> int:
        """From the last iteration to the first one of a product that follows: `inner` slots, unless
        q_0 takes longer, or the words that come out of the memory.

        S_(D,0), the next X_0, is there in slot k + 4, and two products later, with a register
        between them, q_0. Y_1 is read behind the last word that is written. Its product must be
        there for q_1, and must not enter in the same slot as S_1's.
        """
        k = self.latency
        least = max(3 * k + ADD + 3, 2 * k + ADD + ASK + 2)
        return least + 1 if inner == least - ASK else max(inner, least)

    @property
    def descaling(self) -> int:
        """Before the last round, if that is modulo M: S_0 is awaited, and then S_0 * c."""
        return self.made + 1 + self.latency + 1

    def prepare_cycles(self, inner: int, *, together: bool = False) -> int:
        """Reading M' and the words of M; multiplying these by c, where scaled."""
        words = (2 if together else 1) * (1 + inner)
        return words + (self.made if self.scaled else ASK)

    def cycles(
        self, inner: int, rounds: int, *, together: bool = False, descale: bool = False
    ) -> int:
        """Cycles of one multiplication, or of two together.

        D^2 + 3k + 10 for D words and rounds without a stall; scaled, D^2 + 2k + 9.
        """
        iterations = 2 * rounds if together else rounds
        slots = (iterations - 1) * self.period(inner, together=together) + inner
        return self.loading + slots + (self.descaling if descale else 0) + self.made + 1 - ASK

    def chained_cycles(self, inner: int, rounds: int) -> int:
        """From the end of a product to that of one that follows: D^2 slots, unless q is awaited.

        At most D^2 + k + 1 with k + 1 >= 5, D >= 2k + 5.
        """
        return self.succession(inner) + (rounds - 1) * self.period(inner)

    def products(self, inner: int, rounds: int, *, descale: bool = False) -> int:
        """Slots in which X_j * Y_i and q_i * M_j enter."""
        return inner * rounds
