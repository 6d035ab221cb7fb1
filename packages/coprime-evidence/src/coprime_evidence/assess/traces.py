"""Traces of an accelerator's simulated power, of two groups in random order.

What the groups differ in is tested. Every trace follows from the seed and its number, and begins
from the same state of the hardware, whichever process records it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from coprime.device.base import DeviceError

from .many_traces import CHOOSE_CYCLES, ManyTraces, Start, start_of
from .places import Places
from .power import PowerDevice, PowerModel

MEMORY = 2 << 30
"""Bytes that the moments of all samples may take, and the traces that are kept."""
_PAIRS = 1 << 22  # of cycles; the sums of both groups are 64 bytes for each
_COLUMNS = 40  # at least as many columns as a trace has


@dataclass(frozen=True)
class ProductWindows:
    """Cycles of a component whose samples are multiplied: each of `first` by each of `second`."""

    component: str  # by its name in the trace
    first: tuple[int, int]  # a cycle, and the one after the last one
    second: tuple[int, int]

    @property
    def pairs(self) -> int:
        """How many products there are."""
        return (self.first[1] - self.first[0]) * (self.second[1] - self.second[0])

    def __str__(self) -> str:
        return (
            f"{self.component} {self.first[0]}..{self.first[1]} {self.second[0]}..{self.second[1]}"
        )


@dataclass(frozen=True)
class DrawnTrace:
    """What a trace follows from. The repr shows no secret."""

    fixed: bool  # whether it is of the fixed group
    values: Mapping[str, Any] = field(repr=False)  # the inputs of the operation
    random_bytes: bytes = field(repr=False)  # that it, and those before it, may use
    before: Sequence[Mapping[str, Any]] = field(default=(), repr=False)
    """The inputs of each operation before the one that is traced."""


class TraceSource(Protocol):
    """An operation on a design, and what is fixed in one group of its traces and random in the
    other. All else is the same in both."""

    @property
    def seed(self) -> int:
        """Of all draws."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What is run and tested, as records have it: family, parameters, operation, its size,
        seed, and `test`, the name of what is tested."""

    @property
    def title(self) -> str:
        """What is run on what, in words."""

    @property
    def command_line(self) -> str:
        """The command that assesses it, without options for its traces."""

    @property
    def module_name(self) -> str:
        """The module of `verilog`."""

    @property
    def predicted_cycles(self) -> int:
        """Of the reference, by the design's model."""

    @property
    def varies(self) -> bool:
        """Whether the cycles depend on more than lengths. Traces of such an operation have to end
        before the shortest one does."""

    @property
    def reference(self) -> DrawnTrace:
        """What the trace follows from that others are compared with."""

    def verilog(self) -> str:
        """Of the whole design."""

    def check(self) -> None:
        """Raise ValueError, before any work, unless there is something to test."""

    def draw(self, number: int) -> DrawnTrace:
        """What the trace of this number follows from."""

    def input_bytes(self, values: Mapping[str, Any]) -> bytes:
        """An input for analyses of kept traces; always of one length."""

    def driver(self, device: PowerDevice) -> Callable[[DrawnTrace], Any]:
        """What runs the operation on a device, from the state that it is in now, and gives its
        result."""

    def is_right(self, result: Any) -> bool:
        """Whether it is the reference's."""

    def places(self, device: PowerDevice, run: Callable[[], object], first: int) -> Places:
        """The steps of the reference, which `run` runs, from its `first` cycle on."""


