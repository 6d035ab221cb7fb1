"""The program of a lane: the steps of all its operations, at addresses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .calls import CallGraph
from .operands import Context, Mode, Scratch
from .steps import BORROW, Next, Step, StepKind

LONGEST_TABLE = 127
"""Steps of a program that is a table of LUTs: 2 LUTs a bit. A longer one is in block RAM."""


@dataclass(frozen=True)
class Program:
    """Steps at addresses 1 and up; address 0 is the end of every operation.

    Its properties say which hardware a sequencer for it needs.
    """

    steps: tuple[Step, ...]
    targets: tuple[int, ...]
    """The address of each step's target."""
    entries: Mapping[int, int]
    """The address of the first step by a command's code; a lane without one has no part in it."""

    window_bits: int = 0
    """Bits of a window of the exponent; 0 if there are none."""
    whole_window_bits: int = 0
    """The same of the whole modulus's exponent."""
    moduli: tuple[Context, ...] = ()
    """What CURRENT is in the commands that have moduli of their own, one after the other."""
    with_moduli: frozenset[int] = frozenset()
    """The codes of these commands. In the others CURRENT is WHOLE."""
    flags: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """The codes of the commands in which a flag is 1."""

    @cached_property
    def kinds(self) -> frozenset[StepKind]:
        """The kinds of steps that occur."""
        return frozenset(step.kind for step in self.steps)

    @cached_property
    def nexts(self) -> frozenset[Next]:
        """The rules for the next step that occur."""
        return frozenset(step.next for step in self.steps)

    @cached_property
    def branch_flags(self) -> tuple[str, ...]:
        """The flags that steps branch on, in the order of their names."""
        branches = (step.flag for step in self.steps if step.next is Next.JUMP_UNLESS)
        return tuple(sorted(set(branches)))

    def next_code(self, step: Step) -> int:
        """A step's rule as it lies in the program memory: JUMP_UNLESS has one for each flag."""
        place = self.branch_flags.index(step.flag) if step.next is Next.JUMP_UNLESS else 0
        return max(Next) + place if place else step.next

    @cached_property
    def longest_loop(self) -> int:
        """How often a LOOP executes its steps, at most; 0 without one."""
        return max(step.times for step in self.steps)

    @property
    def in_block_ram(self) -> bool:
        """Whether it is long, so that the program memory is a block RAM and no table of LUTs."""
        return len(self.steps) > LONGEST_TABLE

    @cached_property
    def call_depth(self) -> int:
        """Routines that are under way at once, at most: places of the return stack."""
        return CallGraph(self.steps, self.targets).depth(self.entries.values())

    @cached_property
    def in_place(self) -> bool:
        """Products are written over ACCUMULATOR, and the one of a window of 0 is not written."""
        return not any(step.destination in (Mode.NEXT, Mode.NEXT_BASE) for step in self.steps)

    @cached_property
    def rotates(self) -> bool:
        """Whether ACCUMULATOR, SPARE and BASE change places, not only the first two."""
        return any(step.destination is Mode.NEXT_BASE for step in self.steps)

    @cached_property
    def alternates(self) -> bool:
        """Whether steps are modulo the current prime."""
        return any(step.modulus is Context.CURRENT for step in self.steps)

    @cached_property
    def checks(self) -> bool:
        """A private operation has a result only after a CHECK_ZERO modulo the last prime."""
        return StepKind.CHECK_ZERO in self.kinds

    @cached_property
    def shares_check(self) -> bool:
        """Each of two lanes checks the result modulo its prime; a fault in one ends both."""
        return self.checks and StepKind.BARRIER in self.kinds

    @cached_property
    def scans_by_moves(self) -> bool:
        """Whether a MOVE, too, goes on to another bit of the exponent."""
        bits = {Next.IF_WINDOW, Next.NEXT_BIT}
        return any(step.kind is StepKind.MOVE and step.next in bits for step in self.steps)

    @cached_property
    def descales(self) -> bool:
        """Whether any product descales."""
        return any(step.descale for step in self.steps)

    @cached_property
    def evens_exponents(self) -> bool:
        """Whether any scan counts the exponent's lowest bit as 0."""
        return any(step.even_exponent for step in self.steps)

    @cached_property
    def sums(self) -> bool:
        """Whether sums add a multiple of the modulus."""
        return any(step.times_modulus for step in self.steps)

    @cached_property
    def copies(self) -> bool:
        """Whether results are written to both banks."""
        return any(step.copies for step in self.steps)

    @cached_property
    def draws(self) -> bool:
        """Whether it takes random digits."""
        return not self.kinds.isdisjoint({StepKind.DRAW, StepKind.ADD_IF_DRAWN})

    @cached_property
    def blinds_exponents(self) -> bool:
        """Whether random numbers hide the exponents modulo the primes."""
        return StepKind.ADD_IF_DRAWN in self.kinds

    def window_bits_of(self, context: Context) -> int:
        """Bits of a window of a context's exponent."""
        return self.whole_window_bits if context is Context.WHOLE else self.window_bits

    def last_entry_of(self, context: Context) -> int:
        """The last table entry that EACH_ENTRY makes; T_15 may be made apart."""
        if context is Context.WHOLE:
            return (1 << self.whole_window_bits) - 1
        apart = any(step.destination is Scratch.T_15 for step in self.steps)
        return (1 << self.window_bits) - (2 if apart and self.window_bits == 4 else 1)

    @classmethod
    def assemble(
        cls,
        operations: Mapping[tuple[int, ...], Sequence[Step]],
        shared: Sequence[Step] = (),
        *,
        window_bits: int = 0,
        whole_window_bits: int = 0,
        moduli: Mapping[int, tuple[Context, ...]] | None = None,
        flags: Mapping[str, frozenset[int]] | None = None,
    ) -> "Program":
        """Lay out each operation, with the codes of its commands, and `shared` after them.

        `moduli` are what CURRENT is in a command, one after the other, where that is not WHOLE.

        A label is visible within its own operation; those of `shared` are visible everywhere. A
        target whose label is not visible is the step that alone has it in the other operations.

        Raises
        ------
        ValueError
            Two steps have one label where it is visible, or no step has a target's label, or two
            have it, of other operations; commands have different moduli; a step branches on a
            flag that there is not; or routines call each other in a circle, or have loops in loops.
        """
        listings = [*operations.values(), shared]
        starts = [1 + sum(map(len, listings[:k])) for k in range(len(listings))]
        everywhere = _labels(shared, starts[-1], {})
        visible = [
            _labels(listing, start, {} if listing is shared else everywhere)
            for listing, start in zip(listings, starts, strict=True)
        ]
        targets = [
            _target(step.target, labels, visible)
            for listing, labels in zip(listings, visible, strict=True)
            for step in listing
        ]
        entries = {
            command: start
            for commands, start in zip(operations, starts, strict=False)
            for command in commands
        }
        steps = tuple(step for listing in listings for step in listing)
        windows = any(step.y is Mode.WINDOW for step in steps)
        bits = (window_bits, whole_window_bits or window_bits) if windows else (0, 0)
        own = {code: turns for code, turns in (moduli or {}).items() if code in entries}
        if len(set(own.values())) > 1:
            raise ValueError("commands of one program have different moduli")
        program = cls(
            steps,
            tuple(targets),
            entries,
            *bits,
            moduli=next(iter(own.values()), ()),
            with_moduli=frozenset(own),
            flags=flags or {},
        )
        for flag in program.branch_flags:
            if flag != BORROW and flag not in program.flags:
                raise ValueError(f"there is no flag {flag!r}")
        if program.call_depth or program.longest_loop:
            CallGraph(steps, program.targets).check_loops(entries.values())
        return program


def _target(label: str, own: Mapping[str, int], every: Sequence[Mapping[str, int]]) -> int:
    if not label:
        return 0
    found = [own[label]] if label in own else [one[label] for one in every if label in one]
    if not found:
        raise ValueError(f"no step has the label {label!r}")
    if len(found) > 1:
        raise ValueError(f"steps of two operations have the label {label!r}")
    return found[0]


def _labels(listing: Sequence[Step], start: int, seen: Mapping[str, int]) -> dict[str, int]:
    labels = dict(seen)
    for address, step in enumerate(listing, start):
        if step.label in labels:
            raise ValueError(f"two steps have the label {step.label!r}")
        if step.label:
            labels[step.label] = address
    return labels
