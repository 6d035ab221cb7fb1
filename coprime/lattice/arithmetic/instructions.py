"""The arithmetic side's instructions, and programs made of them.

| instruction | effect | cycles, if it does not wait |
|---|---|---|
| a step of `steps` | by the datapath; one that needs a sample waits for it | 2 and the step's |
| SEEK | bytes are read, or written, from a place on | 3 |
| EXCHANGE | bytes are read, or written, at a second place; the next time, where this was | 3 |
| COPY | a seed, from this place to the second one; both go on | 35 |
| POST | count one of the semaphore that the sponge side waits for | 3 |
| AWAIT | wait for the sponge side's POST | 3 |
| LOOP | repeat from a label, once for each row or column | 3 |
| COMPARE | begin comparing: forget all differences | 3 |
| DECIDE | the key is genuine if all was compared, and nothing has differed | 3 |
| END | end the program; with `refuses` with an error if something has differed | 1 |

Bytes follow those of the step before, so that vectors need one SEEK. Rows, columns, widths and
places differ between parameter sets: these are data, and the machine knows no scheme.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from coprime.lattice.memory.places import BytePlace

from .steps import BYTE_WIDTHS, PolynomialStep, Region, StepType


class Code(enum.Enum):
    """Instructions that are no steps: their codes, or OTHER and a bit of their own, as a decoder
    takes more LUTs than block RAM that is there. A step has the number of its kind."""

    SEEK = 9
    LOOP = 10
    END = 12
    EXCHANGE = "exchanges"
    COPY = "copies"
    POST = "post"
    AWAIT = "takes"
    COMPARE = "compares"
    DECIDE = "decides"


OTHER = 8


class PolynomialOperand(enum.Enum):
    """A step's polynomial."""

    VECTOR = 0  # of the loop's column
    ACCUMULATOR = 2
    EXTRA = 3


class Width(enum.Enum):
    """Bits of a coefficient in bytes."""

    ONE = 0
    TWELVE = 1
    U = 2  # the parameter set's, of a ciphertext's u
    V = 3


class LoopCount(enum.Enum):
    """What a LOOP counts."""

    COLUMNS = 0
    ROWS = 1


PLACE_BITS = 4
LABEL_BITS = 8
FIELDS = {
    "code": 4,
    "operand": 2,
    "sample": 1,
    "add": 1,
    "other": 1,
    "width": 2,
    "spare": 2,
    **dict.fromkeys(("post", "takes", "compares", "decides"), 1),
    "parity": 1,
}
"""Fields of an instruction's word and their widths, the least significant first. `spare` has a bit
for EXCHANGE and one for COPY, which only programs for several lanes have. SEEK has its place
in place of the fields after `code`, and LOOP its label and then what it counts. The parity of a
word is even."""
WORD_BITS = sum(FIELDS.values())
SPARE: Mapping[StepType | Code, int] = {Code.EXCHANGE: 1, Code.COPY: 2}
"""The bit of `spare` of an instruction."""


