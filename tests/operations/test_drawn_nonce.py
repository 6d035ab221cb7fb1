"""ECDSA_SIGN: what becomes of a drawn nonce of which a fault makes another number."""

from unittest.mock import patch

import pytest

from coprime.catalog import choose
from coprime.device.accelerator import EngineError
from coprime.engine.contract import Command, Error
from coprime.engine.sequencer.lane_model import LaneModel
from coprime.program.operands import Core
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import random_numbers

SIGN = Command.ECDSA_SIGN
KNOWN = 12345
execute = LaneModel.execute


def error_of(profile, spoilt):
    """Of a signature where k in ACCUMULATOR becomes a known number at these of its two tests."""
    settings = {"max_bits": "256", "curves": "weierstrass", "ecdsa": profile}
    design = choose("compact", settings).design
    tests = []

    def with_fault(lane):
        if lane.pc.step.note == "k > 0?":
            if len(tests) in spoilt:
                lane.values[Core.ACCUMULATOR] = KNOWN
            tests.append(lane.pc.address)
        execute(lane)

    operands = random_numbers(SIGN, 64, 1, checked=design.capabilities.checked)
    with patch.object(LaneModel, "execute", with_fault):
        try:
            predict_operation(design, SIGN, operands)
        except EngineError as error:
            return error.code, len(tests)
    return Error.NONE, len(tests)


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("profile", ["drawn", "hardened"])
def test_no_known_number_becomes_the_nonce(profile):
    """The scalar is made of what was drawn, before the multiples of the base point and after."""
    assert error_of(profile, ()) == (Error.NONE, 2)
    assert error_of(profile, (0,))[0] == Error.FAULT
    assert error_of(profile, (1,))[0] == Error.FAULT
