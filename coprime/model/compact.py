"""Montgomery multiplication by products of differences, column by column, in integers.

Two ideas that are known one by one:

* Karatsuba's identity for any number of digits (Weimerskirch, Paar 2003): with the diagonal
  products d_i = x_i * y_i, x_i * y_j + x_j * y_i = d_i + d_j - (x_i - x_j) * (y_i - y_j). So a
  pair of digits takes one product, and the d_i of a column are a running sum.
* Orup's scaling (1995): modulo c * M with c = -M^-1 mod 2^17, whose lowest digit is -1, the
  quotient digit q_k is the lowest digit of column k's sum. With M' = (c * M + 1) / 2^17 it has its
  first product, q_k * M'_0, in column k + 1.

Both X * Y and q * M' are sums of such pairs: D^2 + D products for D digits, where FDFM's
Algorithm 3 takes 2 * d^2 + d. Ranges are asserted as it goes.
"""

from dataclasses import dataclass

RADIX_BITS = 17


@dataclass(frozen=True)
class CompactProduct:
    """A multiplication's result and the digit products that it took."""

    value: int
    products: int


def to_digits(value: int, count: int, radix_bits: int = RADIX_BITS) -> list[int]:
    """Digits of `value`, the lowest first; ValueError if it needs more than `count`."""
    if value < 0 or value >> (radix_bits * count):
        raise ValueError(f"{value} does not fit {count} digits of {radix_bits} bits")
    return [value >> (radix_bits * k) & ((1 << radix_bits) - 1) for k in range(count)]


def scaling(m: int, radix_bits: int = RADIX_BITS) -> int:
    """c = -m^-1 mod 2^radix_bits; m is odd."""
    return -pow(m, -1, 1 << radix_bits) % (1 << radix_bits)


def scaled_modulus(m: int, inner: int, radix_bits: int = RADIX_BITS) -> int:
    """M' = (c * m + 1) / 2^radix_bits, a digit at a time as the hardware does it.

    c * m must be two bits shorter than `inner` digits.
    """
    c, carry, scaled = scaling(m, radix_bits), 1, 0
    for k, digit in enumerate([*to_digits(m, inner, radix_bits), 0]):
        carry, low = divmod(carry + c * digit, 1 << radix_bits)
        assert k or not low, "c makes the lowest digit -1"
        scaled |= low << (radix_bits * k)
    scaled >>= radix_bits
    assert carry == 0 and scaled << radix_bits == c * m + 1
    return scaled


def accumulator_bits(digits: int, radix_bits: int = RADIX_BITS) -> int:
    """Bits of a column's sum, without a sign, where there are `digits` digits.

    A column has at most 2 * `digits` products of digits, and a carry, which is below
    2 * `digits` * 2^radix_bits: below 2^2r * 2 * (digits + 1) all in all. No sum on the way is
    below 0, as every d_i is added before the pair that takes it away.
    """
    return 2 * radix_bits + (2 * digits + 1).bit_length()


def montgomery(
    x: int, y: int, m: int, inner: int, outer: int, radix_bits: int = RADIX_BITS, *, mask: int = 0
) -> CompactProduct:
    """x * y * 2^(-radix_bits * outer) modulo c * m, of `inner` digits; y has `outer`.

    The result is below x * y / 2^(radix_bits * outer) + c * m, and must fit in `inner` digits.
    With a `mask`, 0 or more, M' is M' + mask * m, and c therefore c + 2^radix_bits * mask.
    """
    radix = 1 << radix_bits
    short, long = sorted((inner, outer))
    X = [*to_digits(x, inner, radix_bits), *[0] * (long - inner)]
    Y = [*to_digits(y, outer, radix_bits), *[0] * (long - outer)]
    M = [*to_digits(scaled_modulus(m, inner, radix_bits) + mask * m, inner, radix_bits)]
    M += [0] * (long - inner)
    Q = [0] * long
    limit = 1 << accumulator_bits(long, radix_bits)
    products = 0
    diagonals: list[int] = []  # of X * Y, which the hardware computes again for the second half
    running = 0  # the d_i of the next column's pairs, of X * Y and of q * M'
    carry = result = 0

    def pairs(a: list[int], b: list[int], column: int) -> list[int]:
        """What each pair takes from its column, pair (0, column) last, which needs the newest q."""
        differences = [
            (a[i] - a[column - i]) * (b[i] - b[column - i])
            for i in range(max(0, column - long + 1), min(short, (column + 1) // 2))
        ]
        assert all(abs(difference) < radix * radix for difference in differences)
        return differences[::-1]

    for k in range(inner + outer):
        if k < short:  # d_k of X * Y
            diagonals.append(X[k] * Y[k])
            running += diagonals[k]
            products += 1
        total = carry + running
        for difference in pairs(X, Y, k):
            total -= difference
            products += 1
            assert 0 <= total < limit
        taken = pairs(Q, M, k - 1)
        if 0 < k <= short:  # d_(k-1) of q * M', just before the pair with the newest q
            assert k <= outer
            diagonal = Q[k - 1] * M[k - 1]
            running += diagonal
            total += diagonal
            products += 1
        for difference in taken:
            total -= difference
            products += 1
        assert 0 <= total < limit
        if k < outer:
            Q[k] = total % radix
        else:
            result |= total % radix << (radix_bits * (k - outer))
        carry = total >> radix_bits
        # What no pair of the next column contains.
        gone = k + 1 - long
        if 0 <= gone < short:
            running -= diagonals[gone]
        if 0 <= gone - 1 < short:
            running -= Q[gone - 1] * M[gone - 1]
        assert running >= 0
    assert carry == 0, "the result has left its digits"
    return CompactProduct(result, products)


def last_round(s: int, m: int, inner: int, radix_bits: int = RADIX_BITS) -> int:
    """(s + q * m) / 2^radix_bits with q = s_0 * c: from c * m to m, a digit at a time.

    s has `inner` digits. The result is below (s + 2^radix_bits * m) / 2^radix_bits.
    """
    radix = 1 << radix_bits
    q = s * scaling(m, radix_bits) % radix
    S, M = to_digits(s, inner, radix_bits), to_digits(m, inner, radix_bits)
    carry = result = 0
    for k in range(inner):
        carry, low = divmod(carry + S[k] + q * M[k], radix)
        assert carry <= radix
        assert k or low == 0, "q makes the lowest digit zero"
        result |= low << (radix_bits * k)
    result |= carry << (radix_bits * inner)
    return result >> radix_bits
