"""Where each operand lies in a lane's memory: one block RAM (FDFM, figure 8), or two banks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from amaranth.utils import bits_for

from coprime.program.operands import Location, Mode, Operand, Reference, Scratch

__all__ = ["BankedLayout", "Layout"]

_SINGLE = (Operand.M_INVERSE, Operand.P_INVERSE, Operand.Q_INVERSE)
_PRIME = (Operand.P, Operand.Q, Operand.DP, Operand.DQ, Operand.P_POWER, Operand.Q_POWER)
_WHOLE = (
    Operand.X,
    Operand.Y,
    Operand.E,
    Operand.M,
    Operand.M_POWER,
    Operand.CRT_P,
    Operand.CRT_Q,
    Scratch.ACCUMULATOR,
    Scratch.SPARE,
    Scratch.BASE,
    Scratch.RESULT,
    Scratch.PART,
)
_OPERANDS = 1 << bits_for(max(Operand))
"""Numbers for operands, which have those that the host has for them."""
_PLACES: dict[Reference, int] = {
    # ACCUMULATOR and SPARE differ in one bit, and BASE in another one.
    Scratch.ACCUMULATOR: _OPERANDS,
    Scratch.SPARE: _OPERANDS + 1,
    Mode.NEXT: _OPERANDS + 1,
    Scratch.BASE: _OPERANDS + 2,
    Scratch.RESULT: _OPERANDS + 3,
    Scratch.PART: _OPERANDS + 4,
    Mode.OTHER_ACCUMULATOR: _OPERANDS + 5,
    Mode.OTHER_PART: _OPERANDS + 6,
    Mode.NEXT_BASE: _OPERANDS + 7,
    Mode.ONE: 2 * _OPERANDS - 1,
}
"""Numbers of intermediate values and addressing modes without windows: a program without these
needs a bit more than operands do."""
_TABLE: dict[Reference, int] = {
    **{Scratch.table(entry): 2 * _OPERANDS + entry for entry in range(16)},
    Mode.WINDOW: 4 * _OPERANDS - 1,
}
"""The same of the table, and of its entry that the window selects."""


@dataclass(frozen=True)
class Layout:
    """Word addresses of the slots in a memory of `depth` digits."""

    bases: Mapping[Location, int]
    depth: int
    numbers: Mapping[Reference, int]
    """What the program memory has for a reference."""

    @property
    def banks(self) -> int:
        """Memories of that depth."""
        return 1

    @property
    def number_bits(self) -> int:
        """Width of a reference's number: 5, or 6 with a table."""
        return int(bits_for(max(self.numbers.values())))

    @property
    def bases_by_number(self) -> list[int]:
        """Address of digit 0 of each number's location; 0 where a number is of none."""
        bases = [0] * (1 << self.number_bits)
        for location, base in self.bases.items():
            bases[self.numbers[location]] = base
        if Mode.OTHER_PART in self.numbers:  # as it lies in the other lane's memory
            bases[self.numbers[Mode.OTHER_PART]] = self.bases[Scratch.PART]
        return bases

    @classmethod
    def smallest(
        cls, whole: int, prime: int, multipliers: int, table: Sequence[Scratch] = ()
    ) -> tuple[Self, int]:
        """In the smallest memory, of a power of two words, that all of it fits into.

        Parameters
        ----------
        whole, prime : digits of the longest modulus, and of the longest prime at the least
        multipliers : 1 or 2; with 1 there are powers modulo M, too
        table : locations of a table of powers

        Returns the digits of the longest prime that there is room for, too.
        """
        alone = multipliers == 1
        entries = len(table) * (whole if alone else prime)
        depth = 1 << (_words(whole, prime) + entries - 1).bit_length()
        room = depth - _words(whole, 0)
        if alone:
            longest = (room - entries) // len(_PRIME)
        else:
            longest = room // (len(_PRIME) + len(table))
        longest = min(longest, whole)
        entry = whole if alone else longest
        return cls._pack(depth, whole, longest, table, entry), longest

    @classmethod
    def _pack(
        cls, depth: int, whole: int, prime: int, table: Sequence[Scratch], entry: int
    ) -> Self:
        """The long locations first, then the others, then a table of `entry` digits each."""
        bases: dict[Location, int] = {}
        used = 0
        for slots, digits in ((_WHOLE, whole), (_PRIME, prime), (_SINGLE, 1), (table, entry)):
            for slot in slots:
                bases[slot] = used
                used += digits
        assert used <= depth
        operands: dict[Reference, int] = {one: int(one) for one in Operand if one in bases}
        numbers = operands | _PLACES | (_TABLE if table else {})
        return cls(bases, depth, numbers)


