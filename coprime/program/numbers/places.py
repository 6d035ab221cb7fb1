"""Allocates the numbers of a program in two banks of blocks, from what is needed at once.

A bank has blocks as long as a prime. A number as long as the whole modulus takes two, the first of
which is even; its digit's index selects between them, so that an address is a block beside an
index, and no sum. A search by backtracking, the most constrained number first, finds the places, or
a solver. Both are repeated for every design, and give the same places for the same programs.

The solver alone would do, and is faster for Weierstrass curves. The search stays because it places
a program for RSA in some milliseconds, a tenth of what the solver takes with its import, and as
other places are other Verilog, whose area and clock would have to be measured again.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..assembler import Program
from ..operands import (
    BLINDED_OF,
    HALF_OF,
    OF_Q,
    SWAPPED_BY_BIT,
    Core,
    Location,
    Mode,
    Operand,
    Reference,
    Scratch,
)
from ..steps import StepKind
from .allocation import Allocation, BlockPlace
from .liveness import READS_Y, SHORT, Conflicts, Piece
from .place_solver import PlaceSolver

_LEFT, _RIGHT = 0, 1
_ALWAYS: Mapping[Location, int] = {
    # Read through a port of their own.
    **dict.fromkeys((Operand.DP, Operand.DQ, Core.RESULT, Core.ADDED_MODULUS), _LEFT),
    **dict.fromkeys((Operand.M, Operand.P, Operand.Q), _LEFT),
    **dict.fromkeys((Operand.E, Core.QUOTIENT, Core.SUM), _RIGHT),
    **dict.fromkeys(BLINDED_OF.values(), _RIGHT),
}
"""The bank of an exponent, of the quotient, and of what the host reads and what that is compared
with."""


def _order(location: Location) -> tuple[bool, int]:
    """Operands first, by their published numbers, and then the others by their ranks."""
    return not isinstance(location, Operand), location.value


_TRIES = 150
"""One search that succeeds takes about as many as a design has numbers."""


@dataclass
class _Search:
    """The numbers that are placed so far."""

    conflicts: Conflicts
    same_block: Collection[tuple[Location, Location]]
    locked: frozenset[Location]
    """Those that nothing shares a block of the left bank with."""
    of: dict[Location, BlockPlace]

    def __post_init__(self) -> None:
        self.tries = 0
        self.places = Allocation(self.of, self.conflicts)
        self.paired = {
            *SWAPPED_BY_BIT,
            *(location for pair in self.same_block for location in pair),
        }
        self.pieces: dict[Location, list[Piece]] = {}
        for piece in self.conflicts.used:
            self.pieces.setdefault(piece[0], []).append(piece)
        self.taken: dict[BlockPlace, list[Piece]] = {}
        for location in self.of:
            self._take(location)

    def _take(self, location: Location) -> None:
        for piece in self.pieces.get(location, ()):
            self.taken.setdefault(self.places.occupied(piece), []).append(piece)

    def _release(self, location: Location) -> None:
        for piece in self.pieces.get(location, ()):
            self.taken[self.places.occupied(piece)].remove(piece)
        del self.of[location]

    def _fits(self, location: Location) -> bool:
        """Whether a number may be where it was put."""
        start = self.of[location]
        for piece in self.pieces.get(location, ()):
            for other in self.taken.get(self.places.occupied(piece), ()):
                pair = frozenset({piece, other})
                is_locked = not self.locked.isdisjoint((location, other[0]))
                if pair in self.conflicts.apart or (start.bank == _LEFT and is_locked):
                    return False
                if pair in self.conflicts.together and self.of[other[0]] != start:
                    return False
        return (
            all(
                self.of[number].block == self.of[other].block
                for number, other in self.same_block
                if location in (number, other) and number in self.of and other in self.of
            )
            and all(
                self.of[number] == self.of[other]._replace(block=self.of[other].block ^ 2)
                for number, other in SWAPPED_BY_BIT.items()
                if location is number and other in self.of
            )
            and all(
                self.of[other] == self.of[number]._replace(block=self.of[number].block + 1)
                for number, other in OF_Q.items()
                if location in (number, other) and number in self.of and other in self.of
            )
        )

    def _put(self, location: Location, choice: BlockPlace) -> bool:
        """Place a number, and whether it may be there; if not, it is not placed."""
        self.of[location] = choice
        if not self._fits(location):
            del self.of[location]
            return False
        self._take(location)
        return True

    def _possible(self, location: Location, among: Iterable[BlockPlace]) -> list[BlockPlace]:
        """Where a number may be, beside those that are placed."""
        found = []
        for choice in among:
            if self._put(location, choice):
                self._release(location)
                found.append(choice)
        return found

    def place(self, waiting: Mapping[Location, Sequence[BlockPlace]]) -> bool:
        """Place the numbers that wait, the one with the fewest places first; whether they fit.

        By number, `waiting` has the places that it might have.

        False, too, where more tries than `_TRIES` would be needed to know.
        """
        if not waiting:
            return True
        self.tries += 1
        if self.tries > _TRIES:
            return False
        possible = {number: self._possible(number, places) for number, places in waiting.items()}
        location = min(
            waiting, key=lambda number: (number not in self.paired, len(possible[number]))
        )
        others = {number: places for number, places in possible.items() if number is not location}
        if not all(others.values()):
            return False
        choices = possible[location]
        for choice in choices:
            self._put(location, choice)
            if self.place(others):
                return True
            self._release(location)
        return False


def banks_of(
    programs: Iterable[Program], conflicts: Conflicts
) -> Mapping[Location, Collection[int]]:
    """The banks that each number may be in, from what the programs' steps do with it.

    A multiplicand lies left, and its multiplier right; what a linear step reads as y, a prepared
    modulus and what descales lie left.

    Raises ValueError if a number would have to be in both.
    """
    needs: dict[Reference, set[int]] = {location: {bank} for location, bank in _ALWAYS.items()}
    programs = list(programs)
    either = any(program.sums for program in programs)  # such a linear unit reads y in either bank
    steps = [step for program in programs for step in program.steps]
    for step in [*steps, *(step.swapped for step in steps if step.by_bit)]:
        needed: list[tuple[Reference, int]] = []
        if step.kind is StepKind.MULTIPLY:
            needed = [(step.x, _LEFT)]
            needed += [(step.y, _RIGHT)] if step.y is not step.x else []
        elif step.kind is StepKind.MAKE_EVEN:
            needed = [(step.x, _LEFT)]
        elif step.kind in READS_Y and not either:
            needed = [(step.y, _LEFT)]
        if step.copy is not None:
            needed += [(step.destination, _LEFT), (step.copy, _RIGHT)]
        if step.descale or step.kind is StepKind.PREPARE:
            needed.append((step.destination, _LEFT))
        for reference, bank in needed:
            whole = reference if isinstance(reference, Mode) else HALF_OF.get(reference, reference)
            for name in {whole, OF_Q.get(reference, reference)}:
                needs.setdefault(name, set()).add(bank)
    found: dict[Location, Collection[int]] = {}
    for location in {location for location, _ in conflicts.used}:
        is_entry = isinstance(location, Scratch) and location.entry is not None
        found[location] = {_RIGHT} if is_entry else needs.get(location) or {_LEFT, _RIGHT}
    both = [
        location.name for location, banks in found.items() if {_LEFT, _RIGHT} == needs.get(location)
    ]
    if both:
        raise ValueError(f"{both[0]} is a multiplicand and a multiplier, which lie apart")
    return {location: found[location] for location in sorted(found, key=_order)}


def _search_places(
    conflicts: Conflicts,
    banks: Mapping[Location, Collection[int]],
    blocks: int,
    *,
    same_block: Collection[tuple[Location, Location]],
    operands: frozenset[Location],
    fixed: Mapping[Location, BlockPlace],
    possible: Mapping[Location, Sequence[BlockPlace]],
) -> Allocation | None:
    """Places found by backtracking; None if it finds none, or if sums wait for products in some.

    What a command only reads lies left in blocks of its own, in any order: in the first ones.
    """
    locked = [
        location for location in banks if location in operands and set(banks[location]) == {_LEFT}
    ]
    pairs = [location for location in locked if location not in OF_Q.values()]
    if conflicts.waits or 2 * len(pairs) > blocks:
        return None
    of = dict(fixed)
    for number, location in enumerate(pairs):
        of[location] = BlockPlace(_LEFT, 2 * number)
        if location in OF_Q:
            of[OF_Q[location]] = BlockPlace(_LEFT, 2 * number + 1)
    search = _Search(conflicts, same_block, operands, of)
    waiting = {location: possible[location] for location in possible if location not in locked}
    return Allocation(dict(search.of), conflicts) if search.place(waiting) else None


def allocate(
    conflicts: Conflicts,
    banks: Mapping[Location, Collection[int]],
    blocks: int,
    *,
    same_block: Collection[tuple[Location, Location]],
    used_up: Collection[Operand] = (),
    unnumbered: tuple[int, Collection[BlockPlace]] = (0, ()),
    numbered: Callable[[Location, BlockPlace], Collection[BlockPlace]] = lambda _, start: [start],
    accepts: Callable[[Allocation], bool] = lambda _: True,
) -> Allocation:
    """Place each number.

    Parameters
    ----------
    conflicts : between their pieces
    banks : by number the banks that it may be in; inverses are left out
    blocks : of a bank
    same_block : pairs of numbers that have the same block, of different banks
    used_up : operands that some command uses up, so that others may have their places
    unnumbered : how many of some blocks must be left without a number
    numbered : the blocks that steps have numbers for where a location begins in a block
    accepts : whether an allocation will do, of which a search knows nothing

    A search by backtracking comes first. Where it finds nothing, or sums would wait for products in
    some places, a solver finds places, or proves that there are none.

    What stands for P's operands where CURRENT is Q is in the block after them, which is odd.
    Raises ValueError if they do not fit.
    """
    fixed: dict[Location, BlockPlace] = {
        location: BlockPlace(_RIGHT, location.entry)
        for location in banks
        if isinstance(location, Scratch) and location.entry is not None
    }
    whole = {location for location, part in conflicts.used if part == 1} - SHORT

    def choices(location: Location) -> Iterator[BlockPlace]:
        step = 2 if location in whole or location in OF_Q else 1
        for bank in sorted(banks[location]):
            yield from (BlockPlace(bank, block) for block in range(0, blocks, step))

    possible = {location: tuple(choices(location)) for location in banks if location not in fixed}
    operands = frozenset(location for location in banks if isinstance(location, Operand)) - set(
        used_up
    )
    found = _search_places(
        *(conflicts, banks, blocks),
        same_block=same_block,
        operands=operands,
        fixed=fixed,
        possible=possible,
    )
    if found is None or not accepts(found):
        domains = {location: (place,) for location, place in fixed.items()} | possible
        solver = PlaceSolver(conflicts, domains, blocks)
        solver.keep_locked(operands)
        solver.keep_together(same_block)
        solver.leave(*unnumbered, numbered)
        found = solver.solve()
        if found is None or not accepts(found):
            raise ValueError(
                f"the numbers of the program do not fit into two banks of {blocks} blocks"
            )
    found.check()
    return found
