"""Costs are those of the equations, and the search finds what it says it does."""

import itertools
import random
from fractions import Fraction
from math import ceil, prod

import pytest

from coprime.model import pseudo_moduli
from coprime.model.moduli import MODULI, vassoler_pair
from coprime.model.pseudo_moduli import (
    EXHAUSTIVE_BITS,
    PseudoModulus,
    full_adders,
    product_counts,
    product_estimate,
    reduction_gates,
    residue_columns,
    search,
    signed_digits,
)

pytestmark = pytest.mark.matrix

SPECIAL = [
    name
    for name, one in MODULI.items()
    if len(signed_digits(one.value)) <= 6 and (one.prime or name.endswith("-pseudo"))
]
DENSE = ("secp256k1-order", "bn254", "bn254-order", "bls12-381", "bls12-381-order")


def random_modulus(bits):
    """A modulus as of RSA: odd, with its highest bit set."""
    return random.Random(bits).getrandbits(bits) | 1 << bits - 1 | 1


# --- Digits -------------------------------------------------------------------------------------


def test_signed_digits():
    for number in range(-300, 300):
        digits = signed_digits(number)
        assert sum(sign << exponent for sign, exponent in digits) == number
        exponents = [exponent for _, exponent in digits]
        assert all(high > low + 1 for high, low in itertools.pairwise(exponents))


@pytest.mark.parametrize("width", [2, 3, 4, 5, 6])
def test_residues_have_the_fewest_columns(width):
    """Against every vector of `width` signed digits."""
    fewest = {}
    masks = {}
    for vector in itertools.product((-1, 0, 1), repeat=width):
        value = sum(digit << place for place, digit in enumerate(vector))
        count = sum(map(abs, vector))
        fewest[value] = min(count, fewest.get(value, count))
        masks.setdefault(value, set()).add(sum(abs(d) << place for place, d in enumerate(vector)))
    for modulus in range(1 << width - 1, 1 << width):
        for exponent in range(3 * width):
            count, columns = residue_columns(modulus, exponent)
            residue = 2**exponent % modulus
            assert count == columns.bit_count()
            assert count == min(fewest[residue], fewest[residue - modulus] if residue else 0)
            assert columns in masks[residue] | masks.get(residue - modulus, set())


# --- Costs --------------------------------------------------------------------------------------


def adders_by_column(modulus, counts):
    """Column by column: F_j = a_j + b_j F_(w-1), solved for the last one."""
    width = modulus.bit_length()
    heights = [0] * width
    for exponent, count in enumerate(counts):
        columns = 1 << exponent if exponent < width else residue_columns(modulus, exponent)[1]
        for place in range(width):
            heights[place] += count * (columns >> place & 1)
    back = residue_columns(modulus, width)[1]
    a, b = [], []
    for place in range(width):
        a.append((heights[place] - 2 + (a[-1] if a else 0)) / Fraction(2))
        b.append(((back >> place & 1) + (b[-1] if b else 0)) / Fraction(2))
    last = max(Fraction(0), a[-1] / (1 - b[-1]))
    if last:
        assert all(b[place] < 1 for place in range(width))
    return max(0, ceil(sum(heights) - 2 * width + (back.bit_count() - 1) * last))


def test_full_adders_solve_the_equations():
    for modulus in [*range(3, 128), *(random_modulus(bits) for bits in (16, 33, 64))]:
        for counts in (product_counts(modulus), [1] * (modulus.bit_length() + 3), [9] * 12):
            expected = adders_by_column(modulus, counts)
            assert full_adders(modulus, counts) == expected, modulus


