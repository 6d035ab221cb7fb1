"""Bounds: programs that could overflow, or end with no canonical result, are refused."""

from dataclasses import replace

import pytest

from coprime.engine.compact import compact
from coprime.engine.fdfm import fdfm
from coprime.multipliers.bounds import Bound
from coprime.operations.banked import Banked
from coprime.program.assembler import Program
from coprime.program.numbers.bounds import check_bounds
from coprime.program.operands import Context, Core, Mode, Operand
from coprime.program.steps import Next, StepKind
from tests.program.steps import linear, multiply

ACC, RESULT, WHOLE = Core.ACCUMULATOR, Core.RESULT, Context.WHOLE
COMPACT = compact(256).multiplication
BELOW = linear(StepKind.CHECK_BELOW, Operand.X, Operand.X, Operand.M, WHOLE, "X < M?")


def check(*steps, multiplication=COMPACT):
    check_bounds(Program.assemble({(1,): steps}), multiplication)


def add(destination, x, y, **rule):
    return replace(linear(StepKind.ADD, destination, x, y, WHOLE, "the sum"), **rule)


def square(**rule):
    return replace(multiply(ACC, ACC, ACC, WHOLE, "C * C"), **rule)


ENTER = multiply(ACC, Operand.X, Operand.M_POWER, WHOLE, "X * R")
OUT = replace(multiply(ACC, ACC, Mode.ONE, WHOLE, "out"), descale=True)
FIRST = linear(StepKind.SUBTRACT, RESULT, ACC, Operand.M, WHOLE, "S - M")
LAST = linear(StepKind.RESTORE, RESULT, RESULT, Operand.M, WHOLE, "... + M", next=Next.JUMP)


def test_a_canonical_result():
    check(BELOW, ENTER, square(), OUT, FIRST, LAST)


def test_a_result_that_is_not_reduced():
    with pytest.raises(ValueError, match=r"may be greater than the modulus: 2 M"):
        canonical = replace(LAST, destination=ACC, next=Next.FOLLOWING)
        check(BELOW, ENTER, OUT, FIRST, canonical, add(RESULT, ACC, ACC, next=Next.JUMP))


def test_a_multiplier_that_does_not_descale():
    """The last round takes no digit of it, so it has a digit less than others."""
    factor = multiply(Banked.FACTOR, Operand.X, Operand.M_POWER, WHOLE, "X * R")
    product = replace(multiply(ACC, ACC, Banked.FACTOR, WHOLE, "C * F"), descale=True)
    with pytest.raises(ValueError, match=r"'C \* F': a multiplier of 1.25 c M does not descale"):
        check(BELOW, ENTER, factor, product, FIRST, LAST)


def test_an_operand_that_is_not_checked():
    with pytest.raises(ValueError, match="'the sum' may overflow: nothing is known of it"):
        check(add(RESULT, Operand.X, Operand.X, next=Next.JUMP))


def test_what_is_compared_or_restored_with_another_number():
    """Only the modulus bounds a number."""
    with pytest.raises(ValueError, match="'the sum' may overflow: nothing is known of it"):
        check(replace(BELOW, y=Operand.Y), add(RESULT, Operand.X, Operand.X, next=Next.JUMP))
    with pytest.raises(ValueError, match="the result may be greater than the modulus: None"):
        check(BELOW, ENTER, OUT, FIRST, replace(LAST, y=Operand.X))


def test_sums_of_products():
    """R > 4 c M: two sums of products still fit, and the next one does not."""
    check(BELOW, ENTER, add(ACC, ACC, ACC), square(), OUT, FIRST, LAST)
    with pytest.raises(ValueError, match=r"'the sum' may overflow: .* c M"):
        check(BELOW, ENTER, *[add(ACC, ACC, ACC)] * 3, square(), OUT, FIRST, LAST)


def test_a_loop_that_goes_on_growing():
    grows = add(ACC, ACC, ACC, next=Next.LOOP, times=8, target="again", label="again")
    with pytest.raises(ValueError, match="may overflow"):
        check(BELOW, ENTER, grows, OUT, FIRST, LAST)


def test_a_multiplicand_beyond_twice_the_modulus():
    steps = [BELOW, add(ACC, Operand.X, Operand.X), add(ACC, ACC, ACC), square(next=Next.JUMP)]
    with pytest.raises(ValueError, match="a multiplicand may be 4 M, and not only 2 M"):
        check(*steps, multiplication=fdfm(256).multiplication)


def test_bounds():
    assert str(Bound.times(1, scaled=2)) == "1 M + 2 c M"
    assert Bound.times(2).within(Bound.times(0, scaled=2))
    assert not Bound.times(0, scaled=1).within(Bound.times(1))
    assert (Bound.times(2) - Bound.times(1)).is_negative
