"""Blocks of registers over both buses, and what they cost in clock cycles."""

import random

import pytest

from coprime.bus import registers as r
from coprime.bus.kinds import Bus
from coprime.catalog import choose
from coprime.device.accelerator import EngineError
from coprime.device.base import BusError, BusTimeout
from coprime.device.simulated import SimulatedDevice
from coprime.engine.contract import Error, Operand
from coprime.flow.parts import accelerator_verilog
from coprime.rsa.keys import generate
from tests.benches import CheckedAccelerator

pytestmark = pytest.mark.xdist_group("device, blocks")

CHOICE = choose("fdfm", {})
LENGTHS = (r.MODULUS_LENGTH, r.EXPONENT_LENGTH, r.P_LENGTH, r.Q_LENGTH)
WRITING = {Bus.AXI4_LITE: lambda words: 4 * words, Bus.AXI4: lambda words: 2 * words + 2}
READING = {Bus.AXI4_LITE: lambda words: 5 * words, Bus.AXI4: lambda words: 3 * words + 2}


def open_device(bus, **limits):
    verilog = accelerator_verilog(CHOICE, bus=bus)
    return SimulatedDevice(verilog, CHOICE.module_name, **limits)


@pytest.fixture(scope="module", params=list(Bus), ids=lambda bus: bus.value)
def opened(request):
    with open_device(request.param) as device:
        yield request.param, device


@pytest.fixture
def device(opened):
    _, device = opened
    device.reset()
    return device


@pytest.fixture
def bus(opened):
    return opened[0]


def cycles_of(device, call, *arguments):
    before = device.cycles
    call(*arguments)
    return device.cycles - before


@pytest.mark.matrix(quick=4)
@pytest.mark.parametrize("words", [1, 2, 32, 64, 68, 256])
def test_cycles(bus, device, words):
    device.read32(r.STATUS.address)  # the buffers have been cleared then
    own = (device.write_block, r.INPUT_WINDOW.address, [0] * words)
    assert cycles_of(device, *own) == WRITING[bus](words)
    own = (device.read_block, r.OUTPUT_WINDOW.address, words)
    assert cycles_of(device, *own) == READING[bus](words)
    # One by one it is the same over both.
    assert cycles_of(device, device.write32, r.INPUT_WINDOW.address, 0) == 4
    assert cycles_of(device, device.read32, r.OUTPUT_WINDOW.address) == 5


@pytest.mark.parametrize("length", [1024, 2048])
def test_loading_an_operand_takes_a_cycle_a_bit(bus, device, length):
    """The words become digits of 17 bits as they come, a bit a cycle: no bus makes that faster."""
    words, digits = length // 32, -(-(length + 2) // 17)
    device.write32(r.MODULUS_LENGTH.address, length)
    device.write32(r.KEY_OPERAND.address, Operand.M)
    passed = cycles_of(device, device.write_block, r.KEY_WINDOW.address, [1] * words)
    passed += cycles_of(device, device.read32, r.ERROR.address)
    assert passed == 17 * digits + 2 * words + 8


def test_blocks_are_registers(device):
    rng = random.Random(1)
    values = [rng.getrandbits(16) for _ in LENGTHS]
    device.write_block(LENGTHS[0].address, values)
    assert device.read_block(LENGTHS[0].address, len(LENGTHS)) == values
    assert [device.read32(register.address) for register in LENGTHS] == values
    device.write32(LENGTHS[1].address, 5)
    assert device.read_block(LENGTHS[0].address, 2) == [values[0], 5]
    assert cycles_of(device, device.write_block, LENGTHS[0].address, []) == 0
    assert device.read_block(LENGTHS[0].address, 0) == []
    assert device.read32(LENGTHS[0].address) == values[0]


def test_a_refused_block(device):
    last = LENGTHS[-1].address
    with pytest.raises(BusError, match="writing to address 0x07C was refused") as write:
        device.write_block(last, [9, 0, 0, 0])  # two that exist and one that does not
    assert (write.value.address, write.value.write) == (last, True)
    with pytest.raises(BusError, match="reading address 0x07C was refused") as read:
        device.read_block(last, 2)
    assert (read.value.address, read.value.write) == (last, False)
    assert device.read_block(last, 1) == [9]
    window = r.OUTPUT_WINDOW
    with pytest.raises(BusError):
        device.read_block(window.address, window.words + 1)
    assert device.read_block(window.address, window.words) == [0] * window.words


def test_a_block_without_an_answer(bus):
    with open_device(bus, access_limit=20) as device:
        device.run(1000)
        device.write32(r.MODULUS_LENGTH.address, 1024)
        device.write32(r.KEY_OPERAND.address, Operand.M)
        with pytest.raises(BusTimeout, match="writing to address 0xC00 was not answered"):
            device.write_block(r.KEY_WINDOW.address, [1] * 32)
        device.reset()
        device.run(1000)
        assert device.read_block(LENGTHS[0].address, 4) == [0] * 4
        device.write_block(LENGTHS[0].address, [1, 2])
        assert device.read_block(LENGTHS[0].address, 2) == [1, 2]


def test_arguments(device):
    with pytest.raises(
        ValueError, match=r"count must be in 0\.\.256 from address 3072 on, not 257"
    ):
        device.write_block(0xC00, [0] * 257)
    with pytest.raises(ValueError, match=r"count must be in 0\.\.1024 from address 0 on, not -1"):
        device.read_block(0, -1)
    with pytest.raises(TypeError, match=r"count must be an int, not 1\.0"):
        device.read_block(0, 1.0)
    with pytest.raises(ValueError, match=r"address must be a multiple of 4"):
        device.read_block(2, 1)
    with pytest.raises(ValueError, match=r"value must be in 0\.\.2\*\*32 - 1, not -1"):
        device.write_block(LENGTHS[0].address, [7, -1])
    assert device.read32(LENGTHS[0].address) == 0  # nothing of it was written


def test_rsa(device):
    """The engine takes as many cycles behind either bus: those of its prediction."""
    key = generate(512, seed=3)
    accelerator = CheckedAccelerator(device, CHOICE.design)
    accelerator.load_private(key)
    accelerator.load_public(key.n, key.e)
    for x in (0, 1, key.n - 1, key.n // 3):
        assert accelerator.private(x).value == pow(x, key.d, key.n)
        assert accelerator.public(x).value == pow(x, key.e, key.n)
    assert accelerator.modmul(key.p, key.q + 2, key.n).value == 2 * key.p
    with pytest.raises(EngineError, match="not below the modulus") as caught:
        accelerator.public(key.n)
    assert caught.value.code is Error.OPERAND_RANGE
