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


_LEFT = (
    Slot.ACCUMULATOR,
    Slot.NEXT,
    Slot.SCALED,
    Slot.RESULT,
    Slot.M,
    Slot.P,
    Slot.Q,
    Slot.BASE,
    Slot.E,
    Slot.DP,
    Slot.DQ,
    Slot.PART,
    Slot.M_POWER,
    Slot.P_POWER,
    Slot.Q_POWER,
)
"""Of the left bank, block by block: ACCUMULATOR and NEXT, and what there is of each modulus, have
numbers that differ in the lowest bits only."""
_RIGHT = (Slot.X, Slot.Y, Slot.CRT_P, Slot.CRT_Q, Slot.QUOTIENT)
"""Of the right bank, block by block."""
_HALVES = (Slot.ONE, Slot.WINDOW, *_SINGLE, Slot.ENTRY)
"""Of the right bank, half a block each, behind these. Three are no places in memory."""
_BLOCKS = 16


@dataclass(frozen=True)
class BankedLayout(Layout):
    """Addresses in two banks of `depth` digits each, so that a product's factors lie apart.

    Left are what is multiplicand, and the moduli; right what is multiplier, the quotient, the
    inverses and, as the upper half of the bank, the table. Exponents, which are no factors, lie
    left. A bank has 16 blocks, each for an operand as long as the whole modulus or for two entries
    of the table, so that an address is a slot's number beside an index, and no sum.
    """

    numbers: Mapping[Slot, int]
    """Bit 5: whether it is in the right bank; bits 4 to 1: the block; bit 0: its upper half."""

    NUMBER_BITS = 6

    @classmethod
    def of(cls, whole: int, prime: int) -> "BankedLayout":
        """The smallest banks for `whole` digits of the modulus and `prime` digits of a prime."""
        depth = _BLOCKS << max(whole - 1, 2 * prime - 1, 1).bit_length()
        numbers = {slot: 2 * k for k, slot in enumerate(_LEFT)}
        numbers |= {slot: 32 + 2 * k for k, slot in enumerate(_RIGHT)}
        numbers |= {slot: 32 + 2 * len(_RIGHT) + k for k, slot in enumerate(_HALVES)}
        numbers |= {Slot.table(k): 32 + _BLOCKS + k for k in range(_BLOCKS)}
        half = depth // (2 * _BLOCKS)
        bases = {slot: number % 32 * half for slot, number in numbers.items()}
        return cls(bases, depth, numbers)

    @property
    def longest_prime_digits(self) -> int:
        """Digits of the longest prime that there is room for."""
        return self.depth // (2 * _BLOCKS)

    def lies_right(self, slot: Slot) -> bool:
        """Whether a slot is in the right bank."""
        return self.numbers[slot] >= 32


def _words(whole: int, prime: int) -> int:
    return len(_WHOLE) * whole + len(_PRIME) * prime + len(_SINGLE)
