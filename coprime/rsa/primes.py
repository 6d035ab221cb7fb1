"""Primes: Miller and Rabin's test, how often it is repeated, and random primes for keys."""

import itertools
import math
import secrets
from collections.abc import Callable
from functools import cache

from coprime.errors import CoprimeError

BitsOf = Callable[[int], int]  # a random source: returns a uniformly random number of so many bits
Power = Callable[[int, int, int], int]
"""x ** e mod m, as Python's `pow` or an engine computes it. Ranges: 1 < x < m - 1, e > 0, m odd."""

_ROUNDS = 40
"""Miller-Rabin rounds for a prime of any length: a composite passes in 4^-40 of all cases."""
_SMALL_PRIMES = tuple(n for n in range(3, 2048, 2) if all(n % k for k in range(3, n, 2)))

SIEVED = math.prod(1 - 1 / small for small in _SMALL_PRIMES)
"""Fraction of the odd numbers that trial division leaves for Miller and Rabin's test."""


class RandomSourceError(CoprimeError):
    """The random source is broken."""


def random_prime(bits: int, e: int, bits_of: BitsOf) -> int:
    """Return a prime of a length with its two highest bits set and no common factor of e and
    prime - 1.

    The product of two such primes has as many bits as both together.
    """
    while True:
        candidate = bits_of(bits) | 3 << (bits - 2) | 1
        if math.gcd(candidate - 1, e) == 1 and is_prime(candidate, _ROUNDS):
            return candidate


def is_prime(
    candidate: int, rounds: int, power: Power = pow, bits_of: BitsOf = secrets.randbits
) -> bool:
    """Trial division, then Miller and Rabin's test (FIPS 186-5, B.3.1) with secret random bases.

    Parameters
    ----------
    candidate : any integer
    rounds : number of bases, at least 1. A prime passes always, and a given composite with a
        probability below 4^-rounds
    power : exponentiates, once in each round; the squarings that may follow are the host's
    bits_of : the random source of the bases
    """
    if candidate < 2 or candidate % 2 == 0:
        return candidate == 2
    if any(candidate % small == 0 for small in _SMALL_PRIMES):
        return candidate in _SMALL_PRIMES
    twos = ((candidate - 1) & (1 - candidate)).bit_length() - 1
    odd = (candidate - 1) >> twos
    length = candidate.bit_length()
    for _ in range(rounds):
        base = draw_until(lambda drawn: 1 < drawn < candidate - 1, lambda: bits_of(length))
        value = power(base, odd, candidate)
        if value in (1, candidate - 1):
            continue
        for _ in range(twos - 1):
            value = value * value % candidate
            if value == candidate - 1:
                break
        else:
            return False
    return True


def next_prime(least: int) -> int:
    """The first probable prime from `least` on, of public numbers."""
    return next(candidate for candidate in itertools.count(least | 1, 2) if is_prime(candidate, 64))


def draw_until(fits: Callable[[int], bool], draw: Callable[[], int]) -> int:
    """Return the first drawn number that fits: half of them do, or nearly as many.

    Raises RandomSourceError if 200 in a row do not, which a working source does not do.
    """
    for _ in range(200):
        drawn = draw()
        if fits(drawn):
            return drawn
    raise RandomSourceError("the random source does not return random numbers")


@cache
def miller_rabin_rounds(bits: int, security: int) -> int:
    """Return how many rounds a random candidate needs: the rule of FIPS 186-5, C.1.

    What passes so many is composite with a probability of at most 2^-security: not any number that
    someone has chosen, but a uniformly random odd one of `bits` bits (Damgård, Landrock, Pomerance
    1993), which is far more seldom a pseudoprime. The rule has made Table B.1.
    """
    rounds = 1
    while _error_bound(bits, rounds) > 2.0**-security:
        rounds += 1
    return rounds


def _error_bound(k: int, t: int) -> float:
    """The bound p(k, t) of FIPS 186-5, C.1: k bits, t rounds, and the best of all M there."""
    inner = [0.0, 0.0]  # of m: the sum over j = 2..m
    total = 0.0
    bounds = [1.0]
    for m in range(2, int(2 * math.sqrt(k - 1) - 1) + 1):
        inner.append(inner[-1] + 2.0 ** -(m + (k - 1) / m))
        if m >= 3:
            total += 2.0 ** (m - (m - 1) * t) * inner[m]
            liars = 2.0 ** (-2 - m * t) + 8 * (math.pi**2 - 6) / 3 / 4 * total
            bounds.append(2.00743 * math.log(2) * k * liars)
    return min(bounds)
