"""The accesses of a driver, recorded once, and runs of the same driver that begin near their end.

A run with a fault is the run without one up to the fault. So the driver's accesses before it get
the recorded answers, without simulation; the simulation goes on from the last checkpoint before the
fault. And if, after the fault, all answers and the whole state are those of the record again, so is
everything after.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from coprime.device.base import BlockDevice, Closing, InterruptTimeout
from coprime.device.faulty import FaultyDevice


@dataclass(frozen=True)
class Access:
    """An access, or a wait for the interrupt.

    Parameters
    ----------
    call : name of the device's method, and its arguments
    answer : what it returned
    begin, end : clock cycles before it and after it
    states : the device's state at its begin, and in a wait at some cycles after it
    """

    call: tuple[Any, ...]
    answer: Any
    begin: int
    end: int
    states: Sequence[tuple[int, bytes]] = field(repr=False)


class NoEffect(Exception):  # noqa: N818
    """The state and all answers are as without the fault."""


class _Through(Closing, BlockDevice):
    """A Device that passes every access to `_pass`."""

    def _pass(self, *call: Any) -> Any:
        raise NotImplementedError

    def read32(self, address: int) -> int:
        """As Device.read32."""
        return int(self._pass("read32", address))

    def write32(self, address: int, value: int) -> None:
        """As Device.write32."""
        self._pass("write32", address, value)

    def read_block(self, address: int, count: int) -> list[int]:
        """As BlockDevice.read_block."""
        return list(self._pass("read_block", address, count))

    def write_block(self, address: int, values: Sequence[int]) -> None:
        """As BlockDevice.write_block."""
        self._pass("write_block", address, values)

    def wait_interrupt(self, timeout: float | None = None) -> None:
        """As Device.wait_interrupt, without `timeout`."""
        self._pass("wait_interrupt")

    def close(self) -> None:
        """Leave the device open."""


class AccessRecorder(_Through):
    """A Device that records the accesses to another one.

    Parameters
    ----------
    device : the other one
    interval : cycles of a wait between two checkpoints, at least 1
    limit : cycles that a wait may take

    Attributes
    ----------
    accesses : list of Access

    Raises InterruptTimeout when a wait takes more than `limit`.
    """

    def __init__(self, device: FaultyDevice, interval: int, limit: int):
        self._device, self._interval, self._limit = device, interval, limit
        self.accesses: list[Access] = []

    def _pass(self, *call: Any) -> Any:
        device = self._device
        states = [(device.cycles, device.save())]
        begin = device.cycles
        if call[0] == "wait_interrupt":
            answer = None
            while not device.wait(self._interval):
                states.append((device.cycles, device.save()))
                if device.cycles - begin > self._limit:
                    raise InterruptTimeout(f"no interrupt came in {self._limit} clock cycles")
        else:
            answer = getattr(device, call[0])(*call[1:])
        self.accesses.append(Access(call, answer, begin, device.cycles, states))
        return answer


class Replay(_Through):
    """A Device that answers as recorded, until it is time for a fault.

    Parameters
    ----------
    device : of the same kind as the recorded one
    accesses : the record
    cycle : when the fault strikes, by the record's cycles; before the record's end
    strike : changes the device then; gives the next cycle in which it is called, counted from
        `cycle`, or None
    duration : cycles after `cycle` in which it may be called
    patience : cycles after the fault that are waited for an end

    Raises NoEffect from an access as soon as the fault has left no trace; InterruptTimeout when
    `patience` is over.
    """

    def __init__(
        self,
        device: FaultyDevice,
        accesses: Sequence[Access],
        cycle: int,
        strike: Callable[[], int | None],
        *,
        duration: int,
        patience: int,
    ):
        self._device, self._accesses = device, accesses
        self._cycle, self._strike = cycle, strike
        self._settled, self._end = cycle + duration, cycle + patience
        self._next = 0
        self._offset: int | None = None
        """The device's cycles less those of the record; None before the simulation goes on."""
        self._same = True
        """Whether all answers were those of the record."""

    def _pass(self, *call: Any) -> Any:
        recorded = self._accesses[self._next] if self._same else None
        self._next += 1
        if self._offset is None:
            assert recorded is not None and recorded.call == call
            if recorded.end <= self._cycle:
                return recorded.answer
            self._go_on(recorded)
        elif recorded is not None and self._now == recorded.begin:
            self._compare(recorded.states[0][1])
        if self._now > self._end:
            raise InterruptTimeout("the fault has left no end")
        answer = None
        if call[0] == "wait_interrupt":
            self._wait(recorded)
        else:
            answer = getattr(self._device, call[0])(*call[1:])
        self._same = self._same and recorded is not None and answer == recorded.answer
        return answer

    @property
    def _now(self) -> int:
        return self._device.cycles - (self._offset or 0)

    def _go_on(self, access: Access) -> None:
        """Simulate from the last checkpoint before the fault on."""
        device = self._device
        before = bisect_right(access.states, self._cycle, key=lambda state: state[0]) - 1
        cycle, state = access.states[before]
        device.restore(state)
        offset = self._offset = device.cycles - cycle

        def strike() -> int | None:
            following = self._strike()
            return None if following is None else offset + self._cycle + following

        following: int | None = offset + self._cycle
        if following == device.cycles:
            following = strike()
        if following is not None:
            device.call_at(following, strike)

    def _compare(self, state: bytes) -> None:
        if self._now > self._settled and self._device.equals(state):
            raise NoEffect

    def _wait(self, recorded: Access | None) -> None:
        """Wait for the interrupt, and compare with checkpoints, ever more rarely."""
        if recorded is not None:
            past = max(self._now, self._settled)
            first = bisect_right(recorded.states, past, key=lambda state: state[0])
            for cycle, state in _rarer(recorded.states, first):
                if self._device.wait(cycle - self._now):
                    return
                self._compare(state)
        if not self._device.wait(max(0, self._end - self._now)):
            raise InterruptTimeout("the fault has left no end")


def _rarer(states: Sequence[tuple[int, bytes]], first: int) -> Iterator[tuple[int, bytes]]:
    """The first, second, fourth, eighth ... of the states from `first` on."""
    return (states[first + (1 << k) - 1] for k in range((len(states) - first).bit_length()))
