"""The sponge side's instructions, and programs made of them.

A message is a HASH, which begins it and says where its output goes, then ABSORB for each range of
the byte memory; the last one may have a tail of a few bytes. While its output is squeezed the
program goes on: the next message is taken and computed. Outputs are complete in the order of their
messages.

| instruction | effect | cycles, if it does not wait |
|---|---|---|
| HASH | begin a message of a function; its output of so many words has a destination | 1 |
| ABSORB | a range of the byte memory | 1, then the fetches of its words, at least 2 each |
| its tail | the message's last bytes: the set's constant, the nonce, or both loop counters | 1 |
| its stream | the rest of the message, from a stream of the host | 1 for each word |
| COPY | what is absorbed next goes to a place of the byte memory, and not to a message | 1 |
| DRAW | 32 random bytes have a destination, unless the host has loaded that slot | 1 |
| POST | count one of the semaphore that the arithmetic side waits for | 1 |
| AWAIT | wait for the arithmetic side's POST | 1 |
| LOOP | repeat from a label, for each row or column, after a rejection, or always | 1 |
| END | end the program | 1 |

An instruction that `settles` waits until all outputs before it are written, and sampled. Rows,
columns, lengths and places may differ between parameter sets: these are data, and the machine knows
no scheme.

A polynomial that is sampled by rejection may need more bytes than its message was squeezed for.
Then all later messages are forgotten, and the program goes on from that message's HASH, with one
more block. So between its HASH and the instruction that settles after it nothing but further
messages and loops is allowed: no POST, AWAIT, DRAW or COPY, and no stream.

A program of ML-DSA is `large`: it has more destinations, ranges and labels of more bits, and a
nonce and a constant of two bytes. Programs of several schemes may be assembled to one, with tables
in which each has the rows of its own parameter sets.
"""

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from coprime.lattice.memory.places import SEED_WORDS, BytePlace
from coprime.model.keccak import FUNCTIONS, Function
from coprime.model.lattice.ml_dsa import CHALLENGE_BLOCKS, ITERATIONS, SHORT_BLOCKS
from coprime.model.lattice.ml_dsa import UNIFORM_BLOCKS as LARGE_UNIFORM_BLOCKS
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS

DRAWN_WORDS = SEED_WORDS


PerSet = tuple[int, ...]


class InstructionKind(enum.Enum):
    """An instruction's kind."""

    END = 0
    HASH = 1
    ABSORB = 2
    DRAW = 3
    POST = 4
    AWAIT = 5
    LOOP = 6
    COPY = 7


class Destination(enum.Enum):
    """Where an output goes; of 3 bits, in a large program of 4."""

    BYTES = 0  # to the byte memory, word by word
    DRAWN = 1  # random bytes, to the byte memory
    COMPARED = 2  # with the words of a range
    COPIED = 3  # what is absorbed, to the byte memory
    UNIFORM = 4  # through rejection to the sample buffer
    BINOMIAL_2 = 6
    BINOMIAL_3 = 7
    # Of the sampler of ML-DSA: 8 more than its Sample, or a challenge with so many coefficients.
    LARGE_UNIFORM = 8
    BALL_60 = 9
    SHORT_2 = 10
    SHORT_4 = 11
    MASK_18 = 12
    MASK_20 = 13
    BALL_39 = 14
    BALL_49 = 15


class Tail(enum.Enum):
    """The bytes of a tail, the first one first."""

    CONSTANT = 0  # the parameter set's constant
    NONCE = 1  # the nonce; it counts up afterwards
    COLUMN_ROW = 2
    ROW_COLUMN = 3


class Over(enum.Enum):
    """What a LOOP counts."""

    COLUMNS = 0
    ROWS = 1
    ALWAYS = 2  # nothing: it jumps
    REJECTED = 3  # nothing: it jumps if the arithmetic side rejects
    REWIND = 4  # nothing: it jumps, and the nonce goes back by the number of columns


