"""Instructions of the arithmetic side modulo 8380417, and programs made of them.

| instruction | effect | cycles, if it does not wait |
|---|---|---|
| a step of `large_steps` | by the datapath; it may wait for a sample | 2 and the step's |
| SEEK | a place's bytes are read, or written, from its begin on | 2 |
| POST | count one of the semaphore that the sponge side waits for | 2 |
| VERDICT | POST; from now on `rejected` says whether a check has failed since CLEAR | 2 |
| LOOP | repeat from a label, once for each row or column, or if `rejected` | 2 |
| CLEAR | forget what was checked; no hint was used | 2 |
| ROW | the high parts that are packed next are moved by the hints of the loop's row | 2 |
| FINISH | give the bytes of all hints that were found since CLEAR | 2 and those |
| REST | check the bytes after the last hint, and that all rules of hints were kept | 2 and those |
| END | end the program | 2 |

Each place has a running address of its own, so that rows may be read at one place while others are
written at a second one. Rows, columns, widths and places differ between parameter sets: these are
data, and the machine knows no scheme.
"""

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from coprime.lattice.memory.places import BytePlace
from coprime.model.lattice.ml_dsa_sets import DROPPED_BITS, T1_BITS, MlDsaSet

from .large_bytes import PackedForm
from .large_steps import LargeKind, LargeStep, Part
from .number_packer import HINT_BITS, ML_DSA_WIDTHS


class LargeCode(enum.Enum):
    """The codes of instructions that are no steps; a step has the number of its kind."""

    END = 8
    POST = 9
    VERDICT = 10
    SEEK = 11
    LOOP = 12
    CLEAR = 13
    ROW = 14
    REST = 15
    FINISH = 16


class Index(enum.Enum):
    """Which polynomial of a bank of eight."""

    COLUMN = 0  # that of the loop's column
    ROW = 1  # that of the loop's row
    FIRST = 2
    LAST = 3
    COLUMN_PAIR = 4  # that of the column without its lowest bit
    ROW_PAIR = 5  # that of the row with 1 as its lowest bit


class Adds(enum.Enum):
    """Whether MULTIPLY adds to what is there."""

    NEVER = 0
    ALWAYS = 1
    AFTER_FIRST = 2  # in all columns but the first one


class LargeWidth(enum.Enum):
    """Bits of a coefficient in bytes."""

    SHORT = 0  # the parameter set's, of s1 and s2
    HIGH = 1  # the set's, of w1
    MASKED = 2  # the set's, of z
    T1 = 3
    T0 = 4
    HINT = 5

    def bits(self, parameters: MlDsaSet) -> int:
        """With a parameter set."""
        return {
            LargeWidth.SHORT: parameters.s_bits,
            LargeWidth.HIGH: parameters.w1_bits,
            LargeWidth.MASKED: parameters.z_bits,
            LargeWidth.T1: T1_BITS,
            LargeWidth.T0: DROPPED_BITS,
            LargeWidth.HINT: HINT_BITS,
        }[self]


class LargeLoop(enum.Enum):
    """What a LOOP counts."""

    COLUMNS = 0
    ROWS = 1
    REJECTED = 2  # nothing
    ALWAYS = 3  # nothing: it jumps


BANK = 8
"""Polynomials of a bank."""
PLACE_BITS = 4
LABEL_BITS = 8
FIELDS = {
    "code": 5,
    "place": PLACE_BITS,
    "index": 3,
    "bank": 2,
    "other_index": 3,
    "other_bank": 2,
    "into_index": 3,
    "into_bank": 2,
    "sample": 1,
    "keep": 1,
    "adds": 2,
    "subtract": 1,
    "part": 2,
    "form": 3,
    "width": 3,
    "parity": 1,
}
"""Fields of an instruction's word and their widths, the least significant first. LOOP has its label
and what it counts instead of the fields after `code`. The parity of a word is even."""
WORD_BITS = sum(FIELDS.values())


@dataclass(frozen=True)
class LargeOperand:
    """A polynomial: a bank, and which one of it."""

    bank: int
    index: Index

    def region(self, row: int, column: int) -> int:
        """Its number in the memory."""
        place = {
            Index.COLUMN: column,
            Index.ROW: row,
            Index.FIRST: 0,
            Index.LAST: BANK - 1,
            Index.COLUMN_PAIR: column & ~1,
            Index.ROW_PAIR: row | 1,
        }
        return BANK * self.bank + place[self.index]


_FIRST = LargeOperand(0, Index.FIRST)


