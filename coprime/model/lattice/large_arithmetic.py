"""Polynomials modulo X^256 + 1 and q = 8380417, as a datapath with one multiplier computes them.

Sources: FIPS 204, section 7.5 and algorithms 41, 42 and 45; signed K-RED: P. Longa, M. Naehrig,
"Speeding up the Number Theoretic Transform for Faster Ideal Lattice-Based Cryptography" (2016),
algorithm 1, for q = k 2^m + 1. What differs: as in `arithmetic.py`, products come out times k^2 and
constants have the factor k^-2; a product takes two passes of the multiplier.

Ranges: numbers in memory are in [-q, q). A reduced number is in [-REDUCED, REDUCED], which is less
than q. Every function asserts the ranges of its operands.
"""

from collections.abc import Sequence
from functools import cache

from .ml_dsa_sets import Q

N = 256
NUMBER_BITS = 24
"""Bits of a number in [-q, q), with its sign."""
ROOT = 1753
"""A primitive 512th root of unity modulo q."""
K, M = 1023, 13
"""q = K 2^M + 1."""
SCALE = pow(K, -2, Q)
"""What a constant is multiplied by so that a reduced product with it is exact."""
LAYERS = 8
LOW_BITS = 17
"""Bits of a factor's lower part; the upper part has 7 bits with its sign."""
ACCUMULATOR_BITS = 48

Poly = list[int]
"""256 numbers in [-q, q)."""


# --- Numbers --------------------------------------------------------------------------------------


def canonical(x: int) -> int:
    """x modulo q, for x in [-q, q)."""
    assert -Q <= x < Q
    return x + Q if x < 0 else x


def centred(x: int) -> int:
    """The number in [-(q-1)/2, (q-1)/2] that is x modulo q, for x in [-q, q)."""
    x = canonical(x)
    return x - Q if x > Q >> 1 else x


def corrected(total: int) -> int:
    """A sum or difference of two numbers, in [-2q, 2q), brought to [-q, q) by its sign."""
    assert -2 * Q <= total < 2 * Q
    return total + Q if total < 0 else total - Q


def product_in_two_passes(x: int, y: int) -> tuple[int, int]:
    """The accumulator after each pass: x times y's lower part, then x times the upper part plus
    the first sum shifted by 17 bits. The product is the second one, followed by the lowest 17 bits
    of the first one."""
    assert -Q <= x < Q and -Q <= y < Q
    first = x * (y & (1 << LOW_BITS) - 1)
    second = (first >> LOW_BITS) + x * (y >> LOW_BITS)
    assert all(abs(total) < 1 << ACCUMULATOR_BITS - 1 for total in (first, second))
    return first, second


def reduction_step(t: int) -> int:
    """high - k low with a signed low part of 13 bits: -k t modulo q."""
    half = 1 << M - 1
    low = (t + half & (1 << M) - 1) - half
    return (t - low >> M) - K * low


def _bound(t: int) -> int:
    """The largest magnitude of a step's result for a magnitude of at most t."""
    return (t + (1 << M - 1) >> M) + (K << M - 1)


REDUCED = _bound(_bound(Q * Q))
"""The largest magnitude of a reduced number; below 5 q / 8."""
assert REDUCED < 5 * Q // 8


def reduced(first: int, second: int) -> int:
    """k^2 t modulo q, of a product t after two passes, by two steps."""
    t = (second << LOW_BITS) + (first & (1 << LOW_BITS) - 1)
    found = reduction_step(reduction_step(t))
    assert abs(found) <= REDUCED
    return found


def product(x: int, constant: int) -> int:
    """x times what a constant stands for; of two variables their product times k^2."""
    return reduced(*product_in_two_passes(x, constant))


def constant(value: int) -> int:
    """As a constant is stored: times k^-2, centred."""
    return centred(value * SCALE % Q)


# --- Constants of the transforms ------------------------------------------------------------------


def bit_reversed(number: int) -> int:
    """FIPS 204, algorithm 43: eight bits in reversed order."""
    return int(f"{number:08b}"[::-1], 2)


@cache
def root(number: int) -> int:
    """FIPS 204, appendix B: 1753^BitRev8(number) modulo q."""
    return pow(ROOT, bit_reversed(number), Q)


@cache
def forward_constants() -> tuple[int, ...]:
    """In the order of use: a constant for each block of each layer, 255 in all."""
    return tuple(constant(root(number)) for number in range(1, N))


@cache
def inverse_constants() -> tuple[int, ...]:
    """In the order of use, of all layers but the last: 254."""
    return tuple(constant(-root(number)) for number in range(N - 1, 1, -1))


@cache
def last_constants() -> tuple[int, int]:
    """For sums and differences of the inverse's last layer, with 1/256, and with k^-2 for a
    polynomial that is a sum of reduced products of two variables."""
    scale = pow(N, -1, Q) * SCALE
    return constant(scale), constant(-root(1) * scale)


# --- Polynomials ----------------------------------------------------------------------------------


def butterflies(layer: int) -> list[tuple[int, int]]:
    """Of a layer, counted from that of the longest span: pairs of words in the order of use."""
    span = N // 2 >> layer
    return [
        (start + word, start + word + span)
        for start in range(0, N, 2 * span)
        for word in range(span)
    ]


def transform(f: Sequence[int]) -> Poly:
    """FIPS 204, algorithm 41, in place."""
    c = list(f)
    constants = iter(forward_constants())
    for layer in range(LAYERS):
        span, zeta = N // 2 >> layer, 0
        for number, (i, j) in enumerate(butterflies(layer)):
            if number % span == 0:
                zeta = next(constants)
            t = product(c[j], zeta)
            c[i], c[j] = corrected(c[i] + t), corrected(c[i] - t)
    return c


def inverse(f: Sequence[int]) -> Poly:
    """FIPS 204, algorithm 42, of a sum of products, in place; the last layer scales both halves."""
    c = list(f)
    constants = iter(inverse_constants())
    for layer in reversed(range(1, LAYERS)):
        span, zeta = N // 2 >> layer, 0
        for number, (i, j) in enumerate(butterflies(layer)):
            if number % span == 0:
                zeta = next(constants)
            c[i], c[j] = corrected(c[i] + c[j]), product(corrected(c[i] - c[j]), zeta)
    for_sums, for_differences = last_constants()
    for i, j in butterflies(0):
        total, difference = corrected(c[i] + c[j]), corrected(c[i] - c[j])
        c[i], c[j] = product(total, for_sums), product(difference, for_differences)
    return c


def multiply_add(acc: Sequence[int] | None, f: Sequence[int], g: Sequence[int]) -> Poly:
    """acc + k^2 f g of transformed polynomials: FIPS 204, algorithm 45."""
    old = acc or [0] * N
    return [corrected(a + product(x, y)) for a, x, y in zip(old, f, g, strict=True)]


def multiply_subtract(acc: Sequence[int], f: Sequence[int], g: Sequence[int]) -> Poly:
    """acc - k^2 f g of transformed polynomials."""
    return [corrected(a - product(x, y)) for a, x, y in zip(acc, f, g, strict=True)]


def sums(f: Sequence[int], e: Sequence[int]) -> Poly:
    """f + e."""
    return [corrected(x + y) for x, y in zip(f, e, strict=True)]


def differences(f: Sequence[int], e: Sequence[int]) -> Poly:
    """f - e."""
    return [corrected(x - y) for x, y in zip(f, e, strict=True)]
