"""The numbers of a private key that a file leaves out, as zeros, from those that it has.

Java writes keys of n and d alone so, others n, e and d; OpenSSH has no dp and dq.
"""

import math
import secrets
from collections.abc import Iterator

_DRAWS = 100
"""Times that a number is drawn to find the primes: each fails with a probability of 1/2 or less."""
_GREATEST_E = 1 << 17
"""Public exponents up to here are tried where a file has none: 65537, 3, 5, 7 and so on."""
_BASE = 2


def complete(
    n: int,
    e: int = 0,
    d: int = 0,
    p: int = 0,
    q: int = 0,
    dp: int = 0,
    dq: int = 0,
    qinv: int = 0,
) -> tuple[int, int, int, int, int, int, int, int]:
    """All numbers of the key that has these, where 0 is one that is not known.

    Those that are known are not changed: whether they contradict each other is the key's to check.
    Raises ValueError if they are too few: n, and d or a prime with an exponent; or if there is no
    such key.
    """
    for name, exponent in (("d", d), ("e", e)):
        if exponent >= n:
            raise ValueError(f"it does not hold that {name} is below the modulus")
    if not p and not q:
        e, p, q = _factored(n, e, d)
    p, q = p or n // q, q or n // p
    if min(p, q) < 3 or math.gcd(p, q) != 1:
        raise ValueError("it does not hold that p and q are different odd primes")
    order = math.lcm(p - 1, q - 1)
    if not e and not d:
        raise ValueError("both exponents are missing")
    e, d = e or _inverse(d, order), d or _inverse(e, order)
    return n, e, d, p, q, dp or d % (p - 1), dq or d % (q - 1), qinv or pow(q, -1, p)


def _inverse(exponent: int, order: int) -> int:
    """The other exponent. ValueError if there is none."""
    if math.gcd(exponent, order) != 1:
        raise ValueError("it does not hold that d is the inverse of e")
    return pow(exponent, -1, order)


def _factored(n: int, e: int, d: int) -> tuple[int, int, int]:
    """e and the primes. ValueError if d is missing, or is none of this modulus."""
    if not d:
        raise ValueError("the private exponent and both primes are missing")
    for exponent in [e] if e else _exponents(n, d):
        primes = _primes(n, exponent * d - 1)
        if primes is not None:
            return exponent, *primes
    if e:
        raise ValueError("it does not hold that d is the inverse of e")
    raise ValueError(f"the public exponent is missing, and it is none below {_GREATEST_E:,}")


def _exponents(n: int, d: int) -> Iterator[int]:
    """Odd numbers e for which 2^(d e) is 2 modulo n, the usual one first."""
    root = pow(_BASE, d, n)
    if pow(root, 65537, n) == _BASE:
        yield 65537
    square, power = root * root % n, root
    for e in range(3, _GREATEST_E, 2):
        power = power * square % n
        if power == _BASE:
            yield e


def _primes(n: int, k: int) -> tuple[int, int] | None:
    """The primes of n, the greater one first, from a multiple of the order of every number.

    Source: NIST SP 800-56B revision 2, appendix C.2; its names. What differs: numbers are drawn
    from the operating system. None if k is no such multiple.
    """
    if k <= 0 or k % 2:
        return None
    t = (k & -k).bit_length() - 1
    r = k >> t
    for _ in range(_DRAWS):
        g = secrets.randbelow(n)
        y = pow(g, r, n)
        if y in (0, 1, n - 1):
            continue
        for _ in range(t):
            x = y * y % n
            if x == 1:
                p = math.gcd(y - 1, n)
                return max(p, n // p), min(p, n // p)
            if x == n - 1:
                break
            y = x
        else:
            return None  # y is no root of 1: k is no multiple of the order
    return None
