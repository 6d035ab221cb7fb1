"""Primes: Miller and Rabin's test, and random primes for keys."""

import math
import secrets
from collections.abc import Callable

__all__ = ["is_prime", "random_prime"]

_ROUNDS = 40
"""Miller-Rabin rounds for a new prime: a composite passes with a probability below 4^-40."""
_SMALL_PRIMES = tuple(n for n in range(3, 1000, 2) if all(n % k for k in range(3, n, 2)))


def random_prime(bits: int, e: int, bits_of: Callable[[int], int]) -> int:
    """Return a prime with its two highest bits set and no common factor of e and prime - 1.

    The product of two such primes has as many bits as both together.

    Parameters
    ----------
    bits : length of the prime
    e : public exponent
    bits_of : returns a random number of so many bits
    """
    while True:
        candidate = bits_of(bits) | 3 << (bits - 2) | 1
        if math.gcd(candidate - 1, e) == 1 and is_prime(candidate, _ROUNDS):
            return candidate


def is_prime(candidate: int, rounds: int) -> bool:
    """Miller and Rabin's test with secret random bases, for odd candidates over 2."""
    if any(candidate % small == 0 for small in _SMALL_PRIMES):
        return candidate in _SMALL_PRIMES
    twos = ((candidate - 1) & (1 - candidate)).bit_length() - 1
    odd = (candidate - 1) >> twos
    for _ in range(rounds):
        power = pow(2 + secrets.randbelow(candidate - 3), odd, candidate)
        if power in (1, candidate - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % candidate
            if power == candidate - 1:
                break
        else:
            return False
    return True
