"""A serial link to a simulated board: right answers, and what happens to damaged frames."""

import errno
import random
from collections import Counter

import pytest
import serial

from coprime.bus import registers
from coprime.catalog import choose
from coprime.device.accelerator import Accelerator
from coprime.device.base import BusError, DeviceError, InterruptTimeout
from coprime.device.serial import LinkError, SerialDevice, open_serial
from coprime.soc.serial_board import MODULE_NAME, serial_board_verilog
from coprime.soc.simulated_board import BoardTerminal, SimulatedBoard, SimulatedPort
from tests.device.serial_damage import KINDS, TEXT, DamagedPort, Direction

pytestmark = pytest.mark.xdist_group("device, serial")

SEED = 24
CLOCK, BAUD = 12_000_000, 3_000_000
PATIENCE = 60 * 10 / BAUD  # seconds: 60 bytes
BITS = 64


@pytest.fixture(scope="module")
def verilog():
    # The board of tests/cli/test_serial.py, so that it is built once.
    return serial_board_verilog(choose("compact", {"max_bits": "512"}), CLOCK // BAUD)


@pytest.fixture
def board(verilog):
    with SimulatedBoard(verilog, MODULE_NAME, clock=CLOCK, baud=BAUD) as board:
        yield board


@pytest.fixture
def device(board):
    return SerialDevice(SimulatedPort(board), patience=PATIENCE)


@pytest.mark.matrix
def test_registers_and_blocks(device):
    assert device.read32(registers.IDENTIFICATION.address) == registers.IDENTIFICATION["ID"].reset
    words = [random.Random(SEED).getrandbits(32) for _ in range(2)]
    device.write_block(registers.INPUT_WINDOW.address, words)
    device.write32(registers.MODULUS_LENGTH.address, BITS)
    assert device.read32(registers.MODULUS_LENGTH.address) == BITS
    # 150 words are three requests.
    assert len(device.read_block(registers.OUTPUT_WINDOW.address, 150)) == 150
    assert device.read_block(registers.OUTPUT_WINDOW.address, 0) == []
    assert device.repeated == 0


def test_a_refused_access(device):
    for _ in range(2):
        with pytest.raises(BusError) as caught:
            device.write32(registers.IDENTIFICATION.address, 1)
        assert (caught.value.address, caught.value.write) == (registers.IDENTIFICATION.address, 1)
    assert device.read32(registers.MODULUS_LENGTH.address) == 0


def test_operations(device):
    accelerator = Accelerator(device)
    assert accelerator.modexp(3, 65537, 2**63 + 29).value == pow(3, 65537, 2**63 + 29)
    assert device.repeated == 0


def test_a_session_begins_with_a_reset(board, device):
    device.write32(registers.MODULUS_LENGTH.address, BITS)
    again = SerialDevice(SimulatedPort(board), patience=PATIENCE)
    assert again.read32(registers.MODULUS_LENGTH.address) == 0
    # The first one notices that its session is over, once, and then resets the accelerator.
    again.write32(registers.MODULUS_LENGTH.address, BITS)
    with pytest.raises(LinkError, match="another program has used the board"):
        for _ in range(3):  # its number may be the next one, or the last one
            device.read32(registers.MODULUS_LENGTH.address)
    assert device.read32(registers.MODULUS_LENGTH.address) == 0


def test_a_board_that_was_reset(board, device):
    device.write32(registers.MODULUS_LENGTH.address, BITS)
    board.power_up()
    with pytest.raises(LinkError, match="the board at a simulated board was reset meanwhile"):
        device.read32(registers.MODULUS_LENGTH.address)
    assert device.read32(registers.MODULUS_LENGTH.address) == 0


def test_no_interrupt(device):
    with pytest.raises(InterruptTimeout, match=r"in 0\.001 seconds"):
        device.wait_interrupt(0.001)
    with pytest.raises(ValueError, match="at least 0 seconds"):
        device.wait_interrupt(-1)


def test_a_port_at_another_baud(verilog):
    board = SimulatedBoard(verilog, MODULE_NAME, clock=CLOCK, baud=BAUD // 2)
    with pytest.raises(LinkError, match="no board answers at a simulated board with 1500000 baud"):
        SerialDevice(SimulatedPort(board), patience=PATIENCE, attempts=2)
    with pytest.raises(DeviceError, match="closed"):
        board.run(1)


def test_an_echo_is_no_answer():
    class Echo:
        name, baud, time, sent = "an echo", 115200, 0.0, b""

        def write(self, data):
            self.sent += data

        def read(self, seconds):
            self.time += seconds
            data, self.sent = self.sent, b""
            return data

        def send_break(self):
            pass

        def now(self):
            return self.time

        def close(self):
            pass

    with pytest.raises(LinkError, match="no board answers at an echo"):
        SerialDevice(Echo())


def test_arguments_are_checked(board, device):
    for wrong, text in ((3, "multiple of 4"), (4096, "multiple of 4")):
        with pytest.raises(ValueError, match=text):
            device.read32(wrong)
    with pytest.raises(ValueError, match="2\\*\\*32"):
        device.write32(0, 1 << 32)
    with pytest.raises(ValueError, match="attempts must be at least 1, not 0"):
        SerialDevice(SimulatedPort(board), attempts=0)
    with pytest.raises(ValueError, match="patience must be at least 0 seconds, not -1"):
        SerialDevice(SimulatedPort(board), patience=-1)
    device.close()
    device.close()
    with pytest.raises(DeviceError, match="the device is closed"):
        device.read32(0)


def test_a_terminal_serves_one_program_after_another(board):
    m = 2**63 + 29
    with BoardTerminal(board) as terminal:
        for _ in range(2):
            with open_serial(terminal.path, BAUD) as device:
                assert Accelerator(device).modmul(5, 7, m).value == 35
                with pytest.raises(DeviceError, match="is used by another program"):
                    open_serial(terminal.path, BAUD)


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/dev/none", "there is no serial port /dev/none: this machine has .*; is the board"),
        ("/dev/null", "/dev/null is no serial port, or cannot have 115200 baud"),
        (".", r"\. cannot be opened: Is a directory"),
    ],
)
def test_ports_that_cannot_be_opened(path, sentence):
    with pytest.raises(DeviceError, match=sentence):
        open_serial(path)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (errno.EACCES, "port may not be opened: its group may, which is often dialout; join it"),
        (errno.EBUSY, "port is used by another program"),
    ],
)
def test_ports_that_others_own(monkeypatch, code, sentence):
    def refuse(*_, **__):
        raise serial.SerialException(code, "could not open port")

    monkeypatch.setattr(serial, "Serial", refuse)
    with pytest.raises(DeviceError, match=sentence):
        open_serial("port")


