"""Operands and results modulo M, with and without the numbers of a private key."""

import random
from dataclasses import astuple
from types import SimpleNamespace

import pytest

from coprime.operations.commands import Command
from coprime.operations.encodings.rsa_key import WorstCaseNumbers, key_numbers
from coprime.operations.operation import InputRole, Source
from coprime.program.operands import Length, Operand
from coprime.rsa import keys

ENGINE = SimpleNamespace(
    digit_width=17,
    headroom=2,
    radix_bits=17,
    min_length=20,
    half_bits=0,
    equal_primes=False,
    checked=False,
    blinds_scalars=False,
)
CHECKED = SimpleNamespace(**{**vars(ENGINE), "checked": True, "equal_primes": True})
KEY = keys.generate(64, 17, p_bits=36, seed=1)


def encoded(command, engine=ENGINE, **numbers):
    return command.operation.encoding.encode(numbers, engine)


def test_the_modulus_is_as_long_as_the_longest_number():
    for x, length in ((5, 20), (1 << 40, 41)):
        found = encoded(Command.MODEXP, x=x, e=3, m=101)
        assert found.lengths == {Length.MODULUS: length, Length.EXPONENT: 2}
        assert (found.x, found.operands[Operand.M], found.operands[Operand.E]) == (x, 101, 3)
    assert encoded(Command.MODMUL, x=1, y=2, m=101).lengths == {Length.MODULUS: 20}
    assert encoded(Command.X_MULTIPLY, x=1, e=1, y=2, m=101).lengths[Length.EXPONENT] == 20


def test_two_exponents_in_one_operand():
    found = encoded(Command.MODEXP2, x=2, e=0b11, y=3, f=0b101, m=101)
    assert found.operands[Operand.E] == 0b100111
    assert found.lengths[Length.EXPONENT] == 6


def test_a_private_key():
    numbers = {"x": 5, **key_numbers(KEY)}
    plain = encoded(Command.RSA_PRIVATE, **numbers)
    assert (plain.lengths[Length.P], plain.lengths[Length.Q]) == (36, 28)
    assert Operand.E not in plain.operands and Operand.M_POWER in plain.operands
    checked = encoded(Command.RSA_PRIVATE, CHECKED, **numbers)
    assert checked.lengths[Length.P] == checked.lengths[Length.Q] == 36
    assert checked.operands[Operand.E] == 17 and Operand.M_POWER not in checked.operands
    del numbers["e"]
    assert encoded(Command.RSA_PRIVATE, **numbers).operands == plain.operands
    with pytest.raises(ValueError, match="with the public exponent e"):
        encoded(Command.RSA_PRIVATE, CHECKED, **numbers)


def test_results_of_a_private_key():
    operation, numbers = Command.RSA_PRIVATE.operation, {"x": 5, **key_numbers(KEY)}
    right = pow(5, KEY.d, KEY.n)
    assert operation.results(numbers) == operation.encoding.decode(right, 0) == {"power": right}
    worst = {"x": 5, **key_numbers(WorstCaseNumbers.of_key(KEY))}
    (value,) = operation.results(worst).values()
    assert (value - pow(5, (1 << 36) - 1, KEY.p)) % KEY.p == 0
    assert (value - pow(5, (1 << 28) - 1, KEY.q)) % KEY.q == 0


def test_another_exponent_of_a_key():
    encoding, numbers = Command.RSA_PRIVATE.operation.encoding, {"x": 5, **key_numbers(KEY)}
    names = encoding.names(InputRole.EXPONENT)
    other = encoding.redrawn(numbers, names, Source(random.Random(1), dict))
    assert other["d"] != KEY.d and other["n"] == KEY.n
    assert pow(pow(7, other["e"], KEY.n), other["d"], KEY.n) == 7
    assert other == {
        **numbers,
        **key_numbers(keys.RsaPrivateKey.from_primes(KEY.p, KEY.q, other["e"])),
    }


def test_what_measurements_are_told_apart_by():
    """As shipped measurements have it: a change would make all of them out of date."""
    operation, numbers = Command.RSA_PRIVATE.operation, {"x": 5, **key_numbers(KEY)}
    assert operation.encoding.identity(numbers) == ({"x": 5}, astuple(KEY))
    worst = WorstCaseNumbers.of_key(KEY)
    found = operation.encoding.identity({"x": 5, **key_numbers(worst)})
    assert found == ({"x": 5}, astuple(worst))
    given = {"x": 1, "y": 2, "m": 3}
    assert Command.MODMUL.operation.encoding.identity(given) == (given, None)


def test_names():
    encoding = Command.MODMUL.operation.encoding
    with pytest.raises(ValueError, match="MODMUL takes x, y, m, not x, m"):
        encoding.check_names({"x": 1, "m": 3})
    with pytest.raises(ValueError, match="RSA_PRIVATE needs a private key"):
        Command.RSA_PRIVATE.operation.encoding.check_names({"x": 1, "e": 3, "m": 5})


def test_an_engine_without_an_operation_of_a_key():
    numbers = {"x": 5, **key_numbers(KEY)}
    private = Command.RSA_PRIVATE.operation.encoding.as_power(numbers)
    assert private == ({"x": 5, "e": KEY.d, "m": KEY.n}, 64)
    public = Command.RSA_PUBLIC.operation.encoding.as_power({"x": 5, "e": 3, "m": 77})
    assert public == ({"x": 5, "e": 3, "m": 77}, 2)
    assert Command.MODMUL.operation.encoding.as_power({"x": 5, "y": 3, "m": 77}) is None
