"""What is assessed, of either kind: an operation on a design, and what an application gets."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, Self

from coprime.device.base import Device
from coprime.device.faulty import FaultyDevice

from .fault_kinds import FaultKind

ACCESS_LIMIT = 2000
"""Cycles without an answer after which the bus hangs; the hardware answers within 1,100."""
RANDOM_BYTES = 1 << 20
"""Of the random source: more than an operation takes, so that every run of it gets the same."""
ANOTHER_SEED = 1_000_003
"""Added to a seed for inputs of the same kind."""


class Outcome(StrEnum):
    """What an application gets."""

    RIGHT = "right"
    ERROR = "error"  # the driver raises an error of the hardware, or of a refused access
    NO_END = "no_end"  # no interrupt comes, or the bus does not answer: a reset helps
    WRONG = "wrong"


@dataclass(frozen=True)
class Judgement:
    """What a result is that differs from the one without a fault.

    Parameters
    ----------
    outcome : RIGHT or WRONG
    reveals : it gives a secret away
    another_input : it is right for an input that differs in one place
    refused : it is that of inputs that were refused
    """

    outcome: Outcome = Outcome.WRONG
    reveals: bool = False
    another_input: bool = False
    refused: bool = False


class Subject(Protocol):
    """An operation on one design, with inputs and random bytes of a seed.

    Results are compared with `==`. Two subjects are equal if they run the same.
    """

    @property
    def name(self) -> str:
        """The family, or `cluster`."""

    @property
    def values(self) -> Mapping[str, Any]:
        """The parameters of the design."""

    @property
    def operation(self) -> str:
        """The name of what is run."""

    @property
    def size(self) -> Mapping[str, Any]:
        """What else determines the operation, as records have it: its length, or its set."""

    @property
    def title(self) -> str:
        """What is run on what, in words."""

    @property
    def seed(self) -> int:
        """Of everything that is drawn."""

    @property
    def command_line(self) -> str:
        """The command that assesses it, without options for its faults."""

    @property
    def start(self) -> int:
        """Address of the register whose last write starts the operation."""

    @property
    def counters(self) -> Sequence[str]:
        """Ends of the names of program counters; none where the hardware has no program."""

    @property
    def step_registers(self) -> Sequence[str]:
        """Ends of the names of registers that tell the steps of the operation apart."""

    @property
    def kinds(self) -> Sequence[FaultKind]:
        """The faults that the hardware can have."""

    @property
    def classes(self) -> Sequence[str]:
        """The properties of wrong results that are counted: names of fields of Judgement."""

    @property
    def checked(self) -> bool:
        """Whether the hardware promises that a wrong result of this operation is never read."""

    @property
    def predicted_cycles(self) -> int:
        """In which the engine works on it, without a fault."""

    def open(self) -> FaultyDevice:
        """Simulate the whole design. Raises as FaultyDevice."""

    def prepare(self, device: Device) -> tuple[Any, Any]:
        """A driver that has given the result of unrelated inputs, and that result.

        What is left of it is wrong for the operation. The driver is copied for every run.
        """

    def operate(self, driver: Any) -> Any:
        """What the driver then gives to an application. Raises what the driver raises."""

    def is_right(self, result: Any) -> bool:
        """Whether it is a right result."""

    def judge(self, result: Any, before: Any, others: Callable[[], Iterable[Any]]) -> Judgement:
        """What a result is that differs from the one without a fault.

        Parameters
        ----------
        result : what `operate` gave
        before : the result of `prepare`
        others : those that the same fault has changed, with other random bytes
        """

    def another_draw(self, number: int) -> Self:
        """The same with other random bytes: those of draw `number`, 1 or more."""

    def text(self, result: Any) -> str:
        """A result as tables have it."""