@dataclass(frozen=True)
class ArithmeticInstruction:
    """An instruction; fields that its kind does not use have their defaults.

    Attributes
    ----------
    operand, sample, add, other, width : of a step; `add` of MULTIPLY has no effect in the first
        column, `other` is `subtract` of UNPACK and `compare` of PACK. Of END, `other` is `refuses`;
        of DECIDE, that a column of polynomials and one more were to be compared, else none
    place : of SEEK, its number in the program's places
    over, label : of LOOP
    """

    code: StepType | Code
    operand: PolynomialOperand = PolynomialOperand.VECTOR
    sample: bool = False
    add: bool = False
    other: bool = False
    width: Width = Width.TWELVE
    place: int = 0
    over: LoopCount = LoopCount.COLUMNS
    label: int = 0

    def __str__(self) -> str:
        """In words, without places and labels."""
        if isinstance(self.code, Code):
            return self.code.name
        width = f" {self.width.name}" if self.code in (StepType.PACK, StepType.UNPACK) else ""
        sample = " with a sample" if self.sample else ""
        return f"{self.code.name} {self.operand.name}{width}{sample}"

    def step(self, column: int, widths: Mapping[Width, int]) -> PolynomialStep:
        """The step in a column, with the widths of a parameter set."""
        kind = self.code
        assert isinstance(kind, StepType)
        region = {
            PolynomialOperand.VECTOR: Region(column),
            PolynomialOperand.ACCUMULATOR: Region.ACCUMULATOR,
            PolynomialOperand.EXTRA: Region.EXTRA,
        }[self.operand]
        return PolynomialStep(
            kind,
            region,
            self.sample,
            self.add and not (kind is StepType.MULTIPLY and column == 0),
            self.other and kind is StepType.UNPACK,
            self.other and kind is StepType.PACK,
            widths[self.width],
        )

    def word(self) -> int:
        """As program memory has it."""
        word = self._word()
        return word | (word.bit_count() % 2) << WORD_BITS - 1

    def _word(self) -> int:
        code = OTHER if isinstance(self.code.value, str) else self.code.value
        if self.code is Code.SEEK:
            return code | self.place << FIELDS["code"]
        if self.code is Code.LOOP:
            return code | (self.label | self.over.value << LABEL_BITS) << FIELDS["code"]
        fields = {
            "code": code,
            "operand": self.operand.value,
            "sample": self.sample,
            "add": self.add,
            "other": self.other,
            "width": self.width.value,
            "spare": SPARE.get(self.code, 0),
        }
        if self.code.value in FIELDS:
            fields[str(self.code.value)] = 1
        word = start = 0
        for name, width in FIELDS.items():
            word |= int(fields.get(name, 0)) << start
            start += width
        return word


