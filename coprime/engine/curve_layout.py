"""Where the numbers of operations on curves lie in one memory: each has a place of its own."""

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coprime.operations.commands import Command
from coprime.program.assembler import Program
from coprime.program.operands import (
    HALF_OF,
    OF_ONE,
    OF_TABLE,
    POINTS,
    TABLE,
    Context,
    Length,
    Location,
    Mode,
    Operand,
    Reference,
    Scratch,
)
from coprime.program.paths import Path
from coprime.program.steps import Step

from .layout import Layout

_OPERANDS = 32
"""Numbers for operands, which have those that the host has for them."""
_TRIO = (Scratch.ACCUMULATOR, Scratch.SPARE, Scratch.BASE)
"""They have numbers that differ in the lowest two bits only: they change places."""
_FIRST_ENTRY, _ENTRIES = 2 * _OPERANDS, 3 * POINTS
"""The number of T_0, whose lowest bits are 0, and how many there are."""
_TABLE = tuple(map(Scratch.table, range(_ENTRIES)))
_MEANT: Mapping[Mode, tuple[Scratch, ...]] = {
    Mode.NEXT: _TRIO[:2],
    Mode.NEXT_BASE: _TRIO,
    Mode.OTHER_ACCUMULATOR: _TRIO[:2],
    Mode.OTHER_PART: (Scratch.PART,),
    Mode.HALF: (Scratch.PART, Scratch.ACCUMULATOR),
}
"""What modes need places for."""


@dataclass(frozen=True)
class CurveLayout(Layout):
    """Addresses in one memory that has numbers of operations on curves, too.

    The host's operands that are points of a table have no location: their two numbers are entries
    of the table, T_2k and T_2k + 1, with numbers in this order.
    """

    half: int = 0
    """Digits of an operand below its second number; 0 if none has two."""

    @property
    def has_points(self) -> bool:
        """Whether the host writes points of a table."""
        return Operand.TABLE_0 in self.numbers


@dataclass(frozen=True)
class OneMemory:
    """The sizes of numbers in one memory, in which those of programs are to be placed.

    Parameters
    ----------
    whole, prime : digits of the longest modulus, and of the longest prime
    half : digits of an operand below its second number, a power of two; 0 if none has two
    """

    whole: int
    prime: int
    half: int = 0

    def place(
        self, programs: Sequence[Program], operands: Mapping[Command, Collection[Operand]]
    ) -> CurveLayout:
        """Place the numbers of the programs of all lanes, which have one layout.

        Parameters
        ----------
        programs : of each lane
        operands : by a command's code those that it reads

        A number is as long as the whole modulus if any step has it so.
        """
        held = frozenset[Operand]().union(*operands.values())
        named, long = _named(programs)
        usual = {one for one in Operand if one < Operand.SECRET}
        named |= held | usual | {Scratch.RESULT, Mode.ONE}
        numbers = _numbers(named)
        if not any(len(one.moduli) > 1 for one in programs) and Mode.HALF in named:
            numbers[Mode.HALF] = numbers[Scratch.ACCUMULATOR]
        digits = {one: self._digits(one, long) for one in numbers}
        bases: dict[Location, int] = {}
        used = 0
        places = [one for one in numbers if isinstance(one, Operand | Scratch)]
        for one in sorted(places, key=lambda each: -digits[each]):
            if one is not Scratch.SCALED and one not in TABLE and one not in HALF_OF:
                bases[one] = used
                used += digits[one]
        bases |= {
            high: bases[both] + self.half
            for high, both in HALF_OF.items()
            if high in numbers and isinstance(high, Scratch)
        }
        return CurveLayout(bases, 1 << (used - 1).bit_length(), numbers, self.half)

    def _digits(self, one: Reference, long: Collection[Reference]) -> int:
        """Those that a number has at most."""
        if isinstance(one, Operand):
            if one.length is Length.DIGIT:
                return 1
            return self.prime if one.length in (Length.P, Length.Q) else self.whole
        return self.whole if one in long else self.prime


def _named(programs: Sequence[Program]) -> tuple[set[Reference], set[Reference]]:
    """What steps name, and what of that is as long as the whole modulus."""
    named: set[Reference] = set()
    long: set[Reference] = {Scratch.RESULT}
    for step in _steps(programs):
        written_or_x = {step.destination, step.x}
        named |= written_or_x | {step.y}
        if step.modulus is Context.WHOLE:
            long |= written_or_x
        if Context.WHOLE in (step.modulus, step.outer):
            long.add(step.y)
    for mode, meant in _MEANT.items():
        named |= set(meant) if mode in named else set()
    if not named.isdisjoint(OF_TABLE):
        named |= set(_TABLE[: _ENTRIES if Mode.THIRD in named else 2 * POINTS])
    if not long.isdisjoint({Mode.WINDOW, *_TABLE}):
        long |= set(_TABLE[: 2 * POINTS])
    both = {number for high, number in HALF_OF.items() if high in named}
    of_one = {other for one, other in OF_ONE.items() if one in named}
    for group in (_TRIO, *OF_ONE.items()):  # what changes places is equally long
        long |= set(group) if not long.isdisjoint(group) else set()
    return named | both | of_one, long | both


def _steps(programs: Sequence[Program]) -> Iterator[Step]:
    """Every step as any command executes it; and all of the program, for their names alone."""
    for program in programs:
        yield from (replace(step, modulus=Context.P, outer=Context.P) for step in program.steps)
        for command in program.entries:
            path = Path(program, command)
            yield from (path.step(state) for state in path.successors if state.address)


def _numbers(named: Collection[Reference]) -> dict[Reference, int]:
    """What the program memory has for a reference."""
    numbers: dict[Reference, int] = {one: int(one) for one in Operand if one in named}
    numbers |= {one: _OPERANDS + k for k, one in enumerate(_TRIO) if one in named}
    if Mode.NEXT in named:
        numbers[Mode.NEXT] = numbers[Scratch.SPARE]
    numbers |= {one: _FIRST_ENTRY + k for k, one in enumerate(_TABLE) if one in named}
    taken = {*range(_OPERANDS + len(_TRIO)), *range(_FIRST_ENTRY, _FIRST_ENTRY + _ENTRIES)}
    for one, other in OF_ONE.items():  # the numbers of what changes places differ in a bit
        if one in named and one not in numbers:
            even = next(k for k in itertools.count(_OPERANDS, 2) if taken.isdisjoint({k, k + 1}))
            numbers |= {one: even, other: even + 1}
            taken |= {even, even + 1}
    free = (k for k in itertools.count(_OPERANDS) if k not in taken)
    others = (one for kind in (Scratch, Mode) for one in kind if one in named)
    return numbers | {one: next(free) for one in others if one not in numbers}
