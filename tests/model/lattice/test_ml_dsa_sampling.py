"""ML-DSA's samples: every byte and nibble, and how often the first blocks do not suffice."""

import math
from fractions import Fraction

import pytest

from coprime.model.lattice import ml_dsa
from coprime.model.lattice import ml_dsa_sampling as sampling
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS, Q


def test_candidates_have_23_bits_and_are_below_q():
    numbers = (0, 1, Q - 1, Q, (1 << 23) - 1, 1 << 23 | 5)
    data = b"".join(number.to_bytes(3, "little") for number in numbers)
    assert sampling.uniform(data) == [0, 1, Q - 1, 5]
    assert len(sampling.uniform(bytes(3 * 300))) == 256


@pytest.mark.parametrize("eta, accepted", [(2, 15), (4, 9)])
def test_every_nibble(eta, accepted):
    """FIPS 204, algorithm 15."""
    for low in range(16):
        for high in range(16):
            expected = []
            for b in (low, high):
                if eta == 2 and b < 15:
                    expected.append(2 - b % 5)
                elif eta == 4 and b < 9:
                    expected.append(4 - b)
            assert sampling.short(bytes([low | high << 4]), eta) == expected
    assert sum(bool(sampling.short(bytes([b | 0xF0]), eta)) for b in range(16)) == accepted


@pytest.mark.parametrize("p", ML_DSA_SETS, ids=lambda p: p.name)
def test_masks_are_in_the_range_of_gamma_1(p):
    size = 32 * p.z_bits
    assert sampling.mask(bytes(size), p) == [p.gamma1] * 256
    assert sampling.mask(b"\xff" * size, p) == [1 - p.gamma1] * 256


def test_a_challenge_has_tau_coefficients_or_asks_for_more_bytes():
    for p in ML_DSA_SETS:
        c = ml_dsa.challenge(p, b"seed")
        assert sampling.number_of(c) == p.tau
        assert set(c) == {-1, 0, 1}
        assert sampling.challenge(b"\xff" * 100, p.tau) is None
    # The second place, 255, takes what place 5 had: the first sign.
    assert sampling.challenge(bytes([1]) + bytes(7) + bytes([5, 5]), 2) == [
        1 if place == 5 else -1 if place == 255 else 0 for place in range(256)
    ]


def below(candidates, wanted, chance):
    """log2 of the probability that fewer than `wanted` of so many candidates are accepted."""
    total = sum(
        math.comb(candidates, k) * chance**k * (1 - chance) ** (candidates - k)
        for k in range(wanted)
    )
    return math.log2(total.numerator) - math.log2(total.denominator)


def test_blocks_of_short_polynomials_suffice_but_for_less_than_2_to_the_minus_100():
    for eta, chance in ((2, Fraction(15, 16)), (4, Fraction(9, 16))):
        nibbles = 2 * 136 * ml_dsa.SHORT_BLOCKS[eta]
        assert below(nibbles, 256, chance) < -100
        assert below(nibbles - 2 * 136, 256, chance) > -100


def test_blocks_of_uniform_polynomials_suffice_but_for_less_than_2_to_the_minus_100():
    candidates = 168 * ml_dsa.UNIFORM_BLOCKS // 3
    assert below(candidates, 256, Fraction(Q, 1 << 23)) < -100
    assert 168 * (ml_dsa.UNIFORM_BLOCKS - 1) // 3 < 256
