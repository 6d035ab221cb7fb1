"""The programs of both sides for ML-DSA, next to each other.

Source: FIPS 204, algorithms 6 to 8. The arithmetic side takes the polynomials in the order in which
they are sampled.
"""

from collections.abc import Mapping
from functools import cache

from coprime.lattice.arithmetic.large_bytes import PackedForm
from coprime.lattice.arithmetic.large_instructions import (
    Adds,
    AssembledLarge,
    Index,
    LargeCode,
    LargeLoop,
    LargeOperand,
    LargeProgram,
    LargeWidth,
)
from coprime.lattice.arithmetic.large_steps import Part
from coprime.lattice.memory.places import BytePlace
from coprime.lattice.sponge_side.instructions import Over, SpongeProgram, Tail
from coprime.model.lattice.ml_dsa_sets import MlDsaSet

from .entries import RND, XI, LatticeRoutine
from .ml_dsa_places import ml_dsa_places
from .programs import SchemePrograms


@cache
def ml_dsa_programs(
    sets: tuple[MlDsaSet, ...], *, verify_only: bool, parallel: bool = False
) -> SchemePrograms[AssembledLarge]:
    """The programs for these parameter sets; `parallel` : for several lanes.

    MU_OF_PK, MU_OF_SK : pk, or sk, and the stream of a message give mu; the sponge side's only
    MATCH : the sponge side finds whether pk is that of sk
    CHECK_SK : both sides find whether the parts of sk belong together; pk, instead of a signature
    VERIFY : of pk, mu and a signature: what both sides' checks have found says whether it is right
    KEY_PAIR : xi is drawn unless present; pk and sk
    SIGN : rnd is drawn unless present; sk and mu give a signature
    """
    places = ml_dsa_places(sets, verify_only=verify_only)
    sponge, arithmetic = (
        _SpongeText(sets, places, parallel=parallel),
        _ArithmeticText(LargeProgram(sets, parallel), places),
    )
    texts: tuple[_SpongeText | _ArithmeticText, ...] = (sponge, arithmetic)
    sponge.mu_of_pk()
    for text in texts:
        text.verify()
    if not verify_only:
        sponge.mu_of_sk()
        sponge.match()
        for text in texts:
            text.key_pair()
            text.sign()
            text.check_sk()
    return SchemePrograms(sponge.program, arithmetic.program.assemble(), places)


