"""Which numbers of a lane of two banks are needed at the same time, so that no two share a place.

Source: liveness analysis by data flow, Aho, Lam, Sethi, Ullman, Compilers (2006), 9.2.5, on the
states of `paths.py`. What differs: a number has one or two pieces, as long as a prime each, which
live and die apart; and a place may pass from a step's operand to its result where the step works
in place.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from coprime.multipliers.multiplication import Multiplication

from ..assembler import Program
from ..operands import (
    HALF_OF,
    POINTS,
    SHARES,
    SWAPPED_BY_BIT,
    TABLE,
    Context,
    Core,
    Entry,
    Length,
    Location,
    Mode,
    Operand,
    Reference,
    Scratch,
    third_entry,
)
from ..steps import ADDS_DRAWN, BESIDE_PRODUCTS, Next, Step, StepKind
from .paths import Path, PathState

Piece = tuple[Location, int]
"""A part of a number as long as a prime: 0 the lower one, 1 the upper one of a number as long as
the whole modulus. A table's entry as long as the whole modulus has 2 and 3, since it lies at
another place than one as long as a prime."""

SHORT = frozenset({Core.KEPT_E})
"""Numbers whose upper piece is lost where they are moved: E, of which a private operation keeps as
much as a prime is long."""
_SUMS = (StepKind.SUBTRACT, StepKind.ADD, StepKind.RESTORE, *sorted(ADDS_DRAWN))
_MOVES = (StepKind.MOVE, StepKind.MOVE_WRITTEN, StepKind.MAKE_EVEN)
_COMPARED = (StepKind.CHECK_BELOW, StepKind.CHECK_REDUCED)
_READS_X = frozenset({*_SUMS, *_COMPARED, *_MOVES})
READS_Y = frozenset(
    {
        *(*_SUMS, *_COMPARED),
        *(StepKind.CHECK_MODULUS, StepKind.CHECK_NORMALIZED, StepKind.CHECK_ZERO),
        *(StepKind.CHECK_ON_CURVE, StepKind.CHECK_FINITE, StepKind.CHECK_SUM),
        *(StepKind.CHECK_POSITIVE, StepKind.CHECK_SIGNATURE),
    }
)
"""Linear steps that need y."""
WRITES = frozenset({*_SUMS, *_MOVES, StepKind.DRAW})
_SCANS_ON = frozenset(
    {
        *(Next.IF_BIT, Next.NEXT_BIT),
        *(Next.IF_WINDOW, Next.IF_NONZERO_WINDOW, Next.IF_SLIDING_WINDOW),
    }
)
_SCANS = frozenset(
    {StepKind.SCAN, StepKind.SCAN_WINDOWS, StepKind.SCAN_PUBLIC, StepKind.SCAN_COLUMNS}
)
_TABLE = frozenset(Entry)


def pieces(location: Location, context: Context) -> frozenset[Piece]:
    """The pieces of a number as long as the context's modulus; none of an inverse."""
    parts: tuple[int, ...]
    if location in TABLE:
        assert isinstance(location, Operand)
        return frozenset((entry, 0) for entry in TABLE[location])
    if location in HALF_OF:
        return frozenset({(HALF_OF[location], 1)})
    if isinstance(location, Operand) and location.length is Length.DIGIT:
        parts = ()
    elif isinstance(location, Operand) and location.length in (Length.P, Length.Q):
        parts = (0,)
    elif location in _TABLE:
        parts = (2, 3) if context is Context.WHOLE else (0,)
    elif context is not Context.WHOLE or location in SHORT or location in SHARES:
        parts = (0,)
    else:
        parts = (0, 1)
    return frozenset((location, part) for part in parts)


def _all(sets: Iterable[frozenset[Piece]]) -> frozenset[Piece]:
    return frozenset[Piece]().union(*sets)


@dataclass(frozen=True)
class Accesses:
    """The pieces that a step reads and writes.

    Parameters
    ----------
    reads, writes : of numbers
    temporary : what it uses for itself, while it works
    in_place : digit k of a result is written after digit k of the operands was read
    """

    reads: frozenset[Piece]
    writes: frozenset[Piece] = frozenset()
    temporary: frozenset[Piece] = frozenset()
    in_place: bool = False


