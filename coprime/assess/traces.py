"""Traces of an accelerator's simulated power, of two groups in random order.

The groups differ in what is tested (`LeakageTest`). Every trace follows from the seed and its
number, and begins from the same state of the hardware, whichever process records it.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from coprime.device.accelerator import Accelerator
from coprime.device.base import DeviceError
from coprime.engine.contract import Command
from coprime.operations.operation import Encoding, InputRole, Numbers, Source
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import domain_of

from .many_traces import ManyTraces, Start, start_of
from .number_subject import NumberSubject
from .places import places_of
from .power import PowerDevice, PowerModel

MEMORY = 2 << 30
"""Bytes that the moments of all samples may take, and the traces that are kept."""
_PAIRS = 1 << 22  # of cycles; the sums of both groups are 64 bytes for each
_OPERATIONS = 1000  # with a key, at most: each one is simulated for every trace
_COLUMNS = 40  # at least as many columns as a trace has


class LeakageTest(Enum):
    """What is fixed in one group of traces and random in the other. All else is the same in both.

    The input is random in both groups unless it is what is tested. The private exponent of a key
    varies with its public exponent (EXPONENT), which has the same length and number of ones in all
    traces; the primes stay. Nonces are random, too, unless they are what is tested.
    """

    MESSAGE = "message"
    KEY = "key"
    EXPONENT = "exponent"
    NONCE = "nonce"  # of a signature
    NOTHING = "nothing"  # a control, in which nothing must be found

    @property
    def role(self) -> InputRole | None:
        """Of the inputs that differ; None if none does."""
        return None if self is LeakageTest.NOTHING else InputRole(self.value)

    @property
    def fixes_input(self) -> bool:
        """Whether the fixed group has one input or nonce, and the other one random ones; else the
        fixed group has one key, and both have random inputs and nonces."""
        return self.role in (InputRole.MESSAGE, InputRole.NONCE)


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
    numbers: Numbers = field(repr=False)
    before: Sequence[Numbers] = field(repr=False)  # each operation before the one that is traced
    random_bytes: bytes = field(repr=False)  # that these operations may use


@dataclass(frozen=True)
class Acquisition:
    """Everything that traces follow from."""

    subject: (
        NumberSubject  # the design, its operation, which has a secret, and the seed of all draws
    )
    test: LeakageTest = LeakageTest.MESSAGE
    model: PowerModel = PowerModel.DISTANCE
    noise: float = 0.0  # standard deviation of what is added to each sample, in bits; 0 or more
    cycles: tuple[int, int] | None = None
    """The first cycle that is tested, and the one after the last one; None: all of them."""
    products: ProductWindows | None = None  # whose centred products are tested as well
    second_order: bool = True  # whether the sums of the third and fourth powers are needed
    operation_number: int = 1
    """Which operation with a key is traced: the first one after the key was loaded is 1. Those
    before it have random inputs and nonces in both groups."""

    @cached_property
    def fixed_numbers(self) -> Numbers:
        """Those of the fixed group."""
        names = self._tested if self.test is LeakageTest.EXPONENT else []
        source = self._source(random.Random(self.subject.seed))
        return self._encoding.comparable(self.subject.numbers, names, source)

    @property
    def _encoding(self) -> Encoding:
        return self.subject.command.operation.encoding

    def _source(self, generator: random.Random) -> Source:
        """Of another key, or of the same curve."""
        subject = self.subject
        return Source(generator, lambda: domain_of(subject.command, subject.bits, generator))

    def check(self) -> None:
        """Raise ValueError, before any work, unless traces align and fit in the memory."""
        subject = self.subject
        if not subject.command.operation.has_secret_exponent:
            *others, last = (one.name for one in Command if one.operation.has_secret_exponent)
            raise ValueError(
                f"--operation must be {', '.join(others)} or {last}, which have a secret, not"
                f" {subject.command.name}"
            )
        if not subject.engine.design.capabilities.constant_time:
            settings = " ".join(f"{name}={value}" for name, value in subject.engine.values.items())
            raise ValueError(
                f"{subject.engine.family.name} with {settings} is not constant-time, so its traces"
                " do not align: choose -p exponentiator=fixed-window"
            )
        if self.operation_number not in range(1, _OPERATIONS + 1):
            raise ValueError(
                f"--operation-number must be in 1..{_OPERATIONS}, not {self.operation_number}"
            )
        if self.noise < 0 or not math.isfinite(self.noise):
            raise ValueError(f"--noise must be 0 or more, not {self.noise}")
        if self.test.role and not self._tested:
            *tests, last = (
                one.value for one in LeakageTest if not one.role or self._encoding.names(one.role)
            )
            raise ValueError(
                f"{subject.command.name} is given no {self.test.value}: choose --test"
                f" {', '.join(tests)} or {last}"
            )
        pairs = 0 if self.products is None else self.products.pairs
        if pairs > _PAIRS:
            raise ValueError(f"--products are {pairs:,} pairs of cycles, more than {_PAIRS:,}")
        design = subject.engine.design
        cycles = predict_operation(design, subject.command, self.fixed_numbers).cycles
        if self.cycles is not None:
            first, end = self.cycles
            if not 0 <= first < end:
                raise ValueError(f"--cycles must be FIRST..END, in order, not {first}..{end}")
            cycles = end - first
        needed = cycles * _COLUMNS * 8 * 2 * self.powers
        if needed > MEMORY:
            raise ValueError(
                f"the moments of {cycles:,} cycles need {needed / 2**30:.0f} GiB of memory, more"
                f" than {MEMORY >> 30}: choose fewer --bits than {subject.bits}, or part of the"
                " --cycles"
            )

    @property
    def powers(self) -> int:
        """Of samples, whose sums the tests need."""
        return 4 if self.second_order else 2

    @property
    def _tested(self) -> list[str]:
        """Inputs that one group has fixed and the other one random."""
        return self._encoding.names(self.test.role) if self.test.role else []

    def draw(self, number: int) -> DrawnTrace:
        """What the trace of this number follows from."""
        generator = random.Random(f"{self.subject.seed} {number}")
        fixed = bool(generator.getrandbits(1))
        return self._drawn(fixed, self._numbers(fixed, generator), generator)

    @cached_property
    def reference(self) -> DrawnTrace:
        """What the trace follows from that others are compared with."""
        return self._drawn(True, self.fixed_numbers, random.Random(self.subject.seed))

    def _drawn(self, fixed: bool, numbers: Numbers, generator: random.Random) -> DrawnTrace:
        count = self.operation_number
        # More random bytes than an operation takes.
        random_bytes = generator.randbytes(count * (self.subject.bits + 256))
        before = [self._redrawn(numbers, self._random_inputs, generator) for _ in range(count - 1)]
        return DrawnTrace(fixed, numbers, before, random_bytes)

    def input_of(self, numbers: Numbers) -> int:
        """The number that a test of the message varies; 0 for an operation without one."""
        names = self._encoding.names(InputRole.MESSAGE)
        return numbers[names[0]] if names else 0

    def _numbers(self, fixed: bool, generator: random.Random) -> Numbers:
        """Input and nonce are random in both groups, unless they are what is tested."""
        varied = self._random_inputs
        if self.test.fixes_input and fixed:
            varied = [name for name in varied if name not in self._tested]
        elif not self.test.fixes_input and not fixed:
            varied = [*varied, *self._tested]
        return self._redrawn(self.fixed_numbers, varied, generator)

    @property
    def _random_inputs(self) -> list[str]:
        """Inputs and nonces."""
        return [*self._encoding.names(InputRole.MESSAGE), *self._encoding.names(InputRole.NONCE)]

    def _redrawn(self, numbers: Numbers, names: list[str], generator: random.Random) -> Numbers:
        """With others of these numbers, of the same lengths."""
        return self._encoding.redrawn(numbers, names, self._source(generator))


class TraceRecorder:
    """Records the traces of an acquisition. Raises as PowerDevice, DeviceError as `trace`,
    and ValueError for cycles that a trace does not have.

    Attributes
    ----------
    acquisition (Acquisition)
    device (PowerDevice)
    reference (array of (cycles, columns)): the trace of the fixed operands
    places (Places): the step of the program in each cycle
    cycles (pair of ints): the first one that is tested, and the one after the last one
    """

    def __init__(self, acquisition: Acquisition):
        subject = acquisition.subject
        self.acquisition = acquisition
        self.device = PowerDevice(
            subject.verilog(), subject.engine.module_name, model=acquisition.model
        )
        self._accelerator = Accelerator(self.device)
        self._state = self.device.save()
        before = self.device.cycles
        if not self._is_right(self._run_reference()):
            raise DeviceError("the device computes a wrong result")
        begins = self.device.begins - before
        self.places = places_of(subject.engine.design, self.device, self._run_reference, begins)
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

    def _is_right(self, value: int) -> bool:
        operation = self.acquisition.subject.command.operation
        half_bits = self.acquisition.subject.engine.design.capabilities.half_bits
        outputs = operation.encoding.decode(value, half_bits)
        return operation.accepts(self.acquisition.fixed_numbers, outputs)

    @cached_property
    def many(self) -> ManyTraces:
        """What records many traces at once."""
        own, subject = self.acquisition, self.acquisition.subject
        return ManyTraces(
            self.device,
            subject.verilog(),
            subject.engine.module_name,
            model=own.model,
            reference=self.reference,
            start=self._start(own.reference),
        )

    def start(self, number: int) -> tuple[bool, Numbers, Start]:
        """Whether a trace is of the fixed group, its operands, and where it begins."""
        drawn = self.acquisition.draw(number)
        return drawn.fixed, drawn.numbers, self._start(drawn)

    def _start(self, drawn: DrawnTrace) -> Start:
        return start_of(self.device, drawn.random_bytes, lambda: self._run(drawn))

    def trace(self, number: int) -> tuple[bool, Numbers, npt.NDArray[np.uint16]]:
        """Whether a trace is of the fixed group, its operands, and the trace, without noise.

        DeviceError if it takes other cycles than the reference.
        """
        drawn = self.acquisition.draw(number)
        self._run(drawn)
        trace = self.device.trace
        if trace.shape != self.reference.shape:
            raise DeviceError(
                f"an operation took {len(trace)} cycles and another one {len(self.reference)}: the"
                " design is not constant-time, and its traces do not align"
            )
        return drawn.fixed, drawn.numbers, trace

    def _run_reference(self) -> int:
        return self._run(self.acquisition.reference)

    def _run(self, drawn: DrawnTrace) -> int:
        command = self.acquisition.subject.command
        self.device.restore(self._state)
        self.device.give_random(drawn.random_bytes)
        self._accelerator.forget()
        with self.device.without_traces():
            for numbers in drawn.before:
                self._accelerator.operate(command, numbers)
        return self._accelerator.operate(command, drawn.numbers).value
