import itertools
import random

import pytest

from coprime.model.compact import accumulator_bits, montgomery
from coprime.model.montgomery import scaled_product
from coprime.model.ring import (
    descaled,
    pairs,
    product,
    products,
    round_,
    scaled_modulus,
    scaling,
    sum_bits,
    to_words,
    words,
)

TINY = [(2, 0), (2, 1), (3, 0), (4, 0), (5, 0)]
"""Words and delays for which every pair of operands of the smallest moduli is tried."""
SMALL = list(itertools.product((2, 3, 4, 5), (0, 1, 2)))
WIDE = list(itertools.product((17, 24, 32, 48, 50, 94), (0, 1, 2)))
"""Words of the tiles, with every delay."""


def c_of(m, word, delay):
    return -pow(m, -1, 1 << word * (1 + delay)) % (1 << word * (1 + delay))


def extreme_moduli(bits):
    """Ones only, the smallest, sparse ones, and a dense one."""
    yield from ((1 << bits) - 1, (1 << bits - 1) + 1, (1 << bits) - (1 << bits // 2) - 1)
    yield from ((1 << bits - 1) + (1 << bits // 3) + 1, random.Random(bits).getrandbits(bits) | 1)


def check(x, y, m, count, word, delay):
    """The result is the one integer that Montgomery's method has for R = 2^(wD) and c * m."""
    whole, R = c_of(m, word, delay) * m, 1 << word * count
    q = -x * y * pow(whole, -1, R) % R
    got = product(x, y, m, count, word, delay)
    assert got.value == (x * y + q * whole) // R
    assert got.value % m == x * y * pow(R, -1, m) % m
    assert got.products == products(count, delay)
    return got.value


@pytest.mark.matrix(quick=2)
@pytest.mark.parametrize(("word", "delay"), TINY)
def test_exhaustive_with_tiny_words(word, delay):
    """Every x and y below 2 * c * m, for the smallest odd m."""
    for m in range(1, 4 if word == 5 else 8, 2):
        count = words(m.bit_length(), word, delay)
        limit = 2 * c_of(m, word, delay) * m
        for x, y in itertools.product(range(limit), repeat=2):
            assert check(x, y, m, count, word, delay) < limit


@pytest.mark.parametrize(("word", "delay"), SMALL)
def test_tiny_words_with_many_columns(word, delay):
    generator = random.Random(16 * word + delay)
    for _ in range(150):
        m = generator.getrandbits(generator.randrange(1, 9 * word)) | 1
        count = words(m.bit_length(), word, delay)
        limit = 2 * c_of(m, word, delay) * m
        x, y = (generator.choice((0, 1, limit - 1, generator.randrange(limit))) for _ in "xy")
        assert check(x, y, m, count, word, delay) < limit


@pytest.mark.parametrize(("word", "delay"), WIDE)
def test_extreme_moduli_and_operands(word, delay):
    for bits in (3 * word - 2, 3 * word - 1, 256):
        count = words(bits, word, delay)
        for m in extreme_moduli(bits):
            limit = 2 * c_of(m, word, delay) * m
            extremes = (0, 1, limit - 1, ((1 << word * count) - 1) // ((1 << word) + 1) % limit)
            for x, y in itertools.product(extremes, repeat=2):
                assert check(x, y, m, count, word, delay) < limit


@pytest.mark.parametrize(("word", "delay"), WIDE)
def test_chain_is_a_power(word, delay):
    """Ten squarings in a row, each of the last result as it is: m's power, below 2 * c * m."""
    for m in extreme_moduli(521):
        count = words(521, word, delay)
        whole, factor = c_of(m, word, delay) * m, pow(2, word * count, m)
        x = 5 * factor % m
        for _ in range(10):
            x = product(x, x, m, count, word, delay).value
            assert x < 2 * whole
        left = descaled(x, m, count, word, delay)
        assert left % m == pow(5, 1 << 10, m)
        assert left < 2 * m


@pytest.mark.parametrize("bits", [1, 16, 17, 100])
@pytest.mark.parametrize(("word", "delay"), [(3, 0), (3, 2), (17, 0), (17, 1), (50, 1), (94, 2)])
def test_rounds_from_one_make_the_scaled_modulus(bits, word, delay):
    for m in {1, *extreme_moduli(bits)} if bits > 2 else (1,):
        scaled = scaled_modulus(m, word, delay)
        assert (scaled << word * (1 + delay)) - 1 == c_of(m, word, delay) * m
        assert scaled <= m
        assert not scaled >> word * (words(bits, word, delay) - 1 - delay)


@pytest.mark.parametrize("word", [1, 2, 3, 5])
def test_round_exhaustive(word):
    for m in range(1, 32, 2):
        for s in range(256):
            result = round_(s, m, word)
            assert result << word == s + (s * scaling(m, word) % (1 << word)) * m
            assert result << word < s + (m << word)


@pytest.mark.parametrize(("word", "delay"), [(2, 0), (2, 1), (3, 0), (3, 1), (5, 0)])
def test_leaving_exhaustive(word, delay):
    """Every x below 2 * c * m; below 2 * m where the docstring says so, and never above it."""
    radix = 1 << word * (1 + delay)
    for m in range(1, 16, 2):
        count = words(m.bit_length(), word, delay)
        for x in range(2 * c_of(m, word, delay) * m):
            left = descaled(x, m, count, word, delay)
            assert left % m == x * pow(2, -word * count, m) % m
            assert left < 2 * m or (left == 2 * m and 4 * m <= radix)


def test_without_delay_it_is_what_the_host_computes():
    """`scaled_product` is what the other families with a scaled modulus are compared with."""
    m = random.Random(4).getrandbits(512) | 1
    count = words(512, 50, 0)
    x, y = m - 2, (1 << 511) + 12345
    assert product(x, y, m, count, 50, 0).value == scaled_product(x, y, m, 50, count)


def test_with_words_of_17_bits_it_is_what_compact_computes():
    m = random.Random(5).getrandbits(512) | 1 << 511 | 1
    count = words(512, 17, 0)
    ring, compact = (
        product(m - 1, m - 2, m, count, 17, 0),
        montgomery(m - 1, m - 2, m, count, count),
    )
    assert ring.value == compact.value
    assert ring.products == compact.products - 1, "compact has a zero of M' as well"


@pytest.mark.parametrize(
    ("bits", "word", "delay", "count"),
    [(512, 17, 0, 32), (1024, 17, 0, 62), (1024, 50, 0, 22), (1024, 50, 1, 23), (1022, 64, 0, 17)],
)
def test_words(bits, word, delay, count):
    assert words(bits, word, delay) == count


@pytest.mark.parametrize("word", [2, 17, 50])
@pytest.mark.parametrize("delay", [0, 1, 2])
@pytest.mark.parametrize("bits", [34, 300])
def test_words_are_as_few_as_can_be(word, delay, bits):
    """R > 4 * c * m for every m of the length; one word fewer is not enough for the longest m."""
    m, count = (1 << bits) - 1, words(bits, word, delay)
    longest_c = (1 << word * (1 + delay)) - 1
    assert 4 * m * longest_c < 1 << word * count
    assert 4 * m * longest_c > 1 << word * (count - 1)


def test_pairs_of_a_column():
    """Against their definition, and the number of them that `sum_bits` relies on."""
    for count, delay in itertools.product(range(4, 20), (0, 1, 2)):
        inner = count - 1 - delay
        every = list(itertools.combinations(range(count), 2))
        for c in range(2 * count):
            xy, qm = list(pairs(c, count, count)), list(pairs(c - 1 - delay, count, inner))
            assert sorted(xy) == [(i, j) for i, j in every if i + j == c]
            assert sorted(qm) == [(i, j) for i, j in every if i + j == c - 1 - delay and i < inner]
            assert len(xy) <= count // 2 >= len(qm)
            assert len(xy) + len(qm) <= count - 1
            if 0 < c < count:
                assert xy[-1] == (0, c), "the newest word comes last"


@pytest.mark.parametrize("count", [2, 3, 8, 61, 62])
@pytest.mark.parametrize("word", [2, 17, 94])
def test_sums_of_the_largest_columns(count, word):
    """The extremes of the docstring's three sums: no bit is missing, and none is to spare."""
    top, bits = (1 << word) - 1, sum_bits(count, word)
    tile = (count - 1) * top * top  # x_i, y_i = 0 and x_j, y_j = top, or x_i, y_j = top, else 0
    assert -1 << bits.tile - 1 <= -tile < tile < 1 << bits.tile - 1
    assert tile >> bits.tile - 2
    assert (2 * count - 1) * top * top >> bits.running - 1 == 1
    carry = total = 0
    for _ in range(8 * word + 20):  # far more columns than it takes to settle
        total = carry + (2 * count - 1) * top * top
        carry = total >> word
    assert total.bit_length() == bits.total
    assert carry.bit_length() == bits.carry


def test_sums_fit_the_accumulator_of_a_dsp_slice():
    assert sum_bits(62, 17).tile == 41 <= 48
    assert sum_bits(62, 17).total == accumulator_bits(62) == 41


def test_too_many_words():
    with pytest.raises(ValueError, match="131072 does not fit 1 words of 17 bits"):
        to_words(1 << 17, 1, 17)
