"""Where ML-DSA's byte strings lie in the byte memory.

No two slots of the host share a word. All addresses are multiples of UNIT_WORDS words, as c~ of
ML-DSA-65 has 48 bytes. The high parts of w follow mu, as both are hashed together. The 128 bytes
that a seed is hashed to are written to the begin of a private key: rho in its place, then rho' and
K in those of K and tr.
"""

from collections.abc import Mapping, Sequence

from coprime.lattice.memory.places import BytePlace
from coprime.model.lattice.ml_dsa_sets import (
    DROPPED_BITS,
    HASH_BYTES,
    SEED_BYTES,
    T1_BITS,
    MlDsaSet,
)

_WORD_BYTES = 4
UNIT_WORDS = 4
SEED, HASH = SEED_BYTES // _WORD_BYTES, HASH_BYTES // _WORD_BYTES
HEAD = 2 * SEED + HASH
"""Words of rho, K and tr."""
_OF_WIDTH = 8
"""Words of a polynomial, for each bit of a coefficient."""
HINTS_READ = 64
"""Words that are read, or written, from the first byte of hints on."""


def ml_dsa_places(sets: Sequence[MlDsaSet], *, verify_only: bool) -> Mapping[str, BytePlace]:
    """The byte strings of ML-DSA by name.

    pk, sk, signature, mu, xi, rnd : slots
    rho, t1 : in pk; t1_row : a row of it
    c, z, hints : in the signature
    tr : the hash of pk for mu
    w1 : high parts of w, after mu; w1_row : those of a row
    sk_head : rho || K || tr of sk; sk_seed : rho', and drawn_key : K, while a key pair is made
    sk_rho, sk_key, sk_tr, s1, s2, t0 : in sk
    rho2 : the seed of masks
    made_t0 : t0, made again, instead of a signature
    """
    places: dict[str, BytePlace] = {}
    end = 0

    def put(name: str, words: Sequence[int] | int, multiple: int = UNIT_WORDS) -> None:
        """After all others, at a multiple of so many words."""
        nonlocal end
        found = tuple([words] * len(sets) if isinstance(words, int) else words)
        start = -(-end // multiple) * multiple
        places[name] = BytePlace((start,) * len(sets), found)
        end = start + -(-max(found) // UNIT_WORDS) * UNIT_WORDS

    def within(name: str, outer: str, offset: Sequence[int] | int, words: Sequence[int]) -> None:
        offsets = [offset] * len(sets) if isinstance(offset, int) else offset
        starts = zip(places[outer].addresses, offsets, strict=True)
        places[name] = BytePlace(tuple(map(sum, starts)), tuple(words))

    def each(words: int) -> list[int]:
        return [words] * len(sets)

    w1_row = [_OF_WIDTH * parameter_set.w1_bits for parameter_set in sets]
    put("mu", HASH, HASH)
    put("w1", [parameter_set.k * row for parameter_set, row in zip(sets, w1_row, strict=True)])
    within("w1_row", "w1", 0, w1_row)
    put("tr", HASH, HASH)
    put("pk", [parameter_set.pk_bytes // _WORD_BYTES for parameter_set in sets])
    within("rho", "pk", 0, each(SEED))
    within("t1", "pk", SEED, [_OF_WIDTH * T1_BITS * parameter_set.k for parameter_set in sets])
    within("t1_row", "t1", 0, each(_OF_WIDTH * T1_BITS))
    if not verify_only:
        put("xi", SEED)
        put("rnd", SEED)
        put("rho2", HASH, HASH)
        put("sk", [parameter_set.sk_bytes // _WORD_BYTES for parameter_set in sets], HEAD)
        within("sk_head", "sk", 0, each(HEAD))
        within("sk_rho", "sk", 0, each(SEED))
        within("sk_key", "sk", SEED, each(SEED))
        within("sk_seed", "sk", SEED, each(HASH))
        within("sk_tr", "sk", 2 * SEED, each(HASH))
        within("drawn_key", "sk", HEAD - SEED, each(SEED))
        s1 = [_OF_WIDTH * parameter_set.s_bits * parameter_set.columns for parameter_set in sets]
        s2 = [_OF_WIDTH * parameter_set.s_bits * parameter_set.k for parameter_set in sets]
        within("s1", "sk", HEAD, s1)
        within("s2", "sk", [HEAD + length for length in s1], s2)
        t0 = [HEAD + s1_length + s2_length for s1_length, s2_length in zip(s1, s2, strict=True)]
        within(
            "t0", "sk", t0, [_OF_WIDTH * DROPPED_BITS * parameter_set.k for parameter_set in sets]
        )

    # c~ ends at one address with every set.
    challenges = [parameter_set.challenge_bytes // _WORD_BYTES for parameter_set in sets]
    z = -(-end // HASH) * HASH + HASH
    vectors = [_OF_WIDTH * parameter_set.z_bits * parameter_set.columns for parameter_set in sets]
    start = tuple(z - length for length in challenges)
    places["c"] = BytePlace(start, tuple(challenges))
    places["z"] = BytePlace((z,) * len(sets), tuple(vectors))
    places["hints"] = BytePlace(tuple(z + length for length in vectors), tuple(each(HINTS_READ)))
    lengths = [-(-parameter_set.signature_bytes // _WORD_BYTES) for parameter_set in sets]
    places["signature"] = BytePlace(start, tuple(lengths))
    if not verify_only:
        places["made_t0"] = BytePlace((z,) * len(sets), places["t0"].words)
    return places