_LEFT: Mapping[Reference, int] = {
    Operand.DP: 0,
    Operand.DQ: 1,
    # Modulo the whole modulus ACCUMULATOR and SCALED have two blocks.
    Scratch.SCALED: 2,
    Scratch.KEPT_E: 3,  # as long as M: beyond the block it is moved to SCALED's, and lost
    Operand.X: 4,
    Operand.CRT_P: 6,
    # RESULT has the blocks of SUM, with which it is compared.
    Scratch.ACCUMULATOR: 8,
    Scratch.RESULT: 8,
    Scratch.PART: 9,
    Operand.P_POWER: 10,
    Operand.Q_POWER: 11,
    Operand.M: 12,
    Operand.P: 14,
    Operand.Q: 15,
    Scratch.ADDED_MODULUS: 0,  # of programs with sums
    # No places of their own.
    Mode.HALF: 13,
    Mode.OTHER: 5,
    # With blinding, which leaves E where it is.
    Scratch.MULTIPLE: 2,
    Scratch.UNBLINDING: 3,
}
"""Blocks of the left bank. Those of Q, DQ and Q_POWER are P's, DP's and P_POWER's, with a lowest
bit."""
_RIGHT: Mapping[Reference, int] = {
    Scratch.QUOTIENT: 0,
    # Of a multiplier that has its own place for the quotient; modulo the whole modulus T_1 is twice
    # there, in BASE, too.
    Scratch.T_0: 0,
    Scratch.T_1: 1,
    Scratch.BASE: 14,
    # Used up by the table of a private operation, but for E, which is kept.
    Operand.M_POWER: 8,
    Operand.Y: 10,
    Operand.E: 12,
    # Of a private operation. FACTOR is used before the table and after it.
    Scratch.FACTOR: 4,
    Scratch.TERM: 6,
    Scratch.SUM: 8,
    Scratch.SUM_COPY: 10,
    Scratch.T_15: 15,
    # With blinding, where the table has seven entries.
    Scratch.BLINDED: 8,
    Scratch.RANDOM: 14,
    # At the upper end of their blocks, where no other number is as long.
    Operand.M_INVERSE: 1,
    Operand.P_INVERSE: 3,
    Operand.Q_INVERSE: 5,
    # No places of their own.
    Mode.ENTRY: 7,
    Mode.WINDOW: 9,
    Mode.ONE: 11,
}
"""Blocks of the right bank. The table has entry k in block k, or in block 2k and the one after."""
_INVERSES_LEFT: Mapping[Reference, int] = {
    Operand.M_INVERSE: 13,
    Operand.P_INVERSE: 5,
    Operand.Q_INVERSE: 7,
}
"""Where the inverses lie left: at the upper ends of X, CRT_P and M, which an operation only reads,
and which are shorter than two blocks."""
_BLOCKS = 16
"""Those that have numbers. With windows of 5 bits a bank has twice as many, for the table."""


@dataclass(frozen=True)
class BankedLayout(Layout):
    """Addresses in two banks of `depth` digits each, so that a product's factors lie apart.

    Left are multiplicands, moduli and exponents; right are multipliers, the quotient, the inverses
    and the table. A bank has 16 blocks, or 32, of which the upper half is for entries of the table
    only. A number as long as a prime takes one, and one as long as the whole modulus takes two, the
    first of them even, less a digit: an address is a location's block beside an index, and no sum.
    An inverse is the last digit of an odd block. Where inverses lie right, among the numbers as
    long as a prime, these have less than a block. Where two locations share a place, they are not
    needed at the same time.

    A reference's number has the bank in bit 4, 1 for right, and the block in bits 3 to 0.
    """

    entry_bits: int = 4
    """Width of the block of a table's entry."""
    inverses_left: bool = False
    """Where the inverses lie."""

    NUMBER_BITS = 5
    BLOCK_BITS = 4

    @classmethod
    def of(
        cls, whole: int, prime: int, entry_bits: int = 4, *, inverses_left: bool = False
    ) -> "BankedLayout":
        """The smallest banks for `whole` digits of the modulus and `prime` digits of a prime.

        With `entry_bits` of 5 they are twice as deep.
        """
        longest = prime - 1 if inverses_left else prime  # index of a digit, in a block
        block = 1 << max(longest.bit_length(), whole.bit_length() - 1)
        right = {location: _BLOCKS + number for location, number in _RIGHT.items()}
        numbers: dict[Reference, int] = {**_LEFT, **right}
        if inverses_left:
            numbers |= _INVERSES_LEFT
        bases: dict[Location, int] = {
            location: number % _BLOCKS * block
            for location, number in numbers.items()
            if not isinstance(location, Mode)
        }
        for location in _SINGLE:
            bases[location] += block - 1
        return cls(bases, block << entry_bits, numbers, entry_bits, inverses_left)

    @property
    def banks(self) -> int:
        """Left and right."""
        return 2

    @property
    def block(self) -> int:
        """Digits of a block."""
        return self.depth >> self.entry_bits

    @property
    def longest_prime_digits(self) -> int:
        """Digits of the longest prime that there is room for."""
        return self.block if self.inverses_left else self.block - 1

    def block_of(self, reference: Reference) -> int:
        """The first block of a location."""
        return self.numbers[reference] % _BLOCKS

    def lies_right(self, reference: Reference) -> bool:
        """Whether a location is in the right bank."""
        return self.numbers[reference] >= _BLOCKS


def _words(whole: int, prime: int) -> int:
    return len(_WHOLE) * whole + len(_PRIME) * prime + len(_SINGLE)
