"""Every setting that changes a program on curves, in hardware: results and cycles."""

import pytest

from coprime.device.accelerator import Accelerator
from coprime.engine.contract import Command
from coprime.model.curve_points import is_signature
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import random_numbers
from tests.benches import open_bench

SIGN_WITH, BASE, ED_BASE = (
    *(Command.ECDSA_SIGN_WITH, Command.EC_BASE_MULTIPLY, Command.ED_BASE_MULTIPLY),
)
MULTIPLES = [
    ("ring", "weierstrass", SIGN_WITH),
    ("ring", "edwards", ED_BASE),
    ("ring", "weierstrass", BASE),
    ("compact", "weierstrass", SIGN_WITH),
    ("compact", "weierstrass", BASE),
    ("compact", "edwards", ED_BASE),
]


@pytest.mark.matrix
@pytest.mark.covering(2)
@pytest.mark.parametrize(("family", "curves", "command"), MULTIPLES)
def test_multiples(family, curves, command):
    """The bench compares result and cycles with the prediction, and the driver RESIDUE."""
    bench = open_bench(family, max_bits=256, curves=curves)
    bench.accelerator.operate(command, random_numbers(command, 64, seed=7))
    bench.device.close()


@pytest.mark.matrix
@pytest.mark.parametrize("family", ["compact", "ring"])
@pytest.mark.parametrize("profile", ["drawn", "hardened"])
def test_drawn_nonces(family, profile):
    command = Command.ECDSA_SIGN
    bench = open_bench(family, max_bits=256, curves="weierstrass", ecdsa=profile)
    driver = Accelerator(bench.device)
    assert driver.blinds_scalars == (profile == "hardened")
    numbers = random_numbers(command, 64, seed=7)
    found = [driver.operate(command, numbers) for _ in range(3)]
    assert len({one.value for one in found}) == 3
    for one in found:
        assert is_signature((one.outputs["r"], one.outputs["s"]), **numbers)
        assert one.cycles == predict_operation(bench.design, command, numbers).cycles
    bench.device.close()


@pytest.mark.matrix
@pytest.mark.parametrize("family", ["compact", "ring"])
def test_blinded_scalars(family):
    """Results, and the same cycles with every r; ECDSA_VERIFY has the longer table."""
    bench = open_bench(family, max_bits=512, curves="weierstrass+edwards", ecdsa="hardened")
    for command in (
        Command.EC_MULTIPLY,
        Command.EC_BASE_MULTIPLY,
        Command.ED_BASE_MULTIPLY,
        Command.ECDSA_VERIFY,
    ):
        for seed in (7, 8, 7):
            bench.accelerator.operate(command, random_numbers(command, 64, seed=seed))
    bench.device.close()


@pytest.mark.covering(2)
@pytest.mark.matrix
@pytest.mark.parametrize("command", ["EC_MULTIPLY", "ECDSA_SIGN_WITH", "ECDSA_VERIFY"])
@pytest.mark.parametrize("delay", ["0", "1"])
@pytest.mark.parametrize("tile, tiles", [("one17", 1), ("kara95", 1), ("bal50", 2), ("one17", 2)])
def test_tiles(tile, tiles, delay, command):
    settings = {"tile": tile, "tiles": tiles, "delay": delay}
    bench = open_bench("ring", max_bits=256, curves="weierstrass", **settings)
    bench.accelerator.operate(Command[command], random_numbers(Command[command], 64, seed=7))
    bench.device.close()
