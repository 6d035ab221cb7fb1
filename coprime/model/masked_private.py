"""A private operation of RSA that computes with no secret number as it is, in integers.

Sources: Kocher (1996) and Chaum (1983) for the blinding of base and exponent, Coron (1999) for
random multiples of what a number is taken modulo. What differs: the base is blinded without an
inverse, and the check of the result is blinded, too.

S = X^(D - 1) r^((D - 1) E) * X r^(E - 1), since r^((D - 1) E) = r^(1 - E) modulo M.
"""

from dataclasses import dataclass
from typing import Protocol


class CrtKey(Protocol):
    """The numbers of a private key; names as in RFC 8017."""

    n: int
    e: int
    p: int
    q: int
    dp: int
    dq: int


@dataclass(frozen=True)
class MaskedPrivate:
    """All numbers of an operation on x, 0 to n - 1, with the key's e odd and 3 or more.

    Parameters
    ----------
    key : with two different primes
    x : the input
    t, bits : a mask is a random multiple t, 2^(bits - 1) to 3 * 2^(bits - 1) - 1, of n
    r : random modulo n; prime to it, or there is no result
    k_p, k_q : random multiples of p - 1 and q - 1, which the exponents are blinded with; 0 or more
    """

    key: CrtKey
    x: int
    t: int
    bits: int
    r: int
    k_p: int = 0
    k_q: int = 0

    @property
    def mask(self) -> int:
        """A multiple of n."""
        return self.t * self.key.n

    @property
    def masked(self) -> int:
        """x, below 2^(bits + 1) n."""
        return self.x + self.mask

    @property
    def claimed(self) -> int:
        """x with another mask, below 2^(bits + 1) n; x - mask modulo 2^bits - 1."""
        return self.x + (2 * ((1 << self.bits) - 1) - self.t) * self.key.n

    @property
    def unblinding(self) -> int:
        """r^(e - 1) x modulo n."""
        return pow(self.r, self.key.e - 1, self.key.n) * self.masked % self.key.n

    @property
    def base(self) -> int:
        """r^e x modulo n."""
        return self.r * self.unblinding % self.key.n

    @property
    def power(self) -> int:
        """base^(d - 1) modulo n, of those modulo p and q."""
        key = self.key
        p, q = key.p, key.q
        of_p = pow(self.base, key.dp - 1 + self.k_p * (p - 1), p)
        of_q = pow(self.base, key.dq - 1 + self.k_q * (q - 1), q)
        return (of_q + q * pow(q, -1, p) * (of_p - of_q)) % key.n

    @property
    def result(self) -> int:
        """x^d modulo n, if r is prime to n."""
        return self.power * self.unblinding % self.key.n

    @property
    def masked_result(self) -> int:
        """The result, below 2^(bits + 1) n."""
        return self.result + self.mask

    @property
    def is_right(self) -> bool:
        """The check, modulo each prime: whatever r is, a right result passes it.

        It is blinded with r + 1: where r is 0 modulo a prime, so is the result, and r times that.
        """
        key, r = self.key, self.r + 1
        return all(
            pow(r * self.masked_result, key.e, prime) == pow(r, key.e, prime) * self.claimed % prime
            for prime in (key.p, key.q)
        )
