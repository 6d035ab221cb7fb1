"""Short vectors of lattices of integers.

Source: Lenstra, Lenstra, Lovász, Factoring polynomials with rational coefficients (1982); all in
integers as in Cohen, A Course in Computational Algebraic Number Theory (1993), algorithm 2.6.7,
whose names these are, but for d, whose index is one more here.
"""

from collections.abc import Sequence

Vector = list[int]


def reduced(basis: Sequence[Sequence[int]]) -> list[Vector]:
    """An LLL-reduced basis of the lattice of these vectors, the short ones first.

    For some ten vectors. Raises ValueError if they are not independent.
    """
    b = [list(vector) for vector in basis]
    d = [1, *[0] * len(b)]
    """d[k]: of k vectors, the product of the squared lengths of their orthogonal parts."""
    factors = [[0] * len(b) for _ in b]

    def shorten(k: int, by: int) -> None:
        q = _nearest(factors[k][by], d[by + 1])
        if q:
            b[k] = [own - q * other for own, other in zip(b[k], b[by], strict=True)]
            factors[k][by] -= q * d[by + 1]
            for i in range(by):
                factors[k][i] -= q * factors[by][i]

    def swap(k: int, last: int) -> None:
        b[k], b[k - 1] = b[k - 1], b[k]
        for j in range(k - 1):
            factors[k][j], factors[k - 1][j] = factors[k - 1][j], factors[k][j]
        factor = factors[k][k - 1]
        square = (d[k - 1] * d[k + 1] + factor**2) // d[k]
        for i in range(k + 1, last + 1):
            t = factors[i][k]
            factors[i][k] = (d[k + 1] * factors[i][k - 1] - factor * t) // d[k]
            factors[i][k - 1] = (square * t + factor * factors[i][k]) // d[k + 1]
        d[k] = square

    k, last = 0, -1
    while k < len(b):
        if k > last:
            last = k
            for j in range(k + 1):
                u = _product(b[k], b[j])
                for i in range(j):
                    u = (d[i + 1] * u - factors[k][i] * factors[j][i]) // d[i]
                if j < k:
                    factors[k][j] = u
            d[k + 1] = u
            if not u:
                raise ValueError("the vectors of the lattice are not independent")
        if k:
            shorten(k, k - 1)
            if 4 * (d[k + 1] * d[k - 1] + factors[k][k - 1] ** 2) < 3 * d[k] ** 2:
                swap(k, last)
                k = max(1, k - 1)
                continue
            for by in range(k - 2, -1, -1):
                shorten(k, by)
        k += 1
    return b


def _product(x: Vector, y: Vector) -> int:
    return sum(of_x * of_y for of_x, of_y in zip(x, y, strict=True))


def _nearest(x: int, y: int) -> int:
    """The integer next to x / y, for y above 0."""
    return (2 * x + y) // (2 * y)
