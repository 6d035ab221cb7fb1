"""The driver of engines of byte strings, at the mock engine in Verilator, on both buses."""

import hashlib
import random

import pytest

from coprime.bus import registers
from coprime.bus.axi_accelerator import AxiAccelerator
from coprime.bus.kinds import Bus
from coprime.calls.interface import CallOutcome
from coprime.catalog import choose_calls
from coprime.device.accelerator import Accelerator
from coprime.device.base import DeviceError
from coprime.device.calls import PART_BYTES, CallAccelerator
from coprime.device.jobs import EngineError, IdentificationError
from coprime.device.serial import SerialDevice
from coprime.device.simulated import SimulatedDevice
from coprime.engine.capabilities import Error
from coprime.flow.verilog import to_verilog
from coprime.shake.interface import INTERFACE as SHAKE
from coprime.soc.serial_board import MODULE_NAME, serial_board_verilog
from coprime.soc.simulated_board import SimulatedBoard, SimulatedPort
from tests.calls.mock import COPY, INTERFACE, KEY, MockCalls, inverted

LONG = bytes(range(12))
CLOCK, BAUD = 12_000_000, 3_000_000


class SpyDevice:
    """A device whose accesses are counted, by register."""

    def __init__(self, device):
        self.device = device
        self.written = []

    def __getattr__(self, name):
        return getattr(self.device, name)

    def write32(self, address, value):
        self.written.append(address)
        self.device.write32(address, value)

    def write_block(self, address, values):
        self.written += [address] * len(values)
        self.device.write_block(address, values)


@pytest.fixture(scope="module", params=Bus)
def bus(request):
    return request.param


@pytest.fixture(scope="module")
def device(bus):
    verilog = to_verilog(AxiAccelerator(MockCalls(), bus), "coprime_mock")
    with SimulatedDevice(verilog, "coprime_mock") as opened:
        yield opened


@pytest.fixture
def driver(device):
    device.reset()
    return CallAccelerator(device, INTERFACE, predict=lambda *given: CallOutcome(0, {}, 99))


def test_a_call(driver):
    result = driver.call("COPY", {"key": b"seven b"}, parameter_set="short")
    assert result.outputs == {"copy": inverted(b"seven b")}
    assert (result.cycles, result.products, result.utilization) == (8, 0, 0)
    assert result.predicted_cycles is None  # it draws what is left out
    assert driver.complete() == {"key", "copy"}
    assert "copy" not in repr(result)


def test_a_call_with_all_its_inputs_is_predicted(driver):
    result = driver.call("COPY", {"key": b"seven b", "second": b"four"}, parameter_set="short")
    assert result.outputs == {"copy": inverted(b"seven b")}
    assert result.predicted_cycles == 99


def test_slots_stay_until_the_parameter_set_changes(driver):
    driver.load({"key": LONG}, parameter_set="long")
    for _ in range(2):
        result = driver.call("COPY", {}, parameter_set="long")
        assert result.outputs == {"copy": inverted(LONG)}
        assert result.predicted_cycles is None
    with pytest.raises(EngineError) as raised:
        driver.call("COPY", {}, parameter_set="short")
    assert raised.value.code is Error.OPERAND_MISSING
    assert driver.complete() == frozenset()


def test_only_what_is_asked_for_is_read(driver):
    assert driver.call("COPY", {"key": LONG}, parameter_set="long", read=[]).outputs == {}


@pytest.mark.parametrize("wrong", [0, 8, 16, 1 << 31])
def test_a_slot_of_another_length(driver, device, monkeypatch, wrong):
    """As after a bit has flipped: its bytes are not what the call has given."""

    class Misread:
        def __getattr__(self, name):
            return getattr(device, name)

        def read32(self, address):
            found = device.read32(address)
            return wrong if address == registers.SLOT_LENGTH.address else found

    monkeypatch.setattr(driver, "_device", Misread())
    with pytest.raises(DeviceError, match=f"SLOT_LENGTH of copy reads as {wrong}, not 12"):
        driver.call("COPY", {"key": LONG}, parameter_set="long")


def test_a_text_while_the_call_runs(driver):
    """The mock gives no word before it is given one: it is not sent and read as a whole."""
    generator = random.Random(1)
    data = generator.randbytes(4)
    driver._prepare("short")
    driver._write(registers.COMMAND, 33)
    driver._announce(INTERFACE.slot["text"], 4)
    driver._put(data)
    echo = INTERFACE.slot["echo"]
    assert driver._receive(echo, 4) == inverted(data)
    driver._wait()


def test_a_reset_is_noticed(driver, device):
    driver.load({"key": LONG}, parameter_set="long")
    device.reset()
    result = driver.call("COPY", {"key": LONG}, parameter_set="long")
    assert result.outputs == {"copy": inverted(LONG)}


class PlainDevice:
    """A device without blocks, as UioDevice."""

    def __init__(self, device):
        self.read32, self.write32 = device.read32, device.write32
        self.wait_interrupt = device.wait_interrupt


