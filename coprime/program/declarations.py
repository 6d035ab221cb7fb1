"""Proves that each routine takes, gives and clobbers what it declares, wherever it is called.

Data flow on the states of `paths.py`, as in `liveness.py`, within a call: from the routine's first
step up to its RETURN, what it calls included. The bounds are proved in `bounds.py`.
"""

from collections.abc import Iterable

from coprime.multipliers.contract import Multiplication

from .assembler import Program
from .liveness import StepAccesses
from .operands import Context, Location, Mode, Operand, Scratch
from .paths import Path, PathState
from .routine import Named, Routine
from .steps import Next

_UNDECLARED = frozenset(
    {
        *(one for one in Operand if one not in (Operand.X, Operand.Y)),
        *(Scratch.SCALED, Scratch.ADDED_MODULUS, Scratch.BLINDED, Scratch.PRODUCT),
    }
)
"""Constants of the moduli, and the exponents, which a routine may read as it likes; and what a
product is written to on its way."""


def check_routines(program: Program, multiplication: Multiplication) -> None:
    """Refuse a program with a routine that reads or writes what it does not declare.

    Raises ValueError that names the routine and the numbers.
    """
    accesses = StepAccesses(program, not multiplication.overlaps)
    for command in program.entries:
        path = Path(program, command)
        for state in path.successors:
            routine = program.routines.get(state.address)
            if routine is not None:
                _check_call(routine, path, state, accesses)


def _check_call(routine: Routine, path: Path, first: PathState, accesses: StepAccesses) -> None:
    within = _within(path, first)
    turn = path.moduli[first.turn]
    found = {state: accesses.accesses(path.step(state), state) for state in within}
    reads = {state: _names(one[0] for one in each.reads) for state, each in found.items()}
    writes = {state: _names(one[0] for one in each.writes) for state, each in found.items()}
    needed = {state: reads[state] for state in within}
    changed = True
    while changed:
        changed = False
        for state in reversed(within):  # most of what is needed is needed by the steps after it
            after = frozenset[Named]().union(*(needed[one] for one in within[state]))
            now = reads[state] | (after - writes[state])
            changed = changed or now != needed[state]
            needed[state] = now
    for verb, names, declared in (
        ("reads", needed[first], {*routine.takes}),
        ("writes", frozenset().union(*writes.values()), {*routine.gives, *routine.clobbers}),
    ):
        undeclared = names - _UNDECLARED - {_of_turn(one, turn) for one in declared}
        if undeclared:
            text = ", ".join(sorted(one.name for one in undeclared))
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
        found[state] = tuple(one for one in following if one.address)
        open_ends += found[state]
    return found


def _names(locations: Iterable[Location]) -> frozenset[Named]:
    """Entries of the table are one name."""
    return frozenset(
        Mode.WINDOW if isinstance(one, Scratch) and one.entry is not None else one
        for one in locations
    )


def _of_turn(name: Named, turn: Context) -> Named:
    half = Scratch.PART if turn is Context.Q else Scratch.ACCUMULATOR
    return half if name is Mode.HALF else name
