"""Formulas as steps: the right numbers in the right banks, on integers."""

import pytest

from coprime.operations.comb import Comb
from coprime.operations.formulas import TEMPORARIES, NumberPlace, formula
from coprime.operations.weierstrass import CurvePoint
from coprime.program.operands import Context, Exchanged
from coprime.program.steps import StepKind

P = 1_000_003
A, B = NumberPlace(CurvePoint.X_1), NumberPlace(CurvePoint.Y_1, Comb.Z_1_COPY)
RESULT = NumberPlace(CurvePoint.X_KEPT)
TEXT = "t=a*b u=t+t v=u-a u=u*v t=t*t v=t*u w=v-b t=u*w r=t+b"


def steps_of(text, places=None, results=None, **options):
    given = {"a": A, "b": B} if places is None else places
    made = {"r": RESULT} if results is None else results
    return formula(text, given, made, headroom=6, context=Context.P, **options)


def executed(steps, **values):
    """The steps on integers modulo P, whose products are plain ones."""
    memory = {A.left: values["a"], B.left: values["b"], B.right: values["b"]}
    for step in steps:
        x, y = memory[step.x], memory[step.y]
        if step.kind is StepKind.MULTIPLY:
            found = x * y
        else:
            found = x + y if step.kind is StepKind.ADD else x - y
        for one in (step.destination, step.copy):
            if one is not None:
                memory[one] = found % P
    return memory[RESULT.left]


@pytest.mark.parametrize("a, b", [(0, 0), (1, 2), (3, P - 1), (123_456, 654_321)])
def test_the_value_of_a_formula(a, b):
    t, u = a * b, 2 * a * b
    u *= u - a
    expected = u * (t * t * u - b) + b
    assert executed(steps_of(TEXT), a=a, b=b) == expected % P


def test_factors_lie_apart():
    left = {place.left for place in (*TEMPORARIES, A, B, RESULT)}
    for step in steps_of(TEXT):
        if step.kind is StepKind.MULTIPLY:
            assert step.x in left
            assert step.y not in left or step.y is step.x
        assert step.copy is None or step.copy not in left


def test_differences_add_what_keeps_them_above_0():
    steps = steps_of("t=a+a t=t+t r=b-t")
    assert [step.times_modulus for step in steps] == [0, 0, 4]
    with pytest.raises(ValueError, match="r=b-t would add 128 times the modulus"):
        steps_of("t=a-b t=b-t t=b-t t=b-t t=t+t t=t+t t=t+t r=b-t")


def test_what_cannot_be_placed():
    with pytest.raises(ValueError, match="v has no temporary left"):
        steps_of("t=a*b u=t*b v=a*a w=b*b r=t+u r=r+v r=r+w", temporaries=TEMPORARIES[:1])
    with pytest.raises(ValueError, match="r=b\\*b is written over a, which is read later"):
        steps_of("r=b*b t=r+a", places={"a": RESULT, "b": B}, results={"r": RESULT})
    with pytest.raises(ValueError, match="the factors of r=a\\*c do not lie apart"):
        steps_of("r=a*c", places={"a": A, "c": NumberPlace(Exchanged.Y_2)})
