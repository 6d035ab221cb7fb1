"""BITSERIAL's three multiplications in integers, round by round, with S and C in carry-save form.

Source: Amanor, Paar, Pelzl, Bunimov, Schimmler, "Efficient Hardware Architectures for Modular
Multiplication on FPGAs" (2005), figures 1 to 3; the algorithms are those of Bunimov, Schimmler,
"Area and Time Efficient Modular Multiplication of Large Integers" (2003). X is the multiplier,
whose bits are scanned, Y the multiplicand; `width` is the registers' length in bits. The bounds of
every value are asserted as it goes.
"""

from collections.abc import Iterator

COUNTS = 5  # values of the interleaved multiplication's count: 0 to 4


def carry_save(a: int, b: int, c: int) -> tuple[int, int]:
    """One row of full adders: (sum, carry) with sum + carry = a + b + c."""
    return a ^ b ^ c, (a & b | a & c | b & c) << 1


def montgomery_two_rounds(
    x: int, y: int, m: int, rounds: int, width: int
) -> Iterator[tuple[int, int]]:
    """(S, C) after each round, with two carry-save adders. Ranges: as `montgomery_two`."""
    _check_montgomery(x, y, m, rounds, width)
    s = c = 0
    for i in range(rounds):
        s, c = carry_save(s, c, y if x >> i & 1 else 0)
        q = s & 1  # c is even
        s, c = carry_save(s, c, m if q else 0)
        assert s & 1 == 0 and c & 1 == 0
        s, c = s >> 1, c >> 1
        assert s < 1 << width and c < 1 << width and s + c < y + m
        yield s, c


def montgomery_one_rounds(
    x: int, y: int, m: int, rounds: int, width: int
) -> Iterator[tuple[int, int]]:
    """(S, C) after each round, with one carry-save adder. Ranges: as `montgomery_two`."""
    _check_montgomery(x, y, m, rounds, width)
    r = y + m
    assert r < 1 << (width + 1)
    s = c = 0
    for i in range(rounds):
        bit = x >> i & 1
        q = (s ^ c ^ (bit & y)) & 1
        s_0, c_0 = s & 1, c & 1
        s, c = carry_save(s, c, (r if q else y) if bit else (m if q else 0))
        assert s & 1 == 0
        s, c = s >> 1, c >> 1
        assert c & 1 == s_0 | c_0  # what the hardware takes for it
        assert s < 1 << width and c < 1 << width and s + c < y + m
        yield s, c


def _check_montgomery(x: int, y: int, m: int, rounds: int, width: int) -> None:
    assert m & 1 and 0 <= y < m < 1 << width and 0 <= x < 1 << rounds


def montgomery_rounds_result(s: int, c: int, m: int) -> int:
    """S + C, below 2M, reduced to canonical form by one conditional subtraction."""
    value = s + c
    assert value < 2 * m
    return value - m if value >= m else value


def montgomery_two(x: int, y: int, m: int, rounds: int, width: int) -> int:
    """x * y * 2^-rounds mod m, in [0, m), with two carry-save adders.

    m is odd; 0 <= y < m < 2^width; 0 <= x < 2^rounds; rounds >= 1.
    """
    *_, (s, c) = montgomery_two_rounds(x, y, m, rounds, width)
    return montgomery_rounds_result(s, c, m)


def montgomery_one(x: int, y: int, m: int, rounds: int, width: int) -> int:
    """x * y * 2^-rounds mod m, in [0, m), with one carry-save adder; ranges as `montgomery_two`."""
    *_, (s, c) = montgomery_one_rounds(x, y, m, rounds, width)
    return montgomery_rounds_result(s, c, m)


def table(y: int, m: int, width: int) -> list[int]:
    """(k * 2^width + y) mod m for the counts k, each computed from the previous one.

    2^(width-1) <= m < 2^width; 0 <= y < m. An entry E below m gives F = E + 2^width - m, which is
    below 2^width <= 2m: the next entry is F or F - m.
    """
    assert 1 << (width - 1) <= m < 1 << width and 0 <= y < m
    entries = [y]
    while len(entries) < COUNTS:
        f = entries[-1] + (1 << width) - m
        assert 0 <= f < 1 << width
        entries.append(f - m if f >= m else f)
        assert entries[-1] == (len(entries[1:]) * (1 << width) + y) % m
    return entries


def interleaved_rounds(
    x: int, y: int, m: int, rounds: int, width: int
) -> Iterator[tuple[int, int, int]]:
    """(S, C, o) after each round; o, of weight 2^width, is 0 or 1. Ranges: as `interleaved`."""
    assert 0 <= x < 1 << rounds
    full = 1 << width
    tables = [table(0, m, width), table(y, m, width)]
    s = c = o = 0
    for i in reversed(range(rounds)):
        k = (s >> (width - 1)) + (c >> (width - 1)) + 2 * o
        assert 0 <= k < COUNTS
        s, c = carry_save(2 * s % full, 2 * c % full, tables[x >> i & 1][k])
        o, c = divmod(c, full)
        assert o <= 1 and s < full and s + c + o * full <= 2 * (full - 2) + m - 1
        yield s, c, o


def interleaved(x: int, y: int, m: int, rounds: int, width: int) -> int:
    """x * y mod m, in [0, m), by redundant interleaved multiplication.

    2^(width-1) <= m < 2^width; 0 <= y < m; 0 <= x < 2^rounds; rounds >= 1. m may be even.
    """
    *_, (s, c, o) = interleaved_rounds(x, y, m, rounds, width)
    value = s + c + (o << width)
    assert value < 5 * m
    for multiple in (2 * m, 2 * m, m):
        value -= multiple if value >= multiple else 0
    assert 0 <= value < m
    return value
