"""Plans of trees, followed in integers: for every modulus they end, and keep the residue."""

import itertools
import random

import pytest

from coprime.cells.compressor_tree import (
    ONE,
    CompressorTree,
    Counters,
    Folding,
    plan_tree,
)
from coprime.cells.counters import FULL_ADDER, HALF_ADDER
from coprime.cells.modular_adder import SUBTRACTIONS
from coprime.cells.prefix_adder import EndAround
from coprime.model.compression import Form, Recoding, modulus_form

CHOICES = [
    dict(zip(("counters", "folding", "recoding"), choice, strict=True))
    for choice in itertools.product(Counters, Folding, Recoding)
]


def product_weights(m):
    bits = (m - 1).bit_length()
    return [i + j for i in range(bits) for j in range(bits)]


def follow(plan, inputs):
    """Sum of the two vectors; each bit of `inputs` is 0 or 1."""
    vectors = {0: inputs}

    def value(bit):
        own = 1 if bit == ONE else vectors[bit.vector][bit.place]
        return own ^ bit.inverted

    for level in plan.levels:
        made = {}
        for row in level:
            counts = [sum(map(value, cell)) for cell in row.cells]
            assert all(len(cell) == row.counter.inputs for cell in row.cells)
            for weight, vector in enumerate(row.vectors):
                made[vector] = [count >> weight & 1 for count in counts]
        vectors |= made  # a level sees only what was there before it
    return sum(value(bit) << weight for weight, bits in enumerate(plan.columns) for bit in bits)


def check(m, weights, plan, generator, rounds):
    assert max(map(len, plan.columns)) <= 2
    assert plan.addition.subtractions <= SUBTRACTIONS
    every = [[0] * len(weights), [1] * len(weights)]
    some = [[generator.getrandbits(1) for _ in weights] for _ in range(rounds)]
    for bits in every + some:
        total = follow(plan, bits)
        wanted = sum(bit << weight for bit, weight in zip(bits, weights, strict=True))
        assert (total + plan.constant - wanted) % m == 0
        if modulus_form(m).kind is not Form.POWER:
            assert plan.least <= total <= plan.most


@pytest.mark.parametrize(
    "moduli", [range(3, 70), pytest.param(range(70, 520), marks=pytest.mark.matrix)], ids=str
)
def test_every_modulus(moduli):
    generator = random.Random(1)
    for m in moduli:
        weights = product_weights(m)
        check(m, weights, plan_tree(m, weights), generator, 4)


@pytest.mark.parametrize("choice", CHOICES, ids=lambda one: "-".join(v.name for v in one.values()))
def test_every_choice_for_any_matrix(choice):
    """Tall columns, gaps, weights far above the modulus: the tree ends, and keeps the residue."""
    generator = random.Random(2)
    for m in [3, 4, 5, 6, 7, 10, 11, 13, 22, 29, 43, 85, 127, 129, 171, 255, 257, 341, 2**31 - 1]:
        for count in (1, 2, 3, 9, 40):
            weights = [generator.choice([0, 3, generator.randrange(70)]) for _ in range(count)]
            check(m, weights, plan_tree(m, weights, **choice), generator, 4)


def test_the_best_is_taken():
    for m in (13, 29, 43, 61, 85, 2**13 - 1, 2**16 + 1, 2**16 - 15):
        weights = product_weights(m)
        best = plan_tree(m, weights)
        for counters, folding in itertools.product(Counters, Folding):
            other = plan_tree(m, weights, counters=counters, folding=folding)
            assert best.area * best.delay <= other.area * other.delay


def test_counters_are_those_asked_for():
    weights = product_weights(2**16 - 15)
    for counters in Counters:
        plan = plan_tree(2**16 - 15, weights, counters=counters, folding=Folding.ALWAYS)
        rows = [[row.counter for row in level] for level in plan.levels]
        found = set(itertools.chain.from_iterable(rows))
        assert found == {*counters.value, HALF_ADDER, FULL_ADDER}
        if counters is not Counters.ALL:
            # Half adders only to keep carries from going up a column a level.
            first = next(k for k, level in enumerate(rows) if HALF_ADDER in level)
            assert first >= plan.depth // 2


@pytest.mark.parametrize("bits", [5, 8, 16, 31, 32])
def test_end_around_forms_need_one_adder(bits):
    """For 2^n - 1 and 2^n + 1 the vectors have n bits, and one prefix adder ends it."""
    for m, kind in (((1 << bits) - 1, EndAround.CARRY), ((1 << bits) + 1, EndAround.INVERTED)):
        plan = plan_tree(m, product_weights(m))
        assert plan.width == bits
        assert plan.addition.around is kind


def test_power_of_two_truncates():
    plan = plan_tree(256, product_weights(256))
    assert plan.width == 8
    assert plan.constant == 0
    assert plan.addition.truncates
    # Of the lower triangle of n (n + 1) / 2 bits, n and more are left.
    assert plan.count < 8 * 9 // 2


def test_registers_are_spaced():
    plan = plan_tree(2**16 - 1, product_weights(2**16 - 1))
    for count in range(plan.depth + 2):
        levels = plan.spaced(count)
        assert len(set(levels)) == count
        assert list(levels) == sorted(levels)
        assert set(levels) <= set(range(plan.depth + 1))
    # All levels are full adders, with a delay of 4, and one register halves the delay.
    assert 4 * plan.depth == plan.delay - plan.addition.delay
    halves = [max(4 * level, plan.delay - 4 * level) for level in range(plan.depth + 1)]
    assert plan.spaced(1) == (halves.index(min(halves)),)
    for count in (-1, plan.depth + 2):
        with pytest.raises(ValueError, match=rf"0\.\.{plan.depth + 1}, not {count}"):
            plan.spaced(count)


def test_refusals():
    for weights in ([], [3, -1]):
        with pytest.raises(ValueError, match="weights must be"):
            plan_tree(7, weights)
    plan = plan_tree(7, [0, 1, 2])
    with pytest.raises(ValueError, match=rf"0\.\.{plan.depth}, not 9"):
        CompressorTree(plan, 3, registers=[9])
