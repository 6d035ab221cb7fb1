"""Every setting of `compact` that changes a program on curves, in hardware: results and cycles."""

import pytest

from coprime.device.accelerator import Accelerator
from coprime.engine.contract import Command
from coprime.operations.ecdsa_sign import is_signature
from coprime.runs.execution import execute, predict_operation
from coprime.runs.numbers import random_operands
from tests.benches import open_bench

SETTINGS = [
    ("weierstrass", "once", Command.ECDSA_SIGN_WITH),
    ("edwards", "twice", Command.ED_BASE_MULTIPLY),
]
SLOW = [
    ("weierstrass", "once", Command.EC_BASE_MULTIPLY),
    ("weierstrass", "twice", Command.ECDSA_SIGN_WITH),
    ("weierstrass", "twice", Command.EC_BASE_MULTIPLY),
    ("edwards", "once", Command.ED_BASE_MULTIPLY),
]


@pytest.mark.parametrize(
    ("curves", "times", "command"),
    [*SETTINGS, *(pytest.param(*one, marks=pytest.mark.slow) for one in SLOW)],
)
def test_multiples(curves, times, command):
    """The bench compares result and cycles with the prediction, and the driver RESIDUE."""
    bench = open_bench("compact", max_bits=256, curves=curves, base_multiple=times)
    execute(bench.accelerator, command, random_operands(command, 64, seed=7))
    bench.device.close()


@pytest.mark.slow
@pytest.mark.parametrize("times", ["once", "twice"])
def test_drawn_nonces(times):
    command = Command.ECDSA_SIGN
    bench = open_bench(
        "compact", max_bits=256, curves="weierstrass", nonce="random", base_multiple=times
    )
    operands = random_operands(command, 64, seed=7)
    driver = Accelerator(bench.device)
    found = [execute(driver, command, operands) for _ in range(2)]
    assert found[0].value != found[1].value
    for one in found:
        assert is_signature(driver.operation_result(command, one.value), **operands.numbers)
        assert one.cycles == predict_operation(bench.design, command, operands).cycles
    bench.device.close()
