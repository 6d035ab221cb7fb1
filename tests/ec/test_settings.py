"""Every setting that changes a program on curves, in hardware: results and cycles."""

import pytest

from coprime.device.accelerator import Accelerator
from coprime.engine.contract import Command
from coprime.operations.ecdsa_sign import is_signature
from coprime.runs.execution import execute, predict_operation
from coprime.runs.numbers import random_operands
from tests.benches import open_bench

SETTINGS = [("ring", "weierstrass", "once", Command.ECDSA_SIGN_WITH)]
"""The others are built for the long sweep: tests beside this one have compact, and all kinds."""
SLOW = [
    ("ring", "edwards", "twice", Command.ED_BASE_MULTIPLY),
    ("compact", "weierstrass", "once", Command.ECDSA_SIGN_WITH),
    ("compact", "edwards", "twice", Command.ED_BASE_MULTIPLY),
    ("compact", "weierstrass", "once", Command.EC_BASE_MULTIPLY),
    ("compact", "weierstrass", "twice", Command.ECDSA_SIGN_WITH),
    ("compact", "weierstrass", "twice", Command.EC_BASE_MULTIPLY),
    ("compact", "edwards", "once", Command.ED_BASE_MULTIPLY),
    ("ring", "weierstrass", "once", Command.EC_BASE_MULTIPLY),
    ("ring", "weierstrass", "twice", Command.ECDSA_SIGN_WITH),
    *(
        (family, "weierstrass", "verified", command)
        for family in ("compact", "ring")
        for command in (Command.ECDSA_SIGN_WITH, Command.ECDSA_VERIFY, Command.EC_BASE_MULTIPLY)
    ),
]


@pytest.mark.parametrize(
    ("family", "curves", "times", "command"),
    [*SETTINGS, *(pytest.param(*one, marks=pytest.mark.slow) for one in SLOW)],
)
def test_multiples(family, curves, times, command):
    """The bench compares result and cycles with the prediction, and the driver RESIDUE."""
    bench = open_bench(family, max_bits=256, curves=curves, base_multiple=times)
    execute(bench.accelerator, command, random_operands(command, 64, seed=7))
    bench.device.close()


@pytest.mark.slow
@pytest.mark.parametrize("family", ["compact", "ring"])
@pytest.mark.parametrize("times", ["once", "twice", "verified"])
def test_drawn_nonces(family, times):
    command = Command.ECDSA_SIGN
    bench = open_bench(
        family, max_bits=256, curves="weierstrass", nonce="random", base_multiple=times
    )
    operands = random_operands(command, 64, seed=7)
    driver = Accelerator(bench.device)
    found = [execute(driver, command, operands) for _ in range(2)]
    assert found[0].value != found[1].value
    for one in found:
        numbers = command.operation.without_key(operands.numbers)
        assert is_signature(driver.operation_result(command, one.value), **numbers)
        predicted = predict_operation(bench.design, command, operands).cycles
        # How long a verification takes depends on the signature: on a bit of u_2 + n.
        assert abs(one.cycles - predicted) <= (predicted // 50 if times == "verified" else 0)
    bench.device.close()


@pytest.mark.slow
@pytest.mark.parametrize("blinding", ["64", "128", "half"])
@pytest.mark.parametrize("family", ["compact", "ring"])
def test_blinded_scalars(family, blinding):
    """Results, and the same cycles with every r; ECDSA_VERIFY has the longer table."""
    settings = {"curves": "weierstrass+edwards", "nonce": "random", "scalar_blinding": blinding}
    bench = open_bench(family, max_bits=512, **settings)
    driver = Accelerator(bench.device)
    assert driver.scalar_blinding.name == blinding
    for command in (
        Command.EC_MULTIPLY,
        Command.EC_BASE_MULTIPLY,
        Command.ED_BASE_MULTIPLY,
        Command.ECDSA_VERIFY,
    ):
        for seed in (7, 8, 7):
            execute(bench.accelerator, command, random_operands(command, 64, seed=seed))
    command = Command.ECDSA_SIGN
    operands = random_operands(command, 64, seed=7)
    found = [execute(driver, command, operands) for _ in range(3)]
    assert len({one.value for one in found}) == 3
    numbers = command.operation.without_key(operands.numbers)
    for one in found:
        assert is_signature(driver.operation_result(command, one.value), **numbers)
        assert one.cycles == predict_operation(bench.design, command, operands).cycles
    bench.device.close()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["EC_MULTIPLY", "ECDSA_SIGN_WITH", "ECDSA_VERIFY"])
@pytest.mark.parametrize("delay", ["0", "1"])
@pytest.mark.parametrize("tile, tiles", [("one17", 1), ("kara95", 1), ("bal50", 2), ("one17", 2)])
def test_tiles(tile, tiles, delay, command):
    settings = {"tile": tile, "tiles": tiles, "delay": delay}
    bench = open_bench("ring", max_bits=256, curves="weierstrass", **settings)
    execute(bench.accelerator, Command[command], random_operands(Command[command], 64, seed=7))
    bench.device.close()