def tree(modulus):
    """Full adders of a tree that is built level by level until no column has three bits."""
    width = modulus.bit_length()
    heights = [0] * width
    for exponent, count in enumerate(product_counts(modulus)):
        columns = 1 << exponent if exponent < width else residue_columns(modulus, exponent)[1]
        for place in range(width):
            heights[place] += count * (columns >> place & 1)
    back = residue_columns(modulus, width)[1]
    total = 0
    while max(heights) > 2:
        adders = [height // 3 for height in heights]
        total += sum(adders)
        carries = [0, *adders[:-1]]
        heights = [
            height - 2 * own + carry + (back >> place & 1) * adders[-1]
            for place, (height, own, carry) in enumerate(zip(heights, adders, carries, strict=True))
        ]
    return total


@pytest.mark.parametrize(
    "modulus",
    [
        *(2**32 - 1, 2**32 + 1, *vassoler_pair(30), vassoler_pair(126)[0]),
        *(MODULI[name].value for name in ("kyber", "babybear", "goldilocks", "p-192")),
        *(random_modulus(bits) for bits in (24, 64, 100)),
    ],
)
def test_a_tree_has_about_as_many_full_adders(modulus):
    """Columns that end with one bit, or none, take more: at most two for each column here."""
    estimate = full_adders(modulus, product_counts(modulus))
    assert estimate <= tree(modulus) <= estimate + 2 * modulus.bit_length()


def cost(modulus):
    return prod(product_estimate(modulus))


@pytest.mark.parametrize("n", [3, 8, 31, 256])
def test_gates_of_the_simplest_forms(n):
    """Of 2^n - 1 n^2 AND terms, and one full adder for each but the two that remain a column."""
    assert product_counts(2**n - 1) == [*range(1, n + 1), *range(n - 1, 0, -1)]
    assert full_adders(2**n - 1, product_counts(2**n - 1)) == n * n - 2 * n
    assert product_estimate(2**n - 1).area == n * n + 7 * n * n
    assert product_estimate(2**n).area == n * (n + 1) // 2 + 7 * n * (n - 1) // 2
    assert cost(2**n) < cost(2**n - 1) < cost(2**n + 1)
    assert reduction_gates(2**n - 1, n) == 0
    # A number of one bit more only needs the modular addition.
    assert reduction_gates(2**n - 1, n + 1) == 7 * 2 * n
    assert reduction_gates(2**n - 1, 3 * n) == 7 * (n + 2 * n)


def test_ones_in_k_are_what_makes_it_dear():
    """The order of the thesis's Figures 13 and 14, for both signs of k."""
    for sign in (1, -1):
        costs = [cost(2**16 + sign * k) for k in (1, 3, 5, 21, 85)]
        assert costs[0] < min(costs[1:])
        assert costs[-1] == max(costs)
        assert cost(2**16) < costs[0]


# --- The search ---------------------------------------------------------------------------------


@pytest.mark.parametrize("extra_bits", [0, 1, 2, 4])
def test_best_of_all_multiples(extra_bits):
    """Of few multiples, even ones too, none is cheaper."""
    for modulus in range(3, 300):
        found = search(modulus, extra_bits)
        longest = modulus.bit_length() + extra_bits
        costs = [
            (area + reduction_gates(modulus, multiple.bit_length())) * delay
            for multiple in range(modulus, 1 << longest, modulus)
            for area, delay in [product_estimate(multiple)]
        ]
        assert found.best.cost == min(costs), modulus
        assert found.itself.factor == 1
        assert list(found.candidates) == sorted(found.candidates, key=lambda one: one.cost)
        for one in found.candidates:
            assert one.value == one.factor * modulus
            assert one.extra_bits <= extra_bits


@pytest.mark.parametrize("n", [*range(6, 31, 2), 62, 126, 254, 510, 1022])
def test_the_thesis_takes_the_best_one(n):
    """For 5 and 21 the reduction at the end costs more than is saved."""
    modulus, pseudo_modulus = vassoler_pair(n)
    best = search(modulus).best
    assert (best.factor, best.value) == (3, pseudo_modulus)
    assert best.extra_bits == 1


def test_a_fifth_is_saved_by_the_thesis():
    """In delay; the area is that of the modulus itself, which need not be folded at once."""
    found = search(vassoler_pair(30)[0])
    assert found.best.estimate.area > found.itself.estimate.area
    assert found.explanation == (
        "Work modulo 3 * m = 2^32 - 1: about 8,626 unit gates with a delay of 61, the reduction at "
        "the end included, which times each other are 20.0 % less than for m itself, of 31 bits and"
        " 16 signed digits: 8,122 and 81 (looked at: every multiple of up to 2 bits more)."
    )


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(one, marks=pytest.mark.matrix) for one in (1, 2))]
)
def test_special_moduli_are_best_by_themselves(first):
    """Each third one."""
    for name in [*SPECIAL][first::3]:
        found = search(MODULI[name].value, EXHAUSTIVE_BITS)
        assert found.best.factor == 1, name
        assert found.explanation.startswith(f"Work modulo m itself, {found.best.text}: about ")
        assert "no multiple was found that costs less" in found.explanation


@pytest.mark.matrix
def test_who_looks_further_finds_nothing_worse():
    generator = random.Random(1)
    moduli = [
        0x11111111,
        *(generator.getrandbits(bits) | 1 for bits in (16, 24, 48, 128, 256, 256)),
    ]
    found = [[search(m, bits).best.cost for bits in (0, 2, 3, 4, 8, 9, 16)] for m in moduli]
    for costs in found:
        assert costs == sorted(costs, reverse=True)
    assert any(costs[0] > costs[-1] for costs in found)


