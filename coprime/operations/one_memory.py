"""Operations on curves on lanes of one memory: steps for two banks become steps for one.

Every number has a place of its own there. What differs from two banks:

* A number that is in both banks is written to one place and moved to the other.
* With a multiplier that must not overwrite its factors, a product of ACCUMULATOR is written to
  NEXT, and other products to PRODUCT, from where they are moved.
* Nothing checks results: lanes of one memory have neither parity nor a proof of their checks.
"""

from collections.abc import Iterable
from dataclasses import replace

from coprime.multipliers.contract import Multiplication
from coprime.program.operands import Mode, Reference, Scratch
from coprime.program.routine import Routine
from coprime.program.steps import Next, Step, StepKind, linear

_REPEATS = frozenset(
    {
        *(Next.IF_BIT, Next.IF_WINDOW, Next.IF_NONZERO_WINDOW, Next.IF_SLIDING_WINDOW),
        Next.EACH_ENTRY,
    }
)
"""Rules by which a step may follow itself."""


def steps_in_one_memory(steps: Iterable[Step], multiplication: Multiplication) -> list[Step]:
    """Steps of two banks, as a lane of one memory executes them.

    Raises ValueError for a step that is repeated, and would have to move its result each time.
    """
    found = []
    for step in steps:
        found += _in_one_memory(step, multiplication)
    return found


def routine_in_one_memory(routine: Routine, multiplication: Multiplication) -> Routine:
    """A routine of two banks, as a lane of one memory executes it."""
    return replace(routine, steps=tuple(steps_in_one_memory(routine.steps, multiplication)))


def _in_one_memory(step: Step, multiplication: Multiplication) -> list[Step]:
    first, to = replace(step, copy=None), step.destination
    moves = [] if step.copy in (None, to) else [(step.copy, to)]
    if step.kind is StepKind.MULTIPLY and not multiplication.overwrites and _is_factor(step):
        if to is Scratch.ACCUMULATOR:
            first = replace(first, destination=Mode.NEXT)
        else:
            first = replace(first, destination=Scratch.PRODUCT)
            moves.insert(0, (to, Scratch.PRODUCT))
    if not moves:
        return [first]
    if step.next in _REPEATS:
        raise ValueError(f"{step.note!r} is repeated, and its result would have to be moved")
    moved = [_move(step, to, x) for to, x in moves if to is not None]
    first = replace(first, next=Next.FOLLOWING, target="", commands=frozenset(), leaves_two=False)
    last = replace(
        moved[-1],
        next=step.next,
        target=step.target,
        commands=step.commands,
        leaves_two=step.leaves_two,
    )
    return [first, *moved[:-1], last]


def _move(step: Step, to: Reference, x: Reference) -> Step:
    """A move of what a step has written."""
    moved = linear(StepKind.MOVE, to, x, x, step.modulus, f"{to.name} = {x.name}")
    return replace(moved, by_bit=step.by_bit)


def _is_factor(step: Step) -> bool:
    """Whether a product would be written over one of its factors."""
    written: Reference = step.destination
    if written is Mode.HALF:
        written = Scratch.ACCUMULATOR
    return written in (step.x, step.y)