@dataclass(frozen=True)
class StepAccesses:
    """What accesses depend on beside the step."""

    program: Program
    quotient_in_memory: bool

    def accesses(self, step: Step, state: PathState) -> Accesses:
        """Of a step as `Path.step` has it, in a state."""
        scanned = self._scanned(step, state)
        if step.kind is StepKind.MULTIPLY:
            return self._of_product(step, state, scanned)
        if step.kind is StepKind.PREPARE:
            modulus = pieces(step.modulus.modulus, step.modulus)
            return Accesses(modulus, self._at(step.destination, step.modulus, state))
        reads = set(scanned)
        if step.kind in _READS_X and not step.is_zero:
            reads |= self._at(step.x, step.modulus, state)
        if step.kind in READS_Y and not step.is_zero:
            reads |= self._at(step.y, step.modulus, state)
        if step.times_modulus:
            reads |= pieces(Core.ADDED_MODULUS, step.modulus)
        written = frozenset[Piece]()
        if step.kind in WRITES:
            written = self._results(step, state)
            if step.kind is StepKind.MOVE_WRITTEN:
                reads |= written  # which may stay as it is
            if step.destination in SHORT and step.modulus is Context.WHOLE:
                written |= {(step.destination, 1)}
        return Accesses(frozenset(reads), written, in_place=True)

    def factors(self, step: Step, state: PathState, before: frozenset[Piece]) -> frozenset[Piece]:
        """What the last product reads, after a step, while it may be under way."""
        if step.kind is StepKind.MULTIPLY and not step.descale:
            return self._at(step.x, step.modulus, state) | self._at(step.y, step.outer, state)
        goes_on = step.kind is StepKind.PASS or step.kind in BESIDE_PRODUCTS
        return before if goes_on else frozenset()

    def _of_product(self, step: Step, state: PathState, scanned: frozenset[Piece]) -> Accesses:
        reads = self._at(step.x, step.modulus, state) | self._at(step.y, step.outer, state)
        reads |= pieces(Core.SCALED, step.modulus) | scanned
        if step.descale:
            reads |= pieces(step.modulus.modulus, step.modulus)
        writes = self._results(step, state)
        if step.next is Next.EACH_ENTRY:
            writes = self._entries(step, state)
        quotient = pieces(Core.QUOTIENT, step.outer) if self.quotient_in_memory else frozenset()
        return Accesses(reads, writes, quotient)

    def _results(self, step: Step, state: PathState) -> frozenset[Piece]:
        """What is written, in one bank or in both."""
        copied = frozenset() if step.copy is None else self._at(step.copy, step.modulus, state)
        return self._at(step.destination, step.modulus, state) | copied

    def _entries(self, step: Step, state: PathState) -> frozenset[Piece]:
        """What EACH_ENTRY writes: each entry after the one that the window selects."""
        first = (state.window or 0) + 1
        entries = range(first, self.program.last_entry_of(step.modulus) + 1)
        found = _all(pieces(Entry.at(k), step.modulus) for k in entries)
        # Where products overlap, each entry is in ACCUMULATOR, too.
        also = frozenset() if self.quotient_in_memory else pieces(Core.ACCUMULATOR, step.modulus)
        return found | also

    def _at(self, reference: Reference, context: Context, state: PathState) -> frozenset[Piece]:
        """The pieces of what a step names: of the table, all that it may mean."""
        if reference is Mode.WINDOW and state.window is not None:
            return pieces(Entry.at(state.window), context)
        if reference in (Mode.WINDOW, Mode.ENTRY) and state.columns:
            return _all(pieces(entry, context) for entry in map(Entry.at, range(2 * POINTS)))
        if reference is Mode.THIRD:
            thirds = map(third_entry, range(POINTS))
            return _all(pieces(Entry.at(entry), context) for entry in thirds)
        if reference is Mode.WINDOW:
            last = self.program.last_entry_of(context)
            first = int(Entry.T_0 not in self._named)
            apart = context is not Context.WHOLE and self.program.window_bits == 4
            more = {Entry.T_15} & self._named if apart else set()
            entries = {*map(Entry.at, range(first, last + 1)), *more}
            return _all(pieces(entry, context) for entry in entries)
        if reference is Mode.NEXT:
            reference = Core.ACCUMULATOR  # after the step
        if isinstance(reference, Mode):
            return frozenset()
        return pieces(reference, context)

    @cached_property
    def _named(self) -> frozenset[Reference]:
        return frozenset(step.destination for step in self.program.steps)

    @staticmethod
    def _scanned(step: Step, state: PathState) -> frozenset[Piece]:
        """The exponent, while its bits are taken."""
        if step.kind in _SCANS:
            return frozenset()
        if step.next in _SCANS_ON and state.scanned is not None:
            return pieces(state.scanned, Context.WHOLE)
        return frozenset()


