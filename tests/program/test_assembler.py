"""Steps of several operations become one program."""

from dataclasses import replace

import pytest

from coprime.operations.commands import Command
from coprime.program.assembler import Program
from coprime.program.operands import Context, Core, Entry, Mode, Operand, Retained
from coprime.program.routine import Routine
from coprime.program.steps import Next, Step, StepKind
from tests.program.steps import linear, times


def move(label="", target="", rule=Next.FOLLOWING):
    step = linear(StepKind.MOVE, Core.PART, Operand.X, Operand.M, Context.WHOLE, "PART = X")
    return replace(step, label=label, target=target, next=rule)


def routine(name, *steps):
    first, *others = steps or [move(rule=Next.RETURN)]
    steps = (replace(first, label=name), *others)
    return Routine(name=name, steps=steps, context=Context.WHOLE, takes={}, gives={})


def test_addresses():
    """Address 0 is the end; a label is visible in its operation, and a routine's everywhere."""
    first = [move(label="a"), move(target="a", rule=Next.JUMP)]
    second = [move(target="shared", rule=Next.JUMP), move(label="a"), move(rule=Next.JUMP)]
    shared = routine("shared")
    program = Program.assemble(
        {(Command.MODMUL,): first, (Command.MODEXP, Command.RSA_PUBLIC): second}, [shared]
    )
    assert program.steps == (*first, *second, *shared.steps)
    assert program.targets == (0, 1, 6, 0, 0, 0)
    assert program.entries == {Command.MODMUL: 1, Command.MODEXP: 3, Command.RSA_PUBLIC: 3}
    assert program.routines == {6: shared}


def test_routines_that_are_in_use():
    """Those that steps lead to, those that they lead to, and those that they go on to."""
    routines = [
        routine("calls", move(target="goes_on", rule=Next.CALL), move(rule=Next.RETURN)),
        routine("nobody"),
        routine("goes_on", move()),
        routine("last", move(target="end", rule=Next.JUMP)),
        routine("more"),
        routine("end"),
    ]
    program = Program.assemble({(1,): [move(target="calls", rule=Next.CALL)]}, routines)
    names = [each.name for each in program.routines.values()]
    assert names == ["calls", "goes_on", "last", "end"]
    assert program.call_depth == 2


def test_operations_that_begin_alike():
    """What they share is laid out once, and branches where they part, two ways at each step."""
    first, second, end = move(), replace(move(), note="second"), move(rule=Next.JUMP)
    third, fourth = (replace(end, note=note) for note in ("third", "fourth"))
    lists = {(1,): [first, second, end], (2, 3): [first, second, third], (4,): [first, fourth]}
    program = Program.assemble(lists, merges=True)
    assert set(program.entries.values()) == {1}
    assert [step.note for step in program.steps] == [
        *("PART = X", "second", "PART = X", "third", "fourth"),
    ]
    both = {
        step.commands: target for step, target in zip(program.steps, program.targets, strict=True)
    }
    assert both == {frozenset({1, 2, 3}): 5, frozenset({1}): 4, frozenset(): 0}
    assert len(program.branch_codes) == 2
    assert not set(program.branch_codes.values()) & (program.nexts - {Next.IF_COMMAND})
    more = {**lists, (5,): [first, replace(end, note="fifth")]}
    assert Program.assemble(more, merges=True).entries[5] == 6
    assert set(Program.assemble(lists).entries.values()) == {1, 4, 7}


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ([move(label="a"), move(label="a")], "two steps have the label 'a'"),
        ([move(label="shared", target="shared")], "two steps have the label 'shared'"),
        ([move(target="b")], "no step has the label 'b'"),
    ],
)
def test_labels_that_are_refused(steps, text):
    with pytest.raises(ValueError, match=text):
        Program.assemble({(Command.MODMUL,): steps}, [routine("shared")])


def of_steps(*steps, **settings):
    return Program.assemble({(Command.MODMUL,): steps}, **settings)


def test_windows_only_where_a_step_names_one():
    plain = times(Core.BASE, Context.WHOLE, "C * P")
    assert of_steps(plain, window_bits=4).window_bits == 0
    program = of_steps(times(Mode.WINDOW, Context.WHOLE, "C * T"), window_bits=4)
    assert (program.window_bits, program.whole_window_bits) == (4, 4)
    program = of_steps(times(Mode.WINDOW, Context.P, "C * T"), window_bits=4, whole_window_bits=3)
    assert [*map(program.window_bits_of, (Context.WHOLE, Context.P))] == [3, 4]
    assert [*map(program.last_entry_of, (Context.WHOLE, Context.P))] == [7, 15]


def test_a_last_entry_that_is_made_apart():
    product = times(Mode.WINDOW, Context.P, "C * T")
    apart = times(Core.BASE, Context.P, "T_15", into=Entry.T_15)
    program = of_steps(product, apart, window_bits=4, whole_window_bits=2)
    assert [*map(program.last_entry_of, (Context.WHOLE, Context.P))] == [3, 14]


def test_bits_that_a_move_goes_on_to():
    scans = move(rule=Next.IF_WINDOW)
    assert of_steps(scans).scans_by_moves
    assert not of_steps(move()).scans_by_moves


def test_hardware_that_steps_need():
    program = of_steps(times(Core.BASE, Context.P, "C * P"))
    assert not program.in_place
    assert not (program.rotates or program.alternates or program.checks or program.draws)
    in_place = times(Core.BASE, Context.CURRENT, "C * P", into=Core.ACCUMULATOR)
    assert of_steps(in_place).in_place
    assert of_steps(in_place).alternates
    assert of_steps(times(Core.BASE, Context.P, "B", into=Mode.NEXT_BASE)).rotates
    drawn = Step(kind=StepKind.ADD_IF_DRAWN, note="")
    assert of_steps(drawn).draws
    assert of_steps(drawn).adds_drawn
    assert not of_steps(drawn).blinds_exponents
    assert of_steps(replace(drawn, destination=Retained.BLINDED_P)).blinds_exponents
    assert of_steps(Step(kind=StepKind.CHECK_ZERO, note="")).checks
    assert of_steps(move(), move()).kinds == {StepKind.MOVE}
