"""Where each operand lies in the one block RAM (FDFM, figure 8)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from amaranth.utils import bits_for

from coprime.exponentiators.steps import Slot

__all__ = ["BankedLayout", "Layout"]

_SINGLE = (Slot.M_INVERSE, Slot.P_INVERSE, Slot.Q_INVERSE)
_PRIME = (Slot.P, Slot.Q, Slot.DP, Slot.DQ, Slot.P_POWER, Slot.Q_POWER)
_WHOLE = (
    Slot.X,
    Slot.Y,
    Slot.E,
    Slot.M,
    Slot.M_POWER,
    Slot.CRT_P,
    Slot.CRT_Q,
    Slot.ACCUMULATOR,
    Slot.NEXT,
    Slot.BASE,
    Slot.RESULT,
    Slot.PART,
)


@dataclass(frozen=True)
class Layout:
    """Word addresses of the slots in a memory of `depth` digits."""

    bases: Mapping[Slot, int]
    depth: int

    def base(self, slot: int) -> int:
        """Address of a slot's digit 0, of a slot of the other lane in its memory; else 0."""
        own = Slot.PART if slot == Slot.OTHER_PART else slot
        return self.bases.get(Slot(own), 0) if own in set(Slot) else 0

    @property
    def slot_bits(self) -> int:
        """Width of a slot's number: 5, or 6 with a table."""
        return int(bits_for(max(Slot.ONE, *self.bases)))

    @classmethod
    def smallest(
        cls, whole: int, prime: int, multipliers: int, table: Sequence[Slot] = ()
    ) -> tuple[Self, int]:
        """In the smallest memory, of a power of two words, that all of it fits into.

        Parameters
        ----------
        whole, prime : digits of the longest modulus, and of the longest prime at the least
        multipliers : 1 or 2; with 1 there are powers modulo M, too
        table : slots of a table of powers

        Gives the digits of the longest prime that there is room for, too.
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
    def _pack(cls, depth: int, whole: int, prime: int, table: Sequence[Slot], entry: int) -> Self:
        """One slot behind the other, the long ones first, then a table of `entry` digits each."""
        bases: dict[Slot, int] = {}
        used = 0
        for slots, digits in ((_WHOLE, whole), (_PRIME, prime), (_SINGLE, 1), (table, entry)):
            for slot in slots:
                bases[slot] = used
                used += digits
        assert used <= depth
        return cls(bases, depth)


_LEFT = {
    Slot.DP: 0,
    Slot.DQ: 1,
    # Modulo the whole modulus ACCUMULATOR and SCALED have two blocks.
    Slot.SCALED: 2,
    Slot.KEPT_E: 3,  # as long as M: beyond the block it is moved to SCALED's, and lost
    Slot.X: 4,
    Slot.CRT_P: 6,
    # RESULT has the blocks of SUM, with which it is compared.
    Slot.ACCUMULATOR: 8,
    Slot.RESULT: 8,
    Slot.PART: 9,
    Slot.P_POWER: 10,
    Slot.Q_POWER: 11,
    Slot.M: 12,
    Slot.P: 14,
    Slot.Q: 15,
    # No place of its own.
    Slot.HALF: 13,
    # With blinding, which leaves E where it is.
    Slot.MULTIPLE: 2,
    Slot.UNBLINDING: 3,
}
"""Blocks of the left bank. Those of Q, DQ and Q_POWER are P's, DP's and P_POWER's, with a lowest
bit."""
_RIGHT = {
    Slot.QUOTIENT: 0,
    # Used up by the table of a private operation, but for E, which is kept.
    Slot.M_POWER: 8,
    Slot.Y: 10,
    Slot.E: 12,
    # Of a private operation. FACTOR is used before the table and after it.
    Slot.FACTOR: 4,
    Slot.TERM: 6,
    Slot.SUM: 8,
    Slot.SUM_COPY: 10,
    Slot.T_15: 15,
    # With blinding, where the table has seven entries.
    Slot.BLINDED: 8,
    Slot.RANDOM: 14,
    # At the upper end of their blocks, where no other number is as long.
    Slot.M_INVERSE: 1,
    Slot.P_INVERSE: 3,
    Slot.Q_INVERSE: 5,
    # No places of their own.
    Slot.ENTRY: 7,
    Slot.WINDOW: 9,
    Slot.ONE: 11,
}
"""Blocks of the right bank. The table has entry k in block k, or in block 2k and the one after."""
_BLOCKS = 16


@dataclass(frozen=True)
class BankedLayout(Layout):
    """Addresses in two banks of `depth` digits each, so that a product's factors lie apart.

    Left are multiplicands, moduli and exponents; right are multipliers, the quotient, the inverses
    and the table. A bank has 16 blocks. A number as long as a prime takes one, less a digit at the
    least, and one as long as the whole modulus takes two, the first of them even, less a digit: an
    address is a slot's block beside an index, and no sum. Where two slots have the same place they
    are not needed at the same time.
    """

    numbers: Mapping[Slot, int]
    """Bit 4: whether it is in the right bank; bits 3 to 0: the block."""

    NUMBER_BITS = 5
    BLOCK_BITS = 4

    @classmethod
    def of(cls, whole: int, prime: int) -> "BankedLayout":
        """The smallest banks for `whole` digits of the modulus and `prime` digits of a prime."""
        block = 1 << max(prime.bit_length(), whole.bit_length() - 1)
        numbers = {**_LEFT, **{slot: _BLOCKS + number for slot, number in _RIGHT.items()}}
        bases = {slot: number % _BLOCKS * block for slot, number in numbers.items()}
        for slot in _SINGLE:
            bases[slot] += block - 1
        return cls(bases, _BLOCKS * block, numbers)

    @property
    def block(self) -> int:
        """Digits of a block."""
        return self.depth // _BLOCKS

    @property
    def longest_prime_digits(self) -> int:
        """Digits of the longest prime that there is room for."""
        return self.block - 1

    def block_of(self, slot: Slot) -> int:
        """The first block of a slot."""
        return self.numbers[slot] % _BLOCKS

    def lies_right(self, slot: Slot) -> bool:
        """Whether a slot is in the right bank."""
        return self.numbers[slot] >= _BLOCKS


def _words(whole: int, prime: int) -> int:
    return len(_WHOLE) * whole + len(_PRIME) * prime + len(_SINGLE)
