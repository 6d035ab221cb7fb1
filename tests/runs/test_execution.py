"""Runs: a prediction that is the simulation's, of worst and of random exponents."""

import pytest

from coprime.catalog import FAMILIES, MODULUS, family_named
from coprime.device.accelerator import EngineError
from coprime.device.simulated import open_simulation
from coprime.engine.contract import Command, Error
from coprime.runs.execution import predict_operation, run_on
from coprime.runs.exponents import EXPONENTS
from coprime.runs.numbers import random_numbers

COMMANDS = [command for command in Command if command is not Command.WIPE]


# Those that have no exponent are the same twice.
WORK = [
    (command, exponents)
    for command in COMMANDS
    for exponents in EXPONENTS
    if exponents == "random" or command in (Command.MODEXP, Command.RSA_PRIVATE)
]


# One process builds what all of them simulate: every family.
@pytest.mark.matrix
@pytest.mark.xdist_group("workloads")
@pytest.mark.parametrize(("command", "exponents"), WORK)
def test_prediction_is_the_simulation(command, exponents):
    for family in FAMILIES.values():
        fixed = MODULUS in family.choose({}).values
        choice = family.choose({"modulus": "2^17 - 1"} if fixed else {"max_bits": "128"})
        capabilities = choice.design.capabilities
        if command not in capabilities.required:
            continue
        modulus = capabilities.fixed_modulus
        operands = random_numbers(
            command,
            100 if modulus is None else modulus.bit_length(),
            3,
            exponents=exponents,
            modulus=modulus,
            checked=capabilities.checked,
        )
        predicted = predict_operation(choice.design, command, operands)
        with open_simulation(choice) as device:
            run = run_on(device, choice, command, operands, predicted)
        assert run.ok
        assert run.cycles == run.predicted_cycles == predicted.cycles
        assert run.utilization == predicted.products / (run.cycles * capabilities.multipliers)
        assert predicted.result == run.result


def test_worst_exponents_take_the_most_cycles():
    design = family_named("fdfm").choose({}).design
    for command in (Command.MODEXP, Command.RSA_PRIVATE):
        cycles = {
            exponents: [
                predict_operation(
                    design, command, random_numbers(command, 64, seed, exponents=exponents)
                ).cycles
                for seed in range(5)
            ]
            for exponents in EXPONENTS
        }
        assert min(cycles["worst"]) >= max(cycles["random"])
        assert len(set(cycles["worst"])) == 1


def test_refusals_are_predicted():
    design = family_named("fdfm").choose({"max_bits": "64"}).design
    with pytest.raises(EngineError) as caught:
        predict_operation(design, Command.MODMUL, random_numbers(Command.MODMUL, 100, 1))
    assert caught.value.code is Error.LENGTH_OVER