@dataclass(frozen=True)
class LargeInstruction:
    """An instruction; fields that its kind does not use have their defaults.

    Attributes
    ----------
    place : of SEEK, UNPACK and PACK: its number in the program's places
    operand, other, into, sample, adds, subtract, part, form, width : of a step
    keep : the sample is needed again by the next step; of MULTIPLY, in a program that repeats
        products: once for each column
    over, label : of LOOP
    """

    code: LargeKind | LargeCode
    place: int = 0
    operand: LargeOperand = _FIRST
    other: LargeOperand = _FIRST
    into: LargeOperand | None = None
    sample: bool = False
    keep: bool = False
    adds: Adds = Adds.NEVER
    subtract: bool = False
    part: Part = Part.WHOLE
    form: PackedForm = PackedForm.BELOW
    width: LargeWidth = LargeWidth.T1
    over: LargeLoop = LargeLoop.COLUMNS
    label: int = 0

    def __str__(self) -> str:
        """In words, without operands, places and labels."""
        if not isinstance(self.code, LargeKind):
            return self.code.name
        return f"{self.code.name}{' with a sample' if self.sample else ''}"

    @property
    def result(self) -> LargeOperand:
        """Where a step's result is written."""
        return self.into or self.operand

    def step(self, row: int, column: int, parameters: MlDsaSet) -> LargeStep:
        """The step in a row and a column, with a parameter set."""
        assert isinstance(self.code, LargeKind)
        adds = self.adds is Adds.ALWAYS or (self.adds is Adds.AFTER_FIRST and column > 0)
        return LargeStep(
            self.code,
            self.operand.region(row, column),
            self.other.region(row, column),
            self.result.region(row, column),
            self.sample,
            adds,
            self.subtract,
            self.part,
            self.form,
            self.width.bits(parameters),
        )

    def word(self) -> int:
        """As program memory has it."""
        word = self._word()
        return word | (word.bit_count() % 2) << WORD_BITS - 1

    def _word(self) -> int:
        code = int(self.code.value)
        if self.code is LargeCode.LOOP:
            return code | (self.label | self.over.value << LABEL_BITS) << FIELDS["code"]
        fields = {
            "code": code,
            "place": self.place,
            "index": self.operand.index.value,
            "bank": self.operand.bank,
            "other_index": self.other.index.value,
            "other_bank": self.other.bank,
            "into_index": self.result.index.value,
            "into_bank": self.result.bank,
            "sample": self.sample,
            "keep": self.keep,
            "adds": self.adds.value,
            "subtract": self.subtract,
            "part": self.part.value,
            "form": self.form.value,
            "width": self.width.value,
        }
        word = start = 0
        for name, width in FIELDS.items():
            word |= int(fields.get(name, 0)) << start
            start += width
        return word