class _SpongeText:
    """The program of the sponge side, call by call."""

    def __init__(
        self, sets: tuple[MlDsaSet, ...], places: Mapping[str, BytePlace], *, parallel: bool
    ):
        self.places, self.sets, self.parallel = places, sets, parallel
        self.program = SpongeProgram(
            tuple(parameter_set.k for parameter_set in sets),
            tuple(parameter_set.columns for parameter_set in sets),
            tuple(parameter_set.k | parameter_set.columns << 8 for parameter_set in sets),
            large=True,
            pairs=parallel,
        )

    def row(self, rho: str) -> int:
        """A row of A."""
        first = self.program.sample_uniform()
        self.program.absorb(self.places[rho])
        self.program.tail(Tail.COLUMN_ROW)
        self.program.loop(Over.COLUMNS, first)
        return first

    def short(self) -> int:
        """A polynomial of s1 or s2."""
        first = self.program.sample_short([parameter_set.eta for parameter_set in self.sets])
        self.program.absorb(self.places["sk_seed"])
        self.program.tail(Tail.NONCE)
        return first

    def masks(self) -> None:
        """y, by columns."""
        first = self.program.sample_mask([parameter_set.z_bits for parameter_set in self.sets])
        self.program.absorb(self.places["rho2"])
        self.program.tail(Tail.NONCE)
        self.program.loop(Over.COLUMNS, first)

    def ball(self) -> None:
        self.program.sample_ball([parameter_set.tau for parameter_set in self.sets])
        self.program.absorb(self.places["c"], last=True)

    def mu(self, tr: str) -> None:
        self.program.hash("SHAKE256", self.places["mu"])
        self.program.absorb(self.places[tr])
        self.program.stream()
        self.program.end()

    def mu_and_high_parts(self) -> None:
        """The rest of a message: each row of w1 once it is there."""
        self.program.absorb(self.places["mu"])
        row = self.program.await_post(settles=False)
        self.program.absorb_next(self.places["w1_row"].words, last_row=True)
        self.program.loop(Over.ROWS, row)

    def mu_of_pk(self) -> None:
        self.program.entry(LatticeRoutine.MU_OF_PK.name)
        self.program.hash("SHAKE256", self.places["tr"])
        self.program.absorb(self.places["pk"], last=True)
        self.program.settle()
        self.mu("tr")

    def match(self) -> None:
        self.program.entry(LatticeRoutine.MATCH.name)
        self.program.compare(self.places["sk_tr"])
        self.program.absorb(self.places["pk"], last=True)
        self.program.end()

    def check_sk(self) -> None:
        program, places = self.program, self.places
        program.entry(LatticeRoutine.CHECK_SK.name)
        program.hash("SHAKE256", places["tr"])
        program.absorb(places["t0"], last=True)
        program.loop(Over.ROWS, self.row("sk_rho"))
        program.settle()
        program.copy(places["sk_rho"], places["rho"])
        program.await_post()
        program.compare(places["sk_tr"])
        program.absorb(places["pk"], last=True)
        program.settle()
        program.compare(places["tr"])
        program.absorb(places["made_t0"], last=True)
        program.end()

    def mu_of_sk(self) -> None:
        self.program.entry(LatticeRoutine.MU_OF_SK.name)
        self.mu("sk_tr")

    def key_pair(self) -> None:
        program, places = self.program, self.places
        program.entry(LatticeRoutine.KEY_PAIR.name)
        program.draw(places["xi"], XI)
        program.settle()
        program.hash("SHAKE256", places["sk_head"])
        program.absorb(places["xi"])
        program.tail(Tail.CONSTANT)
        program.settle()
        program.loop(Over.COLUMNS, self.short())
        row = self.row("sk_rho")
        self.short()
        program.loop(Over.ROWS, row)
        program.settle()
        program.copy(places["drawn_key"], places["sk_key"])
        program.copy(places["sk_rho"], places["rho"])
        if self.parallel:
            # Rows of t1 are hashed once they are there.
            program.settle()
            program.hash("SHAKE256", places["sk_tr"])
            program.absorb(places["rho"])
            row = program.await_post(settles=False)
            program.absorb_next(places["t1_row"].words, last_row=True)
            program.loop(Over.ROWS, row)
        else:
            program.await_post()
            program.hash("SHAKE256", places["sk_tr"])
            program.absorb(places["pk"], last=True)
        program.end()

    def sign(self) -> None:
        program, places = self.program, self.places
        program.entry(LatticeRoutine.SIGN.name)
        program.draw(places["rnd"], RND)
        program.settle()
        program.hash("SHAKE256", places["rho2"])
        for name in ("sk_key", "rnd", "mu"):
            program.absorb(places[name], last=name == "mu")
        program.settle()
        again = program.next
        self.masks()
        program.loop(Over.ROWS, self.row("sk_rho"))
        program.settle()
        program.hash("SHAKE256", places["c"])
        self.mu_and_high_parts()
        program.settle()
        self.ball()
        program.await_post()
        program.loop(Over.REJECTED, again)
        program.rewind()
        self.masks()
        program.await_post()
        program.loop(Over.REJECTED, again)
        program.await_post()
        program.loop(Over.REJECTED, again)
        program.end()

    def verify(self) -> None:
        self.program.entry(LatticeRoutine.VERIFY.name)
        self.ball()
        self.program.loop(Over.ROWS, self.row("rho"))
        self.program.settle()
        self.program.compare(self.places["c"])
        self.mu_and_high_parts()
        self.program.end()


_VECTOR = LargeOperand(0, Index.COLUMN)
_CHALLENGE = LargeOperand(0, Index.LAST)
_SUM = LargeOperand(1, Index.FIRST)
_W = LargeOperand(1, Index.ROW)
_S1, _S2 = LargeOperand(2, Index.COLUMN_PAIR), LargeOperand(2, Index.ROW_PAIR)
"""Two polynomials share one."""
_PRODUCT = LargeOperand(0, Index.FIRST)
"""Once y is no longer needed."""
_Z = LargeOperand(0, Index.ROW_PAIR)
"""The same; another one, outside of loops over rows."""