def test_a_device_without_blocks(device):
    device.reset()
    plain = CallAccelerator(PlainDevice(device), INTERFACE)
    assert plain.call("COPY", {"key": LONG}, parameter_set="long").outputs == {
        "copy": inverted(LONG)
    }


@pytest.mark.matrix
def test_at_a_serial_port():
    """Whole messages over a wire, whose blocks have fewer words than the driver's."""
    verilog = serial_board_verilog(choose_calls("shake", {}), CLOCK // BAUD)
    with (
        SimulatedBoard(verilog, MODULE_NAME, clock=CLOCK, baud=BAUD) as board,
        SerialDevice(SimulatedPort(board), patience=0.001) as serial,
    ):
        driver = CallAccelerator(serial, SHAKE)
        for size in (0, 5, 700):
            message = random.Random(size).randbytes(size)
            result = driver.call("SHA3_256", {"message": message})
            assert result.outputs == {"output": hashlib.sha3_256(message).digest()}
        values = {"message": b"", "output_bytes": (600).to_bytes(4, "little")}
        wanted = hashlib.shake_128().digest(600)
        assert driver.call("SHAKE128", values).outputs == {"output": wanted}


def test_an_error_of_the_engine(driver):
    driver.load({"hidden": bytes(8)}, parameter_set="short")
    with pytest.raises(EngineError) as raised:
        driver.call("FAIL", {"key": b"seven b"}, parameter_set="short")
    assert raised.value.code is Error.FAULT
    assert driver.call("COPY", {"key": b"seven b"}, parameter_set="short").outputs


def test_a_stream_that_is_not_taken(driver):
    """What the engine takes is found out; the rest is offered again, until patience ends."""
    driver._timeout = 0
    with pytest.raises(Exception, match="neither taken nor given a word of text in 0 seconds"):
        driver.call("ECHO", {"text": bytes(100)}, parameter_set="short", read=[])
    assert driver._read(registers.SLOT_LENGTH) == 96
    with pytest.raises(EngineError) as raised:
        driver.call("COPY", {"key": b"seven b"}, parameter_set="short")
    assert raised.value.code is Error.BUSY
    driver.wipe()
    assert driver.complete() == frozenset()
    assert driver.call("COPY", {"key": b"seven b"}, parameter_set="short").outputs


@pytest.mark.parametrize("size", [0, 1, PART_BYTES - 1, PART_BYTES, 2 * PART_BYTES + 3])
def test_parts(driver, size):
    """Each word is written once, the last part without MORE, all others a multiple of 4 long."""
    announced, sent = [], bytearray()
    driver._write = lambda register, value: announced.append((register.name, value))
    driver._put = sent.extend
    driver._read = lambda register: 0
    data = random.Random(size).randbytes(size)
    driver._send(INTERFACE.slot["text"], data)
    assert sent == data
    lengths = [value for name, value in announced if name == "SLOT_LENGTH"]
    *whole, last = lengths
    assert all(value >> 31 and not value % 4 for value in whole)
    assert last >> 31 == 0
    assert sum(value & 0x7FFFFFFF for value in lengths) == size


def test_wrong_values_reach_no_device(driver, device):
    spy = SpyDevice(device)
    driver._device = spy

    def check(error, message, name, values, **options):
        with pytest.raises(error, match=message):
            driver.call(name, values, **{"parameter_set": "short", **options})

    check(ValueError, "mock has no call 'COPIE'; did you mean COPY?", "COPIE", {})
    check(ValueError, "COPY takes key, second, not 'text'", "COPY", {"text": b""})
    check(TypeError, "key must be bytes, not str", "COPY", {"key": "seven b"})
    check(ValueError, "key must have 7 bytes with short, not 8", "COPY", {"key": bytes(8)})
    check(ValueError, "ECHO needs text, which no engine holds", "ECHO", {})
    check(ValueError, "COPY gives no 'key' to read", "COPY", {}, read=["key"])
    wrong = "mock has the parameter sets short, long, not 'medium'"
    check(ValueError, wrong, "COPY", {}, parameter_set="medium")
    with pytest.raises(ValueError, match="mock has no slot 'echo' to load"):
        driver.load({"echo": b""}, parameter_set="short")
    assert spy.written == []


def test_another_engine(device):
    with pytest.raises(IdentificationError, match="of family 43981, and shake is 11"):
        CallAccelerator(device, SHAKE)
    with pytest.raises(IdentificationError, match="byte strings"):
        Accelerator(device)


@pytest.mark.parametrize("words", [1, 2, 3])
def test_a_word_a_cycle(bus, device, driver, words):
    """Over AXI4 a burst of n words takes n + 2 cycles, and over AXI4-Lite each word 3."""
    wanted = words + 2 if bus is Bus.AXI4 else 3 * words
    driver._prepare("long")
    driver._announce(KEY, 12)
    before = device.cycles
    device.write_block(registers.DATA_WINDOW.address, [0] * words)
    assert device.cycles - before == wanted
    driver.call("COPY", {"key": LONG}, parameter_set="long")
    driver._write(registers.SLOT, COPY.number)
    before = device.cycles
    device.read_block(registers.DATA_WINDOW.address, words)
    assert device.cycles - before == wanted