@dataclass
class Conflicts:
    """Pieces that must not share a place.

    Attributes
    ----------
    apart : pairs of pieces that are needed at once
    together : pairs that may share a place only if both numbers begin there
    waits : pairs for which, in one place, a sum waits until a product has read its factors
    used : the pieces that any step has, in no order
    """

    apart: set[frozenset[Piece]] = field(default_factory=set)
    together: set[frozenset[Piece]] = field(default_factory=set)
    waits: set[frozenset[Piece]] = field(default_factory=set)
    used: set[Piece] = field(default_factory=set)

    def separate(self, ones: Iterable[Piece], others: Collection[Piece]) -> None:
        """Keep each of some apart from each of others."""
        for piece in ones:
            self.apart |= {frozenset({piece, other}) for other in others if other[0] != piece[0]}


def conflicts(
    programs: Iterable[Program],
    multiplication: Multiplication,
    kept: Mapping[Any, Collection[Location]],
    results: Mapping[Any, Collection[Scratch]],
) -> Conflicts:
    """What the programs of all lanes, which have one layout, need at once.

    Parameters
    ----------
    programs : of each lane
    multiplication : of these lanes
    kept : by a command's code the numbers that are in the memory before and after it
    results : by a command's code what is read of its results, in the first lane
    """
    found = Conflicts()
    for lane, program in enumerate(programs):
        machine = StepAccesses(program, not multiplication.overlaps)
        for command in program.entries:
            stay, read = _whole(kept[command]), _whole(() if lane else results[command])
            path = Path(program, command)
            _add(found, machine, path, stay, stay | read)
            if multiplication.overlaps and program.sums:
                _add_waits(found, machine, path)
    return found


def _whole(locations: Iterable[Location]) -> frozenset[Piece]:
    return _all(pieces(location, Context.WHOLE) for location in locations)


def _add(
    found: Conflicts,
    machine: StepAccesses,
    path: Path,
    stay: frozenset[Piece],
    at_end: frozenset[Piece],
) -> None:
    """The conflicts of a command, from what is live after each of its steps."""
    successors = path.successors
    accesses = {
        state: machine.accesses(path.step(state), state) if state.address else Accesses(at_end)
        for state in successors
    }
    live = dict.fromkeys(successors, frozenset[Piece]())
    before: dict[PathState, set[PathState]] = {state: set() for state in successors}
    for state, following in successors.items():
        for successor in following:
            before[successor].add(state)
    changed = dict.fromkeys(successors)  # the last one first: what is live comes from behind
    after: dict[PathState, frozenset[Piece]] = {}
    while changed:
        state, _ = changed.popitem()
        after[state] = _all(live[successor] for successor in successors[state])
        access = accesses[state]
        needed = access.reads | (after[state] - access.writes)
        if needed != live[state]:
            live[state] = needed
            changed |= dict.fromkeys(before[state])
    seen = set()
    for state in successors:
        access, out = accesses[state], after.get(state, frozenset())
        by_bit = bool(state.address and path.step(state).by_bit)
        # Most rounds of a loop access the same pieces, and leave the same ones live.
        if (alike := (access, live[state], out, by_bit)) in seen:
            continue
        seen.add(alike)
        found.separate(access.writes, out | access.writes)
        if by_bit:
            # The addresses of such a step change places, whatever it finds there.
            others = {
                piece for piece in access.reads | access.writes if piece[0] not in SWAPPED_BY_BIT
            }
            found.separate(others, [(number, part) for number in SWAPPED_BY_BIT for part in (0, 1)])
        found.separate(access.temporary, live[state] | out | access.writes)
        passed = access.reads - out
        if access.in_place:
            found.together |= {
                frozenset({piece, other})
                for piece in access.writes
                for other in passed
                if piece[0] != other[0]
            }
        else:
            found.separate(access.writes, passed)
        found.used |= live[state] | access.writes | access.temporary
    first = path.first
    found.separate(live[first] | stay, live[first] | stay)


def _add_waits(found: Conflicts, machine: StepAccesses, path: Path) -> None:
    """The pairs of a product's factor and of a sum that is made beside it, in loops over bits."""
    factors: dict[PathState, frozenset[Piece]] = {path.first: frozenset()}
    changed = [path.first]
    while changed:
        state = changed.pop()
        if not state.address:
            continue
        after = machine.factors(path.step(state), state, factors[state])
        for successor in path.successors[state]:
            if successor not in factors or not after <= factors[successor]:
                factors[successor] = factors.get(successor, frozenset()) | after
                changed.append(successor)
    in_loops = path.program.in_loops_over_bits
    for state, read in factors.items():
        if state.address in in_loops and path.step(state).kind in BESIDE_PRODUCTS:
            written = machine.accesses(path.step(state), state).writes
            pairs = (frozenset({piece, other}) for piece in written for other in read)
            found.waits |= {pair for pair in pairs if len({location for location, _ in pair}) == 2}
    found.waits -= found.apart
