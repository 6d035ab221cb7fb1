"""Points of short Weierstrass curves on Python's integers, to compare results with."""

from functools import cache


def multiple(x: int, y: int, k: int, a: int, b: int, p: int, n: int) -> tuple[int, int]:
    """k * (x, y) by doubling and adding. ValueError for the point at infinity."""
    found: tuple[int, int] | None = None
    for bit in f"{k % n:b}":
        found = add(found, found, a, p)
        if bit == "1":
            found = add(found, (x, y), a, p)
    if found is None:
        raise ValueError("the multiple is the point at infinity")
    return found


def on_curve(point: tuple[int, int], a: int, b: int, p: int) -> bool:
    """Whether y^2 = x^3 + a x + b modulo p."""
    x, y = point
    return (y * y - x * x * x - a * x - b) % p == 0


def add(
    one: tuple[int, int] | None, other: tuple[int, int] | None, a: int, p: int
) -> tuple[int, int] | None:
    """The sum of two points of y^2 = x^3 + a x + b modulo p; None is the one at infinity."""
    if one is None or other is None:
        return one or other
    (x_1, y_1), (x_2, y_2) = one, other
    if x_1 == x_2 and (y_1 + y_2) % p == 0:
        return None
    rise, run = (3 * x_1 * x_1 + a, 2 * y_1) if x_1 == x_2 else (y_2 - y_1, x_2 - x_1)
    slope = rise * pow(run, -1, p)
    x_3 = (slope * slope - x_1 - x_2) % p
    return x_3, (slope * (x_1 - x_3) - y_1) % p


def base_multiple(k: int, gx: int, gy: int, a: int, b: int, p: int, n: int) -> tuple[int, int]:
    """k * (gx, gy), as `multiple`."""
    return multiple(gx, gy, k, a, b, p, n)


_TEETH = 4
"""Of a comb."""


@cache
def comb_table(g: tuple[int, int], tooth: int, a: int, p: int) -> list[tuple[int, int]] | None:
    """The sums of 2^(3d) g and plus or minus 2^(dj) g, j = 0 to 2, for a tooth of d bits.

    The highest bit of an index is 1 where that of j = 0 is added, and so on. None if any of them is
    the point at infinity.
    """
    teeth: list[tuple[int, int] | None] = [g]
    for _ in range(_TEETH - 1):
        point = teeth[-1]
        for _ in range(tooth):
            point = add(point, point, a, p)
        teeth.append(point)
    found = []
    for index in range(8):
        total = teeth[-1]
        for place, point in enumerate(teeth[:-1]):
            is_added = index >> (2 - place) & 1
            minus = None if point is None else (point[0], -point[1] % p)
            total = add(total, point if is_added else minus, a, p)
        if total is None:
            return None
        found.append(total)
    return found


def signature(
    z: int, d: int, k: int, gx: int, gy: int, a: int, b: int, p: int, n: int
) -> tuple[int, int]:
    """r and s of a signature of ECDSA: of the hash z with the key d and the nonce k.

    Source: FIPS 186-5, section 6.4.1. ValueError where r or s is 0.
    """
    r = multiple(gx, gy, k, a, b, p, n)[0] % n
    s = (z + r * d) * pow(k, -1, n) % n
    if not r or not s:
        raise ValueError("another k is needed: r or s is 0")
    return r, s


def verified(
    r: int, s: int, z: int, x: int, y: int, gx: int, gy: int, a: int, b: int, p: int, n: int
) -> int:
    """r of a signature of ECDSA with the public key (x, y), as FIPS 186-5, section 6.4.2, has it.

    ValueError for a wrong signature.
    """
    if not 0 < r < n or not 0 < s < n:
        raise ValueError("r or s is out of range")
    w = pow(s, -1, n)
    u_1, u_2 = z * w % n, r * w % n
    first = multiple(gx, gy, u_1, a, b, p, n) if u_1 else None
    total = add(first, multiple(x, y, u_2, a, b, p, n), a, p)
    if total is None or total[0] % n != r:
        raise ValueError("the signature is wrong")
    return r


def is_signature(
    result: tuple[int, ...],
    *,
    z: int,
    d: int,
    gx: int,
    gy: int,
    a: int,
    b: int,
    p: int,
    n: int,
) -> bool:
    """Whether r and s are a signature of the hash z with the private key d."""
    x, y = multiple(gx, gy, d, a, b, p, n)
    r, s = result
    try:
        return verified(r, s, z, x, y, gx, gy, a, b, p, n) == r
    except ValueError:
        return False
