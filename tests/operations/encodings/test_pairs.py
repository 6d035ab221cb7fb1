"""Operands and results of operations on curves: two numbers each."""

import random
from dataclasses import replace
from types import SimpleNamespace

import pytest

from coprime.ec.samples import SHORT_CURVES
from coprime.operations.commands import Command
from coprime.operations.operation import InputRole, Output
from coprime.program.operands import Length, Operand

HALF = 17 * 16
ENGINE = SimpleNamespace(
    digit_width=17,
    headroom=24,
    radix_bits=17,
    min_length=35,
    half_bits=HALF,
    equal_primes=False,
    checked=True,
    blinds_scalars=False,
)
ON_CURVES = [one for one in Command if one.operation.on_curve]


def drawn(command, seed=1):
    curve = SHORT_CURVES[command.operation.curve][0]
    return command.operation.encoding.drawn(curve.domain, random.Random(seed))


@pytest.mark.parametrize("command", ON_CURVES)
def test_operands_are_those_that_the_operation_reads(command):
    numbers = drawn(command)
    encoded = command.operation.encoding.encode(numbers, ENGINE)
    for one in command.operation.inputs:
        place = encoded.x if one.operand is Operand.X else encoded.operands[one.operand]
        if one.operand in (Operand.X, Operand.Y, Operand.POINT):
            found = place >> HALF if one.upper else place % (1 << HALF)
            assert found == numbers[one.name]
    assert Operand.X not in encoded.operands
    assert encoded.lengths[Length.MODULUS] == HALF + encoded.lengths[Length.P]


@pytest.mark.parametrize("command", ON_CURVES)
def test_outputs_by_their_names(command):
    operation, numbers = command.operation, drawn(command)
    if operation.result is None:
        numbers = dict.fromkeys(("r", "s"), 5)
        assert operation.encoding.decode(5 | 5 << HALF, HALF) == numbers
        return
    outputs = operation.results(numbers)
    assert operation.encoding.decode(operation.expected(numbers, HALF), HALF) == outputs
    assert operation.accepts(numbers, outputs)
    first = next(iter(outputs))
    assert not operation.accepts(numbers, {**outputs, first: outputs[first] ^ 1})


def test_a_number_above_the_last_output_is_not_dropped():
    for command, value in ((Command.EC_CHECK, 1 << HALF), (Command.EC_MULTIPLY, 1 << 2 * HALF)):
        encoding = command.operation.encoding
        encoded = encoding.encode(drawn(command), ENGINE)
        right = command.operation.expected(drawn(command), HALF)
        assert encoding.is_in_range(encoded.operands, right, HALF)
        assert not encoding.is_in_range(encoded.operands, right | value, HALF)
        *_, last = encoding.decode(right | value, HALF).values()
        assert last >= 1 << HALF


def test_a_third_output():
    """RESULT holds two; a record with three is refused, and so is a reference that makes three."""
    outputs = tuple(Output(name=name, meaning="") for name in "rst")
    with pytest.raises(ValueError, match="ECDSA_SIGN must have one output or two, not 3"):
        replace(Command.ECDSA_SIGN.operation, outputs=outputs)
    more = replace(Command.EC_CHECK.operation, result=lambda **numbers: (1, 2))
    with pytest.raises(ValueError, match="EC_CHECK gives x, and its record makes 2"):
        more.expected({}, HALF)


def test_a_point_must_be_on_its_curve():
    command = Command.EC_MULTIPLY
    encoding, numbers = command.operation.encoding, drawn(command)
    encoded, right = encoding.encode(numbers, ENGINE), command.operation.expected(numbers, HALF)
    for value, sound in ((right, True), (right ^ 1, False), (right ^ 1 << HALF, False)):
        residue = encoding.residue(encoded.operands, value, encoded.x, ENGINE.digit_width)
        given = (encoded.operands, value, encoded.x)
        assert encoding.is_sound(*given, residue, ENGINE) is sound
        assert not encoding.is_sound(*given, residue + 1, ENGINE)


@pytest.mark.parametrize(
    ("command", "roles"),
    [
        (Command.ECDSA_SIGN, {InputRole.MESSAGE: ["z"], InputRole.KEY: ["d"]}),
        (
            Command.ECDSA_SIGN_WITH,
            {InputRole.MESSAGE: ["z"], InputRole.KEY: ["d"], InputRole.NONCE: ["k"]},
        ),
        (
            Command.ED_FINISH,
            {InputRole.MESSAGE: ["h"], InputRole.KEY: ["a"], InputRole.NONCE: ["r"]},
        ),
        (
            Command.EC_MULTIPLY,
            {InputRole.MESSAGE: ["x", "y"], InputRole.KEY: ["k"], InputRole.EXPONENT: ["k"]},
        ),
    ],
)
def test_roles(command, roles):
    encoding = command.operation.encoding
    assert {role: encoding.names(role) for role in InputRole if encoding.names(role)} == roles
    numbers = drawn(command)
    others = encoding.another_message(numbers, random.Random(2))
    differing = {name for name in numbers if numbers[name] != others[name]}
    signs = {*roles.get(InputRole.MESSAGE, []), *roles.get(InputRole.NONCE, [])}
    assert differing == (signs if encoding.of_a_message else set())


def test_scalars_below_the_order():
    numbers = drawn(Command.EC_MULTIPLY)
    with pytest.raises(ValueError, match="k must be below n, the order of the points"):
        Command.EC_MULTIPLY.operation.encoding.encode({**numbers, "k": numbers["n"]}, ENGINE)
    with pytest.raises(ValueError, match="p and n of a curve are primes of 5 or more"):
        Command.EC_MULTIPLY.operation.encoding.encode({**numbers, "p": 4}, ENGINE)