class _ArithmeticText:
    """The program of the arithmetic side, call by call."""

    def __init__(self, program: LargeProgram, places: Mapping[str, BytePlace]):
        self.program, self.places = program, places

    def row(self, operand: LargeOperand, adds: Adds) -> int:
        """A row of the matrix times the vector, transformed back."""
        repeats = self.program.repeats
        first = self.program.multiply(operand, _VECTOR, sample=True, adds=adds, columns=repeats)
        if not repeats:
            self.program.loop(LargeLoop.COLUMNS, first)
        self.program.inverse(operand)
        return first

    def verify(self) -> None:
        program, places = self.program, self.places
        program.entry(LatticeRoutine.VERIFY.name)
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

    def key_pair(self) -> None:
        program, places = self.program, self.places
        s1, s2, t1, t0 = (places[name] for name in ("s1", "s2", "t1", "t0"))
        short, below = LargeWidth.SHORT, PackedForm.BELOW
        program.entry(LatticeRoutine.KEY_PAIR.name)
        program.do(LargeCode.CLEAR)
        program.seek(s1, s2, t1, t0)
        first = program.pack(_VECTOR, s1, short, below, sample=True, keep=True)
        program.transform(_VECTOR, sample=True)
        program.loop(LargeLoop.COLUMNS, first)
        row = self.row(_SUM, Adds.AFTER_FIRST)
        program.pack(_SUM, s2, short, below, sample=True, keep=True)
        program.sum(_SUM, sample=True)
        program.pack(_SUM, t1, LargeWidth.T1, PackedForm.TOP)
        if program.repeats:  # the row is hashed
            program.do(LargeCode.POST)
        program.pack(_SUM, t0, LargeWidth.T0, PackedForm.REST)
        program.loop(LargeLoop.ROWS, row)
        if not program.repeats:
            program.do(LargeCode.POST)
        program.do(LargeCode.END)

    def check_sk(self) -> None:
        """t1 and t0 are made again; s1 and s2 are in their bounds."""
        program, places = self.program, self.places
        s1, s2, t1, made = (places[name] for name in ("s1", "s2", "t1", "made_t0"))
        below = PackedForm.BELOW
        program.entry(LatticeRoutine.CHECK_SK.name)
        program.do(LargeCode.CLEAR)
        program.seek(s1, s2, t1, made)
        first = program.unpack(_VECTOR, s1, LargeWidth.SHORT, below)
        program.transform(_VECTOR)
        program.loop(LargeLoop.COLUMNS, first)
        row = self.row(_SUM, Adds.AFTER_FIRST)
        program.unpack(_CHALLENGE, s2, LargeWidth.SHORT, below)
        program.sum(_SUM, _CHALLENGE)
        program.pack(_SUM, t1, LargeWidth.T1, PackedForm.TOP)
        program.pack(_SUM, made, LargeWidth.T0, PackedForm.REST)
        program.loop(LargeLoop.ROWS, row)
        program.do(LargeCode.POST)
        program.do(LargeCode.END)

    def times_challenge(self, operand: LargeOperand) -> int:
        """The product of a transformed polynomial and c."""
        first = self.program.multiply(operand, _CHALLENGE, into=_PRODUCT)
        self.program.inverse(_PRODUCT)
        return first

    def shared(self, operand: LargeOperand, place: BytePlace, over: LargeLoop) -> None:
        """Each two polynomials of a secret vector share one, which is transformed."""
        program = self.program

        def unpack(*, add: bool) -> None:
            program.unpack(operand, place, LargeWidth.SHORT, add=add)

        program.pairs(over, lambda: unpack(add=False), lambda: unpack(add=True))
        program.pairs(over, lambda: program.transform(operand), lambda: None)

    def low(self, part: Part) -> None:
        """w - c s2, whose low parts are checked."""
        if part is Part.LOW:
            self.times_challenge(_S2)
        self.program.sum(_W, _PRODUCT, subtract=True, part=part)
        # No byte is written; a pair of narrow numbers never waits for one.
        width = LargeWidth.SHORT if self.program.repeats else LargeWidth.T0
        self.program.pack(_W, self.places["z"], width, PackedForm.LOW)

    def z(self, part: Part) -> None:
        """y + c s1, which is checked, and packed."""
        if part is Part.LOW:
            self.times_challenge(_S1)
        self.program.sum(_PRODUCT, into=_Z, sample=True, part=part, counts=True)
        self.program.pack(_Z, self.places["z"], LargeWidth.MASKED, PackedForm.BELOW)

    def sign(self) -> None:
        program, places = self.program, self.places
        t0, z = places["t0"], places["z"]
        program.entry(LatticeRoutine.SIGN.name)
        program.seek(places["s1"], places["s2"])
        for operand, name, over in ((_S1, "s1", LargeLoop.COLUMNS), (_S2, "s2", LargeLoop.ROWS)):
            self.shared(operand, places[name], over)
        again = program.do(LargeCode.CLEAR)
        program.seek(places["w1"], z, t0, places["hints"])
        program.loop(LargeLoop.COLUMNS, program.transform(_VECTOR, sample=True, counts=True))
        row = self.row(_W, Adds.AFTER_FIRST)
        program.pack(_W, places["w1"], LargeWidth.HIGH, PackedForm.HIGH)
        program.do(LargeCode.POST)
        program.loop(LargeLoop.ROWS, row)
        program.transform(_CHALLENGE, sample=True)
        program.pairs(LargeLoop.ROWS, lambda: self.low(Part.LOW), lambda: self.low(Part.HIGH))
        program.do(LargeCode.VERDICT)
        program.loop(LargeLoop.REJECTED, again)
        program.pairs(LargeLoop.COLUMNS, lambda: self.z(Part.LOW), lambda: self.z(Part.HIGH))
        program.do(LargeCode.VERDICT)
        program.loop(LargeLoop.REJECTED, again)
        row = program.unpack(_PRODUCT, t0, LargeWidth.T0)
        program.transform(_PRODUCT)
        self.times_challenge(_PRODUCT)
        program.hint(_W, _PRODUCT)
        program.loop(LargeLoop.ROWS, row)
        program.do(LargeCode.VERDICT)
        program.loop(LargeLoop.REJECTED, again)
        program.do(LargeCode.FINISH)
        program.pack(_PRODUCT, places["hints"], LargeWidth.HINT, PackedForm.BELOW, sample=True)
        program.do(LargeCode.END)
