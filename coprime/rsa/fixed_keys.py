"""Keys for a given modulus: exponents for the moduli of a thesis, and for others that factor.

COMPRESSION's moduli (2^(2t) - 1)/3 are products of many primes, which are known: whoever has such a
public key can compute the private one. They measure circuits and protect nothing.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from coprime.operations.lengths import Lengths

from .defaults import EXPONENT
from .keys import RsaPublicKey
from .primes import is_prime

_TRIED = 1 << 17  # trial division ends here
_STEPS = 1 << 18  # of Pollard's rho: enough for factors of 30 bits
_ROUNDS = 64
_OF_FERMAT_NUMBERS = (
    59649589127497217,
    1238926361552897,
    7455602825647884208337395736200454918783366342657,
)
"""The factors of the Fermat numbers F7 (Morrison and Brillhart 1970), F8 (Brent and Pollard 1980)
and F9 (Lenstra et al. 1990) that are too long to be found by the way: 2^512 - 1 has the first two,
2^1024 - 1 all."""


@dataclass(frozen=True)
class FixedKey(RsaPublicKey):
    """A public key and its private exponent, without primes. The repr does not show d.

    Raises TypeError or ValueError as RsaPublicKey.

    Parameters
    ----------
    n : modulus, of any number of different odd primes
    d : private exponent, e d = 1 modulo each prime minus 1
    """

    d: int = field(repr=False)

    @property
    def lengths(self) -> Lengths:
        """Of the numbers with either exponent."""
        return Lengths(self.bits, exponent=self.bits)


def key_of(modulus: int, e: int | None = None) -> FixedKey:
    """Give the exponents for a modulus.

    Parameters
    ----------
    modulus : odd, 5 or more; a product of different primes that can be found
    e : public exponent. None: 65537, or the least prime that is of use where that one is not: of no
        use are those that have no inverse, and those whose power of every number is the number

    Raises ValueError for a modulus or an exponent out of range, or of no use.
    """
    if modulus % 2 == 0 or modulus < 5:
        raise ValueError(f"a key's modulus must be odd and 5 or more, not {modulus}")
    primes = sorted(prime_factors(modulus))
    twice = next((p for p, q in itertools.pairwise(primes) if p == q), None)
    if twice is not None:
        raise ValueError(
            f"{twice}^2 divides the modulus: no private exponent decrypts every message"
        )
    order = math.lcm(*(p - 1 for p in primes))
    candidates = (EXPONENT, *(k for k in range(3, 1 << 10, 2) if is_prime(k, _ROUNDS)))
    if e is None:
        usable = (
            candidate
            for candidate in candidates
            if candidate < modulus and not _defect(candidate, order)
        )
        e = next(usable, None)
        if e is None:
            raise ValueError("no public exponent below 1024 is of use for this modulus")
    elif defect := _defect(e, order):
        raise ValueError(f"the public exponent {e} is of no use for this modulus: {defect}")
    return FixedKey(modulus, e, pow(e, -1, order))


def _defect(e: int, order: int) -> str:
    """Why an exponent is of no use for a modulus with numbers of this order; empty if it is."""
    if math.gcd(e, order) > 1:
        return "no private exponent undoes it"
    return "x^e is x for every x" if e % order == 1 else ""


def prime_factors(number: int) -> Iterator[int]:
    """The prime factors of a number from 2 on, in no order, each as often as it divides it.

    Raises ValueError if they are not found: two are too long.
    """
    if number < 2:
        raise ValueError(f"a number with factors must be 2 or more, not {number}")
    for factor in itertools.chain((2,), range(3, _TRIED, 2), _OF_FERMAT_NUMBERS):
        while number % factor == 0:
            yield factor
            number //= factor
    for exponent in (32, 64, 128, 256, 512):  # 2^1024 - 1 is the product of F0 to F9
        common = math.gcd(number, (1 << exponent) + 1)
        yield from _split(common)
        number //= common
    yield from _split(number)


def _split(number: int) -> Iterator[int]:
    """The prime factors of a number without small ones, which may be 1."""
    if number == 1:
        return
    if is_prime(number, _ROUNDS):
        yield number
        return
    factor = _pollard(number)
    yield from _split(factor)
    yield from _split(number // factor)


def _pollard(number: int) -> int:
    """A factor of a composite number, by Pollard's rho. Raises ValueError if it finds none."""
    for constant in (1, 3, 5):
        slow = fast = 2
        for _ in range(_STEPS):
            slow = (slow * slow + constant) % number
            fast = (fast * fast + constant) % number
            fast = (fast * fast + constant) % number
            factor = math.gcd(slow - fast, number)
            if factor == number:
                break
            if factor > 1:
                return factor
    raise ValueError(
        "the factors of the modulus were not found: name a private key with --key, or --bits"
    )
