"""Where each operand lies in a lane's memory: one block RAM (FDFM, figure 8), or two banks."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Self

from coprime.model.widths import bits_for
from coprime.multipliers.multiplication import Multiplication
from coprime.operations.commands import Command
from coprime.program.assembler import Program
from coprime.program.numbers.allocation import Allocation, BlockPlace, by_name
from coprime.program.numbers.liveness import conflicts
from coprime.program.numbers.places import allocate, banks_of
from coprime.program.operands import (
    HALF_OF,
    TABLE,
    Core,
    Entry,
    Location,
    Mode,
    Operand,
    Reference,
    Retained,
    Scratch,
)
from coprime.program.steps import StepKind

_SINGLE = (Operand.M_INVERSE, Operand.P_INVERSE, Operand.Q_INVERSE)
_PRIME = (Operand.P, Operand.Q, Operand.DP, Operand.DQ, Operand.P_POWER, Operand.Q_POWER)
_WHOLE = (
    Operand.X,
    Operand.Y,
    Operand.E,
    Operand.M,
    Operand.M_POWER,
    Operand.CRT_P,
    Operand.CRT_Q,
    Core.ACCUMULATOR,
    Core.SPARE,
    Core.BASE,
    Core.RESULT,
    Core.PART,
)
_LAST_OPERAND = max(
    location for location in (*_SINGLE, *_PRIME, *_WHOLE) if isinstance(location, Operand)
)
_OPERANDS = 1 << bits_for(_LAST_OPERAND)
"""Numbers for operands in one memory, which have those that the host has for them."""
_PLACES: dict[Reference, int] = {
    # ACCUMULATOR and SPARE differ in one bit, and BASE in another one.
    Core.ACCUMULATOR: _OPERANDS,
    Core.SPARE: _OPERANDS + 1,
    Mode.NEXT: _OPERANDS + 1,
    Core.BASE: _OPERANDS + 2,
    Core.RESULT: _OPERANDS + 3,
    Core.PART: _OPERANDS + 4,
    Mode.OTHER_ACCUMULATOR: _OPERANDS + 5,
    Mode.OTHER_PART: _OPERANDS + 6,
    Mode.NEXT_BASE: _OPERANDS + 7,
    Mode.ONE: 2 * _OPERANDS - 1,
}
"""Numbers of intermediate values and addressing modes without windows: a program without these
needs a bit more than operands do."""
_TABLE: dict[Reference, int] = {
    **{Entry.at(entry): 2 * _OPERANDS + entry for entry in range(16)},
    Mode.WINDOW: 4 * _OPERANDS - 1,
}
"""The same of the table, and of its entry that the window selects."""


@dataclass(frozen=True)
class Layout:
    """Word addresses of the slots in a memory of `depth` digits."""

    bases: Mapping[Location, int]
    depth: int
    numbers: Mapping[Reference, int]
    """What the program memory has for a reference."""

    @property
    def banks(self) -> int:
        """Memories of that depth."""
        return 1

    @property
    def map_columns(self) -> tuple[str, ...]:
        """Headings of `memory_map`."""
        return ("words", "number")

    def memory_map(self) -> list[tuple[str, ...]]:
        """What lies where: the words of each number."""
        bases = sorted(self.bases.items(), key=lambda item: item[1])
        ends = [*(base for _, base in bases[1:]), self.depth]
        return [
            (f"{base}" if location in _SINGLE else f"{base} to {end - 1}", location.name)
            for (location, base), end in zip(bases, ends, strict=True)
        ]

    @property
    def number_bits(self) -> int:
        """Width of a reference's number: 5, or 6 with a table."""
        return int(bits_for(max(self.numbers.values())))

    @property
    def bases_by_number(self) -> list[int]:
        """Address of digit 0 of each number's location; 0 where a number is of none."""
        bases = [0] * (1 << self.number_bits)
        for location, base in self.bases.items():
            bases[self.numbers[location]] = base
        if Mode.OTHER_PART in self.numbers:  # as it lies in the other lane's memory
            bases[self.numbers[Mode.OTHER_PART]] = self.bases[Core.PART]
        return bases

    @classmethod
    def smallest(
        cls, whole: int, prime: int, multipliers: int, table: Sequence[Scratch] = ()
    ) -> tuple[Self, int]:
        """In the smallest memory, of a power of two words, that all of it fits into.

        Parameters
        ----------
        whole, prime : digits of the longest modulus, and of the longest prime at the least
        multipliers : 1 or 2; with 1 there are powers modulo M, too
        table : locations of a table of powers

        Returns the digits of the longest prime that there is room for, too.
        """
        alone = multipliers == 1
        entries = len(table) * (whole if alone else prime)
        depth = 1 << (_words(whole, prime) + entries - 1).bit_length()
        room = depth - _words(whole, 0)
        if alone:
            longest = (room - entries) // len(_PRIME)
        else:
            longest = room // (len(_PRIME) + len(table))
        longest = min(longest, whole)
        entry = whole if alone else longest
        return cls._pack(depth, whole, longest, table, entry), longest

    @classmethod
    def _pack(
        cls, depth: int, whole: int, prime: int, table: Sequence[Scratch], entry: int
    ) -> Self:
        """The long locations first, then the others, then a table of `entry` digits each."""
        bases: dict[Location, int] = {}
        used = 0
        for slots, digits in ((_WHOLE, whole), (_PRIME, prime), (_SINGLE, 1), (table, entry)):
            for slot in slots:
                bases[slot] = used
                used += digits
        assert used <= depth
        operands: dict[Reference, int] = {
            operand: int(operand) for operand in Operand if operand in bases
        }
        numbers = operands | _PLACES | (_TABLE if table else {})
        return cls(bases, depth, numbers)