UNIFORM_BLOCKS = 3
"""Blocks of SHAKE128 that a uniform polynomial of ML-KEM is squeezed from at first."""
_BLOCK_WORDS = {"SHAKE128": FUNCTIONS[4].rate_bytes // 4, "SHAKE256": FUNCTIONS[5].rate_bytes // 4}
REPEATS = 4
"""Lengths of an output by how often there were too few bytes; after four failures, which nobody
will ever see, it begins with the first one again."""


def _blocks(function: str, first: int) -> PerSet:
    return tuple((first + more) * _BLOCK_WORDS[function] for more in range(REPEATS))


LENGTHS: Mapping[Destination, PerSet] = {
    Destination.UNIFORM: _blocks("SHAKE128", UNIFORM_BLOCKS),
    Destination.BINOMIAL_2: (32,) * REPEATS,
    Destination.BINOMIAL_3: (48,) * REPEATS,
    Destination.LARGE_UNIFORM: _blocks("SHAKE128", LARGE_UNIFORM_BLOCKS),
    Destination.SHORT_2: _blocks("SHAKE256", SHORT_BLOCKS[2]),
    Destination.SHORT_4: _blocks("SHAKE256", SHORT_BLOCKS[4]),
    Destination.MASK_18: (8 * 18,) * REPEATS,
    Destination.MASK_20: (8 * 20,) * REPEATS,
    **{
        Destination[f"BALL_{parameter_set.tau}"]: _blocks("SHAKE256", CHALLENGE_BLOCKS)
        for parameter_set in ML_DSA_SETS
    },
}
"""Words that a polynomial is squeezed from, by how often there were too few."""
PAIR_LENGTHS: Mapping[Destination, PerSet] = {
    Destination.LARGE_UNIFORM: (198, *LENGTHS[Destination.LARGE_UNIFORM][1:]),
    Destination.SHORT_2: (44, *LENGTHS[Destination.SHORT_2][1:]),
    Destination.SHORT_4: (96, *LENGTHS[Destination.SHORT_4][1:]),
}
"""The same where words are used as fast as they come: words that are seldom needed would cost
cycles. 198 do not suffice for one uniform polynomial in 2^36, 44 or 96 for one short one in 2^116.
"""
RETRIED = frozenset(into for into, words in LENGTHS.items() if words[0] != words[1])
"""Polynomials that may need more bytes."""


@dataclass(frozen=True)
class Format:
    """Widths of what a program is made of, in bits, and numbers of rows of its tables.

    Attributes
    ----------
    destination, range, destinations : of a destination's number; of the numbers of a range, and of
        a destination, in an instruction
    unit_words : words of the unit of addresses and lengths of ranges: a power of two
    units : of a number of units of a range
    """

    destination: int
    range: int
    destinations: int
    unit_words: int
    units: int

    @property
    def group_bits(self) -> int:
        """Of a word's number in a unit."""
        return (self.unit_words - 1).bit_length()

    @property
    def label(self) -> int:
        """Of the label of a LOOP that needs no more bits."""
        return self.range + self.destinations


SMALL = Format(destination=3, range=4, destinations=2, unit_words=SEED_WORDS, units=6)
"""Of ML-KEM. The longest range has 50 seeds: z and a ciphertext."""
LARGE = Format(destination=4, range=5, destinations=3, unit_words=4, units=8)
"""Of ML-DSA. The longest range has 162 units: a public key."""
LARGEST_OUTPUT = 32
"""Words of an output to the byte memory, at most."""


@dataclass(frozen=True)
class Instruction:
    """An instruction; fields that its kind does not use are None.

    Attributes
    ----------
    settles : wait until all outputs before are complete
    function : of a HASH
    destinations : of a HASH, for each parameter set
    addresses, words : of what is written, or absorbed, for each set
    last : the message ends with this ABSORB, or its tail
    tail : of an ABSORB
    streams : the message goes on with the stream, and ends with it
    continues : the range begins where the one before ended; `addresses` are 0
    last_row : the message ends with this ABSORB only in the last row
    unless : of a DRAW: the bit of `present` with which it does nothing
    over, label : of a LOOP, and the number of the instruction that it leads to
    """

    kind: InstructionKind
    settles: bool = False
    function: Function | None = None
    destinations: tuple[Destination, ...] = ()
    addresses: PerSet | None = None
    words: PerSet | None = None
    last: bool = False
    tail: Tail | None = None
    streams: bool = False
    continues: bool = False
    last_row: bool = False
    unless: int | None = None
    over: Over | None = None
    label: int | None = None

    def __str__(self) -> str:
        """In words, without places and labels."""
        if self.function is None:
            return self.kind.name
        into = " or ".join(dict.fromkeys(destination.name for destination in self.destinations))
        return f"{self.kind.name} {self.function.name} for {into}"


@dataclass
class SpongeProgram:
    """A program, instruction by instruction. Each method adds one, or a tail to the last one, and
    returns its number, which a LOOP can lead to.

    Attributes
    ----------
    rows, columns : of the matrix, for each parameter set
    constant : the byte of Tail.CONSTANT, for each set; of a large program two, the first one low
    large : it is a program of ML-DSA
    pairs : its polynomials are sampled in pairs, for several lanes; a range is absorbed a word a
        cycle
    instructions : so far
    entries : where calls begin, by name
    """

    rows: PerSet
    columns: PerSet
    constant: PerSet
    large: bool = False
    pairs: bool = False
    instructions: list[Instruction] = field(default_factory=list)
    entries: dict[str, int] = field(default_factory=dict)

    @property
    def sets(self) -> int:
        """How many parameter sets there are."""
        return len(self.rows)

    @property
    def next(self) -> int:
        """The number of the next instruction."""
        return len(self.instructions)

    def _add(self, instruction: Instruction) -> int:
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def entry(self, name: str) -> None:
        """A call begins with the next instruction."""
        self.entries[name] = self.next

    def hash(self, function: str, into: BytePlace) -> int:
        """Begin a message whose output is written to a place: of one or two seeds, or in a large
        program of at most 32 words."""
        return self._output(function, Destination.BYTES, into)

    def compare(self, place: BytePlace) -> int:
        """Begin a message of SHAKE256 whose output is compared with a place. Its message, and what
        is absorbed after it, must be followed by an instruction that settles."""
        return self._output("SHAKE256", Destination.COMPARED, place)

    def _output(self, function: str, destination: Destination, place: BytePlace) -> int:
        return self._add(
            Instruction(
                InstructionKind.HASH,
                function=_function(function),
                destinations=(destination,) * self.sets,
                addresses=place.addresses,
                words=place.words,
            )
        )

    def copy(self, source: BytePlace, into: BytePlace) -> int:
        """Words of a place to another one, once all outputs are complete."""
        self._add(
            Instruction(
                InstructionKind.COPY, settles=True, addresses=into.addresses, words=into.words
            )
        )
        self.absorb(source, last=True)
        return self.settle() - 2

    def _sample(self, function: str, destinations: tuple[Destination, ...]) -> int:
        return self._add(
            Instruction(
                InstructionKind.HASH, function=_function(function), destinations=destinations
            )
        )

    def sample_uniform(self) -> int:
        """Begin a message of SHAKE128 whose output becomes a uniform polynomial."""
        destination = Destination.LARGE_UNIFORM if self.large else Destination.UNIFORM
        return self._sample("SHAKE128", (destination,) * self.sets)

    def sample_short(self, etas: Sequence[int]) -> int:
        """Begin a message of SHAKE256 whose output becomes a polynomial with coefficients in
        [-eta, eta], eta of 2 or 4 for each parameter set."""
        return self._sample("SHAKE256", tuple(Destination[f"SHORT_{eta}"] for eta in etas))

    def sample_mask(self, z_bits: Sequence[int]) -> int:
        """Begin a message of SHAKE256 whose output becomes a polynomial of y, of numbers of 18 or
        20 bits for each parameter set."""
        return self._sample("SHAKE256", tuple(Destination[f"MASK_{bits}"] for bits in z_bits))

    def sample_ball(self, taus: Sequence[int]) -> int:
        """Begin a message of SHAKE256 whose output becomes a challenge with tau coefficients that
        are not 0: 39, 49 or 60, for each parameter set."""
        return self._sample("SHAKE256", tuple(Destination[f"BALL_{tau}"] for tau in taus))

    def sample_binomial(self, eta: Sequence[int]) -> int:
        """Begin a message of SHAKE256 whose output becomes a polynomial of the centred binomial
        distribution with eta of 2 or 3, for each parameter set."""
        return self._sample("SHAKE256", tuple(Destination[f"BINOMIAL_{number}"] for number in eta))

    def absorb(self, place: BytePlace, *, last: bool = False) -> int:
        """A range of the byte memory; the message may end with it."""
        return self._add(
            Instruction(
                InstructionKind.ABSORB, addresses=place.addresses, words=place.words, last=last
            )
        )

    def absorb_next(self, words: PerSet, *, last_row: bool = False) -> int:
        """A range that begins where the one before ended; with `last_row` the message ends with
        that of the last row."""
        return self._add(
            Instruction(
                InstructionKind.ABSORB,
                addresses=(0,) * self.sets,
                words=words,
                continues=True,
                last=last_row,
                last_row=last_row,
            )
        )

    def tail(self, tail: Tail) -> int:
        """The last bytes of the message, after a range. ValueError if there is none."""
        self._amend("a tail", tail=tail, last=True)
        return len(self.instructions) - 1

    def stream(self) -> int:
        """The message goes on with the host's stream, after a range, and ends with it. ValueError
        if there is none."""
        self._amend("a stream", streams=True)
        return len(self.instructions) - 1

    def _amend(self, what: str, **changes: Any) -> None:
        before = self.instructions[-1] if self.instructions else None
        if before is None or before.kind is not InstructionKind.ABSORB:
            raise ValueError(f"{what} must follow a range: absorb one first")
        self.instructions[-1] = replace(before, **changes)

    def draw(self, place: BytePlace, unless: int) -> int:
        """32 random bytes, unless this bit of `present` is 1."""
        return self._add(
            Instruction(
                InstructionKind.DRAW, addresses=place.addresses, words=place.words, unless=unless
            )
        )

    def post(self) -> int:
        """Tell the arithmetic side, once all outputs are complete."""
        return self._add(Instruction(InstructionKind.POST, settles=True))

    def await_post(self, *, settles: bool = True) -> int:
        """Wait for the arithmetic side, once all outputs are complete; or, if it does not settle,
        inside a message."""
        return self._add(Instruction(InstructionKind.AWAIT, settles=settles))

    def settle(self) -> int:
        """Wait until all outputs are complete: a jump to the next instruction."""
        return self._add(
            Instruction(InstructionKind.LOOP, settles=True, over=Over.ALWAYS, label=self.next + 1)
        )

    def rewind(self) -> int:
        """The nonce goes back by the number of columns."""
        return self.loop(Over.REWIND, self.next + 1)

    def loop(self, over: Over, label: int) -> int:
        """Repeat from an instruction on."""
        return self._add(Instruction(InstructionKind.LOOP, over=over, label=label))

    def jump(self, label: int) -> int:
        """Go on at an instruction."""
        return self.loop(Over.ALWAYS, label)

    def end(self) -> int:
        """End, once all outputs are complete."""
        return self._add(Instruction(InstructionKind.END, settles=True))

    def assemble(self) -> "AssembledProgram":
        """Words of program memory, and tables. ValueError where a rule above is broken."""
        return assembled([self])


def _function(name: str) -> Function:
    return next(function for function in FUNCTIONS if function.name == name)


def output_words(
    into: Destination, repeats: int, units: int, unit_words: int, *, pairs: bool = False
) -> int:
    """Words that are squeezed for a destination: so many units, or what makes a polynomial, which
    may be sampled in pairs."""
    if into not in LENGTHS:
        return unit_words * units
    return (PAIR_LENGTHS.get(into, LENGTHS[into]) if pairs else LENGTHS[into])[repeats]


@dataclass(frozen=True)
class AssembledProgram:
    """A program as the hardware has it.

    Attributes
    ----------
    instructions : by number
    words : of the program memory: fields as `fields`
    bases, units, destinations : tables by field and parameter set, row `field` + 2^bits * set: of
        a range the address and the length, in units, the length less 1; of a destination its number
    entries : first instruction of each call
    large_sets : by parameter set, whether it is of ML-DSA
    pairs : as of SpongeProgram, of all programs
    """

    instructions: tuple[Instruction, ...]
    words: tuple[int, ...]
    bases: tuple[int, ...]
    units: tuple[int, ...]
    destinations: tuple[int, ...]
    rows: PerSet
    columns: PerSet
    constant: PerSet
    entries: Mapping[str, int]
    large_sets: tuple[bool, ...]
    pairs: bool = False

    @property
    def large(self) -> bool:
        """It has a program of ML-DSA."""
        return any(self.large_sets)

    @property
    def format(self) -> Format:
        """Widths."""
        return LARGE if self.large else SMALL

    @property
    def counter_bits(self) -> int:
        """Of the program counter."""
        return _counter_bits(self.format, len(self.words))

    @property
    def fields(self) -> Mapping[str, int]:
        """Fields of an instruction's word."""
        return _fields(self.format, self.counter_bits)

    @property
    def uniform_ranges(self) -> set[tuple[PerSet, PerSet]]:
        """Addresses and words of all ranges that ML-KEM's uniform polynomials are sampled from; of
        a stream neither."""
        found, absorbs = set(), False
        for instruction in self.instructions:
            if instruction.kind in (InstructionKind.HASH, InstructionKind.COPY):
                absorbs = Destination.UNIFORM in instruction.destinations
            if absorbs and instruction.kind is InstructionKind.ABSORB:
                found.add((instruction.addresses or (), instruction.words or ()))
                found |= {((), ())} if instruction.streams else set()
        return found

    @property
    def set_bits(self) -> int:
        """Of a parameter set's number."""
        return max(1, (len(self.rows) - 1).bit_length())

    @property
    def nonce_bits(self) -> int:
        """Of the nonce: a key pair or an encryption samples up to rows + columns + 1 of them, and
        every iteration of a signature as many as there are columns."""
        sizes = zip(self.rows, self.columns, self.large_sets, strict=True)
        return max(
            ITERATIONS * columns if large else rows + columns + 1 for rows, columns, large in sizes
        ).bit_length()


def _counter_bits(widths: Format, instructions: int) -> int:
    return max(widths.label, (instructions - 1).bit_length())


def _fields(widths: Format, counter_bits: int) -> Mapping[str, int]:
    """Fields of an instruction's word and their widths, the least significant first.

    LOOP has its Over as `function`, DRAW its bit of `present`. ABSORB has 4 more than its Tail, or
    1 if it streams and 2 if it continues, and `destination` 1 if it ends only in the last row. The
    label of a LOOP is the number in the fields from `range` on.
    """
    return {
        "kind": 3,
        "settles": 1,
        "last": 1,
        "function": 3,
        "range": widths.range,
        "destination": widths.destinations,
        "more_label": counter_bits - widths.label,
    }


class _Rows:
    """Operands, each with a value for every parameter set, become rows of a table."""

    def __init__(self, name: str, room: int, sets: int):
        self.name, self.room, self.sets = name, room, sets
        self.rows: list[tuple[PerSet, ...]] = []

    def place(self, *values: PerSet) -> int:
        """The number of the row with these columns."""
        if values not in self.rows:
            self.rows.append(values)
        if len(self.rows) > self.room:
            raise ValueError(
                f"a program must have at most {self.room} different {self.name}, "
                f"and {values!r} is one more: share some"
            )
        return self.rows.index(values)

    def table(self, column: int) -> tuple[int, ...]:
        """Row by row for the first set, then for the next one."""
        rows = [row[column] for row in self.rows]
        rows += [(0,) * self.sets] * (self.room - len(rows))
        return tuple(row[k] for k in range(self.sets) for row in rows)


def _range_of(instruction: Instruction, widths: Format) -> tuple[PerSet, PerSet]:
    """Address, and length less 1, in units."""
    addresses, words = instruction.addresses or (), instruction.words or ()
    unit = widths.unit_words
    for address, count in zip(addresses, words, strict=True):
        step = 2 * unit if count == 2 * unit and widths is SMALL else unit
        if address % step or count % unit or count <= 0:
            raise ValueError(_RANGE_RULES[widths] + f", not {count!r} words at {address!r}")
        if instruction.kind is InstructionKind.DRAW and address % SEED_WORDS:
            raise ValueError(f"a seed must be drawn at a multiple of 8 words, not at {address!r}")
        longest = LARGEST_OUTPUT if widths is LARGE else 2 * unit
        if instruction.destinations and count > longest:
            raise ValueError(f"an output must have at most {longest} words, not {count!r}")
    bases = tuple(address // unit for address in addresses)
    return bases, tuple(count // unit - 1 for count in words)


_RANGE_RULES = {
    SMALL: f"a range must have whole seeds of {SEED_WORDS} words, two of them at a multiple of two",
    LARGE: f"a range must have whole units of {LARGE.unit_words} words, at a multiple of that",
}


def _function_field(instruction: Instruction) -> int:
    """The field `function`."""
    if instruction.function is not None:
        return FUNCTIONS.index(instruction.function)
    if instruction.tail is not None:
        return 4 + instruction.tail.value
    if instruction.over is not None:
        return instruction.over.value
    if instruction.kind is InstructionKind.DRAW:
        return instruction.unless or 0
    return instruction.streams + 2 * instruction.continues


def assembled(programs: Sequence[SpongeProgram]) -> AssembledProgram:
    """Programs of several schemes as one, its parameter sets in their order. ValueError where a
    rule above is broken."""
    widths = LARGE if any(program.large for program in programs) else SMALL
    bits = _counter_bits(widths, sum(len(program.instructions) for program in programs))
    parts: list[AssembledProgram] = []
    instructions: list[Instruction] = []
    sets = 0
    for program in programs:
        _check(program)
        first = len(instructions)
        moved = [
            instruction
            if instruction.label is None
            else replace(instruction, label=instruction.label + first)
            for instruction in program.instructions
        ]
        entries = {name: first + number for name, number in program.entries.items()}
        parts.append(replace(_part(program, moved, widths, bits), entries=entries))
        instructions += [_after_sets(instruction, sets) for instruction in moved]
        sets += program.sets

    def joined(column: Callable[[AssembledProgram], tuple[Any, ...]]) -> tuple[Any, ...]:
        return tuple(chain.from_iterable(map(column, parts)))

    return AssembledProgram(
        tuple(instructions),
        joined(lambda part: part.words),
        joined(lambda part: part.bases),
        joined(lambda part: part.units),
        joined(lambda part: part.destinations),
        joined(lambda part: part.rows),
        joined(lambda part: part.columns),
        joined(lambda part: part.constant),
        {name: number for part in parts for name, number in part.entries.items()},
        joined(lambda part: part.large_sets),
        all(program.pairs for program in programs),
    )


def _after_sets(instruction: Instruction, sets: int) -> Instruction:
    """An instruction whose operands are after those of so many parameter sets of others."""

    def after(values: Any) -> Any:
        return values[:1] * sets + values if values else values

    return replace(
        instruction,
        destinations=after(instruction.destinations),
        addresses=after(instruction.addresses),
        words=after(instruction.words),
    )


def _part(
    program: SpongeProgram, instructions: Sequence[Instruction], widths: Format, bits: int
) -> AssembledProgram:
    """A program whose labels have so many bits, and are right in all programs together."""
    ranges = _Rows("ranges", 1 << widths.range, program.sets)
    destinations = _Rows("destinations", 1 << widths.destinations, program.sets)
    words = []
    for instruction in instructions:
        values = {
            "kind": instruction.kind.value,
            "settles": instruction.settles,
            "last": instruction.last and instruction.tail is None,
            "function": _function_field(instruction),
            "destination": instruction.last_row,
        }
        found = instruction.destinations
        # The hardware adds the rest.
        if instruction.kind in (InstructionKind.DRAW, InstructionKind.COPY):
            found = (Destination.BYTES,) * program.sets
        if found:
            values["destination"] = destinations.place(tuple(into.value for into in found))
        if instruction.addresses is not None:
            values["range"] = ranges.place(*_range_of(instruction, widths))
        word = start = 0
        for name, width in _fields(widths, bits).items():
            if name == "range" and instruction.label is not None:
                word |= instruction.label << start
            word |= int(values.get(name, 0)) << start
            start += width
        words.append(word)
    return AssembledProgram(
        tuple(instructions),
        tuple(words),
        ranges.table(0),
        ranges.table(1),
        destinations.table(0),
        program.rows,
        program.columns,
        program.constant,
        program.entries,
        (program.large,) * program.sets,
    )


def _check(program: SpongeProgram) -> None:
    """Each path from a polynomial that may be repeated to what settles has messages and loops
    only, and no stream; each path from a comparison has no further message."""
    messages = (InstructionKind.HASH, InstructionKind.ABSORB, InstructionKind.LOOP)
    for number, instruction in _until_settled(program.instructions, RETRIED):
        if instruction.kind not in messages or instruction.streams:
            raise ValueError(
                f"instruction {number}, {instruction.kind.name}, must settle, as a uniform "
                "polynomial before it may be repeated"
            )
    for number, instruction in _until_settled(program.instructions, {Destination.COMPARED}):
        if instruction.kind is InstructionKind.HASH:
            raise ValueError(
                f"instruction {number}, HASH, must come after one that settles, as the comparison "
                "before it reads what it is compared with"
            )


def _until_settled(
    code: Sequence[Instruction], destinations: Set[Destination]
) -> Iterator[tuple[int, Instruction]]:
    """Instructions on paths from messages for these destinations to what settles."""
    pending = [
        k + 1 for k, instruction in enumerate(code) if destinations & set(instruction.destinations)
    ]
    seen: set[int] = set()
    while pending:
        number = pending.pop()
        instruction = code[number]
        if number in seen or instruction.settles:
            continue
        seen.add(number)
        yield number, instruction
        if instruction.label is not None:
            pending.append(instruction.label)
        if instruction.over not in (Over.ALWAYS, Over.REWIND):
            pending.append(number + 1)
