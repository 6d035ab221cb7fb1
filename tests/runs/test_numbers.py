"""The numbers of operations from a seed."""

import random

import pytest

from coprime.engine.contract import Command
from coprime.rsa import keys
from coprime.runs.numbers import domain_of, random_lengths, random_numbers

COMMANDS = [command for command in Command if command is not Command.WIPE]


@pytest.mark.parametrize("command", COMMANDS)
def test_same_seed_same_numbers(command):
    bits = 64 if command.operation.on_curve else 80
    one, two, other = (random_numbers(command, bits, seed) for seed in (1, 1, 2))
    assert one == two
    assert one != other
    command.operation.encoding.check_names(one)
    lengths = random_lengths(command, bits)
    assert vars(command.operation.encoding.lengths(one)) == vars(lengths)


def test_the_key_of_a_seed():
    key, numbers = keys.generate(80, seed=3), random_numbers(Command.RSA_PRIVATE, 80, 3)
    assert (numbers["n"], numbers["d"], numbers["e"]) == (key.n, key.d, key.e)
    worst = random_numbers(Command.RSA_PRIVATE, 80, 3, exponents="worst")
    assert (worst["n"], worst["dp"], worst["e"]) == (key.n, (1 << 40) - 1, 0)
    checked = random_numbers(Command.RSA_PRIVATE, 80, 3, exponents="worst", checked=True)
    assert checked == numbers


def test_a_modulus_that_is_given():
    assert random_numbers(Command.MODMUL, 8, 1, modulus=0x9D)["m"] == 0x9D
    with pytest.raises(ValueError, match="the modulus has 8 bits, and not 9"):
        random_numbers(Command.MODMUL, 9, 1, modulus=0x9D)
    with pytest.raises(ValueError, match=r"bits must be in 64..65535, not 63"):
        random_lengths(Command.RSA_PRIVATE, 63)


def test_a_key_that_is_drawn():
    first, second = (domain_of(Command.RSA_PRIVATE, 64, random.Random(seed)) for seed in (1, 2))
    assert first["n"] != second["n"]
