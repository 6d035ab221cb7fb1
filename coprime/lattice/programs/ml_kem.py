"""The programs of both sides for ML-KEM, next to each other.

Source: FIPS 203, algorithms 13 to 18. The arithmetic side takes the polynomials in the order in
which they are sampled: y or s by columns, then row by row a row of the matrix and its noise, and
e2 last.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from coprime.lattice.arithmetic.instructions import (
    ArithmeticProgram,
    AssembledArithmetic,
    LoopCount,
    PolynomialOperand,
    Width,
)
from coprime.lattice.memory.places import BytePlace
from coprime.lattice.sponge_side.instructions import Over, SpongeProgram, Tail
from coprime.model.lattice.ml_kem_sets import MlKemSet

from .entries import D, LatticeRoutine, M, Z
from .places import ml_kem_places
from .programs import SchemePrograms


@cache
def ml_kem_programs(
    sets: tuple[MlKemSet, ...], *, exchanges: bool = False
) -> SchemePrograms[AssembledArithmetic]:
    """The programs for these parameter sets. With `exchanges` bytes have two places at once: the
    key pair's t is packed to both of its places, and seeds are copied word by word, not as
    polynomials.

    KEM_KEY_PAIR : d and z are drawn unless present; ek and dk
    ENCAPSULATE : m is drawn unless present; ek gives c and key
    DECAPSULATE : dk and c give key, or refusal: DECIDE finds which
    CHECK_EK, CHECK_DK, CHECK_BOTH : end with an error if coefficients of ek are not below q, if the
        hash of ek in dk is wrong, if either is
    """
    places = ml_kem_places(sets)
    arithmetic = _arithmetic(sets, places, exchanges=exchanges)
    return SchemePrograms(_sponge(sets, places), arithmetic, places)


def _sponge(sets: Sequence[MlKemSet], places: Mapping[str, BytePlace]) -> SpongeProgram:
    ks = tuple(parameter_set.k for parameter_set in sets)
    eta1 = [parameter_set.eta1 for parameter_set in sets]
    eta2 = [parameter_set.eta2 for parameter_set in sets]
    program = SpongeProgram(ks, ks, ks)

    def noise(eta: Sequence[int], seed: str) -> int:
        first = program.sample_binomial(eta)
        program.absorb(places[seed])
        program.tail(Tail.NONCE)
        return first

    def matrix_row(rho: str, tail: Tail) -> int:
        first = program.sample_uniform()
        program.absorb(places[rho])
        program.tail(tail)
        program.loop(Over.COLUMNS, first)
        return first

    def hash_ek(ek: str, into: str) -> None:
        program.hash("SHA3-256", places[into])
        program.absorb(places[ek], last=True)

    def encryption(m: str, digest: str, rho: str) -> None:
        """K and coins from m and the hash of ek; then the samples of an encryption."""
        program.settle()
        program.hash("SHA3-512", places["key_and_coins"])
        program.absorb(places[m])
        program.absorb(places[digest], last=True)
        program.settle()
        program.loop(Over.COLUMNS, noise(eta1, "coins"))
        row = matrix_row(rho, Tail.ROW_COLUMN)
        noise(eta2, "coins")
        program.loop(Over.ROWS, row)
        noise(eta2, "coins")
        program.end()

    program.entry(LatticeRoutine.KEM_KEY_PAIR.name)
    program.draw(places["d"], D)
    program.draw(places["z"], Z)
    program.post()
    program.hash("SHA3-512", places["rho_and_sigma"])
    program.absorb(places["d"])
    program.tail(Tail.CONSTANT)
    program.settle()
    program.loop(Over.COLUMNS, noise(eta1, "sigma"))
    row = matrix_row("dk_rho", Tail.COLUMN_ROW)
    noise(eta1, "sigma")
    program.loop(Over.ROWS, row)
    program.await_post()
    hash_ek("dk_ek", "dk_hash")
    program.end()

    program.entry(LatticeRoutine.ENCAPSULATE.name)
    program.draw(places["m"], M)
    hash_ek("ek", "digest")
    encryption("m", "digest", "ek_rho")

    program.entry(LatticeRoutine.DECAPSULATE.name)
    program.hash("SHAKE256", places["refusal"])
    program.absorb(places["z_and_c"], last=True)
    program.await_post()
    encryption("message", "dk_hash", "dk_rho")

    program.entry(LatticeRoutine.CHECK_DK.name)
    program.entry(LatticeRoutine.CHECK_BOTH.name)
    hash_ek("dk_ek", "scratch")
    program.post()
    program.entry(LatticeRoutine.CHECK_EK.name)
    program.end()
    return program


_VECTOR, _ACC, _EXTRA = (
    PolynomialOperand.VECTOR,
    PolynomialOperand.ACCUMULATOR,
    PolynomialOperand.EXTRA,
)


class _ArithmeticText:
    """The program of the arithmetic side, call by call."""

    def __init__(
        self, program: ArithmeticProgram, places: Mapping[str, BytePlace], *, exchanges: bool
    ):
        self.program, self.places, self.exchanges = program, places, exchanges

    def sampled_vector(self) -> None:
        first = self.program.transform(_VECTOR, sample=True)
        self.program.pair()
        self.program.loop(LoopCount.COLUMNS, first)

    def product(self, *, sample: bool) -> int:
        """A row of the matrix, or a vector of bytes, times the vector."""
        first = self.program.multiply(sample=sample)
        self.program.loop(LoopCount.COLUMNS, first)
        return first

    def copy_seed(self, source: str, sink: str) -> None:
        if self.exchanges:
            self.program.seek(self.places[sink])
            self.program.exchange()
            self.program.seek(self.places[source])
            self.program.copy()
            return
        self.program.seek(self.places[source])
        self.program.unpack(_EXTRA, Width.ONE)
        self.program.seek(self.places[sink])
        self.program.pack(_EXTRA, Width.ONE)

    def unpack_vector(self, place: str) -> None:
        self.program.seek(self.places[place])
        self.program.loop(LoopCount.COLUMNS, self.program.unpack(_VECTOR, Width.TWELVE))

    def pack_vector(self, place: str, *, compare: bool = False) -> None:
        self.program.seek(self.places[place])
        self.program.loop(
            LoopCount.COLUMNS, self.program.pack(_VECTOR, Width.TWELVE, compare=compare)
        )

    def encryption(self, t: str, m: str, *, compare: bool) -> None:
        self.program.compare()
        self.sampled_vector()
        self.program.seek(self.places["c"])
        row = self.product(sample=True)
        self.program.inverse()
        self.program.pack(_ACC, Width.U, sample=True, compare=compare)
        self.program.loop(LoopCount.ROWS, row)
        self.program.seek(self.places[t])
        self.product(sample=False)
        self.program.inverse()
        self.program.seek(self.places[m])
        self.program.unpack(_ACC, Width.ONE, add=True)
        self.program.seek(self.places["c_v"])
        self.program.pack(_ACC, Width.V, sample=True, compare=compare)
        self.program.decide(compared=compare)
        self.program.end()

    def key_pair(self) -> None:
        self.program.entry(LatticeRoutine.KEM_KEY_PAIR.name)
        self.program.await_post()
        self.copy_seed("z", "dk_z")
        self.sampled_vector()
        if self.exchanges:
            self.program.seek(self.places["ek_t"])
            self.program.exchange()
        self.program.seek(self.places["dk_t"])
        row = self.product(sample=True)
        self.program.transform(_EXTRA, sample=True)
        self.program.exact_sum()
        self.program.pack(_ACC, Width.TWELVE)
        if self.exchanges:
            self.program.exchange()
            self.program.pack(_ACC, Width.TWELVE)
            self.program.exchange()
        self.program.loop(LoopCount.ROWS, row)
        self.program.post()
        # While ek is hashed.
        self.pack_vector("dk_s")
        self.copy_seed("dk_rho", "ek_rho")
        if not self.exchanges:
            self.unpack_vector("dk_t")
            self.pack_vector("ek_t")
        self.program.end()

    def encapsulate(self) -> None:
        self.program.entry(LatticeRoutine.ENCAPSULATE.name)
        self.encryption("ek_t", "m", compare=False)

    def decapsulate(self) -> None:
        self.program.entry(LatticeRoutine.DECAPSULATE.name)
        self.program.seek(self.places["c"])
        first = self.program.unpack(_VECTOR, Width.U)
        self.program.transform(_VECTOR)
        self.program.pair()
        self.program.loop(LoopCount.COLUMNS, first)
        self.program.seek(self.places["dk_s"])
        self.product(sample=False)
        self.program.inverse()
        self.program.seek(self.places["c_v"])
        self.program.unpack(_ACC, Width.V, subtract=True)
        self.program.seek(self.places["message"])
        self.program.pack(_ACC, Width.ONE)
        self.program.post()
        self.encryption("dk_t", "message", compare=True)

    def check_ek(self) -> None:
        self.unpack_vector("ek_t")
        self.pack_vector("ek_t", compare=True)

    def check_dk(self) -> None:
        self.program.await_post()
        self.program.seek(self.places["scratch"])
        self.program.unpack(_EXTRA, Width.ONE)
        self.program.seek(self.places["dk_hash"])
        self.program.pack(_EXTRA, Width.ONE, compare=True)
        self.program.end(refuses=True)

    def checks(self) -> None:
        self.program.entry(LatticeRoutine.CHECK_EK.name)
        self.program.compare()
        self.check_ek()
        self.program.end(refuses=True)
        self.program.entry(LatticeRoutine.CHECK_BOTH.name)
        self.program.compare()
        self.check_ek()
        self.check_dk()
        self.program.entry(LatticeRoutine.CHECK_DK.name)
        self.program.compare()
        self.check_dk()


def _arithmetic(
    sets: Sequence[MlKemSet], places: Mapping[str, BytePlace], *, exchanges: bool
) -> AssembledArithmetic:
    widths = [
        {Width.ONE: 1, Width.TWELVE: 12, Width.U: parameter_set.du, Width.V: parameter_set.dv}
        for parameter_set in sets
    ]
    text = _ArithmeticText(
        ArithmeticProgram(tuple(parameter_set.k for parameter_set in sets), tuple(widths)),
        places,
        exchanges=exchanges,
    )
    text.key_pair()
    text.encapsulate()
    text.decapsulate()
    text.checks()
    return text.program.assemble()
