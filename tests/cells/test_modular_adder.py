import random

import pytest

from coprime.cells.modular_adder import SUBTRACTIONS, Addition, ModularAdder
from coprime.cells.prefix_adder import EndAround, Network
from tests.combinational import Bench

FIELD = 8  # bits of each operand on the wide input


def check(adders, operands):
    """Every pair of operands whose sum is in range."""
    bench = Bench(adders, {"a": 0, "b": FIELD})
    vectors = [a | b << FIELD for a in operands for b in operands]
    for adder, results in zip(adders, bench.run(vectors), strict=True):
        what = adder.addition
        for vector, result in zip(vectors, results, strict=True):
            a, b = vector & ((1 << FIELD) - 1), vector >> FIELD
            if max(a, b) < 1 << what.width and what.least <= a + b <= what.most:
                assert result == (a + b + what.constant) % what.modulus, (what, a, b)


@pytest.mark.parametrize(
    "moduli",
    [
        range(3, 20),
        pytest.param(range(20, 67), marks=pytest.mark.matrix),
        pytest.param(range(67, 129), marks=pytest.mark.matrix),
    ],
    ids=str,
)
def test_every_pair_below_every_modulus(moduli):
    check([ModularAdder(m) for m in moduli], range(moduli[-1]))


@pytest.mark.matrix
def test_every_pair_of_vectors_with_any_range_and_constant():
    """As a tree leaves them: up to three subtractions, a least sum, a constant."""
    generator = random.Random(3)
    adders = []
    for m in range(3, 20):
        for _ in range(3):
            width = generator.choice([m.bit_length() - 1, m.bit_length(), m.bit_length() + 1])
            constant = generator.choice([0, 1, generator.randrange(m)])
            least = generator.choice([0, generator.randrange(m)])
            most = min(2 * ((1 << width) - 1), least + 4 * m - 1 - (least + constant) % m)
            adders.append(
                ModularAdder(
                    m,
                    width,
                    least=min(least, most),
                    most=most,
                    constant=constant,
                    network=generator.choice(list(Network)),
                )
            )
    assert {adder.addition.subtractions for adder in adders} == set(range(SUBTRACTIONS + 1))
    assert {adder.addition.around for adder in adders} == {None, *EndAround}
    check(adders, range(64))


@pytest.mark.parametrize(
    ("m", "width", "constant", "subtractions"),
    [(31, 5, 0, 0), (33, 5, 1, 0), (32, 5, 0, 0), (29, 5, 0, 2), (33, 5, 0, 1), (17, 5, 0, 3)],
)
def test_no_more_subtractions_than_needed(m, width, constant, subtractions):
    most = 2 * ((1 << width) - 1)
    addition = Addition(modulus=m, width=width, least=0, most=most, constant=constant)
    assert addition.subtractions == subtractions
    assert len(addition.addends) == subtractions + 1 or addition.around


def test_operands_below_the_modulus_need_one_at_most():
    for m in range(3, 200):
        assert ModularAdder(m).addition.subtractions <= 1


def test_refusals():
    for refused, text in (
        (lambda: ModularAdder(2), "at least 3, not 2"),
        (lambda: ModularAdder(17, 5, constant=17), r"0\.\.16, not 17"),
        (lambda: ModularAdder(17, 6), "takes 7 subtractions of 17; there can be 3"),
        (lambda: ModularAdder(17, 0), "at least 1, not 0"),
        (lambda: ModularAdder(17, least=3, most=2), r"not 3\.\.2"),
    ):
        with pytest.raises(ValueError, match=text):
            refused()
