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
| DRAW | 32 random bytes have a destination, unless the host has loaded that slot | 1 |
| POST | count one of the semaphore that the arithmetic side waits for | 1 |
| AWAIT | wait for the arithmetic side's POST | 1 |
| LOOP | repeat from a label, once for each row or column, or always | 1 |
| END | end the program | 1 |

An instruction that `settles` waits until all outputs before it are written, and sampled. Rows,
columns, lengths and places may differ between parameter sets: these are data, and the machine knows
no scheme.

A uniform polynomial may need more bytes than its message was squeezed for. Then all later messages
are forgotten, and the program goes on from that message's HASH, with one more block. So between the
HASH of a uniform polynomial and the instruction that settles after it nothing but further messages
and loops is allowed: no POST, AWAIT or DRAW.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from coprime.lattice.memory.places import SEED_WORDS, BytePlace
from coprime.model.keccak import FUNCTIONS, Function

DRAWN_WORDS = SEED_WORDS


class InstructionKind(enum.Enum):
    """An instruction's kind."""

    END = 0
    HASH = 1
    ABSORB = 2
    DRAW = 3
    POST = 4
    AWAIT = 5
    LOOP = 6


class Destination(enum.Enum):
    """Where an output goes; of 3 bits."""

    BYTES = 0  # to the byte memory, word by word
    DRAWN = 1  # random bytes, to the byte memory
    UNIFORM = 4  # through rejection to the sample buffer
    BINOMIAL_2 = 6
    BINOMIAL_3 = 7


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


