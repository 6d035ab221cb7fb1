"""A board in simulation, pins and all, that programs reach through a serial port.

The port is a pseudo-terminal of this machine: no program sees a difference to a board, except that
the clock runs more slowly.
"""

import contextlib
import ctypes
import os
import select
import threading
import time
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

from coprime.device.base import Closing
from coprime.device.noise import NoisySimulation
from coprime.flow.simulation import NOISE_FUNCTIONS, build_library, load_library

_WRAPPER = Path(__file__).with_name("simulated_board.cpp")
_PARTS = 8
_TAKEN = 4096
# The clock stands while no byte has come for so long, so that an idle board takes no time.
_IDLE_SECONDS = 2.0
_CHUNK_SECONDS = 0.005  # the clock runs about that long between two looks at the terminal
_REPLY_SECONDS = 0.002  # and stands as long after an answer, for the next request
_FIRST_CHUNK, _LAST_CHUNK = 1 << 12, 1 << 20


def frame_of(byte: int) -> int:
    """The levels of a byte on the wire, the first one in bit 0: start, 8 bits, stop."""
    return 1 << 9 | byte << 1


class SimulatedBoard(NoisySimulation):
    """A design with the pins clk, rx and tx, cycle by cycle; noise_* are a modelled noise source.
    All other inputs are 0.

    Parameters
    ----------
    verilog (str): the whole design, with initial values: it is never reset but by itself
    top (str): its top module
    clock (int): frequency at clk in Hz; only `SimulatedPort` and `busy` depend on it
    baud (int): of the bytes that come and go, in bits per second

    Raises ToolError as `build_library` does, ValueError for less than 2 cycles a bit.
    """

    PREFIX = "coprime_board"
    WHAT = "board"

    def __init__(self, verilog: str, top: str, *, clock: int, baud: int):
        self.clock, self.baud = clock, baud
        bit = round(Fraction(clock, baud) * _PARTS)
        if bit < 2 * _PARTS:
            raise ValueError(f"baud must be at most {clock // 2}, not {baud}")
        self._library = _load(build_library(verilog, [(top, "clk")], _WRAPPER))
        self._handle = self._library.coprime_board_create(bit)

    @property
    def cycles(self) -> int:
        """Clock cycles that have passed."""
        return int(self._library.coprime_board_cycles(self._open()))

    @property
    def busy(self) -> int:
        """Those of them in which a byte was on one of the wires."""
        return int(self._library.coprime_board_busy(self._open()))

    @property
    def broken(self) -> int:
        """Bytes from the board without a stop bit, which were dropped."""
        return int(self._library.coprime_board_broken(self._open()))

    def send(self, data: bytes) -> None:
        """Queue bytes to the board, which are sent as the clock runs."""
        self.send_frames(frame_of(byte) for byte in data)

    def send_frames(self, frames: Iterable[int]) -> None:
        """Queue frames of ten levels each, the first one in bit 0, right or wrong."""
        words = list(frames)
        array = (ctypes.c_uint16 * len(words))(*words)
        self._library.coprime_board_send(self._open(), array, len(words))

    def run(self, limit: int) -> bytes:
        """Let the clock run, and return the bytes that have come.

        For `limit` cycles, or until bytes have come and nothing is on the wires any more.
        """
        self._library.coprime_board_run(self._open(), limit)
        found = ctypes.create_string_buffer(_TAKEN)
        parts = []
        while count := self._library.coprime_board_take(self._open(), found, _TAKEN):
            parts.append(found.raw[:count])
        return b"".join(parts)

    def power_up(self) -> None:
        """Start anew, as if the bitstream had just been loaded; what is on the wires goes on."""
        self._library.coprime_board_power_up(self._open())


class SimulatedPort:
    """A `coprime.device.serial.SerialPort` of a simulated board, whose time is that of its clock.

    Parameters
    ----------
    board (SimulatedBoard): it is closed with the port
    """

    def __init__(self, board: SimulatedBoard):
        self.board = board
        self.name, self.baud = "a simulated board", board.baud

    def write(self, data: bytes) -> None:
        """Queue bytes."""
        self.board.send(data)

    def read(self, seconds: float) -> bytes:
        """Let the clock run."""
        return self.board.run(max(1, int(seconds * self.board.clock)))

    def send_break(self) -> None:
        """Hold the wire at 0 for three bytes, and at 1 for one."""
        self.board.send_frames([0, 0, 0, 0x3FF])

    def now(self) -> float:
        """Seconds of the board's clock."""
        return self.board.cycles / self.board.clock

    def close(self) -> None:
        """End the simulation."""
        self.board.close()


class BoardTerminal(Closing):
    """A pseudo-terminal whose other end is a board, which runs in a thread of its own.

    Parameters
    ----------
    board (SimulatedBoard): it belongs to the terminal until `close`, which does not close it

    Attributes
    ----------
    path (str): of the serial port
    """

    def __init__(self, board: SimulatedBoard):
        self._board = board
        import tty  # not on every system

        # This end of the port stays open, so that programs can come and go.
        self._end, self._port = os.openpty()
        tty.setraw(self._port)
        os.set_blocking(self._end, False)
        self.path = os.ttyname(self._port)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread, and remove the port."""
        if not self._ending.is_set():
            self._ending.set()
            self._thread.join()
            os.close(self._end)
            os.close(self._port)

    def _serve(self) -> None:
        heard, chunk, data = 0.0, _FIRST_CHUNK, b""
        while not self._ending.is_set():
            running = time.monotonic() - heard < _IDLE_SECONDS
            pause = _REPLY_SECONDS if data else 0 if running else 0.05
            ready, _, _ = select.select([self._end], [], [], pause)
            now = time.monotonic()
            if ready:
                self._board.send(os.read(self._end, _TAKEN))
                heard = now
            elif not running:
                continue
            data = self._board.run(chunk)
            took = time.monotonic() - now
            if took > 2 * _CHUNK_SECONDS:
                chunk = max(_FIRST_CHUNK, chunk // 2)
            elif took < _CHUNK_SECONDS / 2 and not data:
                chunk = min(_LAST_CHUNK, 2 * chunk)
            if data:
                with contextlib.suppress(BlockingIOError):  # lost, as nobody reads
                    os.write(self._end, data)


def _load(path: Path) -> ctypes.CDLL:
    handle, count = ctypes.c_void_p, ctypes.c_uint64
    types: dict[str, tuple[type | None, list[type]]] = {
        "create": (handle, [count]),
        "destroy": (None, [handle]),
        "power_up": (None, [handle]),
        "send": (None, [handle, ctypes.POINTER(ctypes.c_uint16), count]),
        "run": (None, [handle, count]),
        "take": (count, [handle, ctypes.c_char_p, count]),
        "cycles": (count, [handle]),
        "busy": (count, [handle]),
        "broken": (count, [handle]),
        **NOISE_FUNCTIONS,
    }
    return load_library(path, "coprime_board", types)
