"""Montgomery multiplication by products of differences of wide words, with quotient pipelining.

What `compact` does with digits of 17 bits, for words of any width, and two ideas more:

* Orup's quotient pipelining (1995): modulo c * M with c = -M^-1 mod 2^(w(1+d)), whose 1 + d lowest
  words are -1, the quotient word q_c is the lowest word of column c's sum, and is first needed in
  column c + 1 + d: d columns later than with the shorter c. With M' = (c * M + 1) / 2^(w(1+d)) the
  pairs of q and M' with i + j = c - 1 - d belong to column c.
* The diagonal products of X * Y and of q * M' are kept as one number for each column,
  e_c = x_c * y_c + q_(c-1-d) * M'_(c-1-d), since both join the running sum at column c and leave
  it at column c + D. No diagonal product is made twice.

A multiplication takes D^2 + D - 1 products of words with d = 0 (`products`). Everything modular is
made of it and of a round modulo M, S -> (S + q * M) / 2^w, for which software supplies one word:

* 1 + d rounds from S = 1 give M';
* a product by 2^(w(1+d)) and 1 + d rounds take a result from c * M to M.

Ranges are asserted as it goes; `sum_bits` derives them.
"""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class RingProduct:
    """A multiplication's result and the products of words that it took."""

    value: int
    products: int


@dataclass(frozen=True)
class SumBits:
    """Bits of the sums of a column, as `sum_bits` derives them.

    Attributes
    ----------
    tile : with a sign: what the pairs of a column contribute, if one tile does all of them
    running : without a sign: RS, the sum of the e_k of a column
    carry : without a sign: what column c passes to column c + 1
    total : without a sign: S, the column's sum
    """

    tile: int
    running: int
    carry: int
    total: int


