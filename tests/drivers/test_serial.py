"""The C driver at a serial port: that of a simulated board, with damage on the wire or without."""

import errno
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from coprime.bus.serial.uart import divisor_of
from coprime.catalog import choose
from coprime.rsa import keys
from coprime.soc.serial_board import MODULE_NAME, serial_board_verilog
from coprime.soc.simulated_board import BoardTerminal, SimulatedBoard, frame_of
from tests.device.serial_damage import KINDS, damage
from tests.drivers.harness import DRIVER, DRIVERS, SANITIZERS, can_compile, compile_c, octets

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="it needs Linux's termios"),
    pytest.mark.xdist_group("serial board"),  # with tests/cli/test_serial.py
]

CLOCK, BAUD = 12_000_000, 3_000_000
BITS = 64
SEED = 17
KEY = keys.generate(BITS, seed=SEED)
X = 12345
RIGHT = pow(X, KEY.d, KEY.n)
TIMEOUT, DEVICE = 257, 263


@pytest.fixture(scope="module")
def verilog():
    # The board of tests/cli/test_serial.py, so that it is built once.
    return serial_board_verilog(choose("compact", {"max_bits": "512"}), CLOCK // BAUD)


def compiled(folder, *flags):
    sources = (Path(__file__).with_name("serial.c"), DRIVERS / "src" / "coprime_serial.c", DRIVER)
    return compile_c(folder, "serial", *flags, *sources)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serial")
    flags = SANITIZERS if can_compile(folder, *SANITIZERS) else ()
    return compiled(folder, *flags, "-DCOPRIME_SERIAL_PATIENCE=20")


class DamagedBoard(SimulatedBoard):
    """A board to and from which some frames are damaged, with a generator for the choices."""

    def __init__(self, verilog, often, kinds):
        super().__init__(verilog, MODULE_NAME, clock=CLOCK, baud=BAUD)
        self.rng, self.often, self.kinds = random.Random(SEED), often, kinds
        self.damaged = 0

    def send(self, data):
        super().send_frames(self._damage(data))

    def run(self, limit):
        frames = self._damage(super().run(limit))
        return bytes(frame >> 1 & 0xFF for frame in frames if frame & 0x201 == 0x200)

    def _damage(self, data):
        frames = [frame_of(byte) for byte in data]
        if not frames or self.rng.random() >= self.often:
            return frames
        self.damaged += 1
        kind = self.rng.choice(self.kinds)
        if kind == "reset":
            self.power_up()
            return frames
        return damage(self.rng, kind, self.rng.randrange(len(frames)), frames)


def decrypt(program, path, times, key=KEY, x=X, baud=BAUD):
    numbers = (key.n, key.e, key.p, key.q, key.dp, key.dq, key.qinv, x)
    done = subprocess.run(
        [program, path, f"{baud}", f"{times}"],
        input=" ".join(map(octets, numbers)),
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.split("\n")[:-1]
    return (
        done.returncode,
        [line if line.startswith("error") else int(line, 16) for line in lines],
        done.stderr,
    )


@pytest.mark.matrix
def test_decryptions_in_two_sessions(program, verilog):
    with DamagedBoard(verilog, 0, KINDS) as board, BoardTerminal(board) as terminal:
        for _ in range(2):
            assert decrypt(program, terminal.path, 2) == (0, [RIGHT] * 2, "")


def damaged_decryptions(program, verilog, often, times, kinds):
    with DamagedBoard(verilog, often, kinds) as board, BoardTerminal(board) as terminal:
        status, results, _ = decrypt(program, terminal.path, times)
        assert board.damaged
    assert status == 0 and len(results) == times
    assert set(results) <= {RIGHT, f"error {TIMEOUT}", f"error {DEVICE}"}
    assert RIGHT in results
    return results


@pytest.mark.fuzz
def test_damage_is_recovered_from(program, verilog):
    kinds = [kind for kind in KINDS if kind not in ("break", "reset")]
    assert damaged_decryptions(program, verilog, 0.02, 4, kinds) == [RIGHT] * 4


@pytest.mark.fuzz
def test_much_damage_never_gives_a_wrong_result(program, verilog):
    results = damaged_decryptions(program, verilog, 0.01, 300, KINDS)
    assert len(set(results)) > 1


@pytest.mark.fuzz
@pytest.mark.parametrize("baud", [115_200, 3_000_000])
def test_a_key_of_2048_bits(tmp_path, baud):
    key = keys.generate(2048, seed=SEED)
    verilog = serial_board_verilog(choose("compact", {"max_bits": "2048"}), divisor_of(CLOCK, baud))
    with (
        SimulatedBoard(verilog, MODULE_NAME, clock=CLOCK, baud=baud) as board,
        BoardTerminal(board) as terminal,
    ):
        status, results, text = decrypt(compiled(tmp_path), terminal.path, 1, key=key, baud=baud)
    assert (status, results, text) == (0, [pow(X, key.d, key.n)], "")


def test_ports_that_cannot_be_opened(program):
    status, results, text = decrypt(program, "/dev/none", 1)
    assert (status, results, text) == (1, [], f"/dev/none: {os.strerror(errno.ENOENT)}\n")
    _, _, text = decrypt(program, "/dev/null", 1)
    assert text == f"/dev/null: {os.strerror(errno.ENOTTY)}\n"


def test_a_port_that_does_not_answer(program):
    end, port = os.openpty()
    try:
        path = os.ttyname(port)
        assert decrypt(program, path, 1)[2] == f"{path}: {os.strerror(errno.ETIMEDOUT)}\n"
        assert decrypt(program, path, 1, baud=12345)[2] == f"{path}: {os.strerror(errno.EINVAL)}\n"
    finally:
        os.close(end)
        os.close(port)
