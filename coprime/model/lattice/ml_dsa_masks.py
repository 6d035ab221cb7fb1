"""What a signature of ML-DSA tells of its mask y, for whoever knows the private key.

z = y + c s1: of two signatures with one y, or of one whose y is known in part, s1 can be computed.
So signatures that a faulty engine has made are judged by their y. Windows of a few coefficients are
compared, as a fault may repeat a part of y, at another place or of another polynomial.
"""

from collections.abc import Iterable

from . import arithmetic
from .large_arithmetic import Poly
from .ml_dsa import challenge, small_product, unpack_below, unpack_private
from .ml_dsa_sets import MlDsaSet

WINDOW = 3
"""Consecutive coefficients that two random masks do not have in common: these have at least 54
bits, and masks at most 1,792 of them."""


def mask_of(parameters: MlDsaSet, sk: bytes, signature: bytes) -> list[Poly]:
    """y = z - c s1, by polynomial; also of a signature that is not valid.

    Raises ValueError as `unpack_private`, and for a c~ that the sampler would need another block
    for.
    """
    p = parameters
    c = arithmetic.transform(challenge(p, signature[: p.challenge_bytes]))
    size, found = 32 * p.z_bits, []
    for column, s in enumerate(unpack_private(p, sk).s1):
        start = p.challenge_bytes + size * column
        z = unpack_below(p.gamma1, signature[start : start + size], p.z_bits)
        cs = small_product(p, c, arithmetic.transform(s))
        found.append([x - y for x, y in zip(z, cs, strict=True)])
    return found


def _windows(y: Iterable[Poly]) -> list[tuple[int, ...]]:
    return [
        tuple(polynomial[k : k + WINDOW])
        for polynomial in y
        for k in range(len(polynomial) - WINDOW + 1)
    ]


def is_weak(parameters: MlDsaSet, y: list[Poly]) -> bool:
    """Whether all coefficients of a polynomial are below half of what they may be, or a bit is the
    same in all of them, as numbers or as they are sampled, or a part of y is at two places."""
    for polynomial in y:
        if max(map(abs, polynomial)) < parameters.gamma1 // 2:
            return True
        for numbers in (polynomial, [parameters.gamma1 - x for x in polynomial]):
            for bit in range(parameters.z_bits):
                if len({number >> bit & 1 for number in numbers}) == 1:
                    return True
    found = _windows(y)
    return len(set(found)) < len(found)


def have_in_common(y: list[Poly], other: list[Poly]) -> bool:
    """Whether two masks have a part in common, at any place."""
    return not set(_windows(y)).isdisjoint(_windows(other))