@dataclass
class ArithmeticProgram:
    """A program, instruction by instruction. Each method adds one, and returns its number, which a
    LOOP can lead to.

    Attributes
    ----------
    counts : rows, and columns, of the matrix, for each parameter set
    widths : by Width, for each parameter set
    instructions : so far
    entries : where calls begin, by name
    """

    counts: tuple[int, ...]
    widths: tuple[Mapping[Width, int], ...]
    instructions: list[ArithmeticInstruction] = field(default_factory=list)
    entries: dict[str, int] = field(default_factory=dict)
    places: list[BytePlace] = field(default_factory=list)

    def _add(self, instruction: ArithmeticInstruction) -> int:
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def entry(self, name: str) -> None:
        """A call begins with the next instruction."""
        self.entries[name] = len(self.instructions)

    def transform(self, operand: PolynomialOperand, *, sample: bool = False) -> int:
        """A polynomial, or a sample, becomes its transform."""
        return self._add(ArithmeticInstruction(StepType.TRANSFORM, operand, sample))

    def inverse(self) -> int:
        """The accumulator, a sum of products, becomes its inverse transform."""
        first = self._add(ArithmeticInstruction(StepType.INVERSE, PolynomialOperand.ACCUMULATOR))
        self._add(ArithmeticInstruction(StepType.LAST, PolynomialOperand.ACCUMULATOR))
        return first

    def pair(self) -> int:
        """Prepare the column's vector for MULTIPLY."""
        return self._add(ArithmeticInstruction(StepType.PAIR, PolynomialOperand.VECTOR))

    def multiply(self, *, sample: bool) -> int:
        """Add the product of the column's vector and a sample, or a polynomial of bytes, to the
        accumulator; the first column's is its first value."""
        return self._add(
            ArithmeticInstruction(StepType.MULTIPLY, PolynomialOperand.VECTOR, sample, add=True)
        )

    def exact_sum(self) -> int:
        """The accumulator, a sum of products, becomes exact, and EXTRA is added."""
        return self._add(ArithmeticInstruction(StepType.EXACT_SUM, PolynomialOperand.ACCUMULATOR))

    def unpack(
        self, operand: PolynomialOperand, width: Width, *, add: bool = False, subtract: bool = False
    ) -> int:
        """A polynomial of bytes; it may be added to the old one, or subtracted from it."""
        return self._add(
            ArithmeticInstruction(StepType.UNPACK, operand, add=add, other=subtract, width=width)
        )

    def pack(
        self,
        operand: PolynomialOperand,
        width: Width,
        *,
        sample: bool = False,
        compare: bool = False,
    ) -> int:
        """A polynomial, with a sample added, becomes bytes, or is compared with them."""
        return self._add(
            ArithmeticInstruction(StepType.PACK, operand, sample, other=compare, width=width)
        )

    def seek(self, place: BytePlace) -> int:
        """Bytes are read, or written, from a place on."""
        if place not in self.places:
            self.places.append(place)
        return self._add(ArithmeticInstruction(Code.SEEK, place=self.places.index(place)))

    def exchange(self) -> int:
        """Bytes are read, or written, at another place; the next time, where this was."""
        return self._add(ArithmeticInstruction(Code.EXCHANGE))

    def copy(self) -> int:
        """A seed is copied from this place to the second one; not after a step, whose last word may
        just be written."""
        return self._add(ArithmeticInstruction(Code.COPY))

    def loop(self, over: LoopCount, label: int) -> int:
        """Repeat from an instruction on."""
        return self._add(ArithmeticInstruction(Code.LOOP, over=over, label=label))

    def post(self) -> int:
        """Tell the sponge side."""
        return self._add(ArithmeticInstruction(Code.POST))

    def await_post(self) -> int:
        """Wait for the sponge side."""
        return self._add(ArithmeticInstruction(Code.AWAIT))

    def compare(self) -> int:
        """Begin comparing."""
        return self._add(ArithmeticInstruction(Code.COMPARE))

    def decide(self, *, compared: bool) -> int:
        """The key is genuine if nothing has differed: nothing of a column of polynomials and one
        more, or nothing of none. It is a fault if not so many were compared."""
        return self._add(ArithmeticInstruction(Code.DECIDE, other=compared))

    def end(self, *, refuses: bool = False) -> int:
        """End; perhaps with an error if something has differed."""
        return self._add(ArithmeticInstruction(Code.END, other=refuses))

    def assemble(self) -> "AssembledArithmetic":
        """ValueError where program or places do not fit into the memory's words."""
        if len(self.instructions) > 1 << LABEL_BITS:
            raise ValueError(
                f"a program must have at most {1 << LABEL_BITS} instructions, "
                f"not {len(self.instructions)}"
            )
        if len(self.places) > 1 << PLACE_BITS:
            raise ValueError(
                f"a program must have at most {1 << PLACE_BITS} places, not {len(self.places)}"
            )
        return AssembledArithmetic(
            tuple(self.instructions),
            tuple(instruction.word() for instruction in self.instructions),
            self.counts,
            self.widths,
            dict(self.entries),
            tuple(place.addresses for place in self.places),
        )


@dataclass(frozen=True)
class AssembledArithmetic:
    """A program as the hardware has it.

    Attributes
    ----------
    instructions, words : by number
    counts, widths : of ArithmeticProgram
    entries : first instruction of each call
    places : addresses by the place's number, and then by parameter set
    """

    instructions: tuple[ArithmeticInstruction, ...]
    words: tuple[int, ...]
    counts: tuple[int, ...]
    widths: tuple[Mapping[Width, int], ...]
    entries: Mapping[str, int]
    places: tuple[Sequence[int], ...]

    @property
    def exchanges(self) -> bool:
        """Whether there is an EXCHANGE."""
        return any(instruction.code is Code.EXCHANGE for instruction in self.instructions)

    @property
    def set_bits(self) -> int:
        """Of a parameter set's number."""
        return max(1, (len(self.counts) - 1).bit_length())

    def width_number(self, width: Width, parameter_set: int) -> int:
        """The number of a width's bits in BYTE_WIDTHS."""
        return BYTE_WIDTHS.index(self.widths[parameter_set][width])
