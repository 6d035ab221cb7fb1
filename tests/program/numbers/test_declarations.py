"""Routines that do not do as they declare are refused."""

from dataclasses import replace

import pytest

from coprime.engine.compact import compact
from coprime.engine.fdfm import fdfm
from coprime.engine.ring import ring
from coprime.multipliers.bounds import Bound
from coprime.operations.banked import Banked
from coprime.program.assembler import Program
from coprime.program.builder import Builder, RoutineBuilder
from coprime.program.numbers.bounds import check_bounds
from coprime.program.numbers.declarations import check_routines
from coprime.program.operands import Context, Core, Mode, Operand
from coprime.program.steps import Next
from tests.program.steps import multiply

ACC, PART, FACTOR, WHOLE = Core.ACCUMULATOR, Core.PART, Banked.FACTOR, Context.WHOLE
MULTIPLICATION = compact(256).multiplication
TWICE = Bound.times(0, scaled=2)


def square():
    declared = {"takes": {ACC: TWICE, FACTOR: TWICE}, "gives": {ACC: TWICE}, "clobbers": {PART}}
    code = RoutineBuilder("square", WHOLE, **declared)
    code.multiply(PART, ACC, FACTOR, "C * F")
    code.multiply(ACC, PART, FACTOR, "C * F * F")
    return code.routine()


SQUARE = square()


def check(routine):
    code = Builder()
    code.check_below(Operand.X)
    code.multiply(ACC, Operand.X, Operand.M_POWER, "X * R")
    code.multiply(FACTOR, Operand.X, Operand.M_POWER, "X * R")
    code.call("square")
    code.rest()
    code.finish()
    steps = code.steps
    program = Program.assemble({(1,): steps}, [routine])
    check_bounds(program, MULTIPLICATION)
    check_routines(program, MULTIPLICATION)


def test_a_routine_that_does_as_it_declares():
    check(SQUARE)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"takes": {ACC: TWICE}}, "routine square reads FACTOR, and does not declare it"),
        ({"clobbers": frozenset()}, "routine square writes PART, and does not declare it"),
        ({"gives": {}}, "routine square writes ACCUMULATOR, and does not declare it"),
        (
            {"takes": {ACC: Bound.times(1), FACTOR: None}},
            "ACCUMULATOR of routine square is up to 1 M, here 1.25 c M",
        ),
        (
            {"gives": {ACC: Bound.times(1)}},
            "ACCUMULATOR of routine square is up to 1 M, here 1.5 c M",
        ),
    ],
)
def test_refused(change, text):
    with pytest.raises(ValueError, match=text):
        check(replace(SQUARE, **change))


def test_half_is_what_the_modulus_makes_it():
    """ACCUMULATOR modulo the whole modulus; what the table's entries are is one name."""
    last = replace(multiply(Mode.HALF, ACC, FACTOR, Context.CURRENT, "C * F"), next=Next.RETURN)
    half = replace(SQUARE, steps=(replace(last, label="square"),), context=Context.CURRENT)
    check(replace(half, gives={Mode.HALF: TWICE}, clobbers=frozenset()))


def test_each_family_is_checked():
    """The programs of lanes have routines, and are assembled with these checks."""
    for design in (fdfm(128), compact(128), ring(128)):
        assert design.programs[0].routines
