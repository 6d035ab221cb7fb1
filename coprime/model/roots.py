"""Square roots modulo a prime, of public numbers."""

from itertools import count


def square_root(square: int, p: int) -> int | None:
    """A root of a number below the odd prime p; None if it has none.

    Source: Tonelli and Shanks, as Cohen has it: A Course in Computational Algebraic Number Theory
    (1993), algorithm 1.5.1; its names.
    """
    if pow(square, (p - 1) // 2, p) == p - 1:
        return None
    e = ((p - 1) & (1 - p)).bit_length() - 1
    q = (p - 1) >> e
    n = next(n for n in count(2) if pow(n, (p - 1) // 2, p) == p - 1)
    y, x, b, r = pow(n, q, p), pow(square, (q + 1) // 2, p), pow(square, q, p), e
    while b > 1:
        m = next(m for m in range(r) if pow(b, 1 << m, p) == 1)
        t = pow(y, 1 << (r - m - 1), p)
        y = t * t % p
        x, b, r = x * t % p, b * y % p, m
    return x
