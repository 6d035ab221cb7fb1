"""A simulated device whose power is estimated, to first approximation, in every clock cycle.

What counts is the bits of registers that change from one cycle to the next (Hamming distance, the
model of CMOS logic of Brier, Clavier, Olivier 2004), or that are 1 (Hamming weight). Of memories
the words that are written count, and what is read, since a port's data are a register.
Combinational logic and its glitches, and wires that couple, are not in it.
"""

import ctypes
import enum
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from coprime.bus import registers
from coprime.device.base import InterruptTimeout
from coprime.device.faulty import FaultyDevice

TOTAL = "total"  # the name of the sum of all components
_ENGINE = "engine"
_PASSED = 8  # bytes at the begin of a state, with the number of random bytes that have passed
_DEPTH = 4  # names of an instance's path that are kept, in the engine; outside it one is


class _Started(Exception):  # noqa: N818
    """The command whose start was waited for has been written."""


def _word_bytes(width: int) -> int:
    """As Verilator keeps a word: in 1, 2, 4 or 8 bytes, longer ones in words of 4."""
    return 4 * -(-width // 32) if width > 64 else next(k for k in (1, 2, 4, 8) if width <= 8 * k)


class PowerModel(enum.Enum):
    """What of a bit costs power."""

    DISTANCE = "distance"  # that it changes
    WEIGHT = "weight"  # that it is 1


def component_of(register: str) -> str:
    """The component that a register is counted in: the instance that it is in, or one above it."""
    path = register.split(".")[:-1]
    return ".".join(path[: _DEPTH if path[:1] == [_ENGINE] else 1]) or "top"


class PowerDevice(FaultyDevice):
    """A device that records a trace of each command: from its start until the interrupt request.

    Parameters
    ----------
    verilog, top : as of FaultyDevice
    model : what of a bit counts
    most : cycles of a trace, at most; None: no limit

    Attributes
    ----------
    components (sequence of str): the columns of a trace: the components by name, and TOTAL
    trace (array of (cycles, columns) of 16-bit numbers): of the last command. Row 0 is the cycle
        after the one in which the write of the command was answered.
    begins (int): `cycles` before row 0

    Raises ValueError for a design of more than 65,535 bits of registers, which the numbers of a
    trace could not hold, and as FaultyDevice.
    """

    components: Sequence[str]
    trace: npt.NDArray[np.uint16]
    begins: int

    def __init__(
        self,
        verilog: str,
        top: str,
        *,
        model: PowerModel = PowerModel.DISTANCE,
        most: int | None = None,
    ):
        super().__init__(verilog, top)
        self._most = most
        found = list(self.registers.values())
        bits = sum(register.width * min(register.words, 2) for register in found)
        if bits >= 1 << 16:
            self.close()
            raise ValueError(
                f"the design has {bits} bits of registers and a trace can count 65535: choose a"
                " smaller max_bits"
            )
        names = sorted({component_of(register.name) for register in found})
        self.components = (*names, TOTAL)
        # A register that is a port of the top module is there twice, and counts once.
        size = self._library.coprime_registers(self._open())
        self._component_of = (ctypes.c_uint32 * size)(*[len(names)] * size)
        for register in found:
            self._component_of[register.index] = names.index(component_of(register.name))
        self._weight = int(model is PowerModel.WEIGHT)
        self._stops = False
        self._records = True
        self.trace = np.zeros((0, len(self.components)), np.uint16)
        self.begins = self.cycles

    def write32(self, address: int, value: int) -> None:
        """Write a register; a command then runs to its end. InterruptTimeout if it has none."""
        super().write32(address, value)
        if address == registers.COMMAND.address and self._records:
            if self._stops:
                raise _Started
            self._record()

    @contextmanager
    def without_traces(self) -> Iterator[None]:
        """Let commands run as on any device: they are not traced, and `state_at_start` goes on."""
        self._records = False
        try:
            yield
        finally:
            self._records = True

    def state_at_start(self, run: Callable[[], object]) -> bytes:
        """Call a function up to the start of its command, and give the state where a trace begins.

        What it has been called with is then not finished: the device must be restored. ValueError
        if it starts none.
        """
        self._stops = True
        try:
            run()
        except _Started:
            return self.save()
        finally:
            self._stops = False
        raise ValueError("no command was started")

    def state_layout(self) -> dict[str, int]:
        """For each register and memory the place of its first bit in what `save` gives, in bits."""
        size = self._library.coprime_registers(self._open())
        places, place = [], 8 * _PASSED
        for index in range(size):
            places.append(place)
            register = self._register(index)
            place += 8 * register.words * _word_bytes(register.width)
        return {name: places[register.index] for name, register in self.registers.items()}

    def word_bytes(self, name: str) -> int:
        """Bytes of a word of a register or memory in what `save` gives."""
        return _word_bytes(self.registers[name].width)

    def _record(self) -> None:
        self.begins = self.cycles
        parts = (self._component_of, len(self.components) - 1, self._weight)
        limit = min(self._most or self.cycle_limit, self.cycle_limit)
        cycles = self._library.coprime_record(self._open(), limit, *parts)
        self.trace = np.empty((cycles, len(self.components)), np.uint16)
        self._library.coprime_samples(self._open(), self.trace.ctypes.data)
        if cycles == self.cycle_limit:
            raise InterruptTimeout(f"no interrupt came in {self.cycle_limit} clock cycles")
