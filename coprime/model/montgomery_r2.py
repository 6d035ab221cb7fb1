"""Radix-2 Montgomery multiplication without a last subtraction, in integers, round by round.

Source: COMPRESSION, Algorithm 2. X is the multiplier, whose bits are scanned, Y the multiplicand;
n is the modulus's length in bits. The bounds of every value are asserted as it goes.
"""

from collections.abc import Iterator

HEADROOM = 2  # rounds beyond n, and the bits of a factor beyond it: R = 2^(n + 2) is above 4M


def multiply_rounds(x: int, y: int, m: int, rounds: int, width: int) -> Iterator[int]:
    """S after each round. Ranges: as `multiply`."""
    assert m & 1 and m > 0 and 0 <= y < 2 * m and 0 <= x < 1 << rounds
    assert m.bit_length() + HEADROOM <= width
    s = 0
    for i in range(rounds):
        product = y if x >> i & 1 else 0
        q = (s + product) & 1
        total = s + product + (m if q else 0)
        assert total & 1 == 0 and total < 1 << (width + 1)
        s = total >> 1
        assert s < y + m < 3 * m < 1 << width
        yield s


def multiply(x: int, y: int, m: int, rounds: int, width: int) -> int:
    """(x * y + q * m) / 2^rounds, with the q below 2^rounds that makes it an integer.

    It is below x * y / 2^rounds + m: below 2m where x and y are and rounds is n + 2.

    m is odd; 0 <= y < 2m; 0 <= x < 2^rounds; rounds >= 1; `width`, bits of the register, is at
    least n + 2.
    """
    *_, s = multiply_rounds(x, y, m, rounds, width)
    assert s << rounds < x * y + (m << rounds)
    assert s < 2 * m or x >= 2 * m or 1 << rounds <= 4 * m
    return s
