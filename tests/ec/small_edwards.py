"""Edwards curves over primes of 5 to 7 bits, with a = 1 and a = -1."""

from coprime.ec.edwards import EdwardsCurve
from coprime.model.edwards_points import NEUTRAL, multiple


def points_of(curve):
    """All points."""
    p = curve.p
    return [(x, y) for x in range(p) for y in range(p) if curve.has((x, y))]


def small_edwards(p, a, d, n):
    """With a base point of the prime order n."""
    assert pow(d, (p - 1) // 2, p) == p - 1
    curve = EdwardsCurve(
        f"{a} x^2 + y^2 = 1 + {d} x^2 y^2 modulo {p}",
        *(p, a % p, d, n, (0, 1), 1, 4, b"", False),
    )
    points = points_of(curve)
    assert len(points) % n == 0
    base = next(
        one for one in points if one != NEUTRAL and multiple(one, n, curve.a, d, p) == NEUTRAL
    )
    return EdwardsCurve(curve.name, p, curve.a, d, n, base, 1, 4, b"", False)


CURVES = [
    small_edwards(29, -1, 2, 7),
    small_edwards(61, -1, 2, 7),
    small_edwards(101, -1, 12, 11),
    small_edwards(29, 1, 2, 5),
    small_edwards(61, 1, 7, 13),
    small_edwards(127, 1, 10, 31),
]
"""With cofactors 4 and 8, and primes that are 1 and 3 modulo 4."""
