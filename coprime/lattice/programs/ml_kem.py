"""The programs of both sides for ML-KEM, next to each other.

Source: FIPS 203, algorithms 13 to 18. The arithmetic side takes the polynomials in the order in
which they are sampled: y or s by columns, then row by row a row of the matrix and its noise, and
e2 last.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from coprime.lattice.arithmetic.instructions import (
    ArithmeticProgram,
    AssembledArithmetic,
    LoopCount,
    PolynomialOperand,
    Width,
)
from coprime.lattice.memory.places import BytePlace
from coprime.lattice.sponge_side.instructions import AssembledProgram, Over, SpongeProgram, Tail
from coprime.model.lattice.ml_kem_sets import MlKemSet

from .entries import CHECK_BOTH, CHECK_DK, CHECK_EK, DECAPSULATE, ENCAPSULATE, KEY_PAIR, D, M, Z
from .places import ml_kem_places


@dataclass(frozen=True)
class Programs:
    """Both sides' programs, and the places that they use."""

    sponge: AssembledProgram
    arithmetic: AssembledArithmetic
    places: Mapping[str, BytePlace]


@cache
def ml_kem_programs(sets: tuple[MlKemSet, ...]) -> Programs:
    """The programs for these parameter sets.

    KEY_PAIR : d and z are drawn unless present; ek and dk
    ENCAPSULATE : m is drawn unless present; ek gives c and key
    DECAPSULATE : dk and c give key, or refusal: DECIDE finds which
    CHECK_EK, CHECK_DK, CHECK_BOTH : end with an error if coefficients of ek are not below q, if the
        hash of ek in dk is wrong, if either is
    """
    places = ml_kem_places(sets)
    return Programs(_sponge(sets, places), _arithmetic(sets, places), places)


def _sponge(sets: Sequence[MlKemSet], places: Mapping[str, BytePlace]) -> AssembledProgram:
    ks = tuple(one.k for one in sets)
    eta1, eta2 = ([getattr(one, name) for one in sets] for name in ("eta1", "eta2"))
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

    program.entry(KEY_PAIR)
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

    program.entry(ENCAPSULATE)
    program.draw(places["m"], M)
    hash_ek("ek", "digest")
    encryption("m", "digest", "ek_rho")

    program.entry(DECAPSULATE)
    program.hash("SHAKE256", places["refusal"])
    program.absorb(places["z_and_c"], last=True)
    program.await_post()
    encryption("message", "dk_hash", "dk_rho")

    program.entry(CHECK_DK)
    program.entry(CHECK_BOTH)
    hash_ek("dk_ek", "scratch")
    program.post()
    program.entry(CHECK_EK)
    program.end()
    return program.assemble()


def _arithmetic(sets: Sequence[MlKemSet], places: Mapping[str, BytePlace]) -> AssembledArithmetic:
    widths = [{Width.ONE: 1, Width.TWELVE: 12, Width.U: one.du, Width.V: one.dv} for one in sets]
    program = ArithmeticProgram(tuple(one.k for one in sets), tuple(widths))
    vector, acc, extra = (
        PolynomialOperand.VECTOR,
        PolynomialOperand.ACCUMULATOR,
        PolynomialOperand.EXTRA,
    )

    def sampled_vector() -> None:
        first = program.transform(vector, sample=True)
        program.pair()
        program.loop(LoopCount.COLUMNS, first)

    def product(*, sample: bool) -> int:
        """A row of the matrix, or a vector of bytes, times the vector."""
        first = program.multiply(sample=sample)
        program.loop(LoopCount.COLUMNS, first)
        return first

    def copy_seed(source: str, sink: str) -> None:
        program.seek(places[source])
        program.unpack(extra, Width.ONE)
        program.seek(places[sink])
        program.pack(extra, Width.ONE)

    def unpack_vector(place: str) -> None:
        program.seek(places[place])
        program.loop(LoopCount.COLUMNS, program.unpack(vector, Width.TWELVE))

    def pack_vector(place: str, *, compare: bool = False) -> None:
        program.seek(places[place])
        program.loop(LoopCount.COLUMNS, program.pack(vector, Width.TWELVE, compare=compare))

    def encryption(t: str, m: str, *, compare: bool) -> None:
        program.compare()
        sampled_vector()
        program.seek(places["c"])
        row = product(sample=True)
        program.inverse()
        program.pack(acc, Width.U, sample=True, compare=compare)
        program.loop(LoopCount.ROWS, row)
        program.seek(places[t])
        product(sample=False)
        program.inverse()
        program.seek(places[m])
        program.unpack(acc, Width.ONE, add=True)
        program.seek(places["c_v"])
        program.pack(acc, Width.V, sample=True, compare=compare)
        program.decide(compared=compare)
        program.end()

    program.entry(KEY_PAIR)
    program.await_post()
    copy_seed("z", "dk_z")
    sampled_vector()
    program.seek(places["dk_t"])
    row = product(sample=True)
    program.transform(extra, sample=True)
    program.exact_sum()
    program.pack(acc, Width.TWELVE)
    program.loop(LoopCount.ROWS, row)
    program.post()
    # While ek is hashed.
    pack_vector("dk_s")
    copy_seed("dk_rho", "ek_rho")
    unpack_vector("dk_t")
    pack_vector("ek_t")
    program.end()

    program.entry(ENCAPSULATE)
    encryption("ek_t", "m", compare=False)

    program.entry(DECAPSULATE)
    program.seek(places["c"])
    first = program.unpack(vector, Width.U)
    program.transform(vector)
    program.pair()
    program.loop(LoopCount.COLUMNS, first)
    program.seek(places["dk_s"])
    product(sample=False)
    program.inverse()
    program.seek(places["c_v"])
    program.unpack(acc, Width.V, subtract=True)
    program.seek(places["message"])
    program.pack(acc, Width.ONE)
    program.post()
    encryption("dk_t", "message", compare=True)

    def check_ek() -> None:
        unpack_vector("ek_t")
        pack_vector("ek_t", compare=True)

    def check_dk() -> None:
        program.await_post()
        program.seek(places["scratch"])
        program.unpack(extra, Width.ONE)
        program.seek(places["dk_hash"])
        program.pack(extra, Width.ONE, compare=True)
        program.end(refuses=True)

    program.entry(CHECK_EK)
    program.compare()
    check_ek()
    program.end(refuses=True)
    program.entry(CHECK_BOTH)
    program.compare()
    check_ek()
    check_dk()
    program.entry(CHECK_DK)
    program.compare()
    check_dk()
    return program.assemble()
