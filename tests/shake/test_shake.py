"""`shake` as an accelerator in Verilator: hashlib's outputs, in the predicted cycles."""

import hashlib
import random

import pytest

from coprime.bus import registers
from coprime.bus.kinds import Bus
from coprime.catalog import choose_calls
from coprime.cells.target import Target
from coprime.device.calls import PART_BYTES, CallAccelerator
from coprime.device.jobs import EngineError
from coprime.device.simulated import SimulatedDevice, open_simulation
from coprime.engine.capabilities import Error
from coprime.flow.parts import accelerator_verilog
from coprime.flow.verilog import to_verilog
from coprime.model.keccak import FUNCTIONS
from coprime.shake.design import ShakeDesign
from coprime.shake.interface import INTERFACE

SEED = 63
SLOW = [
    pytest.param(one, marks=[pytest.mark.matrix, pytest.mark.xdist_group(f"shake {one}")])
    for one in ("4", "16", "32", "64")
]
MASKED = [
    pytest.param(one, marks=[pytest.mark.xdist_group(f"shake masked {one}"), *marks])
    for one, marks in (("8", []), ("4", [pytest.mark.matrix]), ("32", [pytest.mark.matrix]))
]


def values_of(call, message, length=32):
    values = {"message": message}
    return values | ({} if call.sizes else {"output_bytes": length.to_bytes(4, "little")})


class Shake:
    """An open accelerator, whose every output and cycle count is compared."""

    def __init__(self, slices, masked="none"):
        self.choice = choose_calls("shake", {"slices": slices, "masked": masked})
        self.design = self.choice.design
        self.device = open_simulation(self.choice)
        interface = self.design.interface
        self.driver = CallAccelerator(self.device, interface, predict=self.design.predict)

    def hash(self, name, message, length=32):
        call = INTERFACE.call[name]
        values = values_of(call, message, length)
        result = self.driver.call(name, values)
        assert result.outputs == call.reference("", values), (name, len(message))
        outcome = self.design.predict(call, "", values)
        assert result.outputs == outcome.outputs
        assert result.cycles == result.predicted_cycles == outcome.cycles
        assert result.products == result.cycles
        return result.outputs["output"]


@pytest.fixture(scope="module", params=["8", *SLOW])
def shake(request):
    made = Shake(request.param)
    with made.device:
        yield made


@pytest.fixture(scope="module", params=MASKED)
def masked(request):
    made = Shake(request.param, "sponge")
    with made.device:
        yield made


@pytest.mark.matrix
def test_digests_of_a_masked_engine(masked):
    """Every call in the predicted cycles, on AXI4-Lite, with a seed of masks for each."""
    generator = random.Random(SEED)
    for function, call in zip(FUNCTIONS, INTERFACE.calls, strict=True):
        rate = function.rate_bytes
        for size in (0, 5, rate - 1, rate, 2 * rate + 1):
            masked.hash(call.name, generator.randbytes(size), generator.randrange(1, 300))


def test_64_slices_are_refused_in_two_shares():
    with pytest.raises(ValueError, match="masked=sponge needs slices=32 or fewer, not 64"):
        _ = choose_calls("shake", {"slices": "64", "masked": "sponge"}).design


@pytest.mark.parametrize("number", range(6), ids=[one.name for one in FUNCTIONS])
def test_messages_and_outputs_at_the_edges_of_blocks(shake, number):
    generator = random.Random(SEED)
    function, name = FUNCTIONS[number], INTERFACE.calls[number].name
    rate = function.rate_bytes
    for size in (0, 1, 3, 4, 5, rate - 1, rate, rate + 1, 2 * rate - 1, 3 * rate, 600):
        shake.hash(name, generator.randbytes(size))
    if not function.digest_bytes:
        for length in (1, 2, 3, 4, 5, rate - 1, rate, rate + 1, 3 * rate + 2):
            shake.hash(name, generator.randbytes(7), length)


def test_a_message_in_parts(shake):
    """Longer than the driver sends at once; with a last part of every remainder."""
    generator = random.Random(SEED)
    for size in (PART_BYTES, PART_BYTES + 1, PART_BYTES + 6):
        shake.hash("SHA3_256", generator.randbytes(size))


def test_an_output_of_no_bytes_is_refused(shake):
    with pytest.raises(EngineError) as raised:
        shake.driver.call("SHAKE128", values_of(INTERFACE.call["SHAKE128"], b"abc", 0))
    assert raised.value.code is Error.SLOT_LENGTH
    shake.hash("SHAKE128", b"abc")


