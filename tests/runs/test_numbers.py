"""Operands: from a seed, to their place, and the result by Python's integers."""

from functools import partial

import pytest

from coprime.engine.contract import Command
from coprime.rsa import keys
from coprime.runs.numbers import Operands, expected_result, random_operands

COMMANDS = [command for command in Command if command is not Command.WIPE]


def test_operands_reach_their_place():
    def told(*call):
        return call

    functions = {name: partial(told, name) for name in ("private", "public", "numbers")}
    key = keys.generate(64, seed=1)
    plain, private, public = (
        Operands({"x": 2, "y": 3, "e": 5, "m": 7}, one)
        for one in (None, key, keys.RsaPublicKey(key.n, key.e))
    )
    for command, own, call in (
        (Command.MODMUL, plain, ("numbers", Command.MODMUL, {"x": 2, "y": 3, "m": 7})),
        (Command.MODEXP, plain, ("numbers", Command.MODEXP, {"x": 2, "e": 5, "m": 7})),
        (Command.RSA_PUBLIC, plain, ("public", 7, 5, 2)),
        (Command.MODMUL, public, ("numbers", Command.MODMUL, {"x": 2, "y": 3, "m": key.n})),
        (Command.MODEXP, public, ("numbers", Command.MODEXP, {"x": 2, "e": key.e, "m": key.n})),
        (Command.RSA_PUBLIC, public, ("public", key.n, key.e, 2)),
        (Command.RSA_PUBLIC, private, ("public", key.n, key.e, 2)),
        (Command.RSA_PRIVATE, private, ("private", key, 2)),
    ):
        assert own.given_to(command, **functions) == call
    for own in (plain, public):
        with pytest.raises(ValueError, match="RSA_PRIVATE needs a private key"):
            own.given_to(Command.RSA_PRIVATE, **functions)


@pytest.mark.parametrize("command", [Command.MODMUL, Command.MODEXP, Command.RSA_PUBLIC])
def test_no_modulus(command):
    assert expected_result(command, Operands.of(x=2, y=3, e=5, m=0)) == (0, 0)


def test_same_seed_same_operands():
    for command in COMMANDS:
        bits = 64 if command.operation.on_curve else 80
        one, two, other = (random_operands(command, bits, seed) for seed in (1, 1, 2))
        assert one == two
        assert one != other
