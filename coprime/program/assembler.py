"""The program of a lane: the steps of all its operations, at addresses."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from .calls import CallGraph
from .operands import BLINDED_OF, Context, Entry, Mode, Reference, Scratch
from .routine import Routine, reached
from .steps import ADDS_DRAWN, BESIDE_PRODUCTS, Next, Step, StepKind

LONGEST_TABLE = 127
"""Steps of a program that is a table of LUTs: 2 LUTs a bit. A longer one is in block RAM."""


_TO_ANOTHER_BIT = frozenset({Next.IF_WINDOW, Next.NEXT_BIT})


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
    shortens: frozenset[int] = frozenset()
    """The codes of the commands in which numbers modulo P have a digit less where c is 1."""
    routines: Mapping[int, Routine] = field(default_factory=dict)
    """The routines by the address of their first step."""

    @cached_property
    def kinds(self) -> frozenset[StepKind]:
        """The kinds of steps that occur."""
        return frozenset(step.kind for step in self.steps)

    @cached_property
    def nexts(self) -> frozenset[Next]:
        """The rules for the next step that occur."""
        return frozenset(step.next for step in self.steps)

    @cached_property
    def branch_codes(self) -> Mapping[frozenset[int], int]:
        """What the program memory has for IF_COMMAND: a code for each set of commands.

        They are codes of rules that do not occur, and then codes beyond those of all rules.
        """
        branches = {step.commands for step in self.steps if step.next is Next.IF_COMMAND}
        free = (code for code in range(Next.IF_COMMAND, 0, -1) if code not in self.nexts)
        codes = itertools.chain([Next.IF_COMMAND], free, itertools.count(max(Next) + 1))
        return dict(zip(sorted(branches, key=sorted), codes, strict=False))

    def next_code(self, step: Step) -> int:
        """A step's rule as it lies in the program memory."""
        return self.branch_codes[step.commands] if step.commands else step.next

    @cached_property
    def longest_loop(self) -> int:
        """How often a LOOP executes its steps, at most; 0 without one."""
        return max(step.times for step in self.steps)

    @cached_property
    def blinds_scalars(self) -> bool:
        """Whether a LOOP executes its steps as often as a scalar is blinded with random bits."""
        return any(step.next is Next.LOOP and not step.times for step in self.steps)

    @property
    def in_block_ram(self) -> bool:
        """Whether it is long, so that the program memory is a block RAM and no table of LUTs."""
        return len(self.steps) > LONGEST_TABLE

    @cached_property
    def calls(self) -> CallGraph:
        """Which steps lead to which."""
        return CallGraph(self.steps, self.targets)

    @cached_property
    def call_depth(self) -> int:
        """Routines that are under way at once, at most: places of the return stack."""
        return self.calls.depth(self.entries.values())

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
        return self.checks and self.meets

    @cached_property
    def meets(self) -> bool:
        """Whether it waits for the other lane."""
        return StepKind.BARRIER in self.kinds or Next.BARRIER in self.nexts

    @cached_property
    def scans_by_moves(self) -> bool:
        """Whether a MOVE, too, goes on to another bit of the exponent."""
        return any(
            step.kind is StepKind.MOVE and step.next in _TO_ANOTHER_BIT for step in self.steps
        )

    @cached_property
    def scans_by_sums(self) -> bool:
        """Whether a MOVE or a sum goes on to another bit of the exponent."""
        return any(
            step.kind in BESIDE_PRODUCTS and step.next in _TO_ANOTHER_BIT for step in self.steps
        )

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
    def swaps(self) -> bool:
        """Whether numbers change places by the exponent's bit."""
        return any(step.by_bit for step in self.steps)

    @property
    def has_parity(self) -> bool:
        """Whether memory sees a bit that has changed: a private operation on a curve, which has no
        public key to check its result with, may only rely on what is in memory."""
        return self.checks and self.swaps and self.in_block_ram

    @cached_property
    def scans_columns(self) -> bool:
        """Whether an exponent's columns are scanned, each of which selects an entry of a table."""
        return StepKind.SCAN_COLUMNS in self.kinds

    @cached_property
    def scans_public(self) -> bool:
        """Whether E is scanned, whatever the modulus of the steps that take its bits."""
        return not self.kinds.isdisjoint({StepKind.SCAN_PUBLIC, StepKind.SCAN_COLUMNS})

    @cached_property
    def has_thirds(self) -> bool:
        """Whether the points of a table have three numbers."""
        return any(step.y is Mode.THIRD for step in self.steps)

    @cached_property
    def leaves_bits(self) -> bool:
        """Whether a loop over an exponent's bits leaves two of them to another one."""
        return any(step.leaves_two for step in self.steps)

    @cached_property
    def draws(self) -> bool:
        """Whether it takes random digits."""
        return StepKind.DRAW in self.kinds or self.adds_drawn

    @cached_property
    def adds_drawn(self) -> bool:
        """Whether sums depend on bits of random digits."""
        return not self.kinds.isdisjoint(ADDS_DRAWN)

    @cached_property
    def blinds_exponents(self) -> bool:
        """Whether random numbers hide the exponents modulo the primes."""
        return bool(self.blinded)

    @cached_property
    def blinded(self) -> Mapping[Context, Scratch]:
        """The blinded exponents by their context, if there are any."""
        written = {step.destination for step in self.steps}
        return {} if written.isdisjoint(BLINDED_OF.values()) else BLINDED_OF

    @cached_property
    def made(self) -> frozenset[Reference]:
        """What is made of a secret operand that the host has written, and stays from then on."""
        return frozenset(
            step.destination for step in self.steps if step.kind is StepKind.MOVE_WRITTEN
        )

    @cached_property
    def in_loops_over_bits(self) -> frozenset[int]:
        """The addresses of steps that are executed for each bit of an exponent, or each column."""
        ends = enumerate(zip(self.steps, self.targets, strict=True), start=1)
        return frozenset(
            address
            for end, (step, begin) in ends
            if step.next is Next.NEXT_BIT and begin
            for address in range(begin, end + 1)
        )

    def window_bits_of(self, context: Context) -> int:
        """Bits of a window of a context's exponent."""
        return self.whole_window_bits if context is Context.WHOLE else self.window_bits

    def last_entry_of(self, context: Context) -> int:
        """The last table entry that EACH_ENTRY makes; T_15 may be made apart."""
        if context is Context.WHOLE:
            return (1 << self.whole_window_bits) - 1
        apart = any(step.destination is Entry.T_15 for step in self.steps)
        return (1 << self.window_bits) - (2 if apart and self.window_bits == 4 else 1)

    @classmethod
    def assemble(
        cls,
        operations: Mapping[tuple[int, ...], Sequence[Step]],
        routines: Sequence[Routine] = (),
        *,
        window_bits: int = 0,
        whole_window_bits: int = 0,
        moduli: Mapping[int, tuple[Context, ...]] | None = None,
        shortens: Iterable[int] = (),
        merges: bool = False,
    ) -> "Program":
        """Lay out each operation, with the codes of its commands, then the routines in use.

        With `merges` the steps that operations begin with alike are laid out once, and the last of
        them branches: fewer steps, and fewer entries.

        `shortens` are commands as the attribute has them. `moduli` are what CURRENT is in a
        command, one after the other, where that is not WHOLE. A label is visible within its own
        operation; those of routines are visible everywhere.

        Raises
        ------
        ValueError
            Two steps have one label where it is visible, or no step has a target's label; commands
            have different moduli; or routines call each other in a circle, or have loops in loops.
        """
        own_lists = [_Listing(commands, tuple(steps)) for commands, steps in operations.items()]
        own_lists = _merged(own_lists) if merges else own_lists
        shared = reached((listing.steps for listing in own_lists), routines)
        listings = [
            *(listing.steps for listing in own_lists),
            *(listing.steps for listing in shared),
        ]
        starts = [1 + sum(map(len, listings[:k])) for k in range(len(listings))]
        everywhere: dict[str, int] = {}
        for listing, start in zip(
            listings[len(own_lists) :], starts[len(own_lists) :], strict=True
        ):
            everywhere = _labels(listing, start, everywhere)
        visible = [
            _labels(listing, start, everywhere)
            for listing, start in zip(listings[: len(own_lists)], starts, strict=False)
        ] + [everywhere] * len(shared)
        targets = [
            _target(step.target, labels)
            for listing, labels in zip(listings, visible, strict=True)
            for step in listing
        ]
        entries = {
            command: start
            for listing, start in zip(own_lists, starts, strict=False)
            for command in listing.commands
        }
        steps = tuple(step for listing in listings for step in listing)
        windows = any(step.y is Mode.WINDOW for step in steps)
        bits = (window_bits, whole_window_bits or window_bits) if windows else (0, 0)
        in_turn = {code: turns for code, turns in (moduli or {}).items() if code in entries}
        if len(set(in_turn.values())) > 1:
            raise ValueError("commands of one program have different moduli")
        program = cls(
            steps,
            tuple(targets),
            entries,
            *bits,
            moduli=next(iter(in_turn.values()), ()),
            with_moduli=frozenset(in_turn),
            shortens=frozenset(shortens),
            routines={everywhere[routine.name]: routine for routine in shared},
        )
        if program.call_depth or program.longest_loop:
            program.calls.check_loops(entries.values())
        return program


