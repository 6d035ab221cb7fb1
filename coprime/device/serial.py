"""An accelerator at a serial port: requests are repeated until they are answered."""

import errno
import os
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from coprime.bus.serial.protocol import BAUD, MAX_WORDS, SerialRequest, Status
from coprime.parameters import check_least

from .base import (
    BusError,
    Closing,
    DeviceError,
    InterruptTimeout,
    check_address,
    check_block,
    check_value,
)
from .serial_frames import Answer, FrameParser, encode_request

__all__ = ["BAUD", "LinkError", "SerialDevice", "SerialPort", "open_serial"]

_BITS = 10  # of a byte on the wire
_OVERHEAD = 40  # maximum number of bytes of a request and its answer besides the words
_FIRST_POLL, _LAST_POLL = 0.001, 0.02  # seconds from one to the next


class LinkError(DeviceError):
    """The board does not answer, or the session with it has ended.

    It is not known whether the last request has been executed. The next access opens another
    session, which resets the accelerator; a driver detects that and loads everything again.
    """


class SerialPort(Protocol):
    """A serial connection to a board."""

    name: str
    """Name of the port, for errors."""
    baud: int
    """Bits per second, 8N1."""

    def write(self, data: bytes) -> None:
        """Send bytes. Raises DeviceError."""

    def read(self, seconds: float) -> bytes:
        """Return received bytes: at least one, or none if none arrives within these seconds.

        Raises DeviceError.
        """

    def send_break(self) -> None:
        """Hold the line at 0 for at least 27 bits, if the port can. Raises DeviceError."""

    def now(self) -> float:
        """The time in seconds, of the clock that `read` uses."""

    def close(self) -> None:
        """Release the port. Closing twice is allowed."""


class SerialDevice(Closing):
    """A Device at a serial bridge (`coprime.bus.serial.bridge.SerialBridge`).

    The constructor opens a session, which resets the accelerator. An access whose answer is missing
    or incomplete is repeated with the same number; the board executes it once.

    Parameters
    ----------
    port (SerialPort): it is closed with the device
    patience (float): seconds that an answer may take beyond the time on the line; at least 0. Each
        repetition waits twice as long as the one before.
    attempts (int): number of times a request is sent before LinkError is raised: at least 1

    Attributes
    ----------
    progress (function, optional): called with no argument at each poll while waiting
    repeated (int): requests that were sent again

    Raises LinkError if no board answers, ValueError for a negative `patience`.
    """

    progress: Callable[[], None] | None = None

    def __init__(self, port: SerialPort, *, patience: float = 1.0, attempts: int = 4):
        if not patience >= 0:
            raise ValueError(f"patience must be at least 0 seconds, not {patience}")
        check_least(1, attempts=attempts)
        self._port: SerialPort | None = port
        self._patience = patience
        self._attempts = attempts
        self._parser = FrameParser()
        self._number: int | None = None  # of the last request; None: no session is open
        self.repeated = 0
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def read32(self, address: int) -> int:
        """Read a register, as Device.read32. Raises LinkError, too."""
        check_address(address)
        return self._access(SerialRequest.READ, address, 1).words[0]

    def write32(self, address: int, value: int) -> None:
        """Write a register, as Device.write32. Raises LinkError, too."""
        check_address(address)
        check_value(value)
        self._access(SerialRequest.WRITE, address, 1, [value])

    def read_block(self, address: int, count: int) -> list[int]:
        """Read consecutive registers, as BlockDevice.read_block."""
        check_block(address, count)
        words: list[int] = []
        while len(words) < count:
            size = min(MAX_WORDS, count - len(words))
            words += self._access(SerialRequest.READ, address + 4 * len(words), size).words
        return words

    def write_block(self, address: int, values: Sequence[int]) -> None:
        """Write consecutive registers, as BlockDevice.write_block."""
        check_block(address, len(values))
        for value in values:
            check_value(value)
        for first in range(0, len(values), MAX_WORDS):
            words = values[first : first + MAX_WORDS]
            self._access(SerialRequest.WRITE, address + 4 * first, len(words), words)

    def wait_interrupt(self, timeout: float | None = None) -> None:
        """Poll until the interrupt request is active, as Device.wait_interrupt.

        Raises InterruptTimeout if none comes in time, ValueError for a negative timeout.
        """
        if timeout is not None and not timeout >= 0:
            raise ValueError(f"timeout must be at least 0 seconds, or None, not {timeout}")
        port = self._open()
        start, pause = port.now(), _FIRST_POLL
        while not self._access(SerialRequest.POLL).interrupt:
            if timeout is not None and port.now() - start >= timeout:
                raise InterruptTimeout(f"no interrupt came in {timeout} seconds")
            if self.progress is not None:
                self.progress()
            self._parser.feed(port.read(pause))  # a late answer at most
            pause = min(2 * pause, _LAST_POLL)

    def close(self) -> None:
        """Close the port."""
        if self._port is not None:
            self._port.close()
            self._port = None

    def _open(self) -> SerialPort:
        if self._port is None:
            raise DeviceError("the device is closed")
        return self._port

    def _begin(self) -> None:
        """Open a session, with a word that only its own answer returns."""
        number, word = secrets.randbits(8), secrets.randbits(32)
        self._number = None
        answer = self._ask(number, SerialRequest.OPEN, 0, 1, [word], expected=(word,))
        if answer is None:
            raise self._silence()
        self._number = number

    def _access(
        self, request: SerialRequest, address: int = 0, count: int = 0, words: Sequence[int] = ()
    ) -> Answer:
        """Execute a request once and return its answer. Raises BusError, LinkError."""
        self._open()
        if self._number is None:
            self._begin()
        assert self._number is not None
        number, self._number = (self._number + 1) % 256, None
        answer = self._ask(number, request, address, count, words)
        if answer is None:
            raise self._silence()
        if answer.status is Status.CLOSED:
            raise LinkError(f"the board at {self._open().name} was reset meanwhile")
        expected = count if request is SerialRequest.READ else 0
        if answer.status is Status.UNEXPECTED or len(answer.words) != expected:
            raise LinkError(f"another program has used the board at {self._open().name} meanwhile")
        self._number = number  # success; after any exception, the session has ended
        if answer.status is Status.REFUSED:
            raise BusError(address, request is SerialRequest.WRITE)
        return answer

    def _ask(
        self,
        number: int,
        request: SerialRequest,
        address: int,
        count: int,
        words: Sequence[int],
        *,
        expected: tuple[int, ...] | None = None,
    ) -> Answer | None:
        """Send a request until its answer arrives; None if none does."""
        port = self._open()
        frame = encode_request(number, request, address, count, words)
        # Every byte might be escaped.
        on_wire = 2 * _BITS * (4 * count + _OVERHEAD) / port.baud
        for attempt in range(self._attempts):
            if attempt:
                self.repeated += 1
                if request is SerialRequest.OPEN:
                    port.send_break()
            port.write(frame)
            end = port.now() + on_wire + self._patience * 2**attempt
            while (left := end - port.now()) > 0:
                for answer in self._parser.feed(port.read(left)):
                    if answer.number == number and expected in (None, answer.words):
                        return answer
        return None

    def _silence(self) -> LinkError:
        port = self._open()
        return LinkError(
            f"no board answers at {port.name} with {port.baud} baud: has its bitstream been loaded,"
            " and is that its baud?"
        )


