"""Where byte strings lie in the byte memory.

All addresses and lengths are multiples of 32 bytes, and those of two seeds, such as rho || sigma,
begin at a multiple of 64 bytes: so an address is a number of seeds and a count, without an adder.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from coprime.model.lattice.ml_kem_sets import POLYNOMIAL_BYTES, SEED_BYTES

_WORD_BYTES = 4
SEED_WORDS = SEED_BYTES // _WORD_BYTES
POLYNOMIAL_WORDS = POLYNOMIAL_BYTES // _WORD_BYTES
"""Words of the byte memory that a polynomial of 256 coefficients of 12 bits takes."""


@dataclass(frozen=True)
class BytePlace:
    """A byte string: its first word's address, and its length in words, by parameter set.

    Both are multiples of SEED_WORDS; an address and length of two seeds have the address a multiple
    of two.
    """

    addresses: tuple[int, ...]
    words: tuple[int, ...]


def words_needed(places: Mapping[str, BytePlace]) -> int:
    """Words of a memory that has room for these places."""
    return max(
        address + words
        for place in places.values()
        for address, words in zip(place.addresses, place.words, strict=True)
    )
