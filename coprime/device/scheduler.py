"""Keep all cores of a cluster busy with a queue of requests of any sizes, keys and operations."""

import enum
import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from coprime.device.base import DeviceError, InterruptTimeout
from coprime.device.cluster import Cluster, Completion
from coprime.device.jobs import EngineError, Job, PrivateNumbers, check_naturals
from coprime.engine.contract import Command, Error

__all__ = ["Request", "RequestFailed", "RequestResult", "Scheduler", "State"]

_OF_THE_REQUEST = frozenset(
    {
        Error.LENGTH_ZERO,
        Error.LENGTH_OVER,
        Error.EXPONENT_LENGTH,
        Error.MODULUS_ZERO,
        Error.MODULUS_EVEN,
        Error.OPERAND_RANGE,
        Error.MODULUS_SHORT,
        Error.MODULUS_FIXED,
        Error.POINT,
        Error.SIGNATURE,
    }
)
"""Errors caused by the numbers, not by the core."""

Limit = Callable[[Job], int | None]
"""The maximum number of clock cycles for a job, 1 or more; None: no limit."""


class State(enum.Enum):
    """State of a request. The last three are final."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class RequestFailed(DeviceError):  # noqa: N818
    """Cores failed on a request, or no core is left.

    Attributes
    ----------
    cores (dict[int, str]): the cores that failed on it, each with the reason
    """

    def __init__(self, text: str, cores: dict[int, str]):
        reasons = "; ".join(f"core {core} {reason}" for core, reason in cores.items())
        super().__init__(f"{text}: {reasons}" if reasons else text)
        self.cores = dict(cores)


@dataclass(frozen=True)
class RequestResult:
    """The result of a request.

    Parameters
    ----------
    value : the number, below the modulus, or two of them, as they were read; the repr does not show
        it, since it may be a secret
    core : number of the core that computed it
    attempts : number of times the request was started on a core, at least 1
    cycles : clock cycles from the start of the command until its completion was taken
    outputs : the numbers in `value`, by the names of the operation's outputs; not in the repr
    """

    value: int = field(repr=False)
    core: int
    attempts: int
    cycles: int
    outputs: Mapping[str, int] = field(repr=False, compare=False, default_factory=dict)


class Request:
    """A computation submitted to a scheduler; its repr shows no secret.

    Attributes
    ----------
    number (int): from 0, in the order of submission
    command (Command): the operation
    state (State): its state
    attempts (int): number of times it was started on a core
    """

    def __init__(
        self, number: int, job: Job, x: int, limit: int | None, check: tuple[int, int, int] | None
    ):
        self.number = number
        self.command = job.command
        self.state = State.WAITING
        self.attempts = 0
        self._job: Job | None = job
        self._x = x
        self._limit = limit
        self._check = check  # e, d and n of a private key whose results are verified
        self._failed_on: dict[int, str] = {}
        self._overtaken = 0
        self._result: RequestResult | Exception | None = None

    @property
    def finished(self) -> bool:
        """Whether it has a result."""
        return self._result is not None

    @property
    def result(self) -> RequestResult:
        """The result.

        Raises
        ------
        ValueError: the request is still waiting or running
        EngineError: the hardware refused the numbers; CANCELLED: the request was cancelled
        RequestFailed: cores failed on it, or no core is left
        """
        if self._result is None:
            raise ValueError(f"the request has no result yet: it is {self.state.value}")
        if isinstance(self._result, Exception):
            raise self._result
        return self._result

    def __repr__(self) -> str:
        return f"Request({self.number}, {self.command.name}, {self.state.value})"

    @property
    def _needed(self) -> Job:
        assert self._job is not None  # until it is finished
        return self._job

    def _finish(self, state: State, result: RequestResult | Exception) -> None:
        self.state, self._result = state, result
        self._job, self._x, self._check = None, 0, None  # secrets


@dataclass
class _Run:
    """The work of an occupied core; without a request, its result is dropped."""

    request: Request | None
    started: int
    deadline: int | None = None
    cancelled: bool = False
    last_call: bool = False


class Scheduler:
    """Any number of requests for a cluster, with results as they finish or in order.

    `operate`, `modmul`, `modexp`, `public` and `private` create a request and queue it; they do not
    access the device. Only `completed`, `ordered`, `run` and `cancel` do. They can be mixed, and
    more requests may be submitted between two results. Every finished request, including failed and
    cancelled ones, is delivered exactly once, by `completed` or by `ordered`, whichever reaches it
    first. A finished request is kept until it is delivered.

    **Choice of request and core.** The queue is first in, first out. Its oldest request goes to an
    idle core that already holds its modulus or key, otherwise to the core that has been idle
    longest. One exception saves loading: that core may first take another of the first `lookahead`
    requests, if it holds its key. The oldest request is overtaken at most `lookahead` times, so
    none starves. A request that returns from a failed core is first in the queue again, and does
    not go to a core that has failed on it before.

    **Failing cores.** A core is taken out of service if it returns a result that cannot be right,
    refuses an access, or ends with an error that is not caused by the request; if it does not react
    to CANCEL in `grace` clock cycles; and if it failed on `attempts` requests in a row, by FAULT or
    by exceeding the limit, even if it reacted. After a single FAULT it stays in service, since the
    fault may have been transient, or in the key. Another core repeats its work. Completions of a
    core that is out of service are removed and ignored. A core that never ends is detected only by
    a limit, or when its request is cancelled.

    **Time** is checked when a completion arrives, and when `Device.wait_interrupt` gives up: on
    hardware after `poll` seconds, in simulation after the device's `cycle_limit`.

    A reset of the device is detected, and running requests are started again. Other exceptions of
    the device (BusError, BusTimeout) propagate from the iterators; no request is lost, and the
    iteration can be resumed.

    Not for use from two threads at once. While requests are waiting or running, nothing else may
    access the cluster.

    Parameters
    ----------
    cluster : none of its cores is occupied
    limit : returns the maximum number of clock cycles of a job on a core, from the start of the
        command, or None for no limit; None: no limit for any job
    grace : clock cycles in which a core must react to CANCEL, at least 1
    attempts : a request fails when this many different cores have failed on it, at least 1
    check : whether the results of private keys that have an `e` are verified with it before they
        are returned: a wrong one would reveal the key
    lookahead : 0 or more; 0: strictly first in, first out
    poll : seconds, over 0; fewer than 2**32 clock cycles

    Raises
    ------
    ValueError: a core is occupied, or a parameter is out of range
    """

    def __init__(
        self,
        cluster: Cluster,
        *,
        limit: Limit | None = None,
        grace: int = 100_000,
        attempts: int = 3,
        check: bool = True,
        lookahead: int = 64,
        poll: float = 1.0,
    ):
        for name, number, least in (
            ("grace", grace, 1),
            ("attempts", attempts, 1),
            ("lookahead", lookahead, 0),
        ):
            _check_at_least(name, number, least)
        if not poll > 0:
            raise ValueError(f"poll must be over 0, not {poll}")
        if cluster.occupied:
            raise ValueError(f"{len(cluster.occupied)} cores of the cluster are occupied")
        self._cluster = cluster
        self._limit = limit
        self._grace = grace
        self._attempts = attempts
        self._check = check
        self._lookahead = lookahead
        self._poll = poll
        self._numbers = itertools.count()
        self._jobs: WeakValueDictionary[tuple[int | str, ...], Job] = WeakValueDictionary()
        self._waiting: OrderedDict[Request, None] = OrderedDict()
        self._undelivered: OrderedDict[Request, None] = OrderedDict()  # by submission
        self._finished: OrderedDict[Request, None] = OrderedDict()  # of these, by their end
        self._idle: OrderedDict[int, None] = OrderedDict.fromkeys(range(cluster.cores))
        self._running: dict[int, _Run] = {}
        self._failed: dict[int, str] = {}
        self._strikes = [0] * cluster.cores
        self._arrived: Completion | None = None
        self._resets = cluster.resets
        self._now = 0  # clock cycles, from TIME without its overflows
        self._time: int | None = None
        self._earliest: int | None = None  # no deadline is before this
        self._unjudged = 0  # completions since the deadlines were checked
        self._silent = False  # whether the last wait timed out

    # Requests

    def operate(
        self, command: Command, numbers: Mapping[str, int], *, exponent_length: int | None = None
    ) -> Request:
        """An operation on numbers: all inputs of its record, by name.

        TypeError, ValueError: as `EngineDriver.operation_job`. Errors of the hardware are in the
        request's result.
        """
        key = command.operation.encoding.private_key(numbers)
        if key is not None:
            return self.private(key, numbers["x"])
        job = self._cluster.operation_job(command, numbers, exponent_length=exponent_length)
        return self._submit(job, job.x)

    def modmul(self, x: int, y: int, m: int) -> Request:
        """x * y mod m. Ranges: x and y in [0, m); m odd unless `radix_bits` is 0, then m >= 1.

        TypeError, ValueError: a number is negative, or not an integer. Errors of the hardware are
        in the request's result.
        """
        return self._submit(self._cluster.modmul_job(x, y, m), x)

    def modexp(self, x: int, e: int, m: int, *, exponent_length: int | None = None) -> Request:
        """x ** e mod m. Ranges: x in [0, m), e >= 0; m odd unless `radix_bits` is 0, then m >= 1.

        `exponent_length` is in bits; None: as many as e has, or 1 if e is 0. Raises as `modmul`,
        and ValueError if e has more bits.
        """
        return self._submit(self._cluster.modexp_job(x, e, m, exponent_length=exponent_length), x)

    def public(self, n: int, e: int, x: int) -> Request:
        """x^e mod n with a public key. Range: x in [0, n). Raises as `modmul`."""
        check_naturals(n=n, e=e, x=x)
        identity = ("public", n, e, max(n, x).bit_length())
        return self._submit(self._job(identity, lambda: self._cluster.public_job(n, e, x)), x)

    def private(self, key: PrivateNumbers, x: int) -> Request:
        """x^d mod n with a private key. Range: x in [0, n).

        Raises as `modmul`, and ValueError if the result is to be verified and the key's `e` is not
        consistent with its other numbers.
        """
        numbers = self._cluster.private_numbers(key)
        check_naturals(**numbers, x=x)
        e = getattr(key, "e", None) if self._check else None
        if e is not None:
            check_naturals(e=e)
            if not _fits(key, e):
                raise ValueError("the numbers of the private key are inconsistent")
        identity: tuple[int | str, ...] = ("private", *numbers.values(), max(key.n, x).bit_length())
        job = self._job(identity, lambda: self._cluster.private_job(key, x))
        return self._submit(job, x, None if e is None else (e, key.d, key.n))

    def cancel(self, request: Request) -> bool:
        """End a request without a result; return whether it was waiting or running.

        The core of a running request is stopped, and becomes available again. ValueError: the
        request belongs to another scheduler.
        """
        if request.finished:
            return False
        if request not in self._undelivered:
            raise ValueError("the request was not submitted to this scheduler")
        if request.state is State.RUNNING:
            core = next(core for core, run in self._running.items() if run.request is request)
            self._cancel_core(core)
            self._running[core].request = None
        else:
            del self._waiting[request]
        self._finish(request, State.CANCELLED, EngineError(Error.CANCELLED))
        return True

    # Results

    def completed(self) -> Iterator[Request]:
        """Deliver requests as they finish, until all are delivered."""
        while True:
            while self._finished:
                yield self._deliver(next(iter(self._finished)))
            if not self._step():
                return

    def ordered(self) -> Iterator[Request]:
        """Deliver requests in the order of submission, until all are delivered.

        Each is delivered as soon as it and all before it have finished. Requests that `completed`
        has delivered are omitted.
        """
        while self._undelivered:
            request = next(iter(self._undelivered))
            if request.finished:
                yield self._deliver(request)
            else:
                self._step()

    def run(self) -> None:
        """Work until nothing is waiting or running; deliver nothing."""
        while self._step():
            pass

    @property
    def waiting(self) -> int:
        """Number of requests that are waiting for a core."""
        return len(self._waiting)

    @property
    def running(self) -> int:
        """Number of requests that are running on cores."""
        return sum(run.request is not None for run in self._running.values())

    @property
    def failed_cores(self) -> dict[int, str]:
        """The cores out of service, each with the reason."""
        return dict(self._failed)

    # Submission and end of requests

    def _job(self, identity: tuple[int | str, ...], make: Callable[[], Job]) -> Job:
        """Create the job of a key once for all of its unfinished requests."""
        job = self._jobs.get(identity)
        if job is None:
            job = self._jobs[identity] = make()
        return job

    def _submit(self, job: Job, x: int, check: tuple[int, int, int] | None = None) -> Request:
        limit = None if self._limit is None else self._limit(job)
        if limit is not None:
            _check_at_least("the limit of a job", limit, 1)
        request = Request(next(self._numbers), job, x, limit, check)
        self._undelivered[request] = None
        self._waiting[request] = None
        if len(self._failed) == self._cluster.cores:
            self._end_hopeless()
        return request

    def _deliver(self, request: Request) -> Request:
        del self._finished[request]
        del self._undelivered[request]
        return request

    def _finish(self, request: Request, state: State, result: RequestResult | Exception) -> None:
        request._finish(state, result)
        self._finished[request] = None

    def _requeue(self, request: Request) -> None:
        request.state = State.WAITING
        self._waiting[request] = None
        self._waiting.move_to_end(request, last=False)

    def _retry(self, request: Request, core: int, reason: str) -> None:
        """Queue a request for another core, or fail it."""
        request._failed_on[core] = reason
        if len(request._failed_on) >= self._attempts:
            text = f"{self._attempts} cores failed on the request"
            self._finish(request, State.FAILED, RequestFailed(text, request._failed_on))
        else:
            self._requeue(request)
            if self._is_hopeless(request):
                self._end_hopeless()

    def _is_hopeless(self, request: Request) -> bool:
        """Whether each core is out of service, or failed on the request."""
        return len(self._failed.keys() | request._failed_on.keys()) == self._cluster.cores

    def _end_hopeless(self) -> None:
        """Fail waiting requests for which no core is left."""
        for request in [request for request in self._waiting if self._is_hopeless(request)]:
            del self._waiting[request]
            cores = request._failed_on | self._failed
            failed = RequestFailed("no core is left for the request", cores)
            self._finish(request, State.FAILED, failed)

    # Work on the cores

    def _step(self) -> bool:
        """Do the next piece of work, or wait for it; False if no request is waiting or running."""
        self._fill()
        if not self._running:
            return False
        if self._arrived is None:
            self._arrived = self._cluster.completion()
        if self._arrived is None:
            self._wait()
            return True
        self._look()
        completion, self._arrived = self._arrived, None
        self._silent = False
        self._take(completion)
        self._fill()  # before the result is delivered, so that the core works meanwhile
        self._unjudged += 1
        if self._unjudged >= self._cluster.cores:  # earlier ones have been taken
            self._judge()
        return True

    def _wait(self) -> None:
        if self._restart_after_reset():
            return
        self._look()
        self._judge()
        self._fill()  # with requests from a core that went out of service
        if not self._running:
            return
        try:
            self._cluster.wait(self._poll)
            self._silent = False
        except InterruptTimeout:
            self._silent = True

    def _fill(self) -> None:
        """Start all requests that can be started."""
        while self._waiting and self._idle:
            choice = self._choose()
            if choice is None:
                return
            self._start(*choice)

    def _choose(self) -> tuple[Request, int] | None:
        """Choose a waiting request and an idle core, as the class's docstring specifies."""
        oldest = list(itertools.islice(self._waiting, max(1, self._lookahead)))
        head = oldest[0]
        for core in self._idle:
            if self._suits(core, head):
                return head, core
        if head._overtaken < self._lookahead:
            core = next(iter(self._idle))
            for request in oldest[1:]:
                if self._suits(core, request):
                    head._overtaken += 1
                    return request, core
        # Almost all cores suit any request: the loops end early.
        for request in self._waiting:
            for core in self._idle:
                if core not in request._failed_on:
                    return request, core
        return None

    def _suits(self, core: int, request: Request) -> bool:
        return core not in request._failed_on and self._cluster.holds(core, request._needed)

    def _start(self, request: Request, core: int) -> None:
        try:
            self._cluster.start(core, request._needed, request._x)
        except EngineError as error:
            if not self._restart_after_reset():  # which would explain the error
                del self._waiting[request], self._idle[core]
                request.attempts += 1
                self._blame(request, core, f"refused an access: {error}")
            return
        del self._waiting[request], self._idle[core]
        if self._cluster.resets != self._resets:
            self._restart()
        request.attempts += 1
        request.state = State.RUNNING
        run = self._running[core] = _Run(request, self._now)
        run.started = self._look()
        if request._limit is not None:
            self._set_deadline(run, request._limit)

    def _restart_after_reset(self) -> bool:
        """Whether the device was reset; if so, no command is running any more."""
        self._cluster.notice_reset()
        if self._cluster.resets == self._resets:
            return False
        self._restart()
        return True

    def _restart(self) -> None:
        """Queue everything that was running when the device was reset; the oldest is next."""
        self._resets = self._cluster.resets
        self._time = None
        lost = [run.request for run in self._running.values() if run.request is not None]
        for core in self._running:
            self._idle[core] = None
        self._running.clear()
        for core in self._idle.keys() & self._cluster.occupied:
            del self._idle[core]
            self._running[core] = _Run(None, self._now)
            self._cancel_core(core)
        for request in sorted(lost, key=lambda request: request.number, reverse=True):
            self._requeue(request)

    def _take(self, completion: Completion) -> None:
        """Handle a completion."""
        core, error = completion.core, completion.error
        run = self._running.pop(core, None)
        if run is None:
            return  # the core is out of service
        request = run.request
        if request is None:
            self._idle[core] = None
        elif not error:
            self._take_result(request, run, completion)
        elif self._restart_after_reset():  # between loading and start: nothing was loaded
            self._idle[core] = None
            self._requeue(request)
        elif error == Error.CANCELLED and run.cancelled:
            self._strike(request, core, f"took more than {request._limit} clock cycles")
        elif error == Error.FAULT:  # the core is empty, and may work as before
            self._strike(
                request, core, f"ended with an error: {self._cluster.error_of(completion)}"
            )
        elif error in _OF_THE_REQUEST or (
            error == Error.UNSUPPORTED and request.command not in self._cluster.commands
        ):
            self._idle[core] = None
            self._finish(request, State.FAILED, self._cluster.error_of(completion))
        else:
            self._blame(request, core, f"ended with an error: {self._cluster.error_of(completion)}")

    def _take_result(self, request: Request, run: _Run, completion: Completion) -> None:
        core, value = completion.core, completion.value
        if value is None or not self._cluster.is_in_range(request._needed, value):
            self._blame(request, core, "returned a result that is not below the modulus")
            return
        if request._check is not None:
            e, d, n = request._check
            x = request._x
            if pow(value, e, n) != x:
                if pow(pow(x, d, n), e, n) == x:
                    self._blame(request, core, "returned a wrong result")
                else:
                    self._idle[core] = None
                    text = "the private key yields wrong results: its primes are not prime"
                    self._finish(request, State.FAILED, RequestFailed(text, {}))
                return
        self._idle[core] = None
        self._strikes[core] = 0
        cycles = self._now - run.started
        outputs = self._cluster.outputs(request.command, value)
        result = RequestResult(value, core, request.attempts, cycles, outputs)
        self._finish(request, State.DONE, result)

    # Cores that fail

    def _strike(self, request: Request, core: int, reason: str) -> None:
        """Count a failure of a core, and repeat its request elsewhere."""
        self._strikes[core] += 1
        if self._strikes[core] >= self._attempts:
            self._retire(core, f"failed {self._strikes[core]} times in a row, and {reason}")
        else:
            self._idle[core] = None
        self._retry(request, core, reason)

    def _blame(self, request: Request, core: int, reason: str) -> None:
        """Take a core out of service, and repeat its request elsewhere."""
        self._retire(core, reason)
        self._retry(request, core, reason)

    def _retire(self, core: int, reason: str) -> None:
        """Take a core out of service; it is neither idle nor running."""
        self._failed[core] = reason
        self._end_hopeless()

    def _cancel_core(self, core: int) -> None:
        """Cancel a core's command, unless that has been done."""
        run = self._running[core]
        if not run.cancelled:
            self._cluster.cancel(core)
            run.cancelled = True
            self._look()
            self._set_deadline(run, self._grace)

    def _set_deadline(self, run: _Run, cycles: int) -> None:
        run.deadline = self._now + cycles
        self._earliest = min(run.deadline, self._earliest or run.deadline)

    def _judge(self) -> None:
        """Find cores that exceeded their deadlines.

        Time has passed since the last completion was taken, and another one may be on its way. So a
        cancelled core has another chance, unless the cluster was silent all the time.
        """
        self._unjudged = 0
        if self._earliest is None or self._now <= self._earliest:
            return
        self._earliest = None
        for core, run in list(self._running.items()):
            if run.deadline is None:
                continue
            if self._now <= run.deadline:
                self._earliest = min(run.deadline, self._earliest or run.deadline)
            elif not run.cancelled:
                self._cancel_core(core)
            elif not (run.last_call or self._silent):
                run.last_call = True
                self._set_deadline(run, self._grace)
            else:
                del self._running[core]
                reason = f"did not stop in {self._grace} clock cycles"
                self._retire(core, reason)
                if run.request is not None:
                    self._retry(run.request, core, reason)

    def _look(self) -> int:
        """Read the device's TIME; return clock cycles that do not overflow."""
        time = self._cluster.time()
        if self._time is not None:
            self._now += (time - self._time) & 0xFFFF_FFFF
        self._time = time
        return self._now


def _fits(key: PrivateNumbers, e: int) -> bool:
    """Whether a public exponent is consistent with a private key, if its primes are prime."""
    return (
        min(key.p, key.q) > 1
        and key.p * key.q == key.n
        and all(
            (e * exponent - 1) % (prime - 1) == 0
            for prime, exponents in ((key.p, (key.d, key.dp)), (key.q, (key.d, key.dq)))
            for exponent in exponents
        )
    )


def _check_at_least(name: str, number: int, least: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"{name} must be an int, not {number!r}")
    if number < least:
        raise ValueError(f"{name} must be {least} or more, not {number}")
