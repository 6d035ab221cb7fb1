"""RSA keys of the usual lengths without a search for primes; they are no secret.

For measurements and predictions only: what a private operation costs depends on a key's length.
"""

from functools import cache

from coprime.rsa import keys

LONGEST_SEARCH = 2304
"""Bits of the longest key whose primes are searched for: that takes a second or two."""
_BELOW = {
    256: (189, 357),
    512: (569, 629),
    768: (825, 1385),
    1024: (105, 179),
    1088: (89, 483),
    1536: (3453, 4977),
    2048: (1557, 2543),
    4096: (2549, 8067),
}
"""2^length less each of these is prime: the two largest primes of a length in bits."""


@cache
def standard_key(bits: int) -> keys.RsaPrivateKey | None:
    """A key of `bits` bits, always the same one, with two primes of half the length.

    The primes are the largest ones of their length where they are known; else they are searched
    for, or, for a key over LONGEST_SEARCH, the answer is None. Raises ValueError for a length under
    64, or an odd one.
    """
    half, odd = divmod(bits, 2)
    if odd:
        raise ValueError(f"the bits of a standard key must be even, not {bits}")
    if half not in _BELOW:
        return keys.generate(bits, seed=1) if bits <= LONGEST_SEARCH else None
    p, q = ((1 << half) - below for below in _BELOW[half])
    return keys.RsaPrivateKey.from_primes(p, q, 65537)
