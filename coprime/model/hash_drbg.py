"""Hash_DRBG with SHA-256 in integers and byte strings.

Source: NIST SP 800-90A Rev. 1, "Recommendation for Random Number Generation Using Deterministic
Random Bit Generators" (2015), sections 10.1.1 (Hash_DRBG) and 10.3.1 (Hash_df). What differs: the
three parts of the seed material, entropy input, nonce and personalization string, or entropy input
and additional input, are one string; requests have no additional input.
"""

import hashlib

SEED_BITS = 440
"""seedlen of SHA-256: the width of V and C."""
SEED_BYTES = SEED_BITS // 8
DIGEST_BYTES = 32
STRENGTH_BITS = 256
"""The security strength, the highest that the standard has."""
MOST_REQUESTS = 1 << 48
"""Requests between two seeds that the standard allows."""
MOST_BYTES = (1 << 19) // 8
"""Bytes of a request that the standard allows."""
_MODULUS = 1 << SEED_BITS


def _number(*parts: bytes) -> int:
    return int.from_bytes(hashlib.sha256(b"".join(parts)).digest())


def derive(material: bytes) -> int:
    """Hash_df: `SEED_BITS` bits of a string of any length."""
    length = SEED_BITS.to_bytes(4)
    digests = [hashlib.sha256(bytes([k]) + length + material).digest() for k in (1, 2)]
    return int.from_bytes(b"".join(digests)[:SEED_BYTES])


class HashDrbg:
    """A generator: instantiated once, then seeded again any number of times.

    Parameters
    ----------
    material : entropy input, nonce, personalization string

    Attributes
    ----------
    v, c (int): V and C, 440 bits
    count (int): reseed_counter, 1 after a seed
    """

    v: int
    c: int
    count: int

    def __init__(self, material: bytes):
        self._seed(material)

    def reseed(self, material: bytes) -> None:
        """Mix in more seed material: entropy input, additional input."""
        self._seed(b"\x01" + self.v.to_bytes(SEED_BYTES) + material)

    def generate(self, size: int) -> bytes:
        """The bytes of a request. ValueError for more than MOST_BYTES."""
        if size not in range(MOST_BYTES + 1):
            raise ValueError(f"size must be 0 to {MOST_BYTES}, not {size}")
        found = b"".join(
            hashlib.sha256(((self.v + k) % _MODULUS).to_bytes(SEED_BYTES)).digest()
            for k in range(-(-size // DIGEST_BYTES))
        )
        mixed = _number(b"\x03", self.v.to_bytes(SEED_BYTES))
        self.v = (self.v + mixed + self.c + self.count) % _MODULUS
        self.count += 1
        return found[:size]

    def _seed(self, material: bytes) -> None:
        self.v = derive(material)
        self.c = derive(b"\x00" + self.v.to_bytes(SEED_BYTES))
        self.count = 1
