"""Polynomials modulo X^256 + 1 and q = 3329, as a datapath with one multiplier computes them.

Sources: FIPS 203, section 4.3 (algorithms 9 to 12) and section 4.2.1 (compression); signed K-RED:
P. Longa, M. Naehrig, "Speeding up the Number Theoretic Transform for Faster Ideal Lattice-Based
Cryptography" (2016), algorithm 1, for q = k 2^m + 1. What differs: k low - high is computed with
the opposite sign, twice, so that a product comes out times k^2; constants have the factor k^-2.
A polynomial's word is a pair of coefficients: the even one and the odd one, which ML-KEM's
transform treats alike.

Ranges: numbers in memory are in [-q, q). A reduced number is in [-REDUCED, REDUCED], which is less
than q. Every function asserts the ranges of its operands.
"""

from collections.abc import Sequence
from functools import cache

Q = 3329
N = 256
WORDS = N // 2
"""Pairs of coefficients of a polynomial."""
LANE_BITS = 13
"""Bits of a number in [-q, q), with its sign."""
ROOT = 17
"""A primitive 256th root of unity modulo q."""
K, M = 13, 8
"""q = K 2^M + 1."""
SCALE = pow(K, -2, Q)
"""What a constant is multiplied by so that a reduced product with it is exact."""
LAYERS = 7

Poly = list[int]
"""256 numbers in [-q, q)."""


# --- Numbers --------------------------------------------------------------------------------------


def canonical(x: int) -> int:
    """x modulo q, for x in [-q, q)."""
    assert -Q <= x < Q
    return x + Q if x < 0 else x


def centred(x: int) -> int:
    """The number in [-(q-1)/2, (q-1)/2] that is x modulo q."""
    x %= Q
    return x - Q if x > Q // 2 else x


def corrected(total: int) -> int:
    """A sum or difference of two numbers, in [-2q, 2q), brought to [-q, q) by its sign."""
    assert -2 * Q <= total < 2 * Q
    return total + Q if total < 0 else total - Q


PRODUCT_BITS = 26
"""Bits of a product, or a sum of two products, with its sign."""


def reduction_step(t: int) -> int:
    """high - k low with a signed low part of 8 bits: -k t modulo q."""
    low = (t + 128 & 255) - 128
    return (t - low >> M) - K * low


def reduced(t: int) -> int:
    """k^2 t modulo q by two steps."""
    assert -(1 << PRODUCT_BITS - 1) <= t < 1 << PRODUCT_BITS - 1
    return reduction_step(reduction_step(t))


REDUCED = 2183
"""The largest magnitude of a reduced number: tests try all values of the first step."""


def product(x: int, constant: int) -> int:
    """x times what a constant stands for: both in the multiplier, then reduced."""
    return reduced(x * constant)


def constant(value: int) -> int:
    """As a constant is stored: times k^-2, centred."""
    return centred(value * SCALE)


# --- Constants of the transforms ------------------------------------------------------------------


def bit_reversed(number: int, bits: int) -> int:
    """The lowest `bits` bits in reversed order."""
    return int(f"{number:0{bits}b}"[::-1], 2)


@cache
def root(number: int) -> int:
    """FIPS 203: 17^BitRev7(number) modulo q."""
    return pow(ROOT, bit_reversed(number, LAYERS), Q)


@cache
def forward_constants() -> tuple[int, ...]:
    """In the order of use: a constant for each block of each layer, 127 in all."""
    return tuple(constant(root(number)) for number in range(1, WORDS))


@cache
def inverse_constants() -> tuple[int, ...]:
    """In the order of use, of all layers but the last: 126."""
    return tuple(constant(-root(number)) for number in range(WORDS - 1, 1, -1))


@cache
def last_constants(after_product: bool = True) -> tuple[int, int]:
    """For sums and differences of the inverse's last layer, with 1/128, and with k^-2 for a
    polynomial that is a sum of reduced products of two variables."""
    scale = pow(WORDS, -1, Q) * (SCALE if after_product else 1)
    return constant(scale), constant(-root(1) * scale)


