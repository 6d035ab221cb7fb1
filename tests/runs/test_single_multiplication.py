"""Single multiplications, simulated on a multiplier by itself."""

import dataclasses
import sys

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring

from coprime.catalog import FAMILIES, choose, family_named
from coprime.multipliers.contract import MultiplierSignature
from coprime.multipliers.fdfm_multiplication import FdfmMultiplication
from coprime.runs.single_multiplication import (
    predict_multiplication,
    run_alone,
    simulate_multiplication,
)


def design(family, bits, **settings):
    return family_named(family).choose({"max_bits": str(bits), **settings}).design


BANKED = ("compact", "ring")  # their multipliers work on two memories
LANES = [
    name
    for name, one in FAMILIES.items()
    if "max_bits" in one.choose({}).values and name not in BANKED
]


@pytest.mark.parametrize("family", BANKED)
def test_a_multiplier_of_two_memories_is_not_simulated_by_itself(family):
    with pytest.raises(ValueError, match=f"{family} is measured in its engine only"):
        simulate_multiplication(design(family, 96), 96, 1)


@pytest.mark.matrix(quick=2)
@pytest.mark.parametrize("family", LANES)
@pytest.mark.parametrize(
    ("longest", "bits"),
    [
        (130, 129),
        *(pytest.param(*one, marks=pytest.mark.matrix) for one in ((96, 64), (64, 64), (100, 100))),
    ],
)
def test_cycles_are_the_predicted_ones(family, longest, bits):
    own = design(family, longest)
    for seed in (1, 2, 3):
        done = simulate_multiplication(own, bits, seed)
        assert done == predict_multiplication(own, bits)
        assert done.right


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize(
    ("family", "settings"),
    [
        *(("compression", {"factor": "3"}), ("compression", {"stages": "2"}), ("direct", {})),
        *(
            pytest.param(*one, marks=pytest.mark.matrix)
            for one in (("compression", {}), ("direct", {"factor": "3"}))
        ),
    ],
)
def test_products_of_one_modulus(family, settings):
    own = family_named(family).choose({"modulus": "kyber", **settings}).design
    for seed in (1, 2, 3):
        done = simulate_multiplication(own, 12, seed)
        assert done == predict_multiplication(own, 12)
        assert done.right
        assert done.cycles == 1 + int(settings.get("stages", 0))


@pytest.mark.parametrize("family", ["compression", "direct"])
@pytest.mark.parametrize(
    ("operation", "settings"),
    [
        ("REDUCTION", {"factor": "3"}),
        ("WORD_MULTIPLICATION", {"word": "9"}),
        *(
            pytest.param(*one, marks=pytest.mark.matrix)
            for one in (
                *(("REDUCTION", {}), ("WORD_MULTIPLICATION", {})),
                *(("REDUCTION", {"word": "9"}), ("WORD_MULTIPLICATION", {"factor": "3"})),
            )
        ),
    ],
)
def test_words_for_one_modulus(family, operation, settings):
    own = family_named(family).choose({"modulus": "kyber", **settings}).design
    for seed in range(4):
        done = simulate_multiplication(own, 12, seed, operation)
        assert done == predict_multiplication(own, 12, operation)
        assert (done.cycles, done.right) == (1, True)


@pytest.mark.parametrize(
    "settings", [{"scaled": "1"}, {"scaled": "1", "interleaved": "1", "multipliers": "1"}]
)
def test_karatsuba_beyond_the_paper(settings):
    own = design("karatsuba", 256, **settings)
    for seed in (1, 2, 3):
        done = simulate_multiplication(own, 256, seed)
        assert done == predict_multiplication(own, 256)
        assert done.right


def test_lengths_out_of_range():
    for bits in (15, 97):
        with pytest.raises(ValueError, match=f"takes moduli of 16 to 96 bits, not of {bits}"):
            simulate_multiplication(design("fdfm", 96), bits, 1)
        with pytest.raises(ValueError, match=f"takes moduli of 16 to 96 bits, not of {bits}"):
            predict_multiplication(design("fdfm", 96), bits)


class Idler(wiring.Component):
    """An `fdfm` multiplier that is always done, and writes nothing."""

    multiplication = FdfmMultiplication()

    def __init__(self, target):
        super().__init__(MultiplierSignature(self.multiplication.digit_width, 8, 8))

    def elaborate(self, platform):
        m = Module()
        m.d.sync += self.done.eq(1)
        return m


def test_a_wrong_result_is_told():
    idle = dataclasses.replace(design("fdfm", 64), make_multiplier=Idler)
    done = simulate_multiplication(idle, 64, 1)
    assert (done.cycles, done.products, done.right) == (1, 0, False)


@pytest.mark.matrix
def test_a_product_whose_tree_has_constants_of_many_digits():
    """Of more decimal digits than Python converts by default, and it does not by the way."""
    limit = sys.get_int_max_str_digits()
    choice = choose("compression", {"modulus": "vassoler-126", "multipliers": 1})
    assert run_alone(choice, "MULTIPLICATION", 127, 1).ok
    assert sys.get_int_max_str_digits() == limit
