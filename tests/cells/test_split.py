"""Products modulo 2^n - 1 by residues, in Verilator, against Python's %."""

import random

import pytest

from coprime.cells.compression import ModularProduct
from coprime.cells.split import Join, ResidueProduct, Split, SplitProduct
from tests.combinational import Bench


def check_product(n, vectors):
    (results,) = Bench([SplitProduct(n)]).run(vectors)
    full = (1 << n) - 1
    for vector, result in zip(vectors, results, strict=True):
        assert result == (vector & full) * (vector >> n) % full, (n, hex(vector))


@pytest.mark.parametrize("n", [6, *(pytest.param(n, marks=pytest.mark.matrix) for n in (4, 8))])
def test_every_product(n):
    # x | y << n; all operands of n bits, the modulus too.
    check_product(n, range(1 << 2 * n))


@pytest.mark.parametrize(
    "n", [16, *(pytest.param(n, marks=pytest.mark.matrix) for n in (18, 32, 64, 126, 128))]
)
def test_long_products(n):
    generator = random.Random(n)
    full, h = (1 << n) - 1, n // 2
    edges = [0, 1, 2, full, full - 1, full >> 1, (1 << h) - 1, 1 << h, (1 << h) + 1, full << h]
    operands = [edge & full for edge in edges] + [generator.getrandbits(n) for _ in range(30)]
    check_product(n, [x | y << n for x in operands for y in operands])


@pytest.mark.parametrize("n", [4, pytest.param(10, marks=pytest.mark.matrix)])
def test_split_and_join(n):
    h = n // 2
    low_modulus, high_modulus = (1 << h) - 1, (1 << h) + 1
    (split,) = Bench([Split(n)]).run(range(1 << n))
    for x, found in enumerate(split):
        assert found == x % low_modulus | x % high_modulus << h
    # Both residues of every number, and a residue 0 that is all ones.
    joined = {x % low_modulus | x % high_modulus << h: x for x in range((1 << n) - 1)}
    joined |= {low_modulus | high << h: joined[high << h] for high in range(high_modulus)}
    (found,) = Bench([Join(n)]).run(list(joined))
    assert found == list(joined.values())


@pytest.mark.matrix
def test_a_power_on_residues():
    """Split once, multiply on residues, join once: 3^k for all k up to the order of 3 and on."""
    n, h = 10, 5
    full = (1 << n) - 1
    (split,) = Bench([Split(n)]).run([3])
    product, join = Bench([ResidueProduct(n)]), Bench([Join(n)])
    mask, state = (1 << h) - 1, split[0]
    low, high = split[0] & mask, split[0] >> h
    for exponent in range(2, 40):
        vector = state & mask | low << h | (state >> h) << 2 * h | high << 3 * h + 1
        ((state,),) = product.run([vector])
        assert join.run([state]) == [[pow(3, exponent, full)]]


def test_the_matrices_have_half_the_terms():
    n = 16
    halves = [ModularProduct(factor).plan for factor in SplitProduct(n).factors]
    assert sum(plan.area for plan in halves) < 0.8 * ModularProduct((1 << n) - 1).plan.area


def test_refusals():
    for kind in (Split, ResidueProduct, Join, SplitProduct):
        for n in (2, 7, -4):
            with pytest.raises(ValueError, match=f"n must be even, 4 or more, not {n}"):
                kind(n)
        with pytest.raises(TypeError, match="n must be an int"):
            kind(8.0)
