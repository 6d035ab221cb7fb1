"""Keep all cores for byte strings busy with a queue of calls of any kind."""

import itertools
from collections import OrderedDict
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from coprime.calls.interface import Values
from coprime.device.base import DeviceError, InterruptTimeout
from coprime.device.call_cores import CallCores
from coprime.device.calls import CallResult, RunningCall
from coprime.device.jobs import EngineError

__all__ = ["CallRequest", "CallScheduler"]


class CallRequest:
    """A call that was submitted to a scheduler; its repr shows no value.

    Attributes
    ----------
    number (int): from 0, in the order of submission
    name (str): the call
    core (int or None): number of the core that it was started on
    """

    def __init__(
        self,
        number: int,
        name: str,
        values: Values,
        parameter_set: str,
        read: Collection[str] | None,
    ):
        self.number = number
        self.name = name
        self.core: int | None = None
        self._values: Values | None = values
        self._parameter_set = parameter_set
        self._read = read
        self._result: CallResult | Exception | None = None

    @property
    def finished(self) -> bool:
        """Whether it has a result."""
        return self._result is not None

    @property
    def result(self) -> CallResult:
        """The result.

        Raises
        ------
        ValueError: the request has not finished
        EngineError: the core refused the call, or it ended with an error
        InterruptTimeout: it did not end
        DeviceError: no core is left
        """
        if self._result is None:
            raise ValueError("the request has no result yet")
        if isinstance(self._result, Exception):
            raise self._result
        return self._result

    def __repr__(self) -> str:
        return f"CallRequest({self.number}, {self.name}, {'' if self.finished else 'not '}finished)"


@dataclass
class _Run:
    """The work of a core; `worked` are its cycles when they were last looked at."""

    request: CallRequest
    running: RunningCall
    worked: int = -1


