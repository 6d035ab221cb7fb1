"""A system in simulation: its Verilog in Verilator, with a program in its memory."""

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path

from coprime.device.base import DeviceError
from coprime.device.library import LibrarySimulation
from coprime.flow.simulation import build_library, load_library
from coprime.soc.riscv import MODULE_NAME, RAM_BYTES

DIVISOR = 4
"""Clock cycles of a bit on the UART's wire: fast, so that little of a simulation is printing."""
_WRAPPER = Path(__file__).with_name("simulation.cpp")
_RUNNING, _FAULT = 0, 2  # of simulation.cpp's states
# Between two looks at Ctrl-C and at the progress; about ten a second.
_CHUNK = 1 << 19


class SimulatedSystem(LibrarySimulation):
    """A RISC-V system with an accelerator, cycle by cycle.

    Parameters
    ----------
    verilog (str): its top module is MODULE_NAME, with the ports of `System` and bits of DIVISOR
        cycles on tx: `system_verilog`
    ram_bytes (int): bytes of its memory

    Attributes
    ----------
    progress (function, optional): told clock cycles as they pass, about ten times a second

    Raises ToolError as `build_library` does.
    """

    PREFIX = "coprime_system"
    WHAT = "system"
    progress: Callable[[int], None] | None = None

    def __init__(self, verilog: str, *, ram_bytes: int = RAM_BYTES):
        library = build_library(verilog, [(MODULE_NAME, "clk")], _WRAPPER)
        self._words = ram_bytes // 4
        self._library = _load(library)
        self._handle = self._library.coprime_system_create(DIVISOR)
        self._heard = 0

    def load(self, address: int, words: Sequence[int]) -> None:
        """Reset processor and accelerator, and write words to the memory.

        `address` is the first one's, in bytes, a multiple of 4. ValueError if they do not fit.
        """
        if address % 4 or not 0 <= address <= 4 * (self._words - len(words)):
            raise ValueError(
                f"{len(words)} words do not fit at address {address}"
                f" in a memory of {4 * self._words} bytes"
            )
        array = (ctypes.c_uint32 * len(words))(*words)
        self._library.coprime_system_load(self._open(), address // 4, array, len(words))

    def run(self, limit: int) -> str:
        """Run the program until it ends, and return what it has printed in this run.

        Raises DeviceError if it does not end in `limit` clock cycles, if one of its accesses is
        refused, or if the UART's frames are broken.
        """
        state = _RUNNING
        for done in range(0, limit, _CHUNK):
            chunk = min(_CHUNK, limit - done)
            state = self._library.coprime_system_run(self._open(), chunk)
            if state != _RUNNING:
                break
            if self.progress is not None:
                self.progress(chunk)
        text = self._hear()
        last = (text.splitlines() or ["nothing"])[-1]
        if state == _FAULT:
            raise DeviceError(
                "an access of the firmware reached no device or was refused;"
                f" its last output: {last}"
            )
        if state == _RUNNING:
            raise DeviceError(
                f"the firmware still runs after {limit} clock cycles; its last output: {last}"
            )
        return text

    def _hear(self) -> str:
        """What the UART has sent since the last call."""
        if self._library.coprime_system_broken(self._open()):
            raise DeviceError("the frames that the UART sent are broken")
        length = ctypes.c_uint64()
        start = self._library.coprime_system_text(self._open(), ctypes.byref(length))
        text = ctypes.string_at(start, length.value)[self._heard :]
        self._heard = length.value
        return text.decode("utf-8", errors="replace")

    @property
    def cycles(self) -> int:
        """Clock cycles that the processor has run."""
        return int(self._library.coprime_system_cycles(self._open()))


def _load(path: Path) -> ctypes.CDLL:
    handle, count = ctypes.c_void_p, ctypes.c_uint64
    types: dict[str, tuple[type | None, list[type]]] = {
        "create": (handle, [count]),
        "destroy": (None, [handle]),
        "load": (None, [handle, count, ctypes.POINTER(ctypes.c_uint32), count]),
        "run": (ctypes.c_int, [handle, count]),
        "cycles": (count, [handle]),
        "text": (handle, [handle, ctypes.POINTER(count)]),
        "broken": (count, [handle]),
    }
    return load_library(path, "coprime_system", types)
