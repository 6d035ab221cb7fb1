"""Polynomials from pseudo-random bytes.

Source: FIPS 203, algorithm 7 (SampleNTT) and algorithm 8 (SamplePolyCBD). What differs: binomial
coefficients keep their sign, -eta to eta; and a uniform polynomial is made of as many bytes as
there are, so that the caller sees whether they suffice.
"""

Q = 3329
COEFFICIENTS = 256


def candidates(data: bytes) -> list[int]:
    """Numbers of 12 bits: two of every three bytes (algorithm 7, lines 6 and 7)."""
    found = []
    for k in range(0, len(data) - 2, 3):
        first, second, third = data[k : k + 3]
        found += [first | (second & 15) << 8, second >> 4 | third << 4]
    return found


def uniform(data: bytes) -> list[int]:
    """The candidates below q, up to 256 of them; fewer if there are not enough bytes."""
    return [candidate for candidate in candidates(data) if candidate < Q][:COEFFICIENTS]


def binomial(data: bytes, eta: int) -> list[int]:
    """256 coefficients from 64 eta bytes: a sum of eta bits, less the sum of the next eta bits."""
    bits = int.from_bytes(data, "little")
    ones = (1 << eta) - 1
    fields = [bits >> 2 * eta * k for k in range(COEFFICIENTS)]
    return [(field & ones).bit_count() - (field >> eta & ones).bit_count() for field in fields]
