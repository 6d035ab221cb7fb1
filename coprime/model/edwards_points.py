"""Points of twisted Edwards curves on Python's integers, and the tables of an engine."""

from collections.abc import Sequence
from functools import cache

Point = tuple[int, int]
NEUTRAL: Point = (0, 1)
_TEETH = 4
"""Of a comb."""


def on_curve(point: Point, a: int, d: int, p: int) -> bool:
    """Whether a x^2 + y^2 = 1 + d x^2 y^2 modulo p."""
    x, y = point[0] ** 2, point[1] ** 2
    return (a * x + y - 1 - d * x * y) % p == 0


def add(one: Point, other: Point, a: int, d: int, p: int) -> Point:
    """The sum of two points, of a curve on which each sum is one."""
    (x_1, y_1), (x_2, y_2) = one, other
    product = d * x_1 * x_2 * y_1 * y_2
    x = (x_1 * y_2 + y_1 * x_2) * pow(1 + product, -1, p)
    y = (y_1 * y_2 - a * x_1 * x_2) * pow(1 - product, -1, p)
    return x % p, y % p


def negative(point: Point, p: int) -> Point:
    """The point whose sum with this one is (0, 1)."""
    return -point[0] % p, point[1]


def multiple(point: Point, k: int, a: int, d: int, p: int) -> Point:
    """k times a point, k at 0 or more."""
    found = NEUTRAL
    for bit in f"{k:b}":
        found = add(found, found, a, d, p)
        if bit == "1":
            found = add(found, point, a, d, p)
    return found


def base_multiple(k: int, gx: int, gy: int, a: int, d: int, p: int, n: int) -> Point:
    """k * (gx, gy)."""
    return multiple((gx, gy), k, a, d, p)


@cache
def comb_table(g: Point, tooth: int, a: int, d: int, p: int) -> list[Point]:
    """The sums of 2^(3t) g and plus or minus 2^(tj) g, j = 0 to 2, for a tooth of t bits.

    The highest bit of an index is 1 where that of j = 0 is added, and so on.
    """
    teeth = [g]
    for _ in range(_TEETH - 1):
        teeth.append(multiple(teeth[-1], 1 << tooth, a, d, p))
    *others, highest = teeth
    found = []
    for index in range(8):
        total = highest
        for place, point in enumerate(others):
            is_added = index >> (2 - place) & 1
            total = add(total, point if is_added else negative(point, p), a, d, p)
        found.append(total)
    return found


def of_table(point: Point, d: int, p: int) -> tuple[int, int, int]:
    """What a table has of a point: (y - x) / 2, (y + x) / 2, and d x y, modulo p."""
    (x, y), half = point, (p + 1) // 2
    return (y - x) * half % p, (y + x) * half % p, d * x * y % p


_POINTS = {(1, 0): 0, (0, 1): 1, (1, 1): 2, (-1, 1): 3, (0, 0): 4}
"""The point of the table that two signed bits select, or its negative."""


def joint_columns(s: int, h: int, tooth: int) -> int:
    """The exponent whose columns are the signed bits of s and h, of which no two neighbours are 1.

    Source: non-adjacent form: its digits are the bits of 3 k less those of k, from the second one
    on. The point is B, A, A + B, A - B or none, as `_POINTS` numbers them; a column has its number
    in three teeth, the highest bit in the lowest one, inverted where it is subtracted, and in the
    fourth 1 where it is added.
    """
    found = 0
    for column in range(tooth):
        of_s, of_h = (
            (3 * scalar >> column + 1 & 1) - (scalar >> column + 1 & 1) for scalar in (s, h)
        )
        is_added = (of_s, of_h) in _POINTS
        point = _POINTS[of_s, of_h] if is_added else 7 - _POINTS[-of_s, -of_h]
        bits = [point >> 2 & 1, point >> 1 & 1, point & 1, int(is_added)]
        found |= sum(bit << k * tooth + column for k, bit in enumerate(bits))
    return found


def joint_multiple(s: int, h: int, public: Point, base: Point, curve: Sequence[int]) -> Point:
    """s * base - h * public; the curve is a, d and p."""
    a, d, p = curve
    of_base, of_public = multiple(base, s, a, d, p), multiple(public, h, a, d, p)
    return add(of_base, negative(of_public, p), a, d, p)
