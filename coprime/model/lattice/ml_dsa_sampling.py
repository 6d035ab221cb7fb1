"""Polynomials of ML-DSA from pseudo-random bytes.

Source: FIPS 204, algorithms 14 and 30 (uniform), 15 and 31 (short), 34 (mask), 29 (challenge).
What differs: a polynomial is made of as many bytes as there are, so that the caller sees whether
they suffice; and a number modulo 5 is one of a table.
"""

from collections.abc import Sequence

from .ml_dsa_sets import MlDsaSet, Q

COEFFICIENTS = 256
CANDIDATE_BITS = 23
SIGN_BYTES = 8
"""Bytes of signs of a challenge, before the places."""


def uniform(data: bytes) -> list[int]:
    """Numbers of 23 bits, of three bytes each, below q; up to 256 of them."""
    candidates = [
        int.from_bytes(data[k : k + 3], "little") & (1 << CANDIDATE_BITS) - 1
        for k in range(0, len(data) - 2, 3)
    ]
    return [candidate for candidate in candidates if candidate < Q][:COEFFICIENTS]


def short(data: bytes, eta: int) -> list[int]:
    """Half bytes, the lower one first, mapped to [-eta, eta]; up to 256 of those accepted."""
    found = []
    for byte in data:
        for nibble in (byte & 15, byte >> 4):
            if eta == 2 and nibble < 15:
                found.append(2 - nibble % 5)
            elif eta == 4 and nibble < 9:
                found.append(4 - nibble)
    return found[:COEFFICIENTS]


def mask(data: bytes, parameters: MlDsaSet) -> list[int]:
    """256 numbers in (-gamma1, gamma1]."""
    bits, width = int.from_bytes(data, "little"), parameters.z_bits
    ones = (1 << width) - 1
    return [parameters.gamma1 - (bits >> width * k & ones) for k in range(COEFFICIENTS)]


def challenge(data: bytes, tau: int) -> list[int] | None:
    """tau coefficients that are 1 or -1, the others 0; None if the bytes do not suffice."""
    signs = int.from_bytes(data[:SIGN_BYTES], "little")
    places = iter(data[SIGN_BYTES:])
    c = [0] * COEFFICIENTS
    for i in range(COEFFICIENTS - tau, COEFFICIENTS):
        j = next((place for place in places if place <= i), None)
        if j is None:
            return None
        c[i], c[j] = c[j], 1 - 2 * (signs & 1)
        signs >>= 1
    return c


def number_of(c: Sequence[int]) -> int:
    """Coefficients that are not 0."""
    return sum(x != 0 for x in c)