@cache
def pair_constants() -> tuple[int, ...]:
    """Of each word of a transformed polynomial: a root z, for a product modulo X^2 - z."""
    return tuple(
        constant((1 - 2 * (word % 2)) * root(WORDS // 2 + word // 2)) for word in range(WORDS)
    )


EXACT = constant(SCALE)
"""Makes a sum of products of two variables exact where it stays transformed."""
MODULO = constant(1)
"""Reduces a number of 12 bits."""


# --- Polynomials ----------------------------------------------------------------------------------


def butterflies(layer: int) -> list[tuple[int, int]]:
    """Of a layer, counted from that of the longest span: pairs of words in the order of use."""
    span = WORDS // 2 >> layer
    return [
        (start + word, start + word + span)
        for start in range(0, WORDS, 2 * span)
        for word in range(span)
    ]


def transform(f: Sequence[int]) -> Poly:
    """FIPS 203, algorithm 9, by words, in place."""
    c = list(f)
    constants = iter(forward_constants())
    for layer in range(LAYERS):
        span, zeta = WORDS // 2 >> layer, 0
        for number, (a, b) in enumerate(butterflies(layer)):
            if number % span == 0:
                zeta = next(constants)
            for i, j in ((2 * a, 2 * b), (2 * a + 1, 2 * b + 1)):
                t = product(c[j], zeta)
                c[i], c[j] = corrected(c[i] + t), corrected(c[i] - t)
    return c


def inverse(f: Sequence[int], after_product: bool = True) -> Poly:
    """FIPS 203, algorithm 10, by words, in place; the last layer scales both halves."""
    c = list(f)
    constants = iter(inverse_constants())
    for layer in reversed(range(1, LAYERS)):
        span, zeta = WORDS // 2 >> layer, 0
        for number, (a, b) in enumerate(butterflies(layer)):
            if number % span == 0:
                zeta = next(constants)
            for i, j in ((2 * a, 2 * b), (2 * a + 1, 2 * b + 1)):
                c[i], c[j] = corrected(c[i] + c[j]), product(corrected(c[i] - c[j]), zeta)
    for_sums, for_differences = last_constants(after_product)
    for a, b in butterflies(0):
        for i, j in ((2 * a, 2 * b), (2 * a + 1, 2 * b + 1)):
            total, difference = corrected(c[i] + c[j]), corrected(c[i] - c[j])
            c[i], c[j] = product(canonical(total), for_sums), product(difference, for_differences)
    return c


def pair(g: Sequence[int]) -> list[int]:
    """Of each word of a transformed polynomial its odd coefficient times the word's root, as the
    sum with 0."""
    return [corrected(product(g[2 * w + 1], z)) for w, z in enumerate(pair_constants())]


def multiply_add(acc: Sequence[int] | None, f: Sequence[int], g: Sequence[int]) -> Poly:
    """acc + k^2 f g of transformed polynomials: FIPS 203, algorithm 11, without a product for the
    root. f may have any numbers of 12 bits, or in [-q, q)."""
    old = acc or [0] * N
    roots, c = pair(g), []
    for w in range(WORDS):
        f0, f1, g0, g1 = *f[2 * w : 2 * w + 2], *g[2 * w : 2 * w + 2]
        assert all(-Q <= x < 4096 for x in (f0, f1))
        assert all(-Q <= x < Q for x in (g0, g1))
        c.append(corrected(old[2 * w] + reduced(f1 * roots[w] + f0 * g0)))
        c.append(corrected(old[2 * w + 1] + reduced(f0 * g1 + f1 * g0)))
    return c


def exact_sum(acc: Sequence[int], e: Sequence[int]) -> Poly:
    """k^-2 acc + e."""
    return [corrected(y + product(x, EXACT)) for x, y in zip(acc, e, strict=True)]


def sums(f: Sequence[int], e: Sequence[int]) -> Poly:
    """f + e."""
    return [corrected(x + y) for x, y in zip(f, e, strict=True)]


def differences(f: Sequence[int], e: Sequence[int]) -> Poly:
    """f - e."""
    return [corrected(x - y) for x, y in zip(f, e, strict=True)]


# --- Compression ----------------------------------------------------------------------------------

WIDTHS = (1, 4, 5, 10, 11)
"""Bits that a coefficient is compressed to."""
COMPRESSION_SHIFT = 19
LEFT = 18
"""A factor of more than 17 bits is split: the multiplier has the rest, x 2^18 is added."""


def compressed_exactly(x: int, width: int) -> int:
    """FIPS 203, (4.7): 2^d x / q, rounded, modulo 2^d."""
    return (2 * (x << width) + Q) // (2 * Q) % (1 << width)


def expanded_exactly(y: int, width: int) -> int:
    """FIPS 203, (4.8): q y / 2^d, rounded."""
    return (2 * Q * y + (1 << width)) >> width + 1


@cache
def compression_factor(width: int) -> int:
    """2^(19+d) / q, rounded."""
    return ((1 << COMPRESSION_SHIFT + width) + Q // 2) // Q


@cache
def compression_offset() -> int:
    """The middle of the numbers that, added to the product, round it correctly for each x and d."""
    low, high = 0, 1 << COMPRESSION_SHIFT
    for width in WIDTHS:
        factor = compression_factor(width)
        for x in range(Q):
            rounded = (2 * (x << width) + Q) // (2 * Q)
            low = max(low, (rounded << COMPRESSION_SHIFT) - x * factor)
            high = min(high, ((rounded + 1 << COMPRESSION_SHIFT) - 1) - x * factor)
    assert low <= high
    return (low + high) // 2


def splits(width: int) -> bool:
    """Whether the factor of a compression has more than 17 bits."""
    return compression_factor(width) >= 1 << 17


def compression_multiplier(width: int) -> int:
    """The multiplier's constant: signed 18 bits."""
    found = compression_factor(width) - (splits(width) << LEFT)
    assert -(1 << 17) <= found < 1 << 17
    return found


def compressed(x: int, width: int) -> int:
    """Of a canonical x: one product and two additions in the slice, and bits of its result."""
    assert 0 <= x < Q
    p = x * compression_multiplier(width) + (x * splits(width) << LEFT) + compression_offset()
    return p >> COMPRESSION_SHIFT & (1 << width) - 1


@cache
def expansion_shift(width: int) -> int:
    """5 for up to 5 bits, else 11."""
    return 5 if width <= 5 else 11


def expansion_factor(width: int) -> int:
    """The multiplier's constant: 17 bits at most."""
    found = Q << expansion_shift(width) - width
    assert found < 1 << 17
    return found


def expansion_offset(width: int) -> int:
    """One half."""
    return 1 << expansion_shift(width) - 1


def expanded(y: int, width: int) -> int:
    """One product and the addition of one half in the slice, and bits of its result."""
    assert 0 <= y < 1 << width
    return y * expansion_factor(width) + expansion_offset(width) >> expansion_shift(width)


# --- Bytes ----------------------------------------------------------------------------------------


def packed(values: Sequence[int], width: int) -> bytes:
    """FIPS 203, algorithm 5: the lowest bits first."""
    assert all(0 <= value < 1 << width for value in values)
    total = sum(value << width * place for place, value in enumerate(values))
    return total.to_bytes(len(values) * width // 8, "little")


def unpacked(data: bytes, width: int) -> list[int]:
    """FIPS 203, algorithm 6, without a reduction modulo q of 12 bits."""
    total, mask = int.from_bytes(data, "little"), (1 << width) - 1
    return [total >> place & mask for place in range(0, 8 * len(data), width)]


def pack(f: Sequence[int], width: int, e: Sequence[int] | None = None) -> bytes:
    """f, or f + e, as 12 bits a coefficient, or compressed."""
    c = [canonical(x) for x in (sums(f, e or [0] * N))]
    return packed(c if width == 12 else [compressed(x, width) for x in c], width)


def expand(data: bytes, width: int) -> Poly:
    """The numbers that bytes stand for: of 12 bits modulo q, of fewer decompressed."""
    found = unpacked(data, width)
    return [product(x, MODULO) if width == 12 else expanded(x, width) for x in found]
