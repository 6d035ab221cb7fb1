"""Curves over primes of 5 to 7 bits whose points are a group of prime order, the whole of them."""

from coprime.ec.weierstrass import WeierstrassCurve


def points_of(curve):
    """All points but the one at infinity."""
    p = curve.p
    return [(x, y) for x in range(p) for y in range(p) if curve.has((x, y))]


def small_curve(p, a, b, n):
    curve = WeierstrassCurve(f"y^2 = x^3 + {a} x + {b} modulo {p}", p, a, b, n, (0, 0))
    points = points_of(curve)
    assert len(points) == n - 1
    return WeierstrassCurve(curve.name, p, a, b, n, points[-1])


TINY = small_curve(17, 10, 1, 13)
"""With points whose x is 0, and n: of those r is 0."""
CURVES = [
    small_curve(19, 0, 2, 13),
    small_curve(23, 20, 15, 17),
    small_curve(23, 20, 1, 23),
    small_curve(31, 0, 3, 43),
    small_curve(37, 34, 9, 41),
    small_curve(67, 0, 2, 73),
    small_curve(67, 64, 23, 73),
    small_curve(127, 124, 72, 137),
]
"""a = 0 and a = p - 3, points with x = 0, n below p, equal to p, and above."""
