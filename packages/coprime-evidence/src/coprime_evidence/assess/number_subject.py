"""An operation on numbers, on an accelerator or a cluster, and what an application gets."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

from coprime.bus import cluster_registers, registers
from coprime.catalog import CLUSTER, Choice, ClusterChoice
from coprime.device.accelerator import Accelerator
from coprime.device.base import Device, DeviceError
from coprime.device.cluster import Cluster
from coprime.device.faulty import FaultyDevice
from coprime.device.jobs import EngineDriver
from coprime.engine.contract import Command
from coprime.flow.parts import accelerator_verilog, cluster_verilog
from coprime.operations.operation import Numbers
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import random_numbers

from .fault_kinds import FaultKind
from .subject import ACCESS_LIMIT, ANOTHER_SEED, RANDOM_BYTES, Judgement
from .verdicts import VERDICTS, Verdicts


@dataclass(frozen=True)
class NumberSubject:
    """A Subject: an operation on one accelerator, with a key or operands, input and random bytes.

    All of these are drawn from a seed.

    Raises ValueError as `random_numbers`, and for a second operation of one that has none.
    """

    choice: Choice | ClusterChoice  # what is built
    command: Command  # one that has a result
    bits: int  # length of the modulus
    seed: int  # of everything that is drawn
    draw: int = 0
    """Which random bytes the hardware gets of that seed: another operation of the same key."""
    number: int | None = None
    """1 for the first operation of a key, after one of another key; 2 for its second, of another
    input; None for 1 on curves, and 2 otherwise."""

    start: ClassVar[int] = registers.COMMAND.address
    step_registers: ClassVar[Sequence[str]] = (
        *("program_memory.pc", "current_context.current", "front_end.control.fsm_state"),
    )
    classes: ClassVar[Sequence[str]] = ("reveals", "another_input")

    def __post_init__(self) -> None:
        if self.number == 2 and not self.command.operation.encoding.of_a_message:
            raise ValueError(
                f"{self.command.name} keeps nothing of a key for its second operation; choose"
                " --operation-number 1"
            )
        _ = self.numbers

    @property
    def engine(self) -> Choice:
        """The family and parameters of the engine."""
        return self.choice.core

    @property
    def name(self) -> str:
        """The family, or `cluster`."""
        return CLUSTER if isinstance(self.choice, ClusterChoice) else self.choice.family.name

    @property
    def values(self) -> Mapping[str, Any]:
        """The parameters of the design."""
        return self.choice.values

    @property
    def operation(self) -> str:
        """The command's name."""
        return self.command.name

    @property
    def size(self) -> Mapping[str, Any]:
        """The length."""
        return {"bits": self.bits}

    @property
    def title(self) -> str:
        """What is run on what, in words."""
        return f"{self.command.name} of {self.bits:,} bits on {self.name}"

    @property
    def predicted_cycles(self) -> int:
        """In which the engine works, by its model."""
        return predict_operation(self.engine.design, self.command, self.numbers).cycles

    @cached_property
    def numbers(self) -> Numbers:
        """What the operation works on."""
        return self._drawn(self.seed)

    def _drawn(self, seed: int) -> Numbers:
        capabilities = self.engine.design.capabilities
        return random_numbers(self.command, self.bits, seed, modulus=capabilities.fixed_modulus)

    @cached_property
    def before(self) -> Numbers:
        """What the operation before works on."""
        encoding = self.command.operation.encoding
        if (self.number or encoding.usual_number) == 1:
            return self._drawn(self.seed + ANOTHER_SEED)
        return encoding.another_message(self.numbers, random.Random(f"{self.seed} before"))

    @cached_property
    def verdicts(self) -> Verdicts:
        """What an attacker makes of results."""
        operation = self.command.operation
        half_bits = self.engine.design.capabilities.half_bits
        of_operation = VERDICTS.get(operation.name, Verdicts)
        return of_operation(operation, self.numbers, self.before, half_bits)

    @property
    def counters(self) -> Sequence[str]:
        """One name; none of hardware for a single modulus, which has no program."""
        program = self.engine.design.capabilities.fixed_modulus is None
        return ["program_memory.address"] if program else []

    @property
    def kinds(self) -> Sequence[FaultKind]:
        """The faults that the hardware can have."""
        return [kind for kind in FaultKind if self.counters or kind is not FaultKind.SKIP]

    @property
    def checked(self) -> bool:
        """Whether the hardware promises that a wrong result of this operation is never read."""
        return self.command in self.engine.design.capabilities.with_check

    def is_right(self, result: int) -> bool:
        """Whether it is the right number, or a valid signature."""
        return self.verdicts.is_right(result)

    def judge(self, result: int, before: int, others: Callable[[], Iterable[int]]) -> Judgement:
        """As of Subject."""
        return self.verdicts.judge(result, before, others)

    def another_draw(self, number: int) -> Self:
        """The same with other nonces."""
        return replace(self, draw=number)

    def text(self, result: int) -> str:
        """In hexadecimal digits."""
        return f"{result:x}"

    @property
    def command_line(self) -> str:
        """The command that assesses it, without options for its faults."""
        return (
            f"{self.choice.command('assess faults')} --operation {self.command.name}"
            f" --bits {self.bits} --seed {self.seed}{self._number_option}"
        )

    @property
    def _number_option(self) -> str:
        return "" if self.number is None else f" --operation-number {self.number}"

    def verilog(self) -> str:
        """Verilog of the whole design."""
        return accelerator_verilog(self.engine)

    def open(self) -> FaultyDevice:
        """Simulate the whole design. Raises as FaultyDevice."""
        device = FaultyDevice(self.verilog(), self.choice.module_name, access_limit=ACCESS_LIMIT)
        text = f"{self.seed} random bytes" + (f" {self.draw}" if self.draw else "")
        device.give_random(random.Random(text).randbytes(RANDOM_BYTES))
        return device

    def prepare(self, device: Device) -> tuple[EngineDriver, int]:
        """A driver that has given the result of an unrelated input, and that result.

        What is left of it is wrong for the operation.
        """
        accelerator = Accelerator(device)
        return accelerator, accelerator.operate(self.command, self.before).value

    def operate(self, driver: EngineDriver) -> int:
        """What the driver then gives to an application. Raises what the driver raises."""
        assert isinstance(driver, Accelerator)
        return driver.operate(self.command, self.numbers).value


