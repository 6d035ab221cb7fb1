"""Where each operand lies in the one block RAM (FDFM, figure 8)."""

from collections.abc import Mapping
from dataclasses import dataclass

from amaranth.utils import bits_for

from coprime.exponentiators.steps import Slot

__all__ = ["Layout"]

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

    @staticmethod
    def smallest_depth(whole: int, prime: int, *, table: int = 0) -> int:
        """Smallest power of two of words that `pack` can do with."""
        return 1 << (_words(whole, prime) + table - 1).bit_length()

    @staticmethod
    def longest_prime(depth: int, whole: int, *, table: int = 0, entries: int = 0) -> int:
        """Digits of the longest prime that `pack` has room for.

        Beside `table` words of a table, or beside a table of `entries` entries as long as a prime.
        """
        return (depth - _words(whole, 0) - table) // (len(_PRIME) + entries)

    @classmethod
    def pack(
        cls, depth: int, whole: int, prime: int, *, entries: int = 0, entry: int = 0
    ) -> "Layout":
        """One slot behind the other, the long ones first.

        Parameters
        ----------
        depth : words of the memory
        whole, prime : digits of the longest modulus and of the longest prime
        entries, entry : entries of the table, 0 to 16, and the digits of each

        Raises
        ------
        ValueError
            They do not fit.
        """
        bases: dict[Slot, int] = {}
        used = 0
        table = tuple(Slot.table(k) for k in range(entries))
        for slots, digits in ((_WHOLE, whole), (_PRIME, prime), (_SINGLE, 1), (table, entry)):
            for slot in slots:
                bases[slot] = used
                used += digits
        if used > depth:
            raise ValueError(f"the operands need {used} words, over the memory's {depth}")
        return cls(bases, depth)


def _words(whole: int, prime: int) -> int:
    return len(_WHOLE) * whole + len(_PRIME) * prime + len(_SINGLE)
