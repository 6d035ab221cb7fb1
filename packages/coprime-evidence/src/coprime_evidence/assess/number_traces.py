"""Traces of operations on numbers: what is drawn for each of them."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

from coprime.device.accelerator import Accelerator
from coprime.engine.contract import Command
from coprime.operations.operation import Encoding, InputRole, Numbers, Source
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import domain_of

from .number_subject import NumberSubject
from .places import Places, places_of_program
from .power import PowerDevice
from .traces import DrawnTrace

_OPERATIONS = 1000  # with a key, at most: each one is simulated for every trace


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
class NumberTraces:
    """A TraceSource: an operation that has a secret, on one accelerator."""

    subject: NumberSubject
    test: LeakageTest = LeakageTest.MESSAGE
    operation_number: int = 1
    """Which operation with a key is traced: the first one after the key was loaded is 1. Those
    before it have random inputs and nonces in both groups."""

    varies = False

    @property
    def seed(self) -> int:
        """Of all draws."""
        return self.subject.seed

    @property
    def settings(self) -> Mapping[str, Any]:
        """As of TraceSource."""
        subject = self.subject
        return {
            "family": subject.engine.family.name,
            "parameters": dict(subject.engine.values),
            "operation": subject.command.name,
            "bits": subject.bits,
            "operation_number": self.operation_number,
            "test": self.test.value,
            "seed": subject.seed,
        }

    @property
    def title(self) -> str:
        """What is run on what, in words."""
        return self.subject.title

    @property
    def command_line(self) -> str:
        """The command that assesses it, without options for its traces."""
        subject = self.subject
        return (
            f"{subject.choice.command('assess leakage')} --operation {subject.command.name}"
            f" --bits {subject.bits} --seed {subject.seed} --test {self.test.value}"
        )

    @property
    def module_name(self) -> str:
        """The module of `verilog`."""
        return self.subject.engine.module_name

    @property
    def predicted_cycles(self) -> int:
        """Of the fixed numbers."""
        design = self.subject.engine.design
        return predict_operation(design, self.subject.command, self.fixed_numbers).cycles

    def verilog(self) -> str:
        """Of the whole design."""
        return self.subject.verilog()

    def check(self) -> None:
        """Raise ValueError unless the operation has what is tested, and traces align."""
        subject = self.subject
        if not subject.command.operation.has_secret_exponent:
            *others, last = (
                command.name for command in Command if command.operation.has_secret_exponent
            )
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
        if self.test.role and not self._tested:
            *tests, last = (
                test.value
                for test in LeakageTest
                if not test.role or self._encoding.names(test.role)
            )
            raise ValueError(
                f"{subject.command.name} is given no {self.test.value}: choose --test"
                f" {', '.join(tests)} or {last}"
            )

    @cached_property
    def fixed_numbers(self) -> Numbers:
        """Those of the fixed group."""
        names = self._tested if self.test is LeakageTest.EXPONENT else []
        source = self._source(random.Random(self.subject.seed))
        return self._encoding.comparable(self.subject.numbers, names, source)

    @cached_property
    def reference(self) -> DrawnTrace:
        """What the trace follows from that others are compared with."""
        return self._drawn(True, self.fixed_numbers, random.Random(self.subject.seed))

    def draw(self, number: int) -> DrawnTrace:
        """What the trace of this number follows from."""
        generator = random.Random(f"{self.subject.seed} {number}")
        fixed = bool(generator.getrandbits(1))
        return self._drawn(fixed, self._numbers(fixed, generator), generator)

    def _drawn(self, fixed: bool, numbers: Numbers, generator: random.Random) -> DrawnTrace:
        count = self.operation_number
        # More random bytes than an operation takes.
        random_bytes = generator.randbytes(count * (self.subject.bits + 256))
        before = [self._redrawn(numbers, self._random_inputs, generator) for _ in range(count - 1)]
        return DrawnTrace(fixed, numbers, random_bytes, before)

    def input_bytes(self, values: Numbers) -> bytes:
        """The number that a test of the message varies, the highest byte first; 0 for an operation
        without one."""
        names = self._encoding.names(InputRole.MESSAGE)
        number = values[names[0]] if names else 0
        return number.to_bytes((self.subject.bits + 7) // 8, "big")

    def driver(self, device: PowerDevice) -> Callable[[DrawnTrace], int]:
        """As of TraceSource."""
        accelerator, command = Accelerator(device), self.subject.command

        def run(drawn: DrawnTrace) -> int:
            accelerator.forget()
            with device.without_traces():
                for numbers in drawn.before:
                    accelerator.operate(command, numbers)
            return accelerator.operate(command, drawn.values).value

        return run

    def is_right(self, result: int) -> bool:
        """Whether it is the reference's."""
        operation = self.subject.command.operation
        half_bits = self.subject.engine.design.capabilities.half_bits
        outputs = operation.encoding.decode(result, half_bits)
        return operation.accepts(self.fixed_numbers, outputs)

    def places(self, device: PowerDevice, run: Callable[[], object], first: int) -> Places:
        """As of TraceSource."""
        return places_of_program(self.subject.engine.design, device, run, first)

    @property
    def _encoding(self) -> Encoding:
        return self.subject.command.operation.encoding

    def _source(self, generator: random.Random) -> Source:
        """Of another key, or of the same curve."""
        subject = self.subject
        return Source(generator, lambda: domain_of(subject.command, subject.bits, generator))

    @property
    def _tested(self) -> list[str]:
        """Inputs that one group has fixed and the other one random."""
        return self._encoding.names(self.test.role) if self.test.role else []

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