_MODES = {
    0: (Mode.HALF, Mode.OTHER),
    1: (Mode.ENTRY, Mode.WINDOW, Mode.ONE, Mode.THIRD),
}
"""Addressing modes by the bank in which they have numbers: of blocks where no location begins."""


@dataclass(frozen=True)
class BankedLayout(Layout):
    """Addresses in two banks of `depth` digits each, so that a product's factors lie apart.

    Left are multiplicands, moduli and exponents; right are multipliers, the quotient, the inverses
    and the table. A bank has 16, 32 or 64 blocks, of which the upper half may be for entries of the
    table only. A number as long as a prime takes one, and one as long as the whole modulus takes
    two, the first of them even, less a digit: an address is a location's block beside an index, and
    no sum. An inverse is the last digit of an odd block. Where inverses lie right, among the
    numbers as long as a prime, these have less than a block. `program/numbers/places.py` allocates
    the blocks: where two locations share a place, they are not needed at the same time.

    A reference's number has the bank in its highest bit, 1 for right, and the block below it.
    """

    entry_bits: int = 4
    """Width of the block of a table's entry."""
    block_bits: int = 4
    """Width of the block of another number; at most `entry_bits`."""
    inverses_left: bool = False
    """Where the inverses lie."""
    places: Allocation | None = field(default=None, compare=False, repr=False)
    """What lies where."""

    @property
    def number_bits(self) -> int:
        """Width of a reference's number."""
        return self.block_bits + 1

    @property
    def banks(self) -> int:
        """Left and right."""
        return 2

    @property
    def block(self) -> int:
        """Digits of a block."""
        return self.depth >> self.entry_bits

    def block_of(self, reference: Reference) -> int:
        """The first block of a location."""
        return self.numbers[reference] % (1 << self.block_bits)

    def lies_right(self, reference: Reference) -> bool:
        """Whether a location is in the right bank."""
        return self.numbers[reference] >> self.block_bits == 1

    @property
    def map_columns(self) -> tuple[str, ...]:
        """Headings of `memory_map`."""
        return ("block", "left bank", "right bank")

    def memory_map(self) -> list[tuple[str, ...]]:
        """For each block its number, and what lies in the left and in the right bank."""
        assert self.places is not None
        inverses: dict[BlockPlace, list[str]] = {}
        for inverse in _SINGLE:
            if inverse in self.numbers:
                place = BlockPlace(int(self.lies_right(inverse)), self.block_of(inverse))
                inverses.setdefault(place, []).append(inverse.name)
        rows: list[tuple[str, ...]] = []
        for block in range(1 << self.entry_bits):
            texts = []
            for bank in range(2):
                place = BlockPlace(bank, block)
                content = self.places.contents.get(place, ())
                names = [location.name for location, _ in content] + inverses.get(place, [])
                texts.append(", ".join(dict.fromkeys(names)))
            rows.append((str(block), *texts))
        return [row for row in rows if any(row[1:])]


