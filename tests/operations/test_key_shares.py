"""ECDSA_SIGN with a private key in two shares: signatures, what stays, and what is refused."""

import itertools
import random
from unittest.mock import patch

import pytest

from coprime.catalog import choose
from coprime.device.accelerator import Accelerator, EngineError
from coprime.device.faulty import FaultyDevice
from coprime.device.simulated import open_simulation
from coprime.ec.samples import curve_numbers
from coprime.engine.contract import Command, Error
from coprime.engine.sequencer.lane_model import LaneModel
from coprime.flow.parts import accelerator_verilog
from coprime.model.montgomery import digits
from coprime.program.operands import KEYS, Operand, Retained
from coprime.program.steps import StepKind
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import random_numbers
from tests.ec.small_curves import CURVES, TINY

SIGN = Command.ECDSA_SIGN
SETTINGS = {"curves": "weierstrass", "ecdsa": "hardened"}
execute = LaneModel.execute


def choice(family="compact", **others):
    return choose(family, {"max_bits": "256", **SETTINGS, **others})


def is_right(accelerator, result, numbers):
    """Whether that is a signature with these numbers."""
    return SIGN.operation.accepts(numbers, result.outputs)


def signs(accelerator, numbers):
    """Whether the engine signs with these numbers, in the predicted cycles."""
    result = accelerator.operate(SIGN, numbers)
    assert result.cycles == result.predicted_cycles
    return is_right(accelerator, result, numbers)


def error_of(design, share, note):
    """Of a signature where a share becomes another number after the step with this note."""

    def with_fault(lane):
        step = lane.pc.step
        execute(lane)
        if step.note == note:
            lane.values[share] ^= 4

    with patch.object(LaneModel, "execute", with_fault):
        try:
            predict_operation(design, SIGN, random_numbers(SIGN, 64, 1))
        except EngineError as error:
            return error.code
    return Error.NONE


def test_another_number_in_a_share_is_a_fault():
    """Signature and check have shares of their own."""
    design = choice().design
    for share in (one for pair in KEYS for one in pair):
        assert error_of(design, share, f"{share.name}, below 2 c n") is Error.FAULT
    assert error_of(design, Retained.KEY_0, "none") is Error.NONE


def test_the_key_is_read_by_moves_only_if_the_host_has_written_it():
    (program,) = choice().design.programs
    reading = [one for one in program.steps if Operand.SECRET in (one.x, one.y)]
    assert {one.kind for one in reading} == {StepKind.MOVE_WRITTEN}
    assert len(reading) == 3


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("family", "others"),
    [
        ("compact", {}),
        ("compact", {"curves": "all"}),
        ("ring", {}),
    ],
)
def test_signatures_of_many_keys_and_several_of_each(family, others):
    chosen = choice(family, **others)
    with open_simulation(chosen) as device:
        accelerator = Accelerator(device, predict=chosen.design.predict)
        for seed, number in itertools.product(range(8), range(3)):
            key = random_numbers(SIGN, 64, seed)
            z = random.Random(f"{seed} {number}").randrange(key["n"])
            assert signs(accelerator, {**key, "z": z})
        for d in (0, key["n"], key["n"] + 1):
            with pytest.raises(EngineError) as caught:
                accelerator.operate(SIGN, {**key, "d": d})
            assert caught.value.code is Error.OPERAND_RANGE
        for d in (1, key["n"] - 1, key["d"]):
            numbers = {**key, "d": d, "z": 0}
            assert signs(accelerator, numbers)
            assert signs(accelerator, numbers)
        accelerator.wipe()
        assert signs(accelerator, key)


@pytest.mark.matrix
def test_what_stays_is_another_sum_after_each_signature():
    chosen = choice()
    design = chosen.design
    with FaultyDevice(accelerator_verilog(chosen), chosen.module_name) as device:
        accelerator = Accelerator(device)
        seen = set()
        for seed in (1, 1, 1, 2, 2, 1):
            key = random_numbers(SIGN, 64, seed)
            accelerator.operate(SIGN, key)
            for pair in KEYS:
                values = [value_of(device, design, one) for one in pair]
                assert sum(values) % key["n"] == key["d"]
                assert seen.isdisjoint(value % key["n"] for value in values)
                seen |= {value % key["n"] for value in values}
    assert len(seen) == 6 * 4


def value_of(device, design, location):
    """What the left bank has of a number that is as long as 64 bits."""
    width = design.multiplication.digit_width
    memory = device.registers["engine.lane.left.memory.memory"]
    base = design.layout.bases[location]
    count = digits(64, width, design.multiplication.headroom)
    words = (device.peek(memory, base + k) % (1 << width) for k in range(count))
    return sum(word << width * k for k, word in enumerate(words))


@pytest.mark.matrix
def test_the_same_key_on_two_curves():
    """Shares are of one order: they are made anew where another one is written."""
    with open_simulation(choice()) as device:
        accelerator = Accelerator(device)
        for curve in (*CURVES[3:5], CURVES[3]) * 2:
            numbers = curve_numbers(SIGN, curve, random.Random(1))
            numbers |= {"d": 7, "z": 3}
            for _ in range(3):
                assert is_right(accelerator, signed(accelerator, numbers), numbers)


@pytest.mark.matrix
def test_every_key_and_every_hash_of_the_smallest_curve():
    with open_simulation(choice()) as device:
        accelerator = Accelerator(device)
        for d, z in itertools.product(range(1, TINY.n), range(TINY.n)):
            numbers = curve_numbers(SIGN, TINY, random.Random(1))
            numbers |= {"d": d, "z": z}
            assert is_right(accelerator, signed(accelerator, numbers), numbers)


def signed(accelerator, numbers):
    """A signature on a small curve: where r, s or a random Z is 0, the next one draws again."""
    for _ in range(20):
        try:
            return accelerator.operate(SIGN, numbers)
        except EngineError as error:
            assert error.code in (Error.OPERAND_RANGE, Error.POINT)
    raise AssertionError(numbers)
