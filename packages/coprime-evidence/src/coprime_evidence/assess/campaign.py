"""Runs of an operation with one fault in each, and what an application got from the driver."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

from coprime.device.base import BusTimeout, Closing, DeviceError, InterruptTimeout
from coprime.device.jobs import EngineError
from coprime.engine.contract import Error

from .faults import Fault, Targets
from .replay import AccessRecorder, NoEffect, Replay
from .subject import Outcome, Subject

_CHECKPOINTS = 2048
_LEAST_INTERVAL = 32
_LEAST_LIMIT = 100_000
"""Cycles of an operation without a fault beyond those that are waited for, at most."""
_PLACE = 3
_PATIENCE = 2  # operations that are waited for an end
_LEAST_PATIENCE = 4096
"""Cycles that are waited at least: an access of the driver may wait for 1,023."""
_DRAWS = 8
"""Nonces that a fault is tried with, where it changes them: enough for `key_follows` of 64 bits."""


@dataclass(frozen=True, kw_only=True)
class FaultRun:
    """What became of a fault."""

    fault: Fault
    outcome: Outcome
    place: str  # the component, cut after its third name; a memory is a place of its own
    step: str  # what was executed in the fault's cycle
    error: Error = Error.NONE
    """Of an outcome ERROR: the hardware's code; NONE for a refused access, and otherwise."""
    value: Any = None  # the wrong result; None otherwise
    reveals: bool = False  # the wrong result gives a secret away
    another_input: bool = False  # the wrong result is right for an input that differs in one place
    refused: bool = False  # the wrong result is that of inputs that were refused


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
        self._expected: Any = None
        self._limit = _LEAST_LIMIT + _PATIENCE * subject.predicted_cycles
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
        self.targets = Targets(device.registers, self._steps(seen), subject.counters)

    def close(self) -> None:
        """Close the simulated device, and those of other draws."""
        for campaign in (self, *self._of_other_draws):
            campaign.device.close()

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
        verdict = self.subject.judge(value, self._before, partial(self._of_others, fault))
        wrong = verdict.outcome is Outcome.WRONG
        return outcome(**verdict.__dict__, value=value if wrong else None)

    def _operate(self, fault: Fault) -> Any:
        replay = Replay(
            self.device,
            self._accesses,
            self._start + fault.cycle,
            fault.strike(self.device, self.targets),
            duration=fault.duration,
            patience=max(_LEAST_PATIENCE, _PATIENCE * self.cycles),
        )
        return self.subject.operate(deepcopy(self._prepared, {id(self._recorder): replay}))

    def _of_others(self, fault: Fault) -> list[Any]:
        """The results that the same fault has changed, of other draws.

        Cycles do not depend on what is drawn.
        """
        found = [campaign.changed_result(fault) for campaign in self.other_draws()]
        return [result for result in found if result is not None]

    def other_draws(self) -> Sequence["Campaign"]:
        """The same operation with other random bytes."""
        if not self._of_other_draws:
            others = range(1, _DRAWS)
            self._of_other_draws = [
                Campaign(self.subject.another_draw(number)) for number in others
            ]
        return self._of_other_draws

    def changed_result(self, fault: Fault) -> Any:
        """The result that a fault has changed; None if it has not, or if there is none."""
        try:
            value = self._operate(fault)
        except (NoEffect, EngineError, DeviceError, ValueError):  # a timeout among these
            return None
        return None if value == self._expected else value

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
        if self._expected is None and value is not None and self.subject.is_right(value):
            self._expected = value
        if value is None or value != self._expected:
            raise DeviceError(
                f"{self.subject.operation} on {self.subject.name} does not work where registers"
                " are visible, without any fault"
            )
        self._accesses = recorder.accesses[first:]

    def _begin_of_command(self) -> int:
        """The cycle before the last write that starts a command."""
        call = ("write32", self.subject.start)
        return max(access.begin for access in self._accesses if access.call[:2] == call)

    def _observe(self, start: int, cycles: int) -> list[tuple[int, ...]]:
        """A list that will have, for each of these cycles, what some registers have in it."""
        device, seen = self.device, list[tuple[int, ...]]()
        watched = [
            register
            for name, register in sorted(device.registers.items())
            if name.endswith(tuple(self.subject.step_registers))
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