def words(bits: int, word: int, delay: int) -> int:
    """D, the words of an operand modulo M of `bits` bits: R = 2^(wD) is above 4 * c * M.

    c has 1 + `delay` words; operands and results are below 2 * c * M. Ranges: bits >= 1, word >= 1,
    delay >= 0.
    """
    return -(-(bits + 2) // word) + 1 + delay


def to_words(value: int, count: int, word: int) -> list[int]:
    """Words of `value`, the lowest first; ValueError if it needs more than `count`."""
    if value < 0 or value >> (word * count):
        raise ValueError(f"{value} does not fit {count} words of {word} bits")
    return [value >> (word * k) & ((1 << word) - 1) for k in range(count)]


def scaling(m: int, word: int) -> int:
    """c_0 = -m^-1 mod 2^word, which software supplies; m is odd."""
    return -pow(m, -1, 1 << word) % (1 << word)


def round_(s: int, m: int, word: int) -> int:
    """(s + q * m) / 2^word with q = s_0 * c_0 mod 2^word, a word at a time.

    It is s * 2^-word modulo m, below s / 2^word + m. Ranges: s >= 0; m odd, above 0. Every sum has
    2 * word bits, every carry `word` bits.
    """
    radix = 1 << word
    count = max(s.bit_length(), m.bit_length()) // word + 1
    S, M = to_words(s, count, word), to_words(m, count, word)
    q = S[0] * scaling(m, word) % radix
    carry = result = 0
    for k in range(count):
        carry, low = divmod(carry + S[k] + q * M[k], radix)
        assert carry < radix
        assert k or low == 0, "q makes the lowest word zero"
        result |= low << (word * k)
    result |= carry << (word * count)
    return result >> word


def scaled_modulus(m: int, word: int, delay: int) -> int:
    """M' = (c * m + 1) / 2^(word(1+delay)) with c = -m^-1 mod 2^(word(1+delay)), in rounds from 1.

    It is at most m, so it has D - 1 - delay words: as (1 + Q * m) / 2^(word(1+delay)) is an integer
    and Q has 1 + delay words, Q is c.
    """
    s = 1
    for _ in range(1 + delay):
        s = round_(s, m, word)
    return s


def pairs(column: int, count: int, limit: int) -> Iterator[tuple[int, int]]:
    """Indices i < j of a column, i + j = `column`, j < `count`, i < `limit`; the innermost first.

    `limit` is `count` for X and Y, and D - 1 - d for q and M': above it M' has only zeros. The last
    pair of a column below `count` is (0, column), which needs the newest word.
    """
    for i in reversed(range(max(0, column - count + 1), min(limit, (column + 1) // 2))):
        yield i, column - i


def products(count: int, delay: int) -> int:
    """Products of words in a multiplication of D = `count` words: D^2 + D - 1 with no delay.

    X * Y has D(D - 1)/2 pairs and D diagonal products; q * M' has D - 1 - d diagonal ones, and
    lacks the d(d + 1)/2 pairs in which both words of M' are above it.
    """
    return count * count + count - 1 - delay - delay * (delay + 1) // 2


def sum_bits(count: int, word: int) -> SumBits:
    """Bits of a column's sums for D = `count` words of `word` bits, at any delay.

    With r = 2^word, a product of words or of differences is at most (r - 1)^2 in magnitude.

    * Column c has pairs of X and Y with i + j = c, at most D / 2 of them, and pairs of q and M'
      with i + j = c - 1 - d. There are at most D - 1 of both together: |tile| <= (D - 1)(r - 1)^2.
      A tile that has only one of the two sums, as with two tiles or more, adds up D / 2 of them.
    * RS has at most D products x_k * y_k and D - 1 products q_k * M'_k:
      0 <= RS <= (2D - 1)(r - 1)^2.
    * S, for which carry, RS and the pairs are added, is the carry and at most D products x_i * y_j
      and D - 1 products q_i * M'_j. With a carry of at most (2D - 1)(r - 1),
      S <= (2D - 1)(r - 1)^2 + (2D - 1)(r - 1) = (2D - 1)(r - 1) * r, so the next carry is at most
      (2D - 1)(r - 1) again. It is not below 0, as no product of words is.
    """
    top = (1 << word) - 1
    most = (2 * count - 1) * top
    return SumBits(
        tile=((count - 1) * top * top).bit_length() + 1,
        running=(most * top).bit_length(),
        carry=most.bit_length(),
        total=(most << word).bit_length(),
    )


def product(x: int, y: int, m: int, count: int, word: int, delay: int) -> RingProduct:
    """x * y * 2^(-word * count) modulo c * m, column by column.

    x and y have D = `count` words. The result is below x * y / R + c * m, so below 2 * c * m where
    x and y are, and must fit in D words. Raises ValueError if x, y do not.
    """
    radix, top = 1 << word, (1 << word) - 1
    ahead = 1 + delay
    inner = count - ahead  # words of M'
    X, Y = to_words(x, count, word), to_words(y, count, word)
    scaled = scaled_modulus(m, word, delay)
    M = [*to_words(scaled, inner, word), *[0] * ahead]
    whole = (scaled << word * ahead) - 1  # c * m
    assert 4 * whole < 1 << word * count, "R is above 4 * c * m"
    Q = [0] * count
    E = [0] * count
    bits = sum_bits(count, word)
    taken = 0
    running = carry = result = 0

    def pair_sum(a: list[int], b: list[int], column: int, limit: int) -> int:
        nonlocal taken
        total = 0
        for i, j in pairs(column, count, limit):
            difference = (a[i] - a[j]) * (b[i] - b[j])
            assert abs(difference) <= top * top
            total -= difference
            taken += 1
        return total

    for c in range(2 * count):
        if c < count:
            E[c] = X[c] * Y[c]
            taken += 1
        if ahead <= c < count:
            E[c] += Q[c - ahead] * M[c - ahead]
            taken += 1
        joins = E[c] if c < count else 0
        leaves = E[c - count] if c >= count else 0
        running += joins - leaves
        assert 0 <= running < 1 << bits.running
        tile = pair_sum(X, Y, c, count) + pair_sum(Q, M, c - ahead, inner)
        assert -1 << bits.tile - 1 <= tile < 1 << bits.tile - 1
        total = carry + running + tile
        assert 0 <= total < 1 << bits.total
        carry, low = divmod(total, radix)
        assert carry < 1 << bits.carry
        if c < count:
            Q[c] = low
        else:
            result |= low << word * (c - count)
    assert running == 0, "every e_k has left the sum"
    assert carry == 0, "the result has left its words"
    assert (result << word * count) < x * y + (whole << word * count)
    return RingProduct(result, taken)


def descaled(x: int, m: int, count: int, word: int, delay: int) -> int:
    """x * R^-1 modulo m, from c * m to m: a product by 2^(word(1+delay)), then 1 + delay rounds.

    x is below 2 * c * m; the result is below 2 * m where 4 * m > 2^(word(1+delay)), else at most
    2 * m: the product is below x * 2^(word(1+delay)) / R + c * m, and x is below R / 2.
    """
    s = product(x, 1 << word * (1 + delay), m, count, word, delay).value
    for _ in range(1 + delay):
        s = round_(s, m, word)
    return s
