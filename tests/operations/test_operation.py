"""Records of operations, and what follows from them."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from amaranth.hdl import Signal

import coprime
from coprime.engine.contract import Command, Operand
from coprime.operations.commands import OPERATIONS
from coprime.operations.operation import Arithmetic, Input, Output, among

X = Output(name="x", meaning="")
ROOT = Path(coprime.__file__).parent
MOST_REFERENCES = 13
LANES = Arithmetic(inverses=True, montgomery=True)
BITWISE = Arithmetic(inverses=False, montgomery=True)
PLAIN = Arithmetic(inverses=False, montgomery=False)
CHECKED = Arithmetic(inverses=True, montgomery=True, checked=True)


def test_published_codes():
    published = {"MODMUL": 1, "MODEXP": 2, "RSA_PUBLIC": 3, "RSA_PRIVATE": 4, "WIPE": 5}
    assert published.items() <= {one.name: one.value for one in Command}.items()


def test_each_command_is_its_record():
    for command, operation in OPERATIONS.items():
        assert (command.name, command.value) == (operation.name, operation.code)
        assert command.operation is operation
        assert 1 <= command < 64


@pytest.mark.parametrize(
    ("command", "arithmetic", "names"),
    [
        (Command.MODMUL, LANES, "X Y M M_INVERSE M_POWER"),
        (Command.MODMUL, BITWISE, "X Y M M_POWER"),
        (Command.MODMUL, PLAIN, "X Y M"),
        (Command.MODEXP, LANES, "X E M M_INVERSE M_POWER"),
        (Command.MODEXP, PLAIN, "X E M M_POWER"),
        (Command.RSA_PUBLIC, CHECKED, "X E M M_INVERSE M_POWER"),
        (Command.RSA_PRIVATE, BITWISE, "X M P Q DP DQ P_POWER Q_POWER CRT_P CRT_Q"),
        (
            Command.RSA_PRIVATE,
            CHECKED,
            "X M P Q DP DQ P_POWER Q_POWER CRT_P M_INVERSE P_INVERSE Q_INVERSE E",
        ),
    ],
)
def test_operands_that_are_required(command, arithmetic, names):
    assert command.operation.required(arithmetic) == {Operand[one] for one in names.split()}


def test_classes_of_operations():
    def of(which):
        return {command for command in Command if which(command.operation)}

    assert Command.MODMUL in of(lambda one: one.is_product)
    assert of(lambda one: one.is_private) == {Command.RSA_PRIVATE}
    assert {Command.MODEXP, Command.RSA_PUBLIC} <= of(lambda one: one.is_power)
    assert of(lambda one: one.wipes) == of(lambda one: not one.computes) == {Command.WIPE}
    combs = {Command.EC_BASE_MULTIPLY, Command.ED_BASE_MULTIPLY, Command.ECDSA_VERIFY}
    assert of(lambda one: one.has_comb) == combs | {Command.ECDSA_SIGN, Command.ECDSA_SIGN_WITH}
    secret = of(lambda one: one.has_secret_exponent)
    assert Command.RSA_PUBLIC not in secret
    assert {Command.MODEXP, Command.RSA_PRIVATE} <= secret
    # Each operation with a result is of one class.
    for operation in OPERATIONS.values():
        classes = (operation.is_product, operation.is_power, operation.is_private)
        assert operation.on_curve or sum(classes) == operation.computes


@pytest.mark.parametrize(
    ("command", "change", "text"),
    [
        (Command.MODMUL, {"outputs": ()}, "MODMUL must have one output, not 0"),
        (
            Command.EC_MULTIPLY,
            {"outputs": [X] * 3},
            "EC_MULTIPLY must have one output or two, not 3",
        ),
        (Command.MODMUL, {"outputs": [X] * 2}, "MODMUL must have one output, not 2"),
        (Command.WIPE, {"outputs": [X]}, "WIPE gives nothing"),
        (Command.WIPE, {"wipes": False}, "WIPE must have steps, or wipe, and not both"),
        (Command.MODEXP, {"wipes": True}, "MODEXP must have steps, or wipe, and not both"),
        (Command.MODMUL, {"is_product": False}, "MODMUL must be one of: a product, a private"),
        (Command.MODEXP, {"is_product": True}, "MODEXP must be one of: a product, a private"),
        (Command.MODEXP, {"result": None}, "MODEXP must have a result of Python's"),
        (Command.EC_CHECK, {"reads": None}, "EC_CHECK must say what it reads"),
        (Command.EC_MULTIPLY, {"has_comb": True}, "EC_MULTIPLY has a comb, and no table"),
    ],
)
def test_records_that_leave_something_open(command, change, text):
    with pytest.raises(ValueError, match=re.escape(text)):
        replace(command.operation, **change)


def test_a_result_that_is_not_named_is_no_result():
    numbers = {"x": 5, "y": 6, "m": 7}
    assert Command.MODMUL.operation.results(numbers) == {"product": 2}
    several = replace(Command.MODMUL.operation, result=lambda x, y, m: (x, y, m))
    for expected in (several.results, partial(several.expected, half_bits=0)):
        with pytest.raises(ValueError, match=r"MODMUL gives product, and its record makes 3"):
            expected(numbers)
    curve = Command.EC_MULTIPLY.operation
    point = replace(curve, result=lambda **numbers: (3, 4))
    assert point.results({}) == {"x": 3, "y": 4} and point.expected({}, 8) == 0x403


def test_results_of_records():
    assert Command.MODMUL.operation.result(x=5, y=6, m=7) == 2
    assert Command.MODEXP.operation.result(x=3, e=4, m=7) == 4
    assert Command.RSA_PUBLIC.operation.result(x=3, e=4, m=7) == 4


def test_inputs_that_share_an_operand():
    first, second = (
        Input(name="e", operand=Operand.E, meaning="", stride=2, offset=offset)
        for offset in range(2)
    )
    assert first.spread(0b1011) == 0b01000101
    assert second.spread(0b1011) == 0b10001010
    assert first.spread(0) == 0
    assert Input(name="e", operand=Operand.E, meaning="").spread(0b1011) == 0b1011


def test_among():
    """For integers 0 or 1; for signals a value of one bit."""
    assert [among(one, [Command.MODEXP, Command.MODMUL]) for one in range(4)] == [0, 1, 1, 0]
    assert among(1, []) == 0
    assert len(among(Signal(3), [Command.MODEXP, Command.WIPE])) == 1


def test_few_places_name_a_command():
    """What depends on an operation asks its record. WIPE is none."""
    found = [
        f"{path}: {line.strip()}"
        for path in ROOT.rglob("*.py")
        # What goes around operations on curves names them.
        if path.parent not in (ROOT / "operations", ROOT / "ec")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"\bCommand\.(?!WIPE)[A-Z]", line)
    ]
    assert len(found) <= MOST_REFERENCES, "\n".join(found)