@dataclass(frozen=True)
class _Listing:
    """The steps of some commands."""

    commands: tuple[int, ...]
    steps: tuple[Step, ...]


def _merged(listings: Sequence[_Listing], place: int = 0) -> list[_Listing]:
    """Lists that are equal up to a place, as one if they are beyond it, and branch where they part.

    A step branches two ways. Lists that would be a third way are left as they are.
    """
    groups: dict[Step | None, list[_Listing]] = {}
    for listing in listings:
        step = listing.steps[place] if place < len(listing.steps) else None
        groups.setdefault(step, []).append(listing)
    found: list[_Listing] = []
    for step, group in groups.items():
        if len(group) == 1 or step is None or step.next is not Next.FOLLOWING:
            found += group
            continue
        first, *others = _merged(group, place + 1)
        if others and first.steps[place].next is Next.FOLLOWING:
            second, *others = others
            first = _branching(first, second, place)
        found += [first, *others]
    return found


def _branching(listing: _Listing, other: _Listing, place: int) -> _Listing:
    """The steps up to a place, from where one list or the other follows."""
    branch, other_first = listing.steps[place], other.steps[place + 1]
    label = other_first.label or f"{other_first.note} ({place})"
    branch = replace(
        branch, next=Next.IF_COMMAND, commands=frozenset(listing.commands), target=label
    )
    other_steps = (replace(other_first, label=label), *other.steps[place + 2 :])
    return _Listing(
        (*listing.commands, *other.commands),
        (*listing.steps[:place], branch, *listing.steps[place + 1 :], *other_steps),
    )


def _target(label: str, visible: Mapping[str, int]) -> int:
    if label and label not in visible:
        raise ValueError(f"no step has the label {label!r}")
    return visible[label] if label else 0


def _labels(listing: Sequence[Step], start: int, seen: Mapping[str, int]) -> dict[str, int]:
    labels = dict(seen)
    for address, step in enumerate(listing, start):
        if step.label in labels:
            raise ValueError(f"two steps have the label {step.label!r}")
        if step.label:
            labels[step.label] = address
    return labels
