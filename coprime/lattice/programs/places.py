"""Where ML-KEM's byte strings lie in the byte memory.

No two slots of the host share a word, so that what is loaded or computed changes nothing else that
is complete. The parts of a decapsulation key are consecutive, `dk` = s || t || rho || hash || z,
and a ciphertext follows z, as both are hashed together. G gives rho || sigma, and the place of the
hash, after rho, is sigma's until ek is hashed; likewise G gives K || coins. What begins with a
vector ends at the same address with every parameter set.
"""

from collections.abc import Mapping, Sequence

from coprime.lattice.memory.places import POLYNOMIAL_WORDS, SEED_WORDS, BytePlace
from coprime.model.lattice.ml_kem_sets import MlKemSet

_WORD_BYTES = 4


def ml_kem_places(sets: Sequence[MlKemSet]) -> Mapping[str, BytePlace]:
    """The byte strings of ML-KEM by name.

    d, z, ek, dk, m, c, key : slots
    ek_t, ek_rho : in ek
    dk_s, dk_t, dk_rho, dk_hash, dk_z : in dk; `dk_ek` is t || rho
    sigma : the seed of s and e, in the place of dk_hash
    c_v : the part of the ciphertext after the vector u
    z_and_c, key_and_coins, rho_and_sigma : two consecutive ones
    digest : the hash of ek, after m
    message : m, of decapsulation
    coins : after key
    refusal : the key of implicit rejection; its address differs from that of `key` in one bit
    scratch : a hash to compare, in the place of `coins`
    """
    vectors = [parameter_set.k * POLYNOMIAL_WORDS for parameter_set in sets]
    longest = max(vectors)
    ciphertexts = [parameter_set.ciphertext_bytes // _WORD_BYTES for parameter_set in sets]
    fixed: dict[str, int] = {}
    # Four seeds at an address that is a multiple of their length, so that one bit selects a key.
    start = 0
    for name in ("key", "coins", "refusal", "message", "m", "digest", "d", "z"):
        fixed[name] = start
        start += SEED_WORDS
    ek_rho = start + longest
    # Of two consecutive seeds that one hash gives the first has an even number.
    dk_rho = -(-(ek_rho + SEED_WORDS + 2 * longest) // (2 * SEED_WORDS)) * 2 * SEED_WORDS
    fixed |= {
        "scratch": fixed["coins"],
        "ek_rho": ek_rho,
        "dk_rho": dk_rho,
        "dk_hash": dk_rho + SEED_WORDS,
        "sigma": dk_rho + SEED_WORDS,
        "dk_z": dk_rho + 2 * SEED_WORDS,
    }
    count = len(sets)
    places = {
        name: BytePlace((address,) * count, (SEED_WORDS,) * count)
        for name, address in fixed.items()
    }

    def before(name: str, vectors_before: int, words: Sequence[int]) -> BytePlace:
        """A place that begins so many vectors before a seed."""
        end = fixed[name]
        return BytePlace(tuple(end - vectors_before * vector for vector in vectors), tuple(words))

    c = fixed["dk_z"] + SEED_WORDS
    u = [SEED_WORDS * parameter_set.k * parameter_set.du for parameter_set in sets]
    places |= {
        "ek": before("ek_rho", 1, [vector + SEED_WORDS for vector in vectors]),
        "ek_t": before("ek_rho", 1, vectors),
        "dk": before("dk_rho", 2, [2 * vector + 3 * SEED_WORDS for vector in vectors]),
        "dk_s": before("dk_rho", 2, vectors),
        "dk_t": before("dk_rho", 1, vectors),
        "dk_ek": before("dk_rho", 1, [vector + SEED_WORDS for vector in vectors]),
        "c": BytePlace((c,) * count, tuple(ciphertexts)),
        "c_v": BytePlace(
            tuple(c + length for length in u),
            tuple(ciphertext - length for ciphertext, length in zip(ciphertexts, u, strict=True)),
        ),
        "key_and_coins": BytePlace((fixed["key"],) * count, (2 * SEED_WORDS,) * count),
        "rho_and_sigma": BytePlace((dk_rho,) * count, (2 * SEED_WORDS,) * count),
        "z_and_c": BytePlace(
            (c - SEED_WORDS,) * count, tuple(SEED_WORDS + ciphertext for ciphertext in ciphertexts)
        ),
    }
    return places
