"""RSA keys whose primes an accelerator tests.

Source: FIPS 186-5, A.1.3 (random primes that are probably prime), with B.3.1 (Miller and Rabin's
test) and the rounds of Table B.1. What differs: both primes are 3 modulo 4. The standard's optional
inputs a and b fix a prime modulo 8; here its two lowest bits are fixed, and the third is random.
Then (p - 1) / 2 is odd, so a round is one exponentiation and a comparison of its result with 1 and
p - 1: no squarings follow, whose number would be that of the factors 2 of p - 1. 1024-bit keys, for
which the standard has no rounds any more, get those of its rule.
"""

import math
import secrets
from collections.abc import Callable
from typing import Protocol

from coprime.device.base import DeviceError
from coprime.rsa.keys import RsaPrivateKey, check_ints
from coprime.rsa.primes import (
    SIEVED,
    BitsOf,
    RandomSourceError,
    draw_until,
    is_prime,
    miller_rabin_rounds,
)

MIN_BITS, MAX_BITS = 1024, 4096  # lengths of a modulus
_SECURITY = {2048: 112, 3072: 128, 4096: 144}
"""Table B.1: keys of up to so many bits, and bits of security of their primes' test."""
_RESTRICTED = 2
"""Bits that the rule's bound loses: it is for all odd numbers of a length, and candidates are those
3 modulo 4 from sqrt(2) 2^(half - 1) on, 1 in 3.42 of them."""
_MIN_DISTANCE = 100  # of two primes: they differ in one of so many leading bits


class _ModexpResult(Protocol):
    """The result of an exponentiation."""

    @property
    def value(self) -> int: ...
    @property
    def cycles(self) -> int: ...


class ModexpDevice(Protocol):
    """An accelerator or a cluster."""

    def modexp(
        self, x: int, e: int, m: int, *, exponent_length: int | None = None
    ) -> _ModexpResult:
        """x ** e mod m, with an exponent of `exponent_length` bits."""


class Generation:
    """The generation of one key.

    Python's integers, with which the host draws, sieves and compares candidates and computes the
    key from its primes, take a time that depends on their values. Who can measure that must not
    have access to the host; or use the C driver's generator, whose time does not.

    Parameters
    ----------
    accelerator : tests the primes: constant-time families in the same time for all candidates
    bits : length of the modulus: even, 1024 to 4096
    e : public exponent: odd, over 2^16 and below 2^256
    bits_of : the random source; of a seed only for tests
    min_bits : of `bits`; less than 1024 for tests

    Attributes
    ----------
    exponentiations, cycles (int)
        Those of the accelerator for the key until now, and the clock cycles that they took.

    Raises TypeError or ValueError for a parameter out of range.
    """

    def __init__(
        self,
        accelerator: ModexpDevice,
        bits: int,
        e: int = 65537,
        *,
        bits_of: BitsOf = secrets.randbits,
        min_bits: int = MIN_BITS,
    ):
        self.check(bits, e, min_bits=min_bits)
        self._accelerator = accelerator
        self._bits, self._e = bits, e
        self._half = bits // 2
        self._least = math.isqrt(1 << (bits - 1)) + 1
        self._bits_of = bits_of
        self._last: int | None = None
        security = next(own for longest, own in _SECURITY.items() if bits <= longest)
        self._rounds = miller_rabin_rounds(self._half, security + _RESTRICTED)
        self.exponentiations = self.cycles = 0

    @staticmethod
    def check(bits: int, e: int, *, min_bits: int = MIN_BITS) -> None:
        """Reject parameters out of range: TypeError, ValueError."""
        check_ints(bits=bits, e=e)
        if not min_bits <= bits <= MAX_BITS or bits % 2:
            raise ValueError(
                f"an accelerator makes keys of {min_bits} to {MAX_BITS} bits, an even number,"
                f" not {bits}"
            )
        if not 1 << 16 < e < 1 << 256 or e % 2 == 0:
            raise ValueError(
                f"the public exponent must be odd, over 65536 and below 2^256, not {e}"
            )

    @property
    def expected(self) -> float:
        """How many exponentiations a key takes on average: `measure` counts as one of them.

        A random odd number x is prime in 2 of ln x cases; trial division leaves so many more of
        those that are left. A composite number fails in the first round but for negligibly few.
        """
        logarithm = (self._half - 0.2) * math.log(2)  # of x between sqrt(1/2) and 1 times 2^half
        candidates = logarithm / 2 * SIEVED
        return 1 + 2 * (candidates - 1 + self._rounds)

    def measure(self) -> int:
        """Clock cycles of an exponentiation, of random numbers as long as a prime.

        Raises DeviceError if the result is not that of Python's `pow`.
        """
        m = self._candidate()
        x, before = self._draw(self._half) % m, self.cycles
        if self._power(x, m >> 1, m) != pow(x, m >> 1, m):
            raise DeviceError("the accelerator has computed a wrong result")
        return self.cycles - before

    def key(self, found: Callable[[], None] = lambda: None) -> RsaPrivateKey:
        """Make the key; `found` is called when it has its first prime.

        Raises RandomSourceError if the random source returned a number twice in a row, or the
        standard's number of candidates had no prime; DeviceError if the accelerator has accepted a
        number that is not prime, or as its driver.
        """
        p = self._prime(None, 5 * self._bits)
        found()
        q = self._prime(p, 10 * self._bits)
        key = RsaPrivateKey.from_primes(max(p, q), min(p, q), self._e)
        if key.d <= 1 << self._half:  # A.1.1, 3(b): as good as never
            return self.key(found)
        # The accelerator may be broken, or lie: of composite primes nearly no x comes back.
        x = self._draw(self._half)
        if pow(pow(x, key.e, key.n), key.d, key.n) != x:
            raise DeviceError("the accelerator has accepted a number that is not prime")
        return key

    def _prime(self, other: int | None, tries: int) -> int:
        """Return a prime that is not near the other one."""
        for _ in range(tries):
            candidate = self._candidate(other)
            if math.gcd(candidate - 1, self._e) != 1:
                continue
            if is_prime(candidate, self._rounds, self._power, self._draw):
                return candidate
        raise RandomSourceError(
            f"none of {tries} random numbers is prime: the random source is broken"
        )

    def _candidate(self, other: int | None = None) -> int:
        """Draw a number for `_prime`: 3 modulo 4, from sqrt(2) 2^(half - 1) to 2^half."""
        nearest = 1 << max(0, self._half - _MIN_DISTANCE)

        def fits(candidate: int) -> bool:
            far = other is None or abs(candidate - other) > nearest
            return far and candidate >= self._least

        return draw_until(fits, lambda: self._draw(self._half) | 1 << (self._half - 1) | 3)

    def _draw(self, bits: int) -> int:
        """Draw a random number of `bits` bits."""
        number = self._bits_of(bits)
        if number == self._last:
            raise RandomSourceError("the random source has returned the same number twice")
        self._last = number
        return number

    def _power(self, x: int, e: int, m: int) -> int:
        result = self._accelerator.modexp(x, e, m, exponent_length=self._half - 1)
        self.exponentiations += 1
        self.cycles += result.cycles
        return result.value
