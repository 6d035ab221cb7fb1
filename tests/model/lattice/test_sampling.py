"""Sampling by its definition."""

import random
from itertools import product

import pytest

from coprime.model.lattice.sampling import binomial, candidates, uniform


def test_every_pair_of_candidates_of_three_bytes():
    """Algorithm 7: d1 = C[0] + 256 (C[1] mod 16), d2 = floor(C[1] / 16) + 16 C[2]."""
    generator = random.Random(7)
    for middle in range(256):
        first, last = generator.randbytes(2)
        found = candidates(bytes([first, middle, last]))
        assert found == [first + 256 * (middle % 16), middle // 16 + 16 * last]


def test_candidates_from_q_on_are_rejected():
    numbers = [0, 3328, 3329, 4095, 1, 3330]
    data = sum(number << 12 * k for k, number in enumerate(numbers)).to_bytes(9, "little")
    assert uniform(data) == [0, 3328, 1]
    assert len(uniform(bytes(1000))) == 256


@pytest.mark.parametrize("eta", [2, 3])
def test_every_coefficient(eta):
    """Algorithm 8: the bits are those of the bytes, the lowest first."""
    rows = list(product((0, 1), repeat=2 * eta))
    bits = [bit for k in range(256) for bit in rows[k % len(rows)]]
    data = bytes(sum(bits[8 * k + j] << j for j in range(8)) for k in range(64 * eta))
    found = binomial(data, eta)
    for k, coefficient in enumerate(found):
        row = rows[k % len(rows)]
        assert coefficient == sum(row[:eta]) - sum(row[eta:])