def _numbered(
    named: Collection[Reference], location: Location, start: BlockPlace
) -> list[BlockPlace]:
    """The blocks that have a number if a location begins in a block."""
    found = []
    of_table = {entry for operand, (entry, _) in TABLE.items() if operand in named}
    if location in named or location in of_table:
        found.append(start)
    if location in {both for high, both in HALF_OF.items() if high in named}:
        found.append(start.of_part(1))
    return found


@dataclass(frozen=True)
class Banks:
    """The size of two banks, in which the numbers of programs are to be placed.

    Parameters
    ----------
    whole, prime : digits of the longest modulus, and of the longest prime at the least
    entry_bits : 4 to 6: a bank has 2^entry_bits blocks
    block_bits : 4 to entry_bits: numbers other than entries of the table lie in the first
        2^block_bits of them
    inverses_left : in which bank the inverses lie
    """

    whole: int
    prime: int
    entry_bits: int = 4
    inverses_left: bool = False
    block_bits: int = 4

    def __post_init__(self) -> None:
        """Raise ValueError for blocks that a bank does not have."""
        if not 4 <= self.block_bits <= self.entry_bits <= 6:
            raise ValueError(f"blocks of {self.block_bits} bits and entries of {self.entry_bits}")

    @property
    def blocks(self) -> int:
        """Blocks of a bank that numbers may begin in."""
        return 1 << self.block_bits

    @property
    def block(self) -> int:
        """Digits of a block."""
        longest = self.prime - 1 if self.inverses_left else self.prime  # index of a digit
        return 1 << max(longest.bit_length(), self.whole.bit_length() - 1)

    @property
    def depth(self) -> int:
        """Digits of a bank."""
        return self.block << self.entry_bits

    @property
    def longest_prime_digits(self) -> int:
        """Digits of the longest prime that there is room for."""
        return self.block if self.inverses_left else self.block - 1

    def place(
        self,
        programs: Sequence[Program],
        multiplication: Multiplication,
        operands: Mapping[Command, Collection[Operand]],
        used_up: Mapping[Command, Collection[Operand]],
    ) -> BankedLayout:
        """Allocate the numbers of the programs of all lanes, which have one layout.

        Parameters
        ----------
        programs : of each lane
        multiplication : of these lanes
        operands : by a command's code those that it reads
        used_up : by a command's code those that it uses up, beside X

        Raises ValueError if they do not fit.
        """
        every = frozenset[Operand]().union(*operands.values())
        kept = {code: every - {Operand.X, *used} for code, used in used_up.items()}
        checked = {StepKind.CHECK_REDUCED} & frozenset().union(
            *(program.kinds for program in programs)
        )
        results = {
            code: (Core.RESULT, Core.SUM)
            if checked and code.operation.has_check
            else (Core.RESULT,)
            for code in used_up
        }
        steps = [step for program in programs for step in program.steps]
        copied = {
            (step.destination, step.copy)
            for step in steps
            if not isinstance(step.destination, Mode) and isinstance(step.copy, Operand | Scratch)
        }
        staying = {number for number in Retained for program in programs if number in program.made}
        stay: dict[Command, set[Location]] = {
            code: {*operands, *staying} for code, operands in kept.items()
        }
        found = conflicts(programs, multiplication, stay, results)
        named = every.union(*((step.destination, step.x, step.y) for step in steps))
        named |= {Core.SCALED, Core.QUOTIENT, *(copy for _, copy in copied)}
        modes = {reference for reference in named if isinstance(reference, Mode)}
        placed = allocate(
            found,
            banks_of(programs, found),
            self.blocks,
            same_block=[(Core.RESULT, Core.SUM), *sorted(copied, key=_by_names)],
            used_up=frozenset[Operand]().union(*used_up.values()),
            unnumbered=(len(modes), self._for_modes()),
            numbered=partial(_numbered, named),
            accepts=lambda found: modes <= self._layout(found, named).numbers.keys(),
        )
        return self._layout(placed, named)

    def _for_modes(self) -> list[BlockPlace]:
        """The blocks of the right bank whose numbers modes may have."""
        taken = () if self.inverses_left else range(1, 2 * len(_SINGLE), 2)
        return [BlockPlace(1, block) for block in range(self.blocks) if block not in taken]

    def _layout(self, placed: Allocation, named: Collection[Reference]) -> BankedLayout:
        """The numbers of what steps name, among them few entries of the table, and addresses."""
        numbers: dict[Reference, int] = {
            location: self.blocks * place.bank + place.block
            for location, place in placed.of.items()
            if location in named
        }
        numbers |= {
            high: numbers[both] + 1  # an even block, and the one after it
            for high, both in HALF_OF.items()
            if high in named
        }
        numbers |= {
            operand: self.blocks + (entry.entry or 0)
            for operand, (entry, _) in TABLE.items()
            if operand in named
        }
        inverses = [inverse for inverse in _SINGLE if inverse in named]
        of_inverses: dict[Reference, int] = dict(
            zip(inverses, self._blocks_of_inverses(placed), strict=False)
        )
        left, right = _MODES.values()
        right = tuple(mode for mode in right if mode is not Mode.THIRD or mode in named)
        # No step names an inverse; but of the right bank, a port that is asked for one would take
        # it for the mode. A mode of the left bank that finds no number there has one of the right:
        # no port is asked for it.
        for bank, modes in enumerate((left, (*right, *(mode for mode in left if mode in named)))):
            taken = {*numbers.values(), *(of_inverses.values() if bank else ())}
            of_bank = range(bank * self.blocks, (bank + 1) * self.blocks)
            wanting = [mode for mode in modes if mode not in numbers]
            numbers |= zip(
                wanting, (number for number in of_bank if number not in taken), strict=False
            )
        numbers |= of_inverses
        bases: dict[Location, int] = {
            location: number % self.blocks * self.block
            for location, number in numbers.items()
            if not isinstance(location, Mode)
        }
        for inverse in inverses:
            bases[inverse] += self.block - 1
        return BankedLayout(
            bases,
            self.depth,
            numbers,
            self.entry_bits,
            self.block_bits,
            self.inverses_left,
            placed,
        )

    def _blocks_of_inverses(self, placed: Allocation) -> Iterator[int]:
        """Odd blocks whose last digit is free, and, left, which nothing but the host writes."""
        if not self.inverses_left:
            yield from (self.blocks + block for block in range(1, self.blocks, 2))
            return
        for place, content in placed.contents.items():
            # The upper piece of a number of two blocks is a digit shorter than a block.
            is_free = all(isinstance(location, Operand) and part == 1 for location, part in content)
            if place.bank == 0 and place.block % 2 and is_free:
                yield place.block


def _by_names(pair: tuple[Location, Location]) -> list[tuple[bool, str, int]]:
    """A key for sorting pairs of numbers."""
    return [by_name((location, 0)) for location in pair]


def _words(whole: int, prime: int) -> int:
    return len(_WHOLE) * whole + len(_PRIME) * prime + len(_SINGLE)
