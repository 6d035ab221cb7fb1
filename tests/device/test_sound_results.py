"""Which results a driver takes for those that the engine has checked."""

import pytest

from coprime.device.accelerator import Accelerator
from coprime.device.jobs import Job
from coprime.ec.samples import SHORT_WEIERSTRASS
from coprime.engine.contract import Command, Operand

DIGIT, HALF = 17, 17 * 16
X = 0x1234_5678_9ABC
R, S = 0x30A1_A59C_4A9E_66EE, 0x1C99_D2D2_9138_967E


@pytest.fixture
def driver():
    """What a driver knows of an engine, without a device."""
    found = object.__new__(Accelerator)
    found.digit_width, found.half_bits = DIGIT, HALF
    return found


@pytest.mark.parametrize(
    "wrong",
    [
        R | S << HALF - DIGIT,  # a digit between the numbers was left out
        R << DIGIT | S << HALF,
        R | S << HALF + DIGIT,
        R | 1 << HALF - DIGIT | (S - 1) << HALF,
    ],
)
def test_numbers_that_have_moved_by_digits(driver, wrong):
    """RESIDUE does not tell: each digit counts the same, wherever it is."""
    operands = {Operand.P: SHORT_WEIERSTRASS.p, Operand.Q: SHORT_WEIERSTRASS.n}
    job = Job(Command.ECDSA_SIGN, {}, operands)
    value = R | S << HALF
    encoding = Command.ECDSA_SIGN.operation.encoding
    residue = encoding.residue(operands, value, X, DIGIT)
    assert residue == encoding.residue(operands, wrong, X, DIGIT)
    assert driver.is_sound(job, value, X, residue)
    assert not driver.is_sound(job, wrong, X, residue)
    assert not driver.is_sound(job, value ^ 1, X, residue)