class _SystemPort:
    """A port of this machine, by pyserial."""

    def __init__(self, path: str, baud: int):
        import serial  # slow to import, so only where a port is used

        self.name, self.baud = path, baud
        self._failures = (serial.SerialException, OSError)
        try:
            self._serial = serial.Serial(path, baud, timeout=0.05, write_timeout=5, exclusive=True)
            self._serial.reset_input_buffer()
        except self._failures as error:
            raise DeviceError(_reason(path, baud, error)) from error
        except ValueError as error:  # a baud that the system does not know
            raise DeviceError(f"{path} cannot have {baud} baud: {error}") from error

    def write(self, data: bytes) -> None:
        try:
            self._serial.write(data)
        except self._failures as error:
            raise self._lost(error) from error

    def read(self, seconds: float) -> bytes:
        end = self.now() + seconds
        try:
            while True:
                data = bytes(self._serial.read(max(1, self._serial.in_waiting)))
                if data or self.now() >= end:
                    return data
        except self._failures as error:
            raise self._lost(error) from error

    def send_break(self) -> None:
        try:
            self._serial.send_break(max(0.001, 5 * _BITS / self.baud))
        except self._failures as error:
            raise self._lost(error) from error

    def now(self) -> float:
        return time.monotonic()

    def close(self) -> None:
        self._serial.close()

    def _lost(self, error: Exception) -> LinkError:
        return LinkError(f"{self.name} has failed: {error}")


def _reason(path: str, baud: int, error: Exception) -> str:
    """Return a sentence for a port that cannot be opened."""
    from serial.tools.list_ports import comports

    code = getattr(error, "errno", None)
    if code == errno.EACCES:
        return f"{path} may not be opened: its group may, which is often dialout; join it"
    if code in (errno.EAGAIN, errno.EBUSY, errno.EWOULDBLOCK) or "lock" in str(error):
        return f"{path} is used by another program"
    if code in (errno.ENOTTY, errno.EINVAL) or (code is None and Path(path).exists()):
        return f"{path} is no serial port, or cannot have {baud} baud"
    if code == errno.ENOENT:
        ports = ", ".join(sorted(port.device for port in comports()))
        there = f"this machine has {ports}" if ports else "this machine has none"
        return f"there is no serial port {path}: {there}; is the board plugged in?"
    return f"{path} cannot be opened: {os.strerror(code) if code else error}"


def open_serial(path: str, baud: int = BAUD, *, patience: float = 1.0) -> SerialDevice:
    """Open the board at a serial port of this machine.

    Parameters
    ----------
    path : such as /dev/ttyUSB0, or COM3
    baud : bits per second, as built into the board's bridge
    patience : as SerialDevice's

    Raises DeviceError if the port cannot be opened, LinkError if no board answers.
    """
    return SerialDevice(_SystemPort(path, baud), patience=patience)
