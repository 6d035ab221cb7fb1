"""Runs of an operation with one fault in each, and what an application got from the driver."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from coprime.device.base import BusTimeout, Closing, DeviceError, InterruptTimeout
from coprime.device.jobs import EngineError
from coprime.engine.contract import Error
from coprime.runs.execution import predict_operation

from .faults import Fault, Targets
from .replay import AccessRecorder, NoEffect, Replay
from .subject import Subject

_CHECKPOINTS = 2048
_LEAST_INTERVAL = 32
_LEAST_LIMIT = 100_000
"""Cycles of an operation without a fault beyond those that are waited for, at most."""
_PLACE = 3
_PATIENCE = 2  # operations that are waited for an end
_DRAWS = 8
"""Nonces that a fault is tried with, where it changes them: enough for `key_follows` of 64 bits."""
_STEP_REGISTERS = ("program_memory.pc", "current_context.current", "front_end.control.fsm_state")
"""What a step is known by: the access or wait of the driver, and what these registers have."""


class Outcome(StrEnum):
    """What an application gets."""

    RIGHT = "right"
    ERROR = "error"  # the driver raises an error of the hardware, or of a refused access
    NO_END = "no_end"  # no interrupt comes, or the bus does not answer: a reset helps
    WRONG = "wrong"


@dataclass(frozen=True, kw_only=True)
class FaultRun:
    """What became of a fault."""

    fault: Fault
    outcome: Outcome
    place: str  # the component, cut after its third name; a memory is a place of its own
    step: str  # what was executed in the fault's cycle
    error: Error = Error.NONE
    """Of an outcome ERROR: the hardware's code; NONE for a refused access, and otherwise."""
    value: int | None = None  # the wrong result; None otherwise
    reveals: bool = False  # the wrong result gives the key away
    another_input: bool = False  # the wrong result is right for an input that differs in one place


