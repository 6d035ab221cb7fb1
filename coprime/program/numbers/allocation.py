"""Where numbers lie in two banks of blocks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ..operands import Location, Operand
from .liveness import Conflicts, Piece


def by_name(piece: Piece) -> tuple[bool, str, int]:
    """A key for sorting: operands, then the others, by their names."""
    location, part = piece
    return not isinstance(location, Operand), location.name, part


class BlockPlace(NamedTuple):
    """Where a number begins.

    Attributes
    ----------
    bank : 0 the left one, 1 the right one
    block : in it
    """

    bank: int
    block: int

    def of_part(self, part: int) -> "BlockPlace":
        """The block of a piece, as `liveness.Piece` has it, of a number that begins here."""
        if part > 1:  # of a table's entry as long as the whole modulus
            return BlockPlace(self.bank, 2 * self.block + part - 2)
        return BlockPlace(self.bank, self.block ^ part)


@dataclass(frozen=True)
class Allocation:
    """Where each number of a layout begins, and which of them share places.

    Parameters
    ----------
    of : by number
    conflicts : what was kept apart
    """

    of: Mapping[Location, BlockPlace]
    conflicts: Conflicts = field(repr=False, compare=False)

    def occupied(self, piece: Piece) -> BlockPlace:
        """The block of a piece of a number."""
        location, part = piece
        return self.of[location].of_part(part)

    @cached_property
    def contents(self) -> Mapping[BlockPlace, list[Piece]]:
        """What lies in each block: operands, then the others, by their names."""
        found: dict[BlockPlace, list[Piece]] = {}
        known = [piece for piece in self.conflicts.used if piece[0] in self.of]
        for piece in sorted(known, key=by_name):
            found.setdefault(self.occupied(piece), []).append(piece)
        return found

    def check(self) -> None:
        """Prove that no two numbers that are needed at once share a block.

        Raises AssertionError, which names them.
        """
        for content in self.contents.values():
            for piece in content:
                for other in content:
                    pair = frozenset({piece, other})
                    starts = self.of[piece[0]] == self.of[other[0]]
                    assert pair not in self.conflicts.apart, f"{piece} and {other} are in one place"
                    assert starts or pair not in self.conflicts.together, f"{piece} is over {other}"
