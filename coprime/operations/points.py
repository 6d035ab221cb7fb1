"""Points of short Weierstrass curves on Python's integers, to compare results with."""


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
