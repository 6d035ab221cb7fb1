"""Programs are written in their order; what comes next is a part of the step before it."""

from fractions import Fraction

import pytest

from coprime.multipliers.bounds import Bound
from coprime.operations.banked import Banked
from coprime.program.assembler import Program
from coprime.program.builder import Builder, RoutineBuilder
from coprime.program.operands import Context, Core, Mode, Operand
from coprime.program.steps import Step, StepKind

ACC, BASE, X, Y, M = Core.ACCUMULATOR, Core.BASE, Operand.X, Operand.Y, Operand.M


def targets(code):
    """By step its label, its rule, and the note of the step that is its target."""
    labels = {step.label: step.note for step in code.steps if step.label}
    return [(one.note, one.next.name, labels.get(one.target, one.target)) for one in code.steps]


def test_each_statement_is_a_step():
    code = Builder(Context.P)
    code.multiply(ACC, X, Y, "X Y", outer=Context.WHOLE, copy=BASE)
    code.subtract(ACC, ACC, BASE, "A - B", times_modulus=2)
    code.move(BASE, ACC, below=Fraction(5, 4))
    code.zero(BASE)
    code.whole.zero(BASE, of=M)
    code.q.check_below(X)
    p, named = Context.P, {"destination": ACC, "modulus": Context.P}
    assert code.steps == [
        Step(kind=StepKind.MULTIPLY, x=X, y=Y, note="X Y", copy=BASE, **named),
        Step(kind=StepKind.SUBTRACT, x=ACC, y=BASE, note="A - B", times_modulus=2, **named),
        Step(
            kind=StepKind.MOVE,
            destination=BASE,
            x=ACC,
            y=M,
            modulus=p,
            note="BASE = ACCUMULATOR",
            below=Fraction(5, 4),
        ),
        Step(kind=StepKind.SUBTRACT, destination=BASE, x=BASE, y=BASE, modulus=p, note="BASE = 0"),
        Step(kind=StepKind.SUBTRACT, destination=BASE, x=M, y=M, note="BASE = 0"),
        Step(kind=StepKind.CHECK_BELOW, y=Operand.Q, modulus=Context.Q, note="X < Q?"),
    ]


def test_fields_of_all_statements_of_a_view():
    code = Builder()
    by_bit = code.modulo(Context.P, by_bit=True)
    by_bit.move(BASE, ACC)
    code.move(ACC, BASE)
    assert [(one.by_bit, one.modulus) for one in code.steps] == [
        (True, Context.P),
        (False, Context.WHOLE),
    ]


def test_loops_and_conditions():
    code = Builder()
    with code.each_bit("square"):
        code.times(ACC, "C * C")
        code.if_bit("done")
        code.times(BASE, "C * B")
    code.label("done")
    code.subtract(ACC, ACC, M, "C < M?")
    with code.if_borrow("above"):
        code.rest("below")
        code.finish()
    with code.loop("doubles", times=3):  # a step with two labels
        code.add(ACC, ACC, ACC, "2 C")
    code.rest("which command?")
    with code.if_command({1, 2}, "others"):
        code.rest("in commands 1 and 2")
    code.rest("in all")
    code.next_modulus("again")
    code.rest("modulo the next one")
    assert targets(code) == [
        ("C * C", "IF_BIT", "C < M?"),
        ("C * B", "NEXT_BIT", "C * C"),
        ("C < M?", "IF_BORROW", "2 C"),
        ("below", "JUMP", ""),
        ("2 C", "LOOP", "2 C"),
        ("which command?", "IF_COMMAND", "in all"),
        ("in commands 1 and 2", "FOLLOWING", ""),
        ("in all", "EACH_MODULUS", "modulo the next one"),
        ("modulo the next one", "FOLLOWING", ""),
    ]


def test_a_routine_returns_unless_it_jumps():
    declared = {"takes": {BASE: None}, "gives": {ACC: Bound.times(2)}, "clobbers": [Banked.TERM]}
    code = RoutineBuilder("routine", Context.P, **declared)
    code.whole.move(ACC, BASE)
    code.reduce(Banked.TERM, ACC)
    found = code.routine()
    assert (found.name, found.context, found.steps[0].label) == ("routine", Context.P, "routine")
    assert found.clobbers == {Banked.TERM} and found.gives[ACC] == Bound.times(2)
    assert [one.next.name for one in found.steps] == ["FOLLOWING", "FOLLOWING", "RETURN"]
    code = RoutineBuilder("jumps", Context.P, **declared)
    code.move(ACC, BASE)
    code.jump("routine")
    assert code.routine().steps[-1].target == "routine"
    code = RoutineBuilder("goes_on", Context.P, **declared)
    code.move(ACC, BASE)
    assert code.routine(goes_on=True).goes_on


def test_a_program_of_what_is_written():
    code = Builder()
    code.multiply(ACC, X, Operand.M_POWER, "X * R")
    code.scan(StepKind.SCAN, "from the highest 1 of E", "done")
    with code.each_bit("square"):
        code.multiply(ACC, ACC, ACC, "C * C")
        code.if_bit("done")
        code.multiply(ACC, ACC, X, "C * X")
    code.label("done")
    code.times(Mode.ONE, "C * 1")
    code.finish()
    assert Program.assemble({(1,): code.steps}).targets == (0, 5, 5, 3, 0)


def test_what_comes_next_needs_a_step():
    code = Builder()
    with pytest.raises(ValueError, match=r"no step leads to 'routine' by CALL: add a PASS"):
        code.call("routine")
    code.rest("a step")
    code.call("routine")
    with pytest.raises(ValueError, match=r"no step leads to 'again' by JUMP"):
        code.jump("again")
    code.rest("a step")
    code.label("end")
    with pytest.raises(ValueError, match=r"no step leads to '' by RETURN"):
        code.returns()
    with pytest.raises(ValueError, match=r"no step follows the label 'end'"):
        _ = code.steps