def test_a_port_that_is_unplugged(board):
    with BoardTerminal(board) as terminal:
        device = open_serial(terminal.path, BAUD)
        terminal.close()
        for _ in range(2):
            with pytest.raises(LinkError, match="has failed"):
                device.read32(registers.IDENTIFICATION.address)
        device.close()


class Campaign:
    """Commands of which one frame each is damaged; the next command is not, and must be right."""

    def __init__(self, board, rng):
        self.rng = rng
        self.port = DamagedPort(board, rng)
        self.port.write(TEXT)  # of the program that used the port before
        self.device = SerialDevice(self.port, patience=PATIENCE)
        self.accelerator = Accelerator(self.device)
        self.counts = Counter()

    def command(self):
        rng = self.rng
        m = rng.getrandbits(BITS) | 1 | 1 << BITS - 1
        x, e = rng.randrange(m), rng.randrange(1 << 9)
        return self.accelerator.modexp(x, e, m).value == pow(x, e, m)

    def run(self, kind, direction, place):
        """Damage a frame, and count what becomes of it."""
        if kind == "break" and direction is Direction.ANSWER:
            kind = "burst"  # a board sends none
        damaged = self.port.damaged
        self.port.arm(self.rng.randrange(14), direction, kind, place)
        try:
            assert self.command(), "a wrong result was accepted"
            outcome = "recovered"
        except LinkError:
            outcome = "error"
            if self.port.broke:
                kind = "break"
        self.port.disarm()
        assert self.port.damaged == damaged + 1, "no frame was damaged"
        assert self.command(), "the next command was wrong"
        self.counts[kind, direction.name.lower(), outcome] += 1


def damage_frames(board, count, show=lambda text: None):
    campaign = Campaign(board, random.Random(SEED))
    for trial in range(count):
        kind = KINDS[trial % len(KINDS)]
        direction = Direction(trial // len(KINDS) % 2)
        campaign.run(kind, direction, trial // (2 * len(KINDS)))
    for what, number in sorted(campaign.counts.items()):
        show(f"{' '.join(what)}: {number}")
    show(f"{campaign.device.repeated} requests were repeated, in {board.cycles} cycles")
    return campaign.counts


# A break or a reset ends the session, and nothing else does.
ENDS = {"break", "reset"}


def check_outcomes(counts):
    for (kind, _, outcome), _ in counts.items():
        assert outcome == "recovered" or kind in ENDS


@pytest.mark.fuzz
def test_damaged_frames(board):
    check_outcomes(damage_frames(board, 10 * len(KINDS)))


@pytest.mark.fuzz
def test_ten_thousand_damaged_frames(board, capsys):
    with capsys.disabled():
        counts = damage_frames(board, 10_000, print)
    check_outcomes(counts)
    assert counts.total() == 10_000
