"""Whether a signature of ECDSA is valid for a key close to the right one.

Source: FIPS 186-5, section 6.4.2, solved for the public key (public key recovery: SEC 1, section
4.1.6). A fault that adds m 2^i to the private key d makes signatures for d + m 2^i. Whoever has the
public key finds m 2^i, since the public keys differ by m 2^i times the base point. Where m depends
on a digit of d, that digit follows.
"""

from collections.abc import Iterator

from coprime.model.curve_points import add, base_multiple
from coprime.model.roots import square_root

LARGEST_FACTOR = 1 << 10
"""Of a power of two, in a difference that is looked for. The first shares of a key that was changed
gave 2 and 4; a digit has 17 bits, of which most faults change one."""

Point = tuple[int, int] | None
"""None is the point at infinity."""


def difference_of_keys(
    signature: tuple[int, int],
    *,
    z: int,
    d: int,
    gx: int,
    gy: int,
    a: int,
    b: int,
    p: int,
    n: int,
) -> int | None:
    """The number m 2^i of a signature r, s of z for the key d + m 2^i modulo n; None if none is.

    m is from -`LARGEST_FACTOR` to `LARGEST_FACTOR`, and i at least 0 and below n's length in bits.
    A signature for d gives 0.
    """
    r, s = signature
    if not (0 < r < n and 0 < s < n):
        return None
    base, minus_key = (gx, gy), base_multiple(n - d, gx, gy, a, b, p, n)
    of_nonce, of_hash = s * pow(r, -1, n) % n, -z * pow(r, -1, n) % n
    hashed: Point = base_multiple(of_hash, gx, gy, a, b, p, n) if of_hash else None
    differences = []
    for x, y in _points_of(r, a, b, p, n):
        key = add(base_multiple(of_nonce, x, y, a, b, p, n), hashed, a, p)
        differences.append(add(key, minus_key, a, p))
    if None in differences:
        return 0
    # What a multiple of the base point is compared with, and the sign of the multiple.
    wanted: dict[Point, int] = dict.fromkeys(differences, 1)
    wanted |= {(x, -y % p): -1 for x, y in filter(None, differences)}
    power: Point = base
    for i in range(n.bit_length()):
        twice = add(power, power, a, p)
        multiple = power
        for m in range(1, LARGEST_FACTOR, 2):
            if multiple in wanted:
                return (wanted[multiple] * m) << i
            multiple = add(multiple, twice, a, p)
        power = twice
    return None


def _points_of(r: int, a: int, b: int, p: int, n: int) -> Iterator[tuple[int, int]]:
    """The points whose coordinate x is r modulo n."""
    for x in range(r, p, n):
        y = square_root((x * x * x + a * x + b) % p, p)
        if y is not None:
            yield from {(x, y), (x, -y % p)}