def test_the_length_stays_until_a_wipe(shake):
    shake.driver.load({"output_bytes": (9).to_bytes(4, "little")})
    assert shake.driver.complete() == {"output_bytes"}
    shake.hash("SHA3_224", b"another call")
    assert shake.driver.complete() == {"output_bytes"}
    shake.driver.wipe()
    assert shake.driver.complete() == frozenset()
    shake.hash("SHAKE256", b"after it", 300)


def test_a_message_that_is_given_up(shake):
    """At any moment: while it enters, while it is hashed, while the output leaves."""
    device, driver = shake.device, shake.driver
    for words, wait in ((0, 0), (1, 0), (34, 0), (35, 100), (60, 3), (168, 50), (168, 3000)):
        device.write32(registers.ERROR.address, 0)
        driver.load({"output_bytes": (1000).to_bytes(4, "little")})
        device.write32(registers.COMMAND.address, INTERFACE.call["SHAKE128"].code)
        device.write32(registers.SLOT.address, 0)
        device.write32(registers.SLOT_LENGTH.address, 4 * 168)
        device.write_block(registers.DATA_WINDOW.address, [7] * min(words, 128))
        device.write_block(registers.DATA_WINDOW.address, [7] * max(words - 128, 0))
        device.run(wait)
        with pytest.raises(EngineError) as raised:
            driver.call("SHA3_256", {"message": b""})
        assert raised.value.code is Error.BUSY
        driver.wipe()
        shake.hash("SHA3_256", b"the next one")


def test_predictions_do_not_depend_on_the_pace():
    """The same message a word every 300 cycles, and read as slowly."""
    made = Shake("8")
    with made.device as device:
        for pause in (0, 300):
            message, length = bytes(range(200)), 400
            made.driver.load({"output_bytes": length.to_bytes(4, "little")})
            device.write32(registers.COMMAND.address, INTERFACE.call["SHAKE256"].code)
            device.write32(registers.SLOT.address, 0)
            device.write32(registers.SLOT_LENGTH.address, len(message))
            for place in range(0, len(message), 4):
                word = int.from_bytes(message[place : place + 4], "little")
                device.write32(registers.DATA_WINDOW.address, word)
                device.run(pause)
            device.write32(registers.SLOT.address, 2)
            device.write32(registers.SLOT_LENGTH.address, length)
            found = b""
            while len(found) < length:
                found += device.read32(registers.DATA_WINDOW.address).to_bytes(4, "little")
                device.run(pause)
            assert found == hashlib.shake_256(message).digest(length)
            values = {"message": message, "output_bytes": length.to_bytes(4, "little")}
            wanted = made.design.predict(INTERFACE.call["SHAKE256"], "", values)
            assert device.read32(registers.CYCLES.address) == wanted.cycles


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("bus", Bus)
def test_a_message_as_fast_as_it_is_hashed(bus):
    """With 8 slices a block of SHAKE128 enters over either bus while the one before is permuted."""
    choice = choose_calls("shake", {})
    verilog = accelerator_verilog(choice, bus=bus)
    with SimulatedDevice(verilog, choice.module_name) as device:
        driver = CallAccelerator(device, INTERFACE)
        message = bytes(168 * 50)
        before = device.cycles
        result = driver.call("SHAKE128", values_of(INTERFACE.call["SHAKE128"], message))
        assert result.outputs["output"] == hashlib.shake_128(message).digest(32)
        assert result.cycles == 250 + 50 * 240 - 240 + 240
        assert device.cycles - before < 1.05 * result.cycles


@pytest.mark.vectors  # a minute for each function
@pytest.mark.parametrize("number", range(6), ids=[one.name for one in FUNCTIONS])
def test_every_length_up_to_600(number):
    generator = random.Random(SEED)
    made = Shake("8")
    with made.device:
        for size in range(601):
            made.hash(INTERFACE.calls[number].name, generator.randbytes(size), max(1, size))


@pytest.mark.parametrize("slices", [4, 8, 16, 32, 64])
def test_permutations(slices):
    """Cycles of the summary of the parameter."""
    call = INTERFACE.call["SHA3_256"]
    one, two = (
        ShakeDesign(slices).predict(call, "", {"message": bytes(size)}).cycles for size in (0, 136)
    )
    summary = choose_calls("shake", {}).family.parameters[0].summary
    assert f"{two - one}" in summary


@pytest.mark.matrix
def test_targets():
    for target in (Target.XC7, Target.ECP5):
        verilog = to_verilog(ShakeDesign(8).hardware(target), "coprime_shake_engine")
        assert ("LUT6_2" in verilog) == (target is Target.XC7)