class Campaign(Closing):
    """An operation, recorded once, to be run with faults.

    Its cycles begin with the access that starts the command, and end with the driver's last one.

    Parameters
    ----------
    subject : what is run

    Attributes
    ----------
    device (FaultyDevice)
    cycles (int): of the operation, accesses included
    targets (Targets): what faults can be drawn from

    Raises as `Subject.open`, and DeviceError if the operation does not work without a fault.
    """

    def __init__(self, subject: Subject):
        self.subject = subject
        self._of_other_draws: list[Campaign] = []
        device = self.device = subject.open()
        self._expected = subject.expected
        predicted = predict_operation(subject.engine.design, subject.command, subject.operands)
        self._limit = _LEAST_LIMIT + _PATIENCE * predicted.cycles
        fresh, begin = device.save(), device.cycles
        # Once to see where the operation begins and how long it takes, then in detail.
        self._record(self._limit)
        start = self._begin_of_command()
        self.cycles = self._accesses[-1].end - start
        device.restore(fresh)
        self._start = device.cycles + start - begin
        seen = self._observe(self._start, self.cycles)
        self._record(max(_LEAST_INTERVAL, self.cycles // _CHECKPOINTS))
        assert self._begin_of_command() == self._start
        self.targets = Targets(device.registers, self._steps(seen))

    def close(self) -> None:
        """Close the simulated device, and those of other draws."""
        for one in (self, *self._of_other_draws):
            one.device.close()

    def run(self, fault: Fault) -> FaultRun:
        """Run the operation with a fault, one of `targets`."""
        outcome = partial(
            FaultRun, fault=fault, place=self._place(fault), step=self.targets.steps[fault.cycle]
        )
        try:
            value = self._operate(fault)
        except NoEffect:
            return outcome(outcome=Outcome.RIGHT)
        except (InterruptTimeout, BusTimeout):
            return outcome(outcome=Outcome.NO_END)
        except EngineError as error:
            return outcome(outcome=Outcome.ERROR, error=error.code)
        except (DeviceError, ValueError):  # a refused access, or an answer that cannot be
            return outcome(outcome=Outcome.ERROR)
        if value == self._expected:
            return outcome(outcome=Outcome.RIGHT)
        subject = self.subject
        if subject.is_signature(value):  # with another nonce, which is as good unless it follows
            follows = subject.nonce_follows(value, self._before) or self._key_follows(fault, value)
            right = outcome(outcome=Outcome.RIGHT)
            return outcome(outcome=Outcome.WRONG, value=value, reveals=True) if follows else right
        return outcome(
            outcome=Outcome.WRONG,
            value=value,
            reveals=subject.reveals(value),
            another_input=subject.is_of_another_input(value),
        )

    def _operate(self, fault: Fault) -> int:
        replay = Replay(
            self.device,
            self._accesses,
            self._start + fault.cycle,
            fault.strike(self.device, self.targets),
            duration=fault.duration,
            patience=_PATIENCE * self.cycles,
        )
        return self.subject.operate(deepcopy(self._prepared, {id(self._recorder): replay}))

    def _key_follows(self, fault: Fault, value: int) -> bool:
        """Whether the same fault on other draws gives signatures from which the key follows.

        Those that it does not change are left out. Cycles do not depend on what is drawn.
        """
        found = [one.another_signature(fault) for one in self.other_draws()]
        return self.subject.key_follows([value, *(one for one in found if one is not None)])

    def other_draws(self) -> Sequence["Campaign"]:
        """The same operation with other nonces."""
        if not self._of_other_draws:
            others = range(1, _DRAWS)
            self._of_other_draws = [Campaign(replace(self.subject, draw=one)) for one in others]
        return self._of_other_draws

    def another_signature(self, fault: Fault) -> int | None:
        """The signature that a fault has changed, if it is valid; None if there is none."""
        try:
            value = self._operate(fault)
        except (NoEffect, EngineError, DeviceError, ValueError):  # a timeout among these
            return None
        valid = value != self._expected and self.subject.is_signature(value)
        return value if valid else None

    def _place(self, fault: Fault) -> str:
        register = self.device.registers.get(fault.name)
        path = fault.name.split(".")
        if register is None:
            return ".".join(path[:_PLACE])
        return ".".join(path[:-1][:_PLACE]) + (" (memory)" if register.is_memory else "")

    def _record(self, interval: int) -> None:
        """Run the operation, and keep the driver as it is before it, and the accesses of it."""
        self._recorder = recorder = AccessRecorder(self.device, interval, self._limit)
        try:
            driver, self._before = self.subject.prepare(recorder)
            self._prepared = deepcopy(driver, {id(recorder): recorder})
            first = len(recorder.accesses)
            value = self.subject.operate(driver)
        except InterruptTimeout:
            value = None
        if self._expected is None and value is not None and self.subject.is_signature(value):
            self._expected = value
        if value is None or value != self._expected:
            raise DeviceError(
                f"{self.subject.command.name} on {self.subject.name} does not work where registers"
                " are visible, without any fault"
            )
        self._accesses = recorder.accesses[first:]

    def _begin_of_command(self) -> int:
        """The cycle before the last write that starts a command."""
        call = ("write32", self.subject.start)
        return max(one.begin for one in self._accesses if one.call[:2] == call)

    def _observe(self, start: int, cycles: int) -> list[tuple[int, ...]]:
        """A list that will have, for each of these cycles, what some registers have in it."""
        device, seen = self.device, list[tuple[int, ...]]()
        watched = [
            register
            for name, register in sorted(device.registers.items())
            if name.endswith(_STEP_REGISTERS)
        ]

        def observe() -> int | None:
            seen.append(tuple(map(device.peek, watched)))
            return start + len(seen) if len(seen) < cycles else None

        device.call_at(start, observe)
        return seen

    def _steps(self, seen: Sequence[tuple[int, ...]]) -> list[str]:
        """In words, what was executed in each cycle: an access or a wait, and the registers."""
        steps: list[str] = []
        for access in self._accesses:
            name, *arguments = access.call
            what = f"{name} 0x{arguments[0]:03X}" if arguments else name
            for cycle in range(max(access.begin, self._start), access.end):
                values = seen[cycle - self._start]
                steps.append(" ".join((what, *map(str, values))))
        return steps
