"""The sponge side's program for ML-KEM.

Source: FIPS 203, algorithms 13, 14 and 16 to 18. The arithmetic side takes the polynomials in the
order in which they are sampled: y or s by columns, then row by row a row of the matrix and its
noise, at last e2.
"""

from collections.abc import Mapping, Sequence

from coprime.lattice.memory.places import Place
from coprime.model.lattice.ml_kem_sets import MlKemSet

from .instructions import AssembledProgram, Over, SpongeProgram, Tail

D, Z, M = range(3)
"""Bits of `present`: the host has loaded this seed."""


def ml_kem_program(sets: Sequence[MlKemSet], places: Mapping[str, Place]) -> AssembledProgram:
    """Entries, with the POSTs of the arithmetic side that they await:

    KEY_PAIR : d and z are drawn unless present. Samples s, then for each row its row of A and e.
        Awaits: t is packed. Then ek is hashed
    ENCAPSULATE : m is drawn unless present; key is K. Samples as an encryption
    DECAPSULATE : refusal is the key of implicit rejection. Awaits: m is packed. Then key is K',
        and it samples as an encryption
    HASH_KEY : refusal is the hash of ek, and it posts

    An encryption samples y, then for each row its row of A transposed and e1, and at last e2.
    """
    ks = tuple(one.k for one in sets)
    eta1, eta2 = ([getattr(one, name) for one in sets] for name in ("eta1", "eta2"))
    program = SpongeProgram(ks, ks, ks)

    def noise(eta: Sequence[int], seed: str) -> int:
        first = program.sample_binomial(eta)
        program.absorb(places[seed])
        program.tail(Tail.NONCE)
        return first

    def matrix_row(tail: Tail) -> int:
        first = program.sample_uniform()
        program.absorb(places["rho"])
        program.tail(tail)
        program.loop(Over.COLUMNS, first)
        return first

    def hash_ek(into: str) -> None:
        program.hash("SHA3-256", places[into])
        program.absorb(places["ek"], last=True)

    def key_and_coins() -> None:
        program.settle()
        program.hash("SHA3-512", places["key_and_coins"])
        program.absorb(places["m"])
        program.absorb(places["hash"], last=True)

    program.entry("KEY_PAIR")
    program.draw(places["d"], D)
    program.draw(places["z"], Z)
    program.settle()
    program.hash("SHA3-512", places["rho_and_sigma"])
    program.absorb(places["d"])
    program.tail(Tail.CONSTANT)
    program.settle()
    program.loop(Over.COLUMNS, noise(eta1, "sigma"))
    row = matrix_row(Tail.COLUMN_ROW)
    noise(eta1, "sigma")
    program.loop(Over.ROWS, row)
    program.await_post()
    hash_ek("hash")
    program.end()

    program.entry("ENCAPSULATE")
    program.draw(places["m"], M)
    hash_ek("hash")
    key_and_coins()
    encryption = program.settle()
    program.loop(Over.COLUMNS, noise(eta1, "coins"))
    row = matrix_row(Tail.ROW_COLUMN)
    noise(eta2, "coins")
    program.loop(Over.ROWS, row)
    noise(eta2, "coins")
    program.end()

    program.entry("DECAPSULATE")
    program.hash("SHAKE256", places["refusal"])
    program.absorb(places["z_and_c"], last=True)
    program.await_post()
    key_and_coins()
    program.jump(encryption)

    program.entry("HASH_KEY")
    hash_ek("refusal")
    program.post()
    program.end()
    return program.assemble()