def test_forms_are_written_out():
    texts = {
        "p-256": "2^256 - 2^224 + 2^192 + 2^96 - 1",
        "curve25519": "2^255 - 2^4 - 2^2 + 1",
        "secp256k1": "2^256 - 2^32 - 2^10 + 2^6 - 2^4 - 1",
        "mersenne31": "2^31 - 1",
    }
    for name, text in texts.items():
        assert PseudoModulus(MODULI[name].value, 1).text == text


@pytest.mark.parametrize(
    "modulus",
    [
        *(MODULI[name].value for name in DENSE[:3]),
        random_modulus(256),
        *(
            pytest.param(one, marks=pytest.mark.matrix)
            for one in (*(MODULI[name].value for name in DENSE[3:]), random_modulus(1024))
        ),
    ],
)
def test_moduli_without_a_special_multiple(modulus):
    """A tree for them is larger than for 2^n - 1 and deeper, whatever the multiple."""
    found = search(modulus, EXHAUSTIVE_BITS)
    width = modulus.bit_length()
    assert len(found.best.digits) > 8
    area, delay = product_estimate(2**width - 1)
    assert 1.3 * area < found.best.estimate.area < 2 * area
    assert found.best.estimate.delay > 1.2 * delay
    assert found.explanation.startswith("No multiple of special form was found, and the cheapest")
    assert f"times that of 2^{width} - 1" in found.explanation


@pytest.mark.parametrize(
    ("number", "factor"),
    [
        (2**96 + 1, 2**32 + 1),
        (2**92 - 1, 2**46 - 1),
        (2**120 - 2**40 - 2**80 + 1, 2**40 - 1),
        (2**99 - 2**66 + 2**33 - 1, 2**33 - 1),
    ],
)
@pytest.mark.parametrize("twos", [0, 3])
def test_long_factors_are_found(number, factor, twos):
    """Where every c would be too many."""
    modulus, rest = divmod(number, factor)
    assert rest == 0
    found = search(modulus << twos, factor.bit_length(), keep=1000)
    assert factor in [one.factor for one in found.candidates]


@pytest.mark.parametrize("modulus", [random_modulus(8), random_modulus(9), random_modulus(7) << 2])
def test_all_multiples_of_four_digits(modulus):
    """Beyond every c: against all numbers of at most four signed digits."""
    extra_bits = EXHAUSTIVE_BITS + 2
    found = pseudo_moduli._of_few_digits(modulus, extra_bits)
    odd = modulus // (modulus & -modulus)
    longest = odd.bit_length() + extra_bits
    expected = set()
    for top in range(odd.bit_length() - 1, longest + 1):
        for signs in itertools.product((1, -1), repeat=3):
            for high in range(1, top):
                for low in range(1, high):
                    parts = (signs[0] << high, signs[1] << low, signs[2])
                    for number in (
                        2**top + sum(parts),
                        2**top + parts[0] + parts[2],
                        2**top + parts[2],
                    ):
                        if number % odd == 0 and odd <= number < 1 << longest:
                            expected.add(number // odd)
    assert len(expected) > 20
    assert expected <= found


def test_what_was_searched_is_said():
    assert search(21, 1).searched == "every multiple of up to 1 bit more"
    assert search(2**19 + 21, 20).searched == (
        "every multiple of up to 16 bits more, and of up to 20 bits more those of 4 signed digits"
    )


def test_the_modulus_itself_is_always_given():
    found = search(random_modulus(64), 8, keep=1)
    factors = [one.factor for one in found.candidates]
    assert 1 in factors and len(factors) <= 2


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("21",), TypeError, "modulus must be an int, not '21'"),
        ((2,), ValueError, "modulus must be 3 or more, not 2"),
        ((21, -1), ValueError, r"extra_bits must be in 0\.\.16, not -1"),
        ((21, 17), ValueError, r"extra_bits must be in 0\.\.16, not 17"),
        ((2**20, 22), ValueError, r"extra_bits must be in 0\.\.21, not 22"),
        ((2**300, 257), ValueError, r"extra_bits must be in 0\.\.256, not 257"),
        ((21, 2, 0), ValueError, "keep must be 1 or more, not 0"),
        ((21, True), TypeError, "extra_bits must be an int, not True"),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        search(*arguments)
