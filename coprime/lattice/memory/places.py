"""Where byte strings lie in the byte memory.

The parts of a decapsulation key are consecutive, `dk` = s || ek || hash || z with ek = t || rho,
and a ciphertext follows them. So ek is one range, and z || c is one, too. Seeds take places that
free them from being moved: G gives rho || sigma, and the place of the hash, after rho, is sigma's
until ek is hashed; likewise G gives key || coins. Everything but `dk`, `ek` and what begins with
them has the same address with every parameter set, since the end of dk has.

All addresses and lengths are multiples of 32 bytes, and those of two seeds, such as rho || sigma,
begin at a multiple of 64 bytes: so an address is a number of seeds and a count, without an adder.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coprime.model.lattice.ml_kem_sets import POLYNOMIAL_BYTES, SEED_BYTES, MlKemSet

_WORD_BYTES = 4
SEED_WORDS = SEED_BYTES // _WORD_BYTES
POLYNOMIAL_WORDS = POLYNOMIAL_BYTES // _WORD_BYTES
"""Words of the byte memory that a polynomial of 256 coefficients of 12 bits takes."""


@dataclass(frozen=True)
class Place:
    """A byte string: its first word's address, and its length in words, by parameter set.

    Both are multiples of SEED_WORDS; an address and length of two seeds have the address a multiple
    of two.
    """

    addresses: tuple[int, ...]
    words: tuple[int, ...]


def ml_kem_places(sets: Sequence[MlKemSet]) -> Mapping[str, Place]:
    """The byte strings of ML-KEM by name.

    dk, ek, d, z, m, c, key : slots. `ek` is the part of `dk`; `key` is K, of encapsulation and of
        decapsulation, or K' until it is known whether the ciphertext is genuine
    s, t : vectors of k polynomials in dk, of 12 bits a coefficient
    rho, hash : in dk
    sigma : the seed of s and e, in the place of `hash`
    coins : r, after `key`
    rho_and_sigma, key_and_coins : both, consecutive
    refusal : the key of implicit rejection
    z_and_c : both, consecutive
    """
    vectors = [one.k * POLYNOMIAL_WORDS for one in sets]
    rho = 2 * max(vectors)  # the end of dk has the same address with every set
    ciphertexts = [one.ciphertext_bytes // _WORD_BYTES for one in sets]
    c = rho + 3 * SEED_WORDS
    free = c + max(ciphertexts)
    free += -free % (2 * SEED_WORDS)

    def fixed(address: int, words: int | Sequence[int]) -> Place:
        found = (words,) * len(sets) if isinstance(words, int) else tuple(words)
        return Place((address,) * len(sets), found)

    def before_rho(count: int, words: Sequence[int]) -> Place:
        """A place that begins so many vectors before rho."""
        return Place(tuple(rho - count * one for one in vectors), tuple(words))

    seed = {
        name: fixed(address, SEED_WORDS)
        for name, address in {
            "rho": rho,
            "hash": rho + SEED_WORDS,
            "sigma": rho + SEED_WORDS,
            "z": rho + 2 * SEED_WORDS,
            **{
                name: free + k * SEED_WORDS
                for k, name in enumerate(("key", "coins", "d", "m", "refusal"))
            },
        }.items()
    }
    return {
        "dk": before_rho(2, [2 * one + 3 * SEED_WORDS for one in vectors]),
        "ek": before_rho(1, [one + SEED_WORDS for one in vectors]),
        "s": before_rho(2, vectors),
        "t": before_rho(1, vectors),
        "c": fixed(c, ciphertexts),
        "rho_and_sigma": fixed(rho, 2 * SEED_WORDS),
        "key_and_coins": fixed(free, 2 * SEED_WORDS),
        "z_and_c": fixed(seed["z"].addresses[0], [SEED_WORDS + one for one in ciphertexts]),
        **seed,
    }


def words_needed(places: Mapping[str, Place]) -> int:
    """Words of a memory that has room for these places."""
    return max(
        address + words
        for place in places.values()
        for address, words in zip(place.addresses, place.words, strict=True)
    )