@dataclass
class LargeProgram:
    """A program, instruction by instruction. Each method adds one, and returns its number, which a
    LOOP can lead to.

    Attributes
    ----------
    sets : the parameter sets
    repeats : a MULTIPLY may be one for each column, as with several lanes
    instructions : so far
    entries : where calls begin, by name
    """

    sets: tuple[MlDsaSet, ...]
    repeats: bool = False
    instructions: list[LargeInstruction] = field(default_factory=list)
    entries: dict[str, int] = field(default_factory=dict)
    places: list[BytePlace] = field(default_factory=list)

    def _add(self, instruction: LargeInstruction) -> int:
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def _place(self, place: BytePlace) -> int:
        if place not in self.places:
            self.places.append(place)
        return self.places.index(place)

    def entry(self, name: str) -> None:
        """A call begins with the next instruction."""
        self.entries[name] = len(self.instructions)

    def transform(
        self, operand: LargeOperand, *, sample: bool = False, counts: bool = False
    ) -> int:
        """A polynomial, or a sample, becomes its transform; `counts`: by the checksum."""
        adds = Adds.ALWAYS if counts else Adds.NEVER
        return self._add(
            LargeInstruction(LargeKind.TRANSFORM, operand=operand, sample=sample, adds=adds)
        )

    def inverse(self, operand: LargeOperand) -> int:
        """A sum of products becomes its inverse transform."""
        first = self._add(LargeInstruction(LargeKind.INVERSE, operand=operand))
        self._add(LargeInstruction(LargeKind.LAST, operand=operand))
        return first

    def multiply(
        self,
        operand: LargeOperand,
        other: LargeOperand,
        *,
        into: LargeOperand | None = None,
        sample: bool = False,
        adds: Adds = Adds.NEVER,
        subtract: bool = False,
        columns: bool = False,
    ) -> int:
        """P plus or minus the sample times the other one, or plus or minus P times the other one,
        which may be written somewhere else; with `columns`, in a program that repeats, once for
        each column. ValueError where P is added to its own product."""
        if adds is not Adds.NEVER and not sample:
            raise ValueError("only a product of a sample can be added to a polynomial")
        return self._add(
            LargeInstruction(
                *(LargeKind.MULTIPLY, 0, operand, other, into),
                sample=sample,
                keep=columns,
                adds=adds,
                subtract=subtract,
            )
        )

    def sum(
        self,
        operand: LargeOperand,
        other: LargeOperand = _FIRST,
        *,
        into: LargeOperand | None = None,
        sample: bool = False,
        subtract: bool = False,
        part: Part = Part.WHOLE,
        counts: bool = False,
    ) -> int:
        """P plus or minus another polynomial, or a part of it; or P, or a part of it, plus or minus
        the sample, which may be counted by the checksum."""
        return self._add(
            LargeInstruction(
                *(LargeKind.SUM, 0, operand, other, into),
                sample=sample,
                adds=Adds.ALWAYS if counts else Adds.NEVER,
                subtract=subtract,
                part=part,
            )
        )

    def hint(self, operand: LargeOperand, other: LargeOperand) -> int:
        """Hints where adding the other one, which is checked, changes the high parts of P."""
        return self._add(LargeInstruction(LargeKind.HINT, operand=operand, other=other))

    def unpack(
        self,
        operand: LargeOperand,
        place: BytePlace,
        width: LargeWidth,
        form: PackedForm = PackedForm.HIGH,
        *,
        add: bool = False,
    ) -> int:
        """A polynomial of bytes; with BELOW its coefficients are checked; with `add` it becomes the
        high part of a pair."""
        adds = Adds.ALWAYS if add else Adds.NEVER
        return self._add(
            LargeInstruction(
                *(LargeKind.UNPACK, self._place(place), operand),
                adds=adds,
                form=form,
                width=width,
            )
        )

    def pack(
        self,
        operand: LargeOperand,
        place: BytePlace,
        width: LargeWidth,
        form: PackedForm,
        *,
        sample: bool = False,
        keep: bool = False,
    ) -> int:
        """Bytes of a polynomial, or of a sample, which may be kept for the next step."""
        return self._add(
            LargeInstruction(
                *(LargeKind.PACK, self._place(place), operand),
                sample=sample,
                keep=keep,
                form=form,
                width=width,
            )
        )

    def seek(self, *places: BytePlace) -> int:
        """Bytes are read, or written, from the begin of each of these places on."""
        first = len(self.instructions)
        for place in places:
            self._add(LargeInstruction(LargeCode.SEEK, self._place(place)))
        return first

    def loop(self, over: LargeLoop, label: int) -> int:
        """Repeat from an instruction on."""
        return self._add(LargeInstruction(LargeCode.LOOP, over=over, label=label))

    def pairs(self, over: LargeLoop, even: Callable[[], object], odd: Callable[[], object]) -> None:
        """Instructions for even and odd rows, or columns, in turn; these may be an odd number."""
        first = len(self.instructions)
        even()
        following = len(self.instructions) + 2
        self.loop(over, following)
        jump = self.loop(LargeLoop.ALWAYS, 0)
        odd()
        self.loop(over, first)
        self.instructions[jump] = replace(self.instructions[jump], label=len(self.instructions))

    def do(self, code: LargeCode) -> int:
        """An instruction without operands."""
        return self._add(LargeInstruction(code))

    def assemble(self) -> "AssembledLarge":
        """ValueError where program or places do not fit into the memory's words."""
        for what, count, bits in (
            ("instructions", len(self.instructions), LABEL_BITS),
            ("places", len(self.places), PLACE_BITS),
        ):
            if count > 1 << bits:
                raise ValueError(f"a program must have at most {1 << bits} {what}, not {count}")
        return AssembledLarge(
            self.sets,
            tuple(self.instructions),
            tuple(instruction.word() for instruction in self.instructions),
            dict(self.entries),
            tuple(place.addresses for place in self.places),
            self.repeats,
        )


@dataclass(frozen=True)
class AssembledLarge:
    """A program as the hardware has it.

    Attributes
    ----------
    sets : the parameter sets
    instructions, words : by number
    entries : first instruction of each call
    places : addresses by the place's number, and then by parameter set
    repeats : as of LargeProgram
    """

    sets: tuple[MlDsaSet, ...]
    instructions: tuple[LargeInstruction, ...]
    words: tuple[int, ...]
    entries: Mapping[str, int]
    places: tuple[Sequence[int], ...]
    repeats: bool = False

    @property
    def set_bits(self) -> int:
        """Of a parameter set's number."""
        return max(1, (len(self.sets) - 1).bit_length())

    @property
    def regions(self) -> int:
        """Polynomials of the memory."""
        most_rows = max(parameter_set.k for parameter_set in self.sets) - 1
        most_columns = max(parameter_set.columns for parameter_set in self.sets) - 1
        used = [0]
        for instruction in self.instructions:
            if isinstance(instruction.code, LargeKind):
                operands = (instruction.operand, instruction.other, instruction.result)
                used += [x.region(most_rows, most_columns) for x in operands]
        return max(used) + 1

    def width_number(self, width: LargeWidth, parameter_set: int) -> int:
        """The number of a width's bits in ML_DSA_WIDTHS."""
        return ML_DSA_WIDTHS.index(width.bits(self.sets[parameter_set]))
