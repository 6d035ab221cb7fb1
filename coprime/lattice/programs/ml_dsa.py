"""The programs of both sides for ML-DSA, next to each other.

Source: FIPS 204, algorithms 6 to 8. The arithmetic side takes the polynomials in the order in which
they are sampled.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from coprime.lattice.arithmetic.large_bytes import PackedForm
from coprime.lattice.arithmetic.large_instructions import (
    Adds,
    AssembledLarge,
    Index,
    LargeCode,
    LargeLoop,
    LargeProgram,
    LargeWidth,
    Operand,
)
from coprime.lattice.memory.places import BytePlace
from coprime.lattice.sponge_side.instructions import AssembledProgram, Over, SpongeProgram, Tail
from coprime.model.lattice.ml_dsa_sets import MlDsaSet

from .ml_dsa_entries import MU_OF_PK, VERIFY
from .ml_dsa_places import UNIT_WORDS, ml_dsa_places


@dataclass(frozen=True)
class LargePrograms:
    """Both sides' programs, and the places that they use."""

    sponge: AssembledProgram
    arithmetic: AssembledLarge
    places: Mapping[str, BytePlace]


@cache
def ml_dsa_programs(sets: tuple[MlDsaSet, ...], *, verify_only: bool) -> LargePrograms:
    """The programs for these parameter sets.

    MU_OF_PK : pk and the stream of a message give mu; the sponge side's only
    VERIFY : of pk, mu and a signature: what both sides' checks have found says whether it is right
    """
    places = ml_dsa_places(sets, verify_only=verify_only)
    return LargePrograms(_SpongeText(sets, places).program.assemble(), _arithmetic(sets, places), places)


class _SpongeText:
    """The program of the sponge side, call by call."""

    def __init__(self, sets: tuple[MlDsaSet, ...], places: Mapping[str, BytePlace]):
        self.places, self.sets = places, sets
        self.program = SpongeProgram(
            tuple(one.k for one in sets),
            tuple(one.columns for one in sets),
            tuple(one.k | one.columns << 8 for one in sets),
            unit_words=UNIT_WORDS,
            large=True,
        )
        self.mu_of_pk()
        self.verify()

    def matrix(self, rho: str) -> None:
        """A, row by row."""
        row = self.program.sample_uniform()
        self.program.absorb(self.places[rho])
        self.program.tail(Tail.COLUMN_ROW)
        self.program.loop(Over.COLUMNS, row)
        self.program.loop(Over.ROWS, row)
        self.program.settle()

    def ball(self) -> None:
        self.program.sample_ball([one.tau for one in self.sets])
        self.program.absorb(self.places["c"], last=True)

    def mu_and_high_parts(self) -> None:
        """The rest of a message: each row of w1 once it is there."""
        self.program.absorb(self.places["mu"])
        row = self.program.await_post(settles=False)
        self.program.absorb_next(self.places["w1_row"].words, last_row=True)
        self.program.loop(Over.ROWS, row)

    def mu_of_pk(self) -> None:
        self.program.entry(MU_OF_PK)
        self.program.hash("SHAKE256", self.places["tr"])
        self.program.absorb(self.places["pk"], last=True)
        self.program.settle()
        self.program.hash("SHAKE256", self.places["mu"])
        self.program.absorb(self.places["tr"])
        self.program.stream()
        self.program.end()

    def verify(self) -> None:
        self.program.entry(VERIFY)
        self.ball()
        self.matrix("rho")
        self.program.compare(self.places["c"])
        self.mu_and_high_parts()
        self.program.end()


_VECTOR = Operand(0, Index.COLUMN)
_CHALLENGE = Operand(0, Index.LAST)
_SUM = Operand(1, Index.FIRST)


class _ArithmeticText:
    """The program of the arithmetic side, call by call."""

    def __init__(self, program: LargeProgram, places: Mapping[str, BytePlace]):
        self.program, self.places = program, places

    def row(self, operand: Operand, adds: Adds) -> None:
        """A row of the matrix times the vector, transformed back."""
        first = self.program.multiply(operand, _VECTOR, sample=True, adds=adds)
        self.program.loop(LargeLoop.COLUMNS, first)
        self.program.inverse(operand)

    def verify(self) -> None:
        program, places = self.program, self.places
        program.entry(VERIFY)
        program.do(LargeCode.CLEAR)
        program.seek(*(places[name] for name in ("hints", "z", "t1", "w1")))
        program.unpack(_SUM, places["hints"], LargeWidth.HINT)
        first = program.unpack(_VECTOR, places["z"], LargeWidth.MASKED, PackedForm.BELOW)
        program.transform(_VECTOR)
        program.loop(LargeLoop.COLUMNS, first)
        program.transform(_CHALLENGE, sample=True)
        row = program.unpack(_SUM, places["t1"], LargeWidth.T1)
        program.transform(_SUM)
        program.multiply(_SUM, _CHALLENGE, subtract=True)
        self.row(_SUM, Adds.ALWAYS)
        program.do(LargeCode.ROW)
        program.pack(_SUM, places["w1"], LargeWidth.HIGH, PackedForm.HIGH)
        program.do(LargeCode.POST)
        program.loop(LargeLoop.ROWS, row)
        program.do(LargeCode.REST)
        program.do(LargeCode.END)


def _arithmetic(
    sets: tuple[MlDsaSet, ...], places: Mapping[str, BytePlace]
) -> AssembledLarge:
    text = _ArithmeticText(LargeProgram(sets), places)
    text.verify()
    return text.program.assemble()