UNIFORM_BLOCKS = 3
"""Blocks of SHAKE128 that a uniform polynomial is squeezed from at first."""
UNIFORM_LENGTHS = tuple((UNIFORM_BLOCKS + more) * FUNCTIONS[4].rate_bytes // 4 for more in range(4))
"""Words of its output, by how often there were too few. After four failures, which nobody will ever
see, it begins with the first one again."""
_RANGES = 16
_DESTINATIONS = 4

PerSet = tuple[int, ...]


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
    unless: int | None = None
    over: Over | None = None
    label: int | None = None


@dataclass
class SpongeProgram:
    """A program, instruction by instruction. Each method adds one, or a tail to the last one, and
    returns its number, which a LOOP can lead to.

    Attributes
    ----------
    rows, columns : of the matrix, for each parameter set
    constant : the byte of Tail.CONSTANT, for each set
    instructions : so far
    entries : where calls begin, by name
    """

    rows: PerSet
    columns: PerSet
    constant: PerSet
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
        """Begin a message whose output is written to a place of one or two seeds."""
        return self._add(
            Instruction(
                InstructionKind.HASH,
                function=_function(function),
                destinations=(Destination.BYTES,) * self.sets,
                addresses=into.addresses,
                words=into.words,
            )
        )

    def sample_uniform(self) -> int:
        """Begin a message of SHAKE128 whose output becomes a uniform polynomial."""
        return self._add(
            Instruction(
                InstructionKind.HASH,
                function=_function("SHAKE128"),
                destinations=(Destination.UNIFORM,) * self.sets,
            )
        )

    def sample_binomial(self, eta: Sequence[int]) -> int:
        """Begin a message of SHAKE256 whose output becomes a polynomial of the centred binomial
        distribution with eta of 2 or 3, for each parameter set."""
        destinations = tuple(Destination[f"BINOMIAL_{one}"] for one in eta)
        return self._add(
            Instruction(
                InstructionKind.HASH,
                function=_function("SHAKE256"),
                destinations=destinations,
            )
        )

    def absorb(self, place: BytePlace, *, last: bool = False) -> int:
        """A range of the byte memory; the message may end with it."""
        return self._add(
            Instruction(
                InstructionKind.ABSORB, addresses=place.addresses, words=place.words, last=last
            )
        )

    def tail(self, tail: Tail) -> int:
        """The last bytes of the message, after a range. ValueError if there is none."""
        if not self.instructions or self.instructions[-1].kind is not InstructionKind.ABSORB:
            raise ValueError("a tail must follow a range: absorb one first")
        self.instructions[-1] = replace(self.instructions[-1], tail=tail, last=True)
        return len(self.instructions) - 1

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

    def await_post(self) -> int:
        """Wait for the arithmetic side, once all outputs are complete."""
        return self._add(Instruction(InstructionKind.AWAIT, settles=True))

    def settle(self) -> int:
        """Wait until all outputs are complete: a jump to the next instruction."""
        return self._add(
            Instruction(InstructionKind.LOOP, settles=True, over=Over.ALWAYS, label=self.next + 1)
        )

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
        return _assemble(self)


def _function(name: str) -> Function:
    return next(one for one in FUNCTIONS if one.name == name)


def output_words(destination: int, repeats: int, seeds: int) -> int:
    """Words that are squeezed for a destination, by its number: so many seeds, or what makes a
    polynomial."""
    if destination == Destination.UNIFORM.value:
        return UNIFORM_LENGTHS[repeats]
    eta = {Destination.BINOMIAL_2.value: 2, Destination.BINOMIAL_3.value: 3}.get(destination, 0)
    return 16 * eta or SEED_WORDS * seeds


@dataclass(frozen=True)
class AssembledProgram:
    """A program as the hardware has it.

    Attributes
    ----------
    instructions : by number
    words : of the program memory: fields as `fields`
    bases, seeds, destinations : tables by field and parameter set, row `field` + 2^bits * set: of
        a range the address and the length, in seeds, the length less 1; of a destination its number
    entries : first instruction of each call
    """

    instructions: tuple[Instruction, ...]
    words: tuple[int, ...]
    bases: tuple[int, ...]
    seeds: tuple[int, ...]
    destinations: tuple[int, ...]
    rows: PerSet
    columns: PerSet
    constant: PerSet
    entries: Mapping[str, int]

    @property
    def counter_bits(self) -> int:
        """Of the program counter."""
        return _counter_bits(len(self.words))

    @property
    def set_bits(self) -> int:
        """Of a parameter set's number."""
        return max(1, (len(self.rows) - 1).bit_length())

    @property
    def nonce_bits(self) -> int:
        """Of the nonce: a key pair or an encryption samples up to rows + columns + 1 of them."""
        return (max(map(sum, zip(self.rows, self.columns, strict=True))) + 1).bit_length()


_FIELDS = {"kind": 3, "settles": 1, "last": 1, "function": 3, "range": 4, "destination": 2}
_LABEL_BITS = _FIELDS["range"] + _FIELDS["destination"]


def _counter_bits(instructions: int) -> int:
    return max(_LABEL_BITS, (instructions - 1).bit_length())


def fields(counter_bits: int) -> Mapping[str, int]:
    """Fields of an instruction's word and their widths, the least significant first.

    LOOP has its Over as `function`, DRAW its bit of `present`, and ABSORB 4 more than its Tail, or
    0. The label of a LOOP is the number in the fields from `range` on.
    """
    return _FIELDS | {"more_label": counter_bits - _LABEL_BITS}


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


def _range_of(one: Instruction) -> tuple[PerSet, PerSet]:
    """Address, and length less 1, in seeds."""
    addresses, words = one.addresses or (), one.words or ()
    for address, count in zip(addresses, words, strict=True):
        step = 2 * SEED_WORDS if count == 2 * SEED_WORDS else SEED_WORDS
        if address % step or count % SEED_WORDS or count <= 0:
            raise ValueError(
                f"a range must have whole seeds of {SEED_WORDS} words, two of them at a multiple "
                f"of two, not {count!r} words at {address!r}"
            )
        if one.destinations and count > 2 * SEED_WORDS:
            raise ValueError(f"an output must have at most {2 * SEED_WORDS} words, not {count!r}")
    bases = tuple(address // SEED_WORDS for address in addresses)
    return bases, tuple(count // SEED_WORDS - 1 for count in words)


def _assemble(program: SpongeProgram) -> AssembledProgram:
    _check(program)
    ranges = _Rows("ranges", _RANGES, program.sets)
    destinations = _Rows("destinations", _DESTINATIONS, program.sets)
    bits = _counter_bits(len(program.instructions))
    words = []
    for one in program.instructions:
        values = {
            "kind": one.kind.value,
            "settles": one.settles,
            "last": one.last and one.tail is None,
        }
        if one.function is not None:
            values["function"] = FUNCTIONS.index(one.function)
        elif one.kind is InstructionKind.DRAW:
            values["function"] = one.unless or 0
        elif one.tail is not None:
            values["function"] = 4 + one.tail.value
        elif one.over is not None:
            values["function"] = one.over.value
        found = one.destinations
        if one.kind is InstructionKind.DRAW:  # the hardware makes it DRAWN
            found = (Destination.BYTES,) * program.sets
        if found:
            values["destination"] = destinations.place(tuple(into.value for into in found))
        if one.addresses is not None:
            values["range"] = ranges.place(*_range_of(one))
        word = start = 0
        for name, width in fields(bits).items():
            if name == "range" and one.label is not None:
                word |= one.label << start
            word |= int(values.get(name, 0)) << start
            start += width
        words.append(word)
    return AssembledProgram(
        tuple(program.instructions),
        tuple(words),
        ranges.table(0),
        ranges.table(1),
        destinations.table(0),
        program.rows,
        program.columns,
        program.constant,
        dict(program.entries),
    )


def _check(program: SpongeProgram) -> None:
    """Each path from a uniform polynomial to what settles has messages and loops only."""
    code = program.instructions
    pending = [k + 1 for k, one in enumerate(code) if Destination.UNIFORM in one.destinations]
    seen: set[int] = set()
    while pending:
        number = pending.pop()
        if number in seen:
            continue
        seen.add(number)
        one = code[number]
        if one.settles:
            continue
        if one.kind in (
            InstructionKind.POST,
            InstructionKind.AWAIT,
            InstructionKind.DRAW,
            InstructionKind.END,
        ):
            raise ValueError(
                f"instruction {number}, {one.kind.name}, must settle, as a uniform polynomial "
                "before it may be repeated"
            )
        if one.kind is InstructionKind.LOOP and one.label is not None:
            pending.append(one.label)
        if one.over is not Over.ALWAYS:
            pending.append(number + 1)
