"""Traces of a simulated device's power, hundreds at once: the same samples as PowerDevice's.

The device itself is simulated only up to the start of the command; there its state is taken, and
goes on in a bit-sliced simulation. Whether that works as the device does is seen in every block of
traces: its first run is the reference, of which the device's trace is known.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from coprime.device.base import DeviceError
from coprime.flow.simulation import show_registers
from coprime_evidence.assess.bitsliced import build_bitsliced, load_bitsliced

from .moments import Array
from .power import PowerDevice, PowerModel, component_of

CHOOSE_CYCLES = "choose --cycles FIRST..END that end before the shortest one does"
"""What to do where operations do not take the same cycles."""
_GROUP = 8  # runs that belong to one group of traces, as bitsliced.cpp adds them up
_LENGTH, _REFERENCE, _BYTES = -2, -1, -3  # its outcomes


@dataclass(frozen=True)
class TraceWindow:
    """A component in some cycles."""

    column: int  # of a trace
    first: int  # cycle
    end: int  # the cycle after the last one


@dataclass(frozen=True)
class Start:
    """Where a trace begins: the state of the device, and the random bytes that it was given."""

    state: bytes
    random_bytes: bytes


class ManyTraces:
    """Records blocks of traces of a device.

    Parameters
    ----------
    device : what is simulated
    verilog, top : as given to it
    model : as given to it
    reference : its trace of a command
    whole : whether that command, and all others, end with the trace; else they go on after it
    start : where that trace began

    Attributes
    ----------
    most (int): traces of a block

    Raises ToolError as `build_bitsliced`.
    """

    def __init__(
        self,
        device: PowerDevice,
        verilog: str,
        top: str,
        *,
        model: PowerModel,
        reference: npt.NDArray[np.uint16],
        whole: bool,
        start: Start,
    ):
        names = {name: place for place, name in enumerate(device.components[:-1])}
        columns = {name: names[component_of(name)] for name in device.registers}
        library = build_bitsliced(show_registers(verilog, top), top, columns)
        self._library = load_bitsliced(library)
        self._weight = int(model is PowerModel.WEIGHT)
        self._reference, self._whole = np.ascontiguousarray(reference), whole
        self._start = start
        layout = device.state_layout()
        nothing = 8 * len(start.state)  # a bit of 0 after the state, for words that do not exist
        self._places = np.array(
            [
                layout[name] + 8 * word * device.word_bytes(name) + bit
                if word < device.registers[name].words
                else nothing
                for name, word, bit in library.bits
            ],
            np.uint32,
        )
        self._runs = self._library.bitsliced_runs()
        self.most: int = self._runs - _GROUP

    def record(
        self,
        starts: Sequence[Start],
        fixed: npt.NDArray[np.bool_],
        sums: tuple[Array, Array],
        cycles: tuple[int, int],
        windows: Sequence[TraceWindow] = (),
    ) -> list[npt.NDArray[np.uint16]]:
        """Record up to `most` traces, and add them to the moments of both groups.

        Parameters
        ----------
        starts : where each one begins
        fixed : of each one, whether it belongs to the fixed group
        sums : arrays of (powers, samples) of the fixed group and the other one, to add to
        cycles : the first cycle of these samples, and the one after the last one
        windows : parts of the traces that are wanted

        Returns an array of (traces, cycles) for each window. Raises DeviceError if a trace takes
        other cycles than the reference, or more random bytes than it has.
        """
        # Run 0 is the reference; each group begins at a multiple of _GROUP.
        run_of = np.empty(len(starts), int)
        run_of[fixed] = 1 + np.arange(fixed.sum())
        split = -(-(1 + int(fixed.sum())) // _GROUP) * _GROUP
        run_of[~fixed] = split + np.arange((~fixed).sum())
        at = dict(zip(run_of.tolist(), starts, strict=True))
        handle = self._library.bitsliced_create()
        try:
            for run in range(self._runs):
                self._load(handle, run, at.get(run, self._start))
            values = [
                np.empty((window.end - window.first, self._runs), np.uint16) for window in windows
            ]
            joined = np.concatenate([array.ravel() for array in values]) if values else np.empty(0)
            joined = np.ascontiguousarray(joined, np.uint16)
            parts = np.array(
                [(window.column, window.first, window.end) for window in windows], np.uint32
            ).reshape(-1, 3)
            outcome = self._library.bitsliced_run(
                handle,
                *(
                    len(self._reference),
                    int(self._whole),
                    self._reference.ctypes.data,
                    self._weight,
                    split,
                    *cycles,
                    len(sums[0]),
                ),
                *(array.ctypes.data for array in sums),
                *(parts.ctypes.data, len(parts), joined.ctypes.data),
            )
        finally:
            self._library.bitsliced_destroy(handle)
        if outcome == _LENGTH:
            raise DeviceError(
                f"an operation did not take {len(self._reference)} cycles as another one, so that"
                f" traces do not align: {CHOOSE_CYCLES}"
            )
        if outcome == _REFERENCE:
            raise DeviceError("the bit-sliced simulation differs from the device")
        if outcome == _BYTES:
            raise DeviceError("an operation takes more random bytes than it was given")
        bounds = np.cumsum([array.size for array in values])[:-1]
        return [
            part.reshape(array.shape).T[run_of]
            for part, array in zip(np.split(joined, bounds), values, strict=False)
        ]

    def _load(self, handle: int, run: int, start: Start) -> None:
        passed = int.from_bytes(start.state[:8], "little")
        self._library.bitsliced_load(
            *(handle, run, start.state + bytes(1), self._places.ctypes.data),
            *(start.random_bytes, len(start.random_bytes), passed),
        )


def start_of(device: PowerDevice, random_bytes: bytes, run: Callable[[], object]) -> Start:
    """Run a command up to its start, and give where its trace would begin."""
    return Start(device.state_at_start(run), random_bytes)
