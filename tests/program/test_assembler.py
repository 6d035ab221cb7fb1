"""Steps of several operations become one program."""

from dataclasses import replace

import pytest

from coprime.operations.commands import Command
from coprime.program.assembler import Program
from coprime.program.operands import Context, Mode, Operand, Scratch
from coprime.program.steps import Next, Step, StepKind, linear, times


def move(label="", target="", rule=Next.FOLLOWING):
    step = linear(StepKind.MOVE, Scratch.PART, Operand.X, Operand.M, Context.WHOLE, "PART = X")
    return replace(step, label=label, target=target, next=rule)


def test_addresses():
    """Address 0 is the end; a label is visible in its operation, and a shared one everywhere."""
    first = [move(label="a"), move(target="a", rule=Next.JUMP)]
    second = [move(target="shared", rule=Next.JUMP), move(label="a"), move(rule=Next.JUMP)]
    program = Program.assemble(
        {(Command.MODMUL,): first, (Command.MODEXP, Command.RSA_PUBLIC): second},
        [move(label="shared")],
    )
    assert program.steps == (*first, *second, move(label="shared"))
    assert program.targets == (0, 1, 6, 0, 0, 0)
    assert program.entries == {Command.MODMUL: 1, Command.MODEXP: 3, Command.RSA_PUBLIC: 3}


def test_a_target_in_another_operation():
    """One that nothing else has; a label of its own comes first."""
    first = [move(label="end"), move(label="own", target="end", rule=Next.JUMP)]
    second = [move(target="end", rule=Next.JUMP), move(label="own", target="own", rule=Next.JUMP)]
    program = Program.assemble({(1,): first, (2,): second})
    assert program.targets == (0, 1, 1, 4)
    with pytest.raises(ValueError, match="steps of two operations have the label 'own'"):
        Program.assemble({(1,): first, (2,): second, (3,): [move(target="own", rule=Next.JUMP)]})


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ([move(label="a"), move(label="a")], "two steps have the label 'a'"),
        ([move(label="shared")], "two steps have the label 'shared'"),
        ([move(target="b")], "no step has the label 'b'"),
    ],
)
def test_labels_that_are_refused(steps, text):
    with pytest.raises(ValueError, match=text):
        Program.assemble({(Command.MODMUL,): steps}, [move(label="shared")])


def of_steps(*steps, **settings):
    return Program.assemble({(Command.MODMUL,): steps}, **settings)


def test_windows_only_where_a_step_names_one():
    plain = times(Scratch.BASE, Context.WHOLE, "C * P")
    assert of_steps(plain, window_bits=4).window_bits == 0
    program = of_steps(times(Mode.WINDOW, Context.WHOLE, "C * T"), window_bits=4)
    assert (program.window_bits, program.whole_window_bits) == (4, 4)
    program = of_steps(times(Mode.WINDOW, Context.P, "C * T"), window_bits=4, whole_window_bits=3)
    assert [*map(program.window_bits_of, (Context.WHOLE, Context.P))] == [3, 4]
    assert [*map(program.last_entry_of, (Context.WHOLE, Context.P))] == [7, 15]


def test_a_last_entry_that_is_made_apart():
    product = times(Mode.WINDOW, Context.P, "C * T")
    apart = times(Scratch.BASE, Context.P, "T_15", into=Scratch.T_15)
    program = of_steps(product, apart, window_bits=4, whole_window_bits=2)
    assert [*map(program.last_entry_of, (Context.WHOLE, Context.P))] == [3, 14]


def test_bits_that_a_move_goes_on_to():
    scans = move(rule=Next.IF_WINDOW)
    assert of_steps(scans).scans_by_moves
    assert not of_steps(move()).scans_by_moves


def test_hardware_that_steps_need():
    program = of_steps(times(Scratch.BASE, Context.P, "C * P"))
    assert not program.in_place
    assert not (program.rotates or program.alternates or program.checks or program.draws)
    in_place = times(Scratch.BASE, Context.CURRENT, "C * P", into=Scratch.ACCUMULATOR)
    assert of_steps(in_place).in_place
    assert of_steps(in_place).alternates
    assert of_steps(times(Scratch.BASE, Context.P, "B", into=Mode.NEXT_BASE)).rotates
    drawn = Step(kind=StepKind.ADD_IF_DRAWN, note="")
    assert of_steps(drawn).draws
    assert of_steps(drawn).blinds_exponents
    assert of_steps(Step(kind=StepKind.CHECK_ZERO, note="")).checks
    assert of_steps(move(), move()).kinds == {StepKind.MOVE}