@dataclass(frozen=True)
class Acquisition:
    """Everything that traces follow from."""

    source: TraceSource
    model: PowerModel = PowerModel.DISTANCE
    noise: float = 0.0  # standard deviation of what is added to each sample, in bits; 0 or more
    cycles: tuple[int, int] | None = None
    """The first cycle that is tested, and the one after the last one; None: all of them."""
    products: ProductWindows | None = None  # whose centred products are tested as well
    second_order: bool = True  # whether the sums of the third and fourth powers are needed

    def check(self) -> None:
        """Raise ValueError, before any work, unless traces align and fit in the memory."""
        self.source.check()
        if self.noise < 0 or not math.isfinite(self.noise):
            raise ValueError(f"--noise must be 0 or more, not {self.noise}")
        pairs = 0 if self.products is None else self.products.pairs
        if pairs > _PAIRS:
            raise ValueError(f"--products are {pairs:,} pairs of cycles, more than {_PAIRS:,}")
        if self.cycles is not None:
            first, end = self.cycles
            if not 0 <= first < end:
                raise ValueError(f"--cycles must be FIRST..END, in order, not {first}..{end}")
            cycles = end - first
        elif self.source.varies:
            raise ValueError(
                f"{self.source.title} does not always take the same cycles: {CHOOSE_CYCLES}"
            )
        else:
            cycles = self.source.predicted_cycles
        needed = cycles * _COLUMNS * 8 * 2 * self.powers
        if needed > MEMORY:
            raise ValueError(
                f"the moments of {cycles:,} cycles need {needed / 2**30:.0f} GiB of memory, more"
                f" than {MEMORY >> 30}: choose a shorter operation, or part of the --cycles"
            )

    @property
    def last_cycle(self) -> int | None:
        """The cycle after the last one that is tested; None for the whole operation."""
        if self.cycles is None:
            return None
        last = self.cycles[1]
        if self.products is None:
            return last
        return max(last, self.products.first[1], self.products.second[1])

    @property
    def powers(self) -> int:
        """Of samples, whose sums the tests need."""
        return 4 if self.second_order else 2


class TraceRecorder:
    """Records the traces of an acquisition. Raises as PowerDevice, DeviceError as `trace`,
    and ValueError for cycles that a trace does not have.

    Attributes
    ----------
    acquisition (Acquisition)
    device (PowerDevice)
    reference (array of (cycles, columns)): the trace of the source's reference, up to the last
        cycle that is tested
    places (Places): the step of the program in each cycle
    cycles (pair of ints): the first one that is tested, and the one after the last one
    """

    def __init__(self, acquisition: Acquisition):
        source = acquisition.source
        self.acquisition = acquisition
        self._most = acquisition.last_cycle
        self.device = PowerDevice(
            source.verilog(), source.module_name, model=acquisition.model, most=self._most
        )
        self._drive = source.driver(self.device)
        self._state = self.device.save()
        before = self.device.cycles
        if not source.is_right(self._run_reference()):
            raise DeviceError("the device computes a wrong result")
        begins = self.device.begins - before
        self.places = source.places(self.device, self._run_reference, begins)
        self.reference = self.device.trace
        first, end = acquisition.cycles or (0, len(self.reference))
        if end > len(self.reference):
            raise ValueError(f"a trace has {len(self.reference):,} cycles, fewer than {end:,}")
        self.cycles = first, end
        self._check_products()

    def _check_products(self) -> None:
        products, cycles = self.acquisition.products, len(self.reference)
        if products is None:
            return
        if products.component not in self.device.components:
            known = ", ".join(self.device.components)
            raise ValueError(f"there is no component {products.component!r}; there are {known}")
        for first, end in (products.first, products.second):
            if not 0 <= first < end <= cycles:
                raise ValueError(f"--products must be of cycles in 0..{cycles}, not {first}..{end}")

    @cached_property
    def many(self) -> ManyTraces:
        """What records many traces at once."""
        source = self.acquisition.source
        return ManyTraces(
            self.device,
            source.verilog(),
            source.module_name,
            model=self.acquisition.model,
            reference=self.reference,
            whole=self._most is None,
            start=self._start(source.reference),
        )

    def start(self, number: int) -> tuple[DrawnTrace, Start]:
        """What a trace follows from, and where it begins."""
        drawn = self.acquisition.source.draw(number)
        return drawn, self._start(drawn)

    def _start(self, drawn: DrawnTrace) -> Start:
        return start_of(self.device, drawn.random_bytes, lambda: self._run(drawn))

    def trace(self, number: int) -> tuple[DrawnTrace, npt.NDArray[np.uint16]]:
        """What a trace follows from, and the trace, without noise.

        DeviceError if it takes other cycles than the reference.
        """
        drawn = self.acquisition.source.draw(number)
        self._run(drawn)
        trace = self.device.trace
        if trace.shape != self.reference.shape:
            raise DeviceError(
                f"an operation took {len(trace)} cycles and another one {len(self.reference)}, so"
                f" that traces do not align: {CHOOSE_CYCLES}"
            )
        return drawn, trace

    def _run_reference(self) -> Any:
        return self._run(self.acquisition.source.reference)

    def _run(self, drawn: DrawnTrace) -> Any:
        self.device.restore(self._state)
        self.device.give_random(drawn.random_bytes)
        return self._drive(drawn)
