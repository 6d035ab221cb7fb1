"""The program of a lane: its steps of all the engine's operations, at addresses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coprime.exponentiators.exponentiation import Exponentiation
from coprime.exponentiators.names import Blinding
from coprime.exponentiators.steps import Context, Slot, Step, StepKind, Then
from coprime.multipliers.contract import Multiplication

from .contract import Command
from .operations import banked
from .operations.common import canonical
from .operations.modexp import modexp
from .operations.modmul import modmul
from .operations.rsa_private import rsa_private

__all__ = ["Program", "banked_program", "rsa_programs"]


@dataclass(frozen=True)
class Program:
    """Steps at addresses 1 and up; address 0 is the end of every operation."""

    steps: tuple[Step, ...]
    targets: tuple[int, ...]
    """The address of each step's target."""
    entries: Mapping[Command, int]
    """The address of each command's first step; a lane without one has no part in the command."""

    window_bits: int = 0
    """Bits of a window of the exponent; 0 if there are none."""
    whole_window_bits: int = 0
    """The same of the whole modulus's exponent."""

    in_place: bool = False
    """Products are written over ACCUMULATOR, and a window of 0 has one that is not written."""

    blinding: Blinding = Blinding.NONE
    """What random numbers hide in a private operation."""

    @property
    def kinds(self) -> frozenset[StepKind]:
        """The kinds of steps that occur."""
        return frozenset(step.kind for step in self.steps)

    def window_bits_of(self, context: Context) -> int:
        """Bits of a window of a context's exponent."""
        return self.whole_window_bits if context is Context.WHOLE else self.window_bits

    def blinds(self, what: Blinding) -> bool:
        """Whether random numbers hide that."""
        return what in self.blinding

    @property
    def entries_by_loop(self) -> int:
        """The last entry of a prime's table that the step with ENTRY makes; T_15 is made apart."""
        return min((1 << self.window_bits) - 1, 14)

    @property
    def drops_last(self) -> bool:
        """Whether any scan leaves the exponent's lowest bit out."""
        return any(step.drops_last for step in self.steps)

    @property
    def draws(self) -> bool:
        """Whether it takes random digits."""
        return not self.kinds.isdisjoint({StepKind.DRAW, StepKind.ADD_DRAWN})

    @property
    def has_turns(self) -> bool:
        """Whether steps are modulo the prime whose turn it is."""
        return any(step.modulus is Context.TURN for step in self.steps)

    @property
    def checks(self) -> bool:
        """A private operation has no result but by a last step ZERO."""
        return StepKind.ZERO in self.kinds

    @property
    def thens(self) -> frozenset[Then]:
        """What comes after steps."""
        return frozenset(step.then for step in self.steps)

    @property
    def rotates(self) -> bool:
        """Whether BASE changes places, too."""
        return any(step.destination is Slot.NEXT_BASE for step in self.steps)

    @classmethod
    def assemble(
        cls,
        operations: Mapping[tuple[Command, ...], Sequence[Step]],
        shared: Sequence[Step],
        *,
        window_bits: int = 0,
        whole_window_bits: int = 0,
        in_place: bool = False,
        blinding: Blinding = Blinding.NONE,
    ) -> "Program":
        """Lay out each operation, with the commands that it serves, and behind them `shared`.

        A label is seen within its own operation; those of `shared` are seen from everywhere.

        Raises
        ------
        ValueError
            A label stands twice where it is seen, or a step's target nowhere.
        """
        listings = [*operations.values(), shared]
        starts = [1 + sum(map(len, listings[:k])) for k in range(len(listings))]
        everywhere = _labels(shared, starts[-1], {})
        targets: list[int] = []
        for listing, start in zip(listings, starts, strict=True):
            labels = _labels(listing, start, {} if listing is shared else everywhere)
            for step in listing:
                if step.target not in labels and step.target:
                    raise ValueError(f"no step has the label {step.target!r}")
                targets.append(labels.get(step.target, 0))
        entries = {
            command: start
            for commands, start in zip(operations, starts, strict=False)
            for command in commands
        }
        steps = tuple(step for listing in listings for step in listing)
        windows = any(step.y is Slot.WINDOW for step in steps)
        bits = (window_bits, whole_window_bits or window_bits) if windows else (0, 0)
        return cls(steps, tuple(targets), entries, *bits, in_place, blinding)


def _labels(listing: Sequence[Step], start: int, seen: Mapping[str, int]) -> dict[str, int]:
    labels = dict(seen)
    for address, step in enumerate(listing, start):
        if step.label in labels:
            raise ValueError(f"two steps have the label {step.label!r}")
        if step.label:
            labels[step.label] = address
    return labels


def rsa_programs(own: Multiplication, lanes: int, exponentiation: Exponentiation) -> list[Program]:
    """All four operations, on one lane or on two: a program for each lane.

    A lane by itself does the `exponentiation`. So does the first of two lanes that are
    `interleaved` on one multiplier, which for the whole modulus would win nothing from taking
    turns.
    """
    operations = {
        (Command.MODMUL,): [modmul(own)],
        (Command.MODEXP, Command.RSA_PUBLIC): modexp(
            own, 1 if own.interleaved else lanes, exponentiation
        ),
        (Command.RSA_PRIVATE,): rsa_private(own, lanes, exponentiation),
    }
    return [
        Program.assemble(
            {commands: each[lane] for commands, each in operations.items() if lane < len(each)},
            canonical(own) if lane == 0 and not own.canonical else [],
            window_bits=exponentiation.window_bits,
            whole_window_bits=exponentiation.whole_window_bits,
        )
        for lane in range(lanes)
    ]


def banked_program(own: Multiplication, exponentiation: Exponentiation) -> Program:
    """All four operations on a lane of two banks; the exponentiation has a fixed window."""
    return Program.assemble(
        {
            (
                Command.MODMUL,
                Command.MODEXP,
                Command.RSA_PUBLIC,
                Command.RSA_PRIVATE,
            ): banked.operations(own, exponentiation.blinding)
        },
        [],
        window_bits=exponentiation.window_bits,
        whole_window_bits=exponentiation.whole_window_bits,
        in_place=True,
        blinding=exponentiation.blinding,
    )
