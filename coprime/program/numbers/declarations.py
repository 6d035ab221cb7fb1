"""Proves that each routine takes, gives and clobbers what it declares, wherever it is called.

Data flow on the states of `paths.py`, as in `liveness.py`, within a call: from the routine's first
step up to its RETURN, what it calls included. The bounds are proved in `bounds.py`.
"""

from collections.abc import Iterable, Mapping

from coprime.multipliers.multiplication import Multiplication

from ..assembler import Program
from ..operands import Context, Core, Entry, Location, Mode, Operand, Retained
from ..routine import Named, Routine
from ..steps import Next
from .liveness import StepAccesses
from .paths import Path, PathState

_UNDECLARED = frozenset(
    {
        *(operand for operand in Operand if operand not in (Operand.X, Operand.Y)),
        *(Core.SCALED, Core.ADDED_MODULUS),
        *Retained,
    }
)
"""Constants of the moduli, and exponents and keys that stay, which a routine may read as it likes;
and what a product is written to on its way."""

_TABLE = frozenset(Entry)


def check_routines(program: Program, multiplication: Multiplication) -> None:
    """Refuse a program with a routine that reads or writes what it does not declare.

    Raises ValueError that names the routine and the numbers.
    """
    accesses = StepAccesses(program, not multiplication.overlaps)
    for command in program.entries:
        path = Path(program, command)
        reads, writes = {}, {}
        for state in path.successors:
            if state.address:
                found = accesses.accesses(path.step(state), state)
                reads[state] = _names(location for location, _ in found.reads)
                writes[state] = _names(location for location, _ in found.writes)
        for state in path.successors:
            routine = program.routines.get(state.address)
            if routine is not None:
                _check_call(routine, path, state, reads, writes)


_NamesOfStates = Mapping[PathState, frozenset[Named]]


def _check_call(
    routine: Routine, path: Path, first: PathState, reads: _NamesOfStates, writes: _NamesOfStates
) -> None:
    within = _within(path, first)
    turn = path.moduli[first.turn]
    needed = {state: reads[state] for state in within}
    changed = True
    while changed:
        changed = False
        for state in reversed(within):  # most of what is needed is needed by the steps after it
            after = frozenset[Named]().union(*map(needed.__getitem__, within[state]))
            now = reads[state] | (after - writes[state])
            changed = changed or now != needed[state]
            needed[state] = now
    written = frozenset[Named]().union(*(writes[state] for state in within))
    for verb, names, declared in (
        ("reads", needed[first], {*routine.takes}),
        ("writes", written, {*routine.gives, *routine.clobbers}),
    ):
        undeclared = names - _UNDECLARED - {_of_turn(name, turn) for name in declared}
        if undeclared:
            text = ", ".join(sorted(number.name for number in undeclared))
            raise ValueError(f"routine {routine.name} {verb} {text}, and does not declare it")


def _within(path: Path, first: PathState) -> dict[PathState, tuple[PathState, ...]]:
    """The states of a call, with those that follow within it."""
    found: dict[PathState, tuple[PathState, ...]] = {}
    open_ends = [first]
    while open_ends:
        state = open_ends.pop()
        if state in found or not state.address:
            continue
        is_last = path.step(state).next is Next.RETURN and state.returns == first.returns
        following = () if is_last else path.successors[state]
        found[state] = tuple(successor for successor in following if successor.address)
        open_ends += found[state]
    return found


def _names(locations: Iterable[Location]) -> frozenset[Named]:
    """Entries of the table are one name."""
    return frozenset(Mode.WINDOW if location in _TABLE else location for location in locations)


def _of_turn(name: Named, turn: Context) -> Named:
    half = Core.PART if turn is Context.Q else Core.ACCUMULATOR
    return half if name is Mode.HALF else name
