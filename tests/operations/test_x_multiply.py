"""X_MULTIPLY: the ladder on two banks, its places, and its lengths. Its results: tests/ec."""

import pytest

from coprime.catalog import FAMILIES, choose
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.engine.precomputation import Radix
from coprime.operations.x_multiply import ladder
from coprime.program.operands import OF_ONE, Scratch

P = (1 << 255) - 19
A_24 = 121665


def design_of(**settings):
    return choose("compact", {"max_bits": "256", "curves": "montgomery", **settings}).design


def predicted(design, e, *, x=9, length=255):
    operands = Radix.of(design.capabilities).modulus_operands(P, 255)
    operands |= {Operand.X: x, Operand.Y: A_24, Operand.E: e}
    return design.predict(
        Command.X_MULTIPLY, operands, {Length.MODULUS: 255, Length.EXPONENT: length}
    )


@pytest.mark.parametrize("e", [0, 1, 2, 3, 8, (1 << 254) + 0x1234, (1 << 255) - 1])
def test_the_prediction_has_the_result_of_the_rfc(e):
    design = design_of()
    found = predicted(design, e)
    assert (found.error, found.result) == (Error.NONE, ladder(9, e, A_24, P))
    assert found.cycles == predicted(design, 1).cycles


def test_a_scalar_that_is_shorter_than_the_modulus():
    """The inversion's exponent, which is as long as the modulus, takes its place."""
    assert predicted(design_of(), 1, length=254).error is Error.EXPONENT_LENGTH
    assert predicted(design_of(), 1, length=260).result == 9


@pytest.mark.parametrize("settings", [{}, {"max_bits": "2048"}, {"blinding": "both"}], ids=str)
def test_numbers_that_change_places(settings):
    """Their blocks differ in the bit that the ladder's bit inverts, and hold nothing else that a
    step by a bit has."""
    design = design_of(**settings)
    layout, (program,) = design.layout, design.programs
    for one, other in OF_ONE.items():
        assert layout.numbers[one] ^ layout.numbers[other] == 2
    blocks = {layout.numbers[one] | part for one in OF_ONE for part in (0, 1)}
    steps = [step for step in program.steps if step.by_bit]
    assert len(steps) == 8
    for step in steps:
        others = {step.x, step.y, step.destination, step.copy} - OF_ONE.keys() - {None}
        named = {layout.numbers[one] | part for one in others for part in (0, 1)}
        assert blocks.isdisjoint(named), step.note


def test_what_is_not_built_for_curves_is_as_before():
    design = choose("compact", {"max_bits": "256"}).design
    assert Command.X_MULTIPLY not in design.capabilities.required
    assert not design.programs[0].swaps
    assert Scratch.X_2 not in design.layout.numbers
    others = [one for one in FAMILIES.values() if one.name != "compact"]
    assert all("x_multiply" not in {each.name for each in one.settings} for one in others)
    with pytest.raises(ValueError, match="curves must be one of none, montgomery, not 'all'"):
        choose("compact", {"curves": "all"})