class ClusterSubject(NumberSubject):
    """The same on the last core of a cluster, while the first one works on another input.

    What an application gets is the value of that core's completion.
    """

    start = cluster_registers.COMMAND.address

    def verilog(self) -> str:
        """Verilog of the whole design."""
        assert isinstance(self.choice, ClusterChoice)
        return cluster_verilog(self.choice)

    def prepare(self, device: Device) -> tuple[EngineDriver, int]:
        """As of NumberSubject: the cluster's driver, and the last core's result."""
        cluster = Cluster(device)
        self._submit(cluster, cluster.cores - 1, self.before)
        return cluster, self._completion_of(cluster, cluster.cores - 1)

    def operate(self, driver: EngineDriver) -> int:
        """As of NumberSubject."""
        assert isinstance(driver, Cluster)
        last = driver.cores - 1
        if last:
            self._submit(driver, 0, self.before)
        self._submit(driver, last, self.numbers)
        return self._completion_of(driver, last)

    def _submit(self, cluster: Cluster, core: int, numbers: Numbers) -> None:
        cluster.start(core, cluster.operation_job(self.command, numbers))

    def _completion_of(self, cluster: Cluster, core: int) -> int:
        while (done := cluster.completion()) is None or done.core != core:
            if done is None:
                cluster.wait()
        if done.error:
            raise cluster.error_of(done)
        if done.value is None:
            raise DeviceError("the core ended without an error and without a result")
        return done.value
