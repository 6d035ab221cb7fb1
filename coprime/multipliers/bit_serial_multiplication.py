"""What the multipliers that scan one bit a round compute, and in how many cycles.

This is without hardware; sources are those of the multipliers.
"""

from abc import abstractmethod
from dataclasses import dataclass

from coprime.model.bitserial import COUNTS
from coprime.model.montgomery_r2 import HEADROOM
from coprime.parameters import check_ranges

from .multiplication import READ_LATENCY, Multiplication


@dataclass(frozen=True)
class BitSerialMultiplication(Multiplication):
    """A multiplication in registers of N = `words` * `digit_width` bits, some passes and rounds.

    A *pass* takes a word from the low end of a register and enters one at the high end, so that
    after `words` cycles each word has had its turn. Every pass goes through all words, whatever the
    operands' lengths are: words that an operand does not have are zero.

    Where it is `aligned`, operands and result are at the upper end of their digits, with zero bits
    below. Else they are at the lower end.

    Parameters
    ----------
    words (int): digits of the longest operand, 1 to 4096
    digit_width (int): bits of a word, 1 to 128
    """

    words: int
    digit_width: int

    prepares = True
    headroom = 0
    round_bits = 1
    constant_cycles = 1  # of a multiplication beside its rounds, loading and unloading: STARTING

    def __post_init__(self) -> None:
        check_ranges(
            words=(self.words, range(1, 4097)), digit_width=(self.digit_width, range(1, 129))
        )

    @property
    def width(self) -> int:
        """Bits of the registers, N."""
        return self.words * self.digit_width

    @property
    def pass_cycles(self) -> int:
        """Cycles of the pass that writes."""
        return self.words

    @property
    def loading_cycles(self) -> int:
        """Cycles of one multiplication before STARTING.

        The words of Y and one of X, and the last one's way to where its first bit is used.
        """
        return self.words + 1 + READ_LATENCY + 1

    @property
    @abstractmethod
    def unloading_cycles(self) -> int:
        """Cycles of the passes in FINISHED."""

    def cycles(self, inner: int, rounds: int) -> int:
        """Cycles of one multiplication; they depend on the rounds only."""
        return self.loading_cycles + self.constant_cycles + rounds + self.unloading_cycles

    def products(self, inner: int, rounds: int) -> int:
        """Cycles in RUNNING."""
        return rounds

    def prepare_cycles(self, inner: int) -> int:
        """Cycles of loading the modulus."""
        return self.words + READ_LATENCY + 1


@dataclass(frozen=True)
class CarrySaveMultiplication(BitSerialMultiplication):
    """A multiplication that adds one multiple of Y a round to a value in carry-save form."""

    canonical = True
    constant_cycles = 2
    """Of a multiplication beside its rounds, loading and unloading: STARTING, and the round that
    brings C into S."""

    @property
    def pass_cycles(self) -> int:
        """Cycles of a pass that adds and compares."""
        return self.words + 2


@dataclass(frozen=True)
class MontgomeryCarrySaveMultiplication(CarrySaveMultiplication):
    """X * Y * 2^-rounds mod M, with M odd, Y < M < 2^N, X < 2^rounds."""

    @property
    def unloading_cycles(self) -> int:
        """MOVING, SUMMING and WRITING."""
        return self.words + 2 * self.pass_cycles


@dataclass(frozen=True)
class InterleavedMultiplication(CarrySaveMultiplication):
    """X * Y mod M, with Y < M < 2^N, X < 2^rounds; the highest bit of M is bit N - 1."""

    montgomery = False
    aligned = True

    @property
    def _table_cycles(self) -> int:
        return COUNTS * self.pass_cycles

    @property
    def loading_cycles(self) -> int:
        """Y's way here, and the table."""
        return 1 + READ_LATENCY + 1 + self._table_cycles

    @property
    def unloading_cycles(self) -> int:
        """MOVING, WAITING, SUMMING, REDUCING and WRITING."""
        return self.words + max(0, READ_LATENCY - self.words) + 4 * self.pass_cycles

    def prepare_cycles(self, inner: int) -> int:
        """Cycles of loading the modulus and making the entries without Y."""
        return 1 + READ_LATENCY + 1 + self.words + self._table_cycles


@dataclass(frozen=True)
class MontgomeryRadix2Multiplication(BitSerialMultiplication):
    """(X * Y + q * M) / 2^rounds, with the q below 2^rounds that makes it an integer.

    R is 2^headroom * M or more; Y is below half of that.
    """

    headroom = HEADROOM
    canonical = False

    @property
    def most_multiplicand(self) -> int:
        """S, below Y + M, fits in N bits."""
        return 1 << (self.headroom - 1)

    @property
    def unloading_cycles(self) -> int:
        """WRITING."""
        return self.pass_cycles