class CallScheduler:
    """Any number of calls for the cores, with results as they finish or in order.

    `submit` queues a call and does not access the device; `completed` and `ordered` do. The oldest
    request goes to an idle core. More may be submitted between two results.

    **Every request is complete**: it names all its inputs, but those that the engine draws. Before
    a core begins one it forgets all slots, so that no request can use, or read, what is another
    one's. What a core has computed with stays in its memory until a later call overwrites it, or
    WIPE; `wipe` of CallCores clears it, and with `wipe` each core is cleared after each request.
    Calls that hand on slots inside an engine belong on one core: take its CallAccelerator from
    `CallCores.cores`, and leave the core out of `use`.

    **Errors** are the request's that they occur in: it ends with them, and its core is wiped and
    goes on with the next. A request that has worked for more than `limit` cycles, or has not worked
    at all for `poll` seconds, or in simulation for as long as the device's `cycle_limit`, is given
    up with InterruptTimeout. A core that WIPE cannot clear is out of service.

    Not for use from two threads at once. While requests run, nothing else may access their cores.

    Parameters
    ----------
    cores : the accelerator's
    use : numbers of the cores that are scheduled; None: all
    wipe : whether a core is wiped after each request, and not only after errors
    limit : cycles, at least 1
    poll : seconds, over 0

    Raises ValueError for a core that there is not, and for a number out of range.
    """

    def __init__(
        self,
        cores: CallCores,
        *,
        use: Collection[int] | None = None,
        wipe: bool = False,
        limit: int = 100_000_000,
        poll: float = 1.0,
    ):
        every = range(len(cores.cores))
        numbers = list(every if use is None else use)
        if not numbers or not set(numbers) <= set(every):
            raise ValueError(f"use must name cores in 0..{len(every) - 1}, not {numbers}")
        if limit < 1 or not poll > 0:
            raise ValueError(f"limit must be at least 1 and poll over 0, not {limit} and {poll}")
        self._cores = cores
        self._wipe, self._limit, self._poll = wipe, limit, poll
        self._numbers = itertools.count()
        self._waiting: OrderedDict[CallRequest, None] = OrderedDict()
        self._undelivered: OrderedDict[CallRequest, None] = OrderedDict()  # by submission
        self._finished: OrderedDict[CallRequest, None] = OrderedDict()  # of these, by their end
        self._idle: OrderedDict[int, None] = OrderedDict.fromkeys(numbers)
        self._runs: dict[int, _Run] = {}
        self._failed: dict[int, str] = {}
        self._ended = 0  # since all runs were last looked at

    def submit(
        self,
        name: str,
        values: Values,
        *,
        parameter_set: str = "",
        read: Collection[str] | None = None,
    ) -> CallRequest:
        """Queue a call, as of `CallAccelerator.call`.

        Raises as `CallAccelerator.check`. What the hardware refuses, such as a missing input, is in
        the request's result.
        """
        self._cores.cores[0].check(name, values, parameter_set=parameter_set, read=read)
        request = CallRequest(next(self._numbers), name, dict(values), parameter_set, read)
        self._undelivered[request] = None
        self._waiting[request] = None
        return request

    def completed(self) -> Iterator[CallRequest]:
        """Deliver requests as they finish, until all are delivered."""
        while self._undelivered:
            if not self._finished:
                self._step()
                continue
            request, _ = self._finished.popitem(last=False)
            del self._undelivered[request]
            yield request

    def ordered(self) -> Iterator[CallRequest]:
        """Deliver requests in the order of submission, until all are delivered."""
        while self._undelivered:
            request = next(iter(self._undelivered))
            if not request.finished:
                self._step()
                continue
            del self._undelivered[request], self._finished[request]
            yield request

    @property
    def failed_cores(self) -> dict[int, str]:
        """The cores out of service, each with the reason."""
        return dict(self._failed)

    def _step(self) -> None:
        """Start what can be started, and finish what has ended, or else wait."""
        while self._waiting and self._idle:
            core, _ = self._idle.popitem(last=False)
            self._start(core)
        if not self._runs:
            self._end_hopeless()
            return
        streaming = next((core for core, run in self._runs.items() if run.running.lengths), None)
        ended = self._cores.pending() & self._runs.keys()
        for core in ended:
            self._finish(core)
        if not ended and streaming is not None:  # it ends as its output is read
            self._finish(streaming)
        elif not ended:
            try:
                self._cores.wait(self._poll)
            except InterruptTimeout:
                self._look()
        self._ended += len(ended)
        if self._ended > 4 * len(self._cores.cores):
            self._look(stalls=False)

    def _start(self, core: int) -> None:
        request, _ = self._waiting.popitem(last=False)
        request.core = core
        assert request._values is not None
        try:
            running = self._cores.cores[core].start(
                request.name,
                request._values,
                parameter_set=request._parameter_set,
                read=request._read,
                forget=True,
            )
        except (EngineError, InterruptTimeout, ValueError) as error:
            self._end(core, request, error)
            return
        self._runs[core] = _Run(request, running)

    def _finish(self, core: int) -> None:
        run = self._runs.pop(core)
        try:
            result: CallResult | Exception = self._cores.cores[core].finish(run.running)
        except (EngineError, InterruptTimeout) as error:
            result = error
        self._end(core, run.request, result)

    def _end(self, core: int, request: CallRequest, result: CallResult | Exception) -> None:
        """End a request, and have its core idle again."""
        request._result, request._values = result, None  # which may be secrets
        self._finished[request] = None
        if self._wipe or isinstance(result, Exception):
            try:
                self._cores.cores[core].wipe()
            except (EngineError, InterruptTimeout) as error:
                self._failed[core] = f"cannot be wiped: {error}"
                return
        self._idle[core] = None

    def _look(self, *, stalls: bool = True) -> None:
        """Give up what has worked for too long, or with `stalls` not at all since last time."""
        self._ended = 0
        for core, run in list(self._runs.items()):
            worked = self._cores.cores[core].cycles()
            if worked > self._limit or (stalls and worked == run.worked):
                del self._runs[core]
                text = f"{run.request.name} has not ended after {worked} cycles of core {core}"
                self._end(core, run.request, InterruptTimeout(text))
            run.worked = worked

    def _end_hopeless(self) -> None:
        """End requests for which no core is left."""
        if self._idle:
            return
        while self._waiting:
            request, _ = self._waiting.popitem(last=False)
            request._result, request._values = DeviceError("no core is left"), None
            self._finished[request] = None
