"""The simulated device: the accelerator's own Verilog, in Verilator, cycle by cycle."""

import ctypes
import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from coprime.bus.kinds import Bus
from coprime.catalog import CallChoice, Choice, ClusterChoice, SuiteChoice
from coprime.cells.target import Target
from coprime.flow.files import check_writable
from coprime.flow.kept_verilog import kept_accelerator, kept_cluster, kept_suite
from coprime.flow.parts import FRONT_END, NODE
from coprime.flow.simulation import Chain, build_simulation, load_simulation
from coprime.padding.scheme import Padding
from coprime.parameters import check_least

from .base import (
    BusError,
    BusTimeout,
    InterruptTimeout,
    check_address,
    check_block,
    check_value,
)
from .noise import NoisySimulation

__all__ = ["SimulatedDevice", "open_cluster", "open_simulation"]

# Waiting returns to Python after this many cycles, about ten times a second, so that Ctrl-C works.
# For a single module; the nodes of a chain share them.
_CHUNK = 1 << 20


class SimulatedDevice(NoisySimulation):
    """A Device made of Verilog. It starts after a reset; the clock runs only while a method does.

    Parameters
    ----------
    verilog (str): the whole design
    top (str or Chain): its top module, with the ports of an accelerator (`build_simulation` lists
        them), or the modules of a chain. Then the top module is not simulated, and need not be in
        `verilog`.
    trace (path, optional): FST file with every signal, from the end of the reset to `close`
    cycle_limit (int): clock cycles after which `wait_interrupt` gives up; at least 1
    access_limit (int): clock cycles after which an access, or a burst, without an answer raises
        BusTimeout; at least 1

    Attributes
    ----------
    progress (function, optional): called with the clock cycles that have passed while waiting,
        about ten times a second
    cycle_limit (int): as given; it may be changed

    Raises ToolError and ValueError as `build_simulation` does, ValueError for a chain that is
    longer than the numbers of its nodes allow, TypeError or ValueError for a limit of another type
    or out of range, and OSError if `trace` cannot be written.
    """

    progress: Callable[[int], None] | None = None

    def __init__(
        self,
        verilog: str,
        top: str | Chain,
        *,
        trace: str | os.PathLike[str] | None = None,
        cycle_limit: int = 4_000_000_000,
        access_limit: int = 1_000_000,
    ):
        for name, limit in (("cycle_limit", cycle_limit), ("access_limit", access_limit)):
            if not isinstance(limit, int):
                raise TypeError(f"{name} must be an int, not {limit!r}")
            if limit not in range(1, 1 << 64):
                raise ValueError(f"{name} must be in 1..2**64 - 1, not {limit}")
        if trace is not None:
            check_writable(Path(trace))  # Verilator's library opens it later, and reports nothing
        self._library = load_simulation(build_simulation(verilog, top, trace=trace is not None))
        self.cycle_limit = cycle_limit
        self._trace = trace is not None
        self._value = ctypes.c_uint32()
        length = top.length if isinstance(top, Chain) else 0
        self._chunk = max(1, _CHUNK // (1 + length))
        self._handle = self._library.coprime_create(access_limit, length)
        if self._handle is None:
            raise ValueError(f"the number of a node is too narrow for a chain of {length}")
        if trace is not None:
            Path(trace).parent.mkdir(parents=True, exist_ok=True)
            path = os.fsencode(Path(trace))
            if not self._library.coprime_trace_open(self._handle, path):
                self.close()
                raise OSError(f"cannot write waveforms to {trace}")

    @property
    def cycles(self) -> int:
        """Clock cycles since the device was created, including resets and accesses."""
        return int(self._library.coprime_cycles(self._open()))

    def reset(self) -> None:
        """Hold the reset active for some cycles, and release it. `cycles` keeps counting."""
        self._library.coprime_reset(self._open())

    def run(self, cycles: int) -> None:
        """Let `cycles` clock cycles pass, at least 0, without any access."""
        check_least(0, cycles=cycles)
        for done in range(0, cycles, self._chunk):
            self._library.coprime_run(self._open(), min(self._chunk, cycles - done))

    def give_random(self, data: bytes) -> None:
        """Set the next bytes of the random source; the system's follow them.

        For tests. It replaces bytes that were set before and not yet used. A design without a
        random source uses none.
        """
        self._library.coprime_random(self._open(), data, len(data))

    def read32(self, address: int) -> int:
        """Read a register, as Device.read32; BusTimeout if there is no answer."""
        check_address(address)
        response = self._library.coprime_read32(self._open(), address, ctypes.byref(self._value))
        _check_response(response, address, write=False)
        return self._value.value

    def write32(self, address: int, value: int) -> None:
        """Write a register, as Device.write32; BusTimeout if there is no answer."""
        check_address(address)
        check_value(value)
        response = self._library.coprime_write32(self._open(), address, value)
        _check_response(response, address, write=True)

    def read_block(self, address: int, count: int) -> list[int]:
        """Read consecutive registers, as BlockDevice.read_block; as bursts over AXI4."""
        check_block(address, count)
        words = (ctypes.c_uint32 * count)()
        response = self._library.coprime_read_block(self._open(), address, words, count)
        _check_response(response, address, write=False)
        return list(words)

    def write_block(self, address: int, values: Sequence[int]) -> None:
        """Write consecutive registers, as BlockDevice.write_block; as bursts over AXI4."""
        check_block(address, len(values))
        for value in values:
            check_value(value)
        words = (ctypes.c_uint32 * len(values))(*values)
        response = self._library.coprime_write_block(self._open(), address, words, len(values))
        _check_response(response, address, write=True)

    def wait_interrupt(self, timeout: float | None = None) -> None:
        """Run the clock until the interrupt request is active.

        `timeout` is for hardware and ignored here: after `cycle_limit` cycles this raises
        InterruptTimeout.
        """
        if not self.wait(self.cycle_limit):
            raise InterruptTimeout(f"no interrupt came in {self.cycle_limit} clock cycles")

    def wait(self, cycles: int) -> bool:
        """Run the clock until the interrupt request is active, or for `cycles`, at least 0.

        Return whether the interrupt request is active.
        """
        for done in range(0, max(1, cycles), self._chunk):
            chunk = min(self._chunk, cycles - done)
            if self._library.coprime_wait_interrupt(self._open(), chunk):
                return True
            if self.progress is not None:
                self.progress(chunk)
        return False

    def close(self) -> None:
        """End the simulation and complete the trace."""
        if self._handle is not None and self._trace:
            self._library.coprime_trace_close(self._handle)
        super().close()


def open_simulation(
    choice: Choice | CallChoice | SuiteChoice,
    *,
    target: Target = Target.GENERIC,
    trace: Path | None = None,
    paddings: Collection[Padding] = (),
) -> SimulatedDevice:
    """Simulate the accelerator that `coprime build` writes. Raises as SimulatedDevice."""
    if isinstance(choice, SuiteChoice):
        verilog = kept_suite(choice, target, paddings)
    else:
        verilog = kept_accelerator(choice, target, paddings)
    return SimulatedDevice(verilog, choice.module_name, trace=trace)


def open_cluster(
    choice: ClusterChoice,
    *,
    bus: Bus = Bus.AXI4_LITE,
    trace: Path | None = None,
    cycle_limit: int = 4_000_000_000,
) -> SimulatedDevice:
    """Simulate the cluster that `coprime build cluster` writes: its two modules, as a chain.

    A wait lasts at most `cycle_limit` cycles; a scheduler checks its own limits at these intervals.
    Raises as SimulatedDevice.
    """
    chain = Chain(FRONT_END, NODE, choice.cores)
    verilog = kept_cluster(choice, bus)
    return SimulatedDevice(verilog, chain, trace=trace, cycle_limit=cycle_limit)


def _check_response(response: int, address: int, *, write: bool) -> None:
    """Raise the exception for a response other than OKAY; below 0 there was none."""
    if response:
        raise (BusTimeout if response < 0 else BusError)(address, write)
