"""Workloads: operands, expected results, and a prediction that is the simulation's."""

import pytest

from coprime.catalog import FAMILIES, MODULUS, family_named
from coprime.device.accelerator import Accelerator, EngineError
from coprime.engine.contract import Command, Error
from coprime.explore.measure import open_simulation
from coprime.explore.workload import EXPONENTS, Workload, predict_workload

COMMANDS = [command for command in Command if command is not Command.WIPE]


# Those that have no exponent are the same twice.
WORKLOADS = [
    (command, exponents)
    for command in COMMANDS
    for exponents in EXPONENTS
    if exponents == "random" or command in (Command.MODEXP, Command.RSA_PRIVATE)
]


# One process builds what all of them simulate: every family.
@pytest.mark.slow
@pytest.mark.xdist_group("workloads")
@pytest.mark.parametrize(("command", "exponents"), WORKLOADS)
def test_prediction_is_the_simulation(command, exponents):
    for family in FAMILIES.values():
        fixed = MODULUS in family.choose({}).values
        choice = family.choose({"modulus": "2^17 - 1"} if fixed else {"max_bits": "128"})
        if command not in choice.design.capabilities.required:
            continue
        own = choice.design.capabilities
        modulus = own.fixed_modulus
        bits = 100 if modulus is None else modulus.bit_length()
        workload = Workload.make(command, bits, exponents, 3, modulus=modulus, checked=own.checked)
        predicted = predict_workload(choice.design, workload)
        with open_simulation(choice) as device:
            result = workload.run(Accelerator(device))
        assert result.value == workload.expected
        assert (result.cycles, result.products) == (predicted.cycles, predicted.products)
        assert predicted.result == workload.expected


def test_worst_exponents_take_the_most_cycles():
    design = family_named("fdfm").choose({}).design
    for command in (Command.MODEXP, Command.RSA_PRIVATE):
        cycles = {
            exponents: [
                predict_workload(design, Workload.make(command, 64, exponents, seed)).cycles
                for seed in range(5)
            ]
            for exponents in EXPONENTS
        }
        assert min(cycles["worst"]) >= max(cycles["random"])
        assert len(set(cycles["worst"])) == 1


def test_same_seed_same_operands():
    for command in COMMANDS:
        one, two, other = (Workload.make(command, 80, "random", seed) for seed in (1, 1, 2))
        assert one == two
        assert one != other


def test_refusals_are_predicted():
    design = family_named("fdfm").choose({"max_bits": "64"}).design
    with pytest.raises(EngineError) as caught:
        predict_workload(design, Workload.make(Command.MODMUL, 100, "random", 1))
    assert caught.value.code is Error.LENGTH_OVER
