"""The scheduler on a model of a cluster, with cores that fail in every way."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from coprime.bus import cluster_registers as r
from coprime.device.base import BusError
from coprime.device.cluster import Cluster
from coprime.device.jobs import EngineError
from coprime.device.scheduler import RequestFailed, RequestResult, Scheduler, State
from coprime.engine.contract import Command, Error, Operand
from coprime.rsa.keys import generate

from .cluster_model import REQUIRED, ClusterModel, Fault

KEYS = [generate(64 + 16 * size, seed=size) for size in range(8)]
KEY = KEYS[0]
LIMIT, GRACE = 20_000, 5_000


class Numbers:
    """Numbers of a private key without a public exponent."""

    def __init__(self, key, **changed):
        for name in ("n", "d", "p", "q", "dp", "dq"):
            setattr(self, name, changed.get(name, getattr(key, name)))


def make(cores=4, *, options=None, **settings):
    device = ClusterModel(cores, **settings)
    return device, Scheduler(Cluster(device), **(options or {}))


def make_limited(cores, **settings):
    return make(cores, options={"limit": lambda job: LIMIT, "grace": GRACE}, **settings)


def submit_all(scheduler, count, seed=1):
    """Random requests with what they must give."""
    source = random.Random(seed)
    expected = {}
    for _ in range(count):
        request, value = submit_any(scheduler, source)
        expected[request] = value
    return expected


def submit_any(scheduler, source):
    """A random request, with its value or the error that it must end with."""
    kind = source.randrange(12)
    if kind < 4:
        m = source.getrandbits(source.randrange(5, 200)) | 17
        x, y = source.randrange(m), source.randrange(m)
        return scheduler.modmul(x, y, m), x * y % m
    if kind < 7:
        m = source.getrandbits(source.randrange(5, 200)) | 17
        x, e = source.randrange(m), source.getrandbits(source.randrange(100))
        return scheduler.modexp(x, e, m), pow(x, e, m)
    if kind == 7:
        return source.choice(
            [
                (lambda: (scheduler.modmul(3, 4, 0x100), Error.MODULUS_EVEN)),
                (lambda: (scheduler.modexp(35, 4, 35), Error.OPERAND_RANGE)),
                (lambda: (scheduler.modexp(2, 4, 1 << 3000 | 1), Error.LENGTH_OVER)),
                (lambda: (scheduler.private(KEY, KEY.n << 5), Error.OPERAND_RANGE)),
            ]
        )()
    key = source.choice(KEYS)
    x = source.randrange(key.n)
    if kind < 10:
        return scheduler.private(key, x), pow(x, key.d, key.n)
    return scheduler.public(key.n, key.e, x), pow(x, key.e, key.n)


def check(request, expected):
    """A request ended as it must."""
    if isinstance(expected, Error):
        assert request.state is State.FAILED
        with pytest.raises(EngineError) as caught:
            _ = request.result
        assert caught.value.code is expected
    else:
        assert request.state is State.DONE, request._result
        assert request.result.value == expected


def check_cancelled(request):
    assert request.state is State.CANCELLED
    with pytest.raises(EngineError, match="the command was cancelled") as caught:
        _ = request.result
    assert caught.value.code is Error.CANCELLED


def failure(request):
    assert request.state is State.FAILED
    with pytest.raises(RequestFailed) as caught:
        _ = request.result
    return caught.value


# --- Ten thousand -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "count"),
    [
        ("completed", 4_000),
        *(
            pytest.param(order, 10_000, marks=pytest.mark.fuzz)
            for order in ("completed", "ordered")
        ),
    ],
)
def test_thousands_of_requests(order, count):
    """Half of 16 cores fail, some requests are cancelled: none is lost, none answered twice."""
    faults = {
        1: (Fault.STUCK, 40),
        3: (Fault.DEAD, 30),
        5: (Fault.LATE, 20),
        7: (Fault.OVER, 10),
        9: (Fault.WRONG, 50),
        11: (Fault.UNSUPPORTED, 60),
        13: (Fault.LOST, 5),
        15: (Fault.STRANGE, 70),
    }
    device, scheduler = make_limited(16, faults=faults, seed=3)
    source = random.Random(4)
    expected, delivered, cancelled = {}, [], set()

    def submit(count):
        for _ in range(count):
            request, value = submit_any(scheduler, source)
            expected[request] = value

    submit(2000)
    for request in getattr(scheduler, order)():
        delivered.append(request)
        if len(expected) < count:
            submit(source.randrange(3))
            if not scheduler.waiting:
                submit(1000)
        if source.randrange(20) == 0:
            chosen = source.choice(list(expected)[-200:])
            if scheduler.cancel(chosen):
                cancelled.add(chosen)
    assert len(expected) >= count
    assert len(delivered) == len(set(delivered)) == len(expected)
    assert len(cancelled) > count // 100
    for request, value in expected.items():
        if request in cancelled:
            check_cancelled(request)
        else:
            check(request, value)
    if order == "ordered":
        assert [request.number for request in delivered] == list(range(len(expected)))
    else:
        assert [request.number for request in delivered] != list(range(len(expected)))
    assert set(scheduler.failed_cores) == set(faults)
    assert (scheduler.waiting, scheduler.running) == (0, 0)
    assert not scheduler._jobs  # no key is kept
    # Each command had one completion, but those of cores that never end.
    never = {1: 0, 3: 1}
    started, served = Counter(core for core, _ in device.started), Counter(device.served)
    for core in range(16):
        assert started[core] - served[core] == never.get(core, 0), core


@pytest.mark.parametrize("seed", range(5))
def test_in_both_orders_with_failing_cores_of_any_kind(seed):
    source = random.Random(seed)
    kinds = list(Fault)
    faults = {core: (source.choice(kinds), source.randrange(20)) for core in range(5)}
    _, scheduler = make_limited(8, faults=faults, seed=seed)
    expected = submit_all(scheduler, 400, seed)
    mixed, delivered = (scheduler.completed(), scheduler.ordered()), []
    while len(delivered) < len(expected):
        request = next(source.choice(mixed), None)
        assert request is not None
        delivered.append(request)
    assert all(next(iterator, None) is None for iterator in mixed)
    assert len(set(delivered)) == len(expected)
    for request, value in expected.items():
        check(request, value)


# --- Order --------------------------------------------------------------------------------------


def test_ordered_and_completed():
    _, scheduler = make()
    first = submit_all(scheduler, 40)
    assert [request.number for request in scheduler.ordered()] == list(range(40))
    second = submit_all(scheduler, 40, seed=2)
    finished = [request.number for request in scheduler.completed()]
    assert sorted(finished) == list(range(40, 80))
    assert finished != sorted(finished)
    for request, value in {**first, **second}.items():
        check(request, value)


def test_each_is_delivered_once():
    _, scheduler = make()
    expected = submit_all(scheduler, 30)
    scheduler.run()
    assert all(request.finished for request in expected)
    finished = iter(scheduler.completed())
    some = [next(finished) for _ in range(10)]
    rest = list(scheduler.ordered())
    assert [request.number for request in rest] == sorted(request.number for request in rest)
    assert sorted(request.number for request in some + rest) == list(range(30))
    assert list(finished) == list(scheduler.completed()) == list(scheduler.ordered()) == []


def test_ordered_comes_as_early_as_it_can():
    """The second result does not wait for the third."""
    _, scheduler = make(2, seed=5)
    requests = [scheduler.modmul(3, x, 35) for x in range(20)]
    for request in scheduler.ordered():
        assert request is requests[request.number]
        if request.number < 10:
            assert not requests[-1].finished


def test_submit_while_iterating():
    _, scheduler = make(2)
    depth = {scheduler.modexp(3, 5, 1009): 0}
    for request in scheduler.completed():
        if depth[request] < 5:
            for _ in range(2):
                value = request.result.value
                depth[scheduler.modexp(value, 5, 1009)] = depth[request] + 1
    assert Counter(depth.values()) == {level: 2**level for level in range(6)}
    assert all(request.finished for request in depth)


def test_nothing_to_do():
    device, scheduler = make()
    before = device.accesses
    assert list(scheduler.completed()) == list(scheduler.ordered()) == []
    scheduler.run()
    assert device.accesses == before


def test_cores_are_busy_all_the_time():
    """While requests wait, a freed core is loaded again before the next wait, and first of all."""
    device, scheduler = make(4, least_cycles=5000, most_cycles=5000)
    for x in range(16):
        scheduler.modmul(x, 3, 1009)
    waits = []
    wait_interrupt = device.wait_interrupt

    def watched(timeout=None):
        assert not device.completions
        waits.append(sum(core.occupied for core in device.cores))
        wait_interrupt(timeout)

    device.wait_interrupt = watched
    for request in scheduler.completed():
        if request.number < 12:
            assert scheduler.running == 4
    assert set(waits[:12]) == {4}
    assert device.time < 4 * 5000 + 2 * device.accesses


# --- Results ------------------------------------------------------------------------------------


def test_result():
    _, scheduler = make(1, least_cycles=700, most_cycles=700)
    request = scheduler.modmul(4, 10, 35)
    assert repr(request) == "Request(0, MODMUL, waiting)"
    assert not request.finished
    with pytest.raises(ValueError, match="no result yet: it is waiting"):
        _ = request.result
    scheduler.run()
    result = request.result
    assert result == RequestResult(5, 0, 1, result.cycles)
    assert 700 <= result.cycles < 710
    assert "value" not in repr(result)
    assert repr(request) == "Request(0, MODMUL, done)"


@pytest.mark.parametrize("before", [1, 500, 3000])
def test_time_overflows(before):
    device, scheduler = make_limited(
        2, least_cycles=2000, most_cycles=2000, time=(1 << 32) - before, cycle_limit=900
    )
    requests = [scheduler.modmul(3, x, 35) for x in range(8)]
    scheduler.run()
    assert device.time > 1 << 32
    assert all(2000 <= request.result.cycles < 3000 for request in requests)
    assert not scheduler.failed_cores


def test_a_limit_beyond_an_overflow_of_time():
    device, scheduler = make(
        1,
        options={"limit": lambda job: 5 << 32},
        least_cycles=(3 << 32) + 5,
        most_cycles=(3 << 32) + 5,
        cycle_limit=1 << 31,
    )
    request = scheduler.modmul(3, 4, 35)
    scheduler.run()
    assert 3 << 32 < request.result.cycles < (3 << 32) + 100
    device.faults[0] = (Fault.STUCK, 0)
    request = scheduler.modmul(3, 4, 35)
    before = device.time
    scheduler.run()
    assert "more than 21474836480 clock cycles" in str(failure(request))
    assert 5 << 32 < device.time - before < 6 << 32


# --- Choice of core -----------------------------------------------------------------------------


def test_keys_are_loaded_no_more_often_than_needed():
    """As many keys as cores, in random order, and a wide look ahead: each key has its core."""
    device, scheduler = make(4, options={"lookahead": 1000})
    source = random.Random(1)
    for key in KEYS[:4]:
        scheduler.private(key, 2)
    scheduler.run()
    loaded = Counter(device.written(r.KEY_OPERAND))[Operand.P]
    assert loaded == 4 + 1  # the probe asks for each operand
    for _ in range(200):
        scheduler.private(source.choice(KEYS[:4]), 3)
        scheduler.run()
    assert device.written(r.KEY_OPERAND).count(Operand.P) == loaded
    for number in range(200):
        scheduler.private(KEYS[number % 4], number)
    scheduler.run()
    assert device.written(r.KEY_OPERAND).count(Operand.P) <= loaded + 8  # at the end only


def test_looking_ahead_saves_loading():
    def loads(lookahead):
        device, scheduler = make(4, options={"lookahead": lookahead})
        source = random.Random(2)
        for _ in range(300):
            scheduler.private(source.choice(KEYS), 3)
        scheduler.run()
        assert all(request.state is State.DONE for request in scheduler.completed())
        return device.written(r.KEY_OPERAND).count(Operand.P)

    assert loads(64) < loads(8) < loads(0)
    assert loads(0) > 150
    assert loads(64) < 60


def test_none_starves():
    """One key without end, and one request of another key behind the first of them."""
    _, scheduler = make(1, options={"lookahead": 10})
    for _ in range(5):
        scheduler.private(KEYS[0], 3)
    other = scheduler.private(KEYS[1], 3)
    for done, _ in enumerate(scheduler.completed()):
        if done < 1000 and not other.finished:
            assert done < 20
            scheduler.private(KEYS[0], 3)
    assert other.state is State.DONE


def test_without_looking_ahead_it_is_first_in_first_out():
    _, scheduler = make(1, options={"lookahead": 0})
    requests = [scheduler.private(KEYS[number % 3], number) for number in range(30)]
    assert list(scheduler.completed()) == requests


def test_idle_cores_take_turns():
    device, scheduler = make(3)
    for m in (35, 1009, 65537, 33, 1007, 65535):
        scheduler.modmul(2, 3, m)
        scheduler.run()
    assert [core for core, _ in device.started] == [0, 1, 2, 0, 1, 2]


def test_the_same_key_on_all_cores():
    device, scheduler = make(4)
    for x in range(100):
        scheduler.private(KEY, x)
    scheduler.run()
    assert device.written(r.KEY_OPERAND).count(Operand.P) == 4 + 1
    assert {core for core, _ in device.started} == {0, 1, 2, 3}


def test_a_key_is_prepared_once():
    cluster = Cluster(ClusterModel())
    made = []
    private_job = cluster.private_job
    cluster.private_job = lambda *arguments: made.append(1) or private_job(*arguments)
    scheduler = Scheduler(cluster)
    for x in range(50):
        scheduler.private(replace(KEY), x)
    assert len(made) == 1
    scheduler.run()
    assert not scheduler._jobs


# --- Cancelling ---------------------------------------------------------------------------------


def test_cancel_a_waiting_one():
    device, scheduler = make(1)
    before = device.accesses
    requests = [scheduler.modmul(3, x, 35) for x in range(3)]
    assert scheduler.cancel(requests[0])
    assert scheduler.cancel(requests[1])
    assert not scheduler.cancel(requests[1])
    assert device.accesses == before
    assert list(scheduler.ordered()) == requests
    check_cancelled(requests[0])
    check_cancelled(requests[1])
    assert requests[2].result.value == 6
    assert len(device.started) == 1


@pytest.mark.parametrize("late", [False, True])
def test_cancel_a_running_one(late):
    """Before its result comes, and after: the core serves on."""
    device, scheduler = make(1)
    first, second = scheduler.private(KEY, 3), scheduler.private(KEY, 4)
    scheduler._step()
    assert first.state is State.RUNNING
    while late and not device.completions:
        device.pass_cycles()
    assert scheduler.cancel(first)
    check_cancelled(first)
    assert list(scheduler.completed()) == [first, second]
    assert second.result.value == pow(4, KEY.d, KEY.n)
    assert not scheduler.failed_cores
    assert len(device.served) == 2


@pytest.mark.parametrize("fault", [Fault.STUCK, Fault.DEAD, Fault.LATE])
def test_cancel_on_a_core_that_never_ends(fault):
    """Without a limit, too. One that answers serves on."""
    device, scheduler = make(2, faults={0: (fault, 0)}, options={"grace": GRACE}, late=400_000)
    hanging = scheduler.modmul(3, 4, 35)
    rest = [scheduler.modmul(3, x, 35) for x in range(4)]
    for _ in range(30):
        scheduler._step()
    assert (hanging.state, rest[-1].state) == (State.RUNNING, State.DONE)
    before = device.time
    scheduler.cancel(hanging)
    check_cancelled(hanging)
    scheduler.run()
    if fault is Fault.STUCK:
        assert not scheduler.failed_cores
    else:
        assert scheduler.failed_cores == {0: f"did not stop in {GRACE} clock cycles"}
        assert GRACE < device.time - before <= device.cycle_limit + 100
    assert len(list(scheduler.completed())) == 5


def test_cancel_what_passed_its_limit():
    _, scheduler = make_limited(2, faults={0: (Fault.DEAD, 0)})
    request = scheduler.modmul(3, 4, 35)
    while not any(run.cancelled for run in scheduler._running.values()):
        scheduler._step()
    scheduler.cancel(request)
    scheduler.run()
    check_cancelled(request)
    assert set(scheduler.failed_cores) == {0}


def test_cancel_of_another_schedulers():
    _, scheduler = make()
    _, other = make()
    with pytest.raises(ValueError, match="not submitted to this scheduler"):
        scheduler.cancel(other.modmul(1, 2, 35))


# --- Cores that fail ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault.DEAD, "did not stop in 5000 clock cycles"),
        (Fault.LATE, "did not stop in 5000 clock cycles"),
        (Fault.OVER, "returned a result that is not below the modulus"),
        (Fault.WRONG, "returned a wrong result"),
        (Fault.UNSUPPORTED, "ended with an error: the accelerator does not implement the command"),
        (
            Fault.LOST,
            "ended with an error: the command needs an operand or a slot that is not loaded",
        ),
        (Fault.STRANGE, "ended with an error: core 0 ended with error 31, which does not exist"),
    ],
)
def test_a_failed_core_loses_no_request(fault, reason):
    device, scheduler = make_limited(3, faults={0: (fault, 2)})
    requests = [scheduler.private(KEY, x) for x in range(30)]
    scheduler.run()
    assert scheduler.failed_cores == {0: reason}
    for x, request in enumerate(requests):
        assert request.result.value == pow(x, KEY.d, KEY.n)
    assert [request.attempts for request in requests].count(2) == 1
    assert all(request.result.attempts == request.attempts for request in requests)
    assert max(request.attempts for request in requests) == 2
    started = Counter(core for core, _ in device.started)
    assert started[0] == 3
    if fault is Fault.LATE:  # its completion is taken and dropped
        while device.served.count(0) < 3:
            assert scheduler.modmul(2, 3, 35).attempts == 0
            scheduler.run()
        assert Counter(core for core, _ in device.started)[0] == 3


def test_a_core_works_on_after_one_fault():
    device, scheduler = make(2, faults={0: (Fault.FLIPPED, 3)})
    requests = [scheduler.modmul(2, x, 2003) for x in range(100)]
    scheduler.run()
    assert [request.result.value for request in requests] == [2 * x % 2003 for x in range(100)]
    assert not scheduler.failed_cores
    assert [request.attempts for request in requests].count(2) == 1
    assert Counter(core for core, _ in device.started)[0] > 10


def test_a_core_that_finds_a_fault_in_every_command():
    device, scheduler = make(2, faults={0: (Fault.BROKEN, 3)})
    requests = [scheduler.modmul(2, x, 2003) for x in range(100)]
    scheduler.run()
    assert [request.result.value for request in requests] == [2 * x % 2003 for x in range(100)]
    (reason,) = scheduler.failed_cores.values()
    assert reason.startswith("failed 3 times in a row, and ended with an error: ")
    assert Counter(core for core, _ in device.started)[0] == 6


def test_a_key_that_ends_with_a_fault_takes_no_core_out_of_service():
    _, scheduler = make(4, faults=dict.fromkeys(range(3), (Fault.FLIPPED, 0)))
    bad = scheduler.modmul(2, 3, 2003)
    scheduler.run()
    with pytest.raises(RequestFailed, match="3 cores failed on the request"):
        _ = bad.result
    assert not scheduler.failed_cores
    good = [scheduler.modmul(2, x, 2003) for x in range(10)]
    scheduler.run()
    assert [request.result.value for request in good] == [2 * x for x in range(10)]


def test_a_core_that_answers_but_never_ends():
    """It fails on some requests one after the other; each is done by another core."""
    device, scheduler = make_limited(2, faults={0: (Fault.STUCK, 3)})
    requests = [scheduler.modmul(2, x, 2003) for x in range(2000)]
    scheduler.run()
    assert [request.result.value for request in requests] == [2 * x % 2003 for x in range(2000)]
    assert scheduler.failed_cores == {
        0: f"failed 3 times in a row, and took more than {LIMIT} clock cycles"
    }
    assert [request.attempts for request in requests].count(2) == 3
    assert device.started.count((0, Command.MODMUL)) == 6


def test_slow_commands_between_good_ones_are_forgiven():
    device, scheduler = make_limited(2)
    stuck = []
    for _ in range(4):
        device.faults[0] = (Fault.STUCK, 0)
        stuck += [scheduler.modmul(3, 4, 35), scheduler.modmul(3, 4, 37)]
        scheduler.run()
        device.faults.clear()
        for m in (35, 37, 35, 37):
            scheduler.modmul(3, 4, m)
        scheduler.run()
    assert not scheduler.failed_cores
    assert all(request.result.value == 12 for request in stuck)
    assert Counter(request.attempts for request in stuck)[2] >= 4


def test_a_request_that_takes_too_long_everywhere():
    """It fails after three cores, which serve on."""
    _, scheduler = make(
        4,
        options={"limit": lambda job: 100 if job.command is Command.MODEXP else 10_000},
        least_cycles=3000,
        most_cycles=3000,
        cycle_limit=500,
    )
    requests = [scheduler.modmul(2, 3, 35), scheduler.modexp(2, 3, 35), scheduler.modmul(2, 5, 35)]
    scheduler.run()
    assert [request.state for request in requests] == [State.DONE, State.FAILED, State.DONE]
    error = failure(requests[1])
    assert len(error.cores) == requests[1].attempts == 3
    assert str(error).startswith("3 cores failed on the request: core ")
    assert "took more than 100 clock cycles" in str(error)
    assert not scheduler.failed_cores


@pytest.mark.parametrize("attempts", [1, 2, 5])
def test_attempts(attempts):
    faults = dict.fromkeys(range(6), (Fault.STRANGE, 0))
    _, scheduler = make(8, faults=faults, options={"attempts": attempts})
    request = scheduler.modmul(2, 3, 35)
    scheduler.run()
    assert len(failure(request).cores) == attempts
    assert len(scheduler.failed_cores) == attempts


@pytest.mark.parametrize(
    "fault",
    [
        one
        for one in Fault
        if one not in (Fault.WRONG, Fault.OVER, Fault.LOST, Fault.FLIPPED)  # once each
    ],
)
def test_all_cores_fail(fault):
    """Everything ends, with a clear error; what is submitted later too, and at once."""
    faults = dict.fromkeys(range(4), (fault, 5))
    device, scheduler = make_limited(4, faults=faults, late=10**7)
    requests = [scheduler.modmul(2, x, 1009) for x in range(100)]
    assert len(list(scheduler.completed())) == 100
    assert set(scheduler.failed_cores) == {0, 1, 2, 3}
    states = Counter(request.state for request in requests)
    assert states == {State.DONE: 20, State.FAILED: 80}
    lost = [failure(request) for request in requests if request.state is State.FAILED]
    assert any("no core is left for the request: core " in str(error) for error in lost)
    before = device.accesses
    late = scheduler.modmul(2, 3, 35)
    assert late.finished
    assert set(failure(late).cores) == {0, 1, 2, 3}
    assert list(scheduler.ordered()) == [late]
    assert device.accesses == before


def test_the_only_core_is_given_no_request_twice():
    _, scheduler = make_limited(1, faults={0: (Fault.STUCK, 1)})
    requests = [scheduler.modmul(2, x, 1009) for x in range(3)]
    scheduler.run()
    assert requests[0].result.value == 0
    assert [str(failure(request)) for request in requests[1:]] == [
        f"no core is left for the request: core 0 took more than {LIMIT} clock cycles"
    ] * 2
    assert not scheduler.failed_cores


def test_a_core_that_refuses_an_access():
    device, scheduler = make(2)
    device.cores[1].occupied = True  # by nobody that is known
    requests = [scheduler.modmul(2, x, 1009) for x in range(10)]
    scheduler.run()
    assert [request.result.value for request in requests] == list(range(0, 20, 2))
    reason = "refused an access: the accelerator is busy with another command"
    assert scheduler.failed_cores == {1: reason}


def test_a_late_completion_is_dropped():
    device, scheduler = make_limited(2, faults={0: (Fault.LATE, 0)}, late=60_000)
    request = scheduler.modmul(3, 4, 35)
    scheduler.run()
    assert (request.result.core, device.served) == (1, [1])
    others = []
    while 0 not in device.served:
        others.append(scheduler.modmul(3, 5, 37))
        scheduler.run()
    assert all(other.result == replace(other.result, value=15, core=1) for other in others)
    assert request.result.value == 12
    assert set(scheduler.failed_cores) == {0}


def test_a_completion_that_waits_for_the_host_is_not_late():
    """The host takes a result, and long after that the next one."""
    device, scheduler = make_limited(4)
    requests = [scheduler.modmul(3, x, 35) for x in range(40)]
    for _ in scheduler.completed():
        device.pass_cycles(10 * LIMIT)
    assert not scheduler.failed_cores
    assert [request.attempts for request in requests] == [1] * 40


@pytest.mark.parametrize("silent", [False, True])
def test_a_completion_on_its_way_is_not_late(silent):
    """The host is away; two completions later the core's answer to CANCEL cannot be seen yet."""
    device, scheduler = make_limited(3, gap=200, faults={0: (Fault.STUCK, 0)})
    requests = [scheduler.modmul(3, x, 35) for x in range(3)]
    scheduler._step()
    while len(device.completions) < 2:
        device.pass_cycles()
    assert scheduler.cancel(requests[0])
    delivered = scheduler.completed()
    assert next(delivered) is requests[0]
    next(delivered)
    device.pass_cycles(10 * GRACE)
    scheduler._silent = silent  # as after a wait that ended just before the next completion came
    assert len(list(delivered)) == 1
    assert not scheduler.failed_cores
    assert set(device.served) == {0, 1, 2}


def test_a_failed_core_is_noticed_while_completions_never_pause():
    """The others end before the host comes back to them."""
    device, scheduler = make_limited(4, least_cycles=1, most_cycles=1, faults={2: (Fault.DEAD, 0)})
    for x in range(3000):
        scheduler.modmul(3, x, 3001)
    for _ in scheduler.completed():
        if scheduler.failed_cores:
            break
    assert scheduler.waiting > 500
    assert device.waits < 10
    assert len(list(scheduler.completed())) + len(list(scheduler.ordered())) < 3000


@pytest.mark.parametrize("fault", [Fault.DEAD, Fault.STUCK, Fault.LATE])
def test_no_wait_while_a_core_could_start(fault):
    device, scheduler = make_limited(3, faults={0: (fault, 1)})
    wait_interrupt = device.wait_interrupt

    def watched(timeout=None):
        assert not (scheduler._waiting and scheduler._idle)
        wait_interrupt(timeout)

    device.wait_interrupt = watched
    for x in range(3):
        scheduler.modmul(3, x, 35)
        scheduler.run()
    for x in range(3, 6):
        scheduler.modmul(3, x, 35)
    scheduler.run()
    values = [request.result.value for request in scheduler.ordered()]
    assert values == [3 * x % 35 for x in range(6)]


def test_no_wait_while_a_core_could_start_and_another_one_works():
    faults = {0: (Fault.DEAD, 0), 1: (Fault.LATE, 0)}
    limits = {Command.MODMUL: LIMIT, Command.MODEXP: None}
    device, scheduler = make(
        3,
        faults=faults,
        late=10**6,
        options={"limit": lambda job: limits[job.command], "grace": GRACE},
    )
    first, _ = scheduler.modmul(3, 4, 35), scheduler.modexp(3, 4, 35)
    assert next(scheduler.completed()) is first
    assert first.result.core == 2
    # Two waits until the limit passes, one for the answer to CANCEL, and the command.
    assert device.time < 3 * device.cycle_limit + 3000


# --- Private keys -------------------------------------------------------------------------------


def test_a_wrong_result_of_a_private_key_is_not_given_out():
    def run(key, **options):
        _, scheduler = make(2, faults={0: (Fault.WRONG, 0)}, options=options)
        request = scheduler.private(key, 3)
        scheduler.run()
        return request.result, scheduler.failed_cores

    right, wrong = pow(3, KEY.d, KEY.n), pow(3, KEY.d, KEY.n) + 1
    result, failed = run(KEY)
    assert (result.value, result.core, failed) == (right, 1, {0: "returned a wrong result"})
    result, failed = run(KEY, check=False)
    assert (result.value, failed) == (wrong, {})
    result, failed = run(Numbers(KEY))  # without e nobody can tell
    assert (result.value, failed) == (wrong, {})


@pytest.mark.parametrize("name", ["n", "d", "p", "q", "dp", "dq", "e"])
def test_a_key_that_contradicts_itself(name):
    _, scheduler = make()
    numbers = Numbers(KEY)
    numbers.e = KEY.e
    for value in (getattr(numbers, name) + 2, 0):
        setattr(numbers, name, value)
        with pytest.raises(ValueError, match="are inconsistent"):
            scheduler.private(numbers, 3)
    assert scheduler.waiting == 0


def test_a_key_whose_primes_are_not_prime():
    """No core is blamed for it."""
    p, q, e = 3 * 5 * 7 * 11 * 13, 65537, 7
    numbers = Numbers(KEY, n=p * q, p=p, q=q, d=pow(e, -1, (p - 1) * (q - 1)))
    numbers.dp, numbers.dq, numbers.e = numbers.d % (p - 1), numbers.d % (q - 1), e
    _, scheduler = make()
    request = scheduler.private(numbers, 2)
    scheduler.run()
    assert "its primes are not prime" in str(failure(request))
    assert not scheduler.failed_cores


def test_without_crt():
    held = REQUIRED[Command.MODEXP]
    _, scheduler = make(commands=(Command.MODEXP,), held=held, greatest_prime=0)
    requests = [scheduler.private(KEY, 3), scheduler.public(KEY.n, KEY.e, 3)]
    refused = scheduler.modmul(2, 3, 35)
    scheduler.run()
    assert [request.command for request in requests] == [Command.MODEXP] * 2
    assert requests[0].result.value == pow(3, KEY.d, KEY.n)
    assert requests[1].result.value == pow(3, KEY.e, KEY.n)
    check(refused, Error.UNSUPPORTED)  # which is the request's fault here
    assert not scheduler.failed_cores


def test_no_secret_is_kept_or_shown():
    _, scheduler = make()
    request = scheduler.private(KEY, 12345)
    value = pow(12345, KEY.d, KEY.n)
    before = repr(request) + repr(vars(request))
    scheduler.run()
    after = repr(request) + repr(request.result) + repr(vars(request))
    for secret in (KEY.d, KEY.p, KEY.dp, value):
        assert str(secret) not in after
    assert str(KEY.p) not in before
    assert request._job is None


# --- Errors of requests, of the device, of the caller -------------------------------------------


def test_errors_of_requests_disturb_nobody():
    _, scheduler = make(2)
    bad = {
        scheduler.modmul(3, 4, 0x10): Error.MODULUS_EVEN,
        scheduler.modmul(0, 0, 0): Error.MODULUS_ZERO,
        scheduler.modexp(35, 4, 35): Error.OPERAND_RANGE,
        scheduler.modexp(3, 1 << 2176, 35): Error.LENGTH_OVER,
        scheduler.modexp(3, 0, 35, exponent_length=0): Error.EXPONENT_LENGTH,
        scheduler.public(KEY.n, 3, KEY.n): Error.OPERAND_RANGE,
        scheduler.private(KEY, KEY.n << 70): Error.OPERAND_RANGE,
        scheduler.private(Numbers(KEY, p=0), 3): Error.MODULUS_ZERO,
        scheduler.private(Numbers(KEY, q=KEY.q + 1), 3): Error.MODULUS_EVEN,
    }
    good = submit_all(scheduler, 20)
    scheduler.run()
    for request, expected in {**bad, **good}.items():
        check(request, expected)
        assert request.attempts == 1
    assert not scheduler.failed_cores


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda s: s.modmul(-1, 2, 35), ValueError, "x must be 0 or more"),
        (lambda s: s.modmul(1, "2", 35), TypeError, "y must be an int, not str"),
        (lambda s: s.modexp(1, -2, 35), ValueError, "e must be 0 or more"),
        (lambda s: s.modexp(1, 5, 35, exponent_length=2), ValueError, "must be 3 or more"),
        (lambda s: s.public(35, 3, True), TypeError, "x must be an int, not bool"),
        (lambda s: s.public(35.0, 3, 2), TypeError, "n must be an int, not float"),
        (lambda s: s.private(KEY, -3), ValueError, "x must be 0 or more"),
        (lambda s: s.private(Numbers(KEY, dq=-1), 3), ValueError, "dq must be 0 or more"),
    ],
)
def test_bad_input_costs_nothing(call, error, text):
    device, scheduler = make()
    before = device.accesses
    with pytest.raises(error, match=text):
        call(scheduler)
    assert (scheduler.waiting, device.accesses) == (0, before)
    assert list(scheduler.ordered()) == []


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"grace": 0}, ValueError, "grace must be 1 or more, not 0"),
        ({"grace": 1.5}, TypeError, r"grace must be an int, not 1\.5"),
        ({"attempts": 0}, ValueError, "attempts must be 1 or more, not 0"),
        ({"lookahead": -1}, ValueError, "lookahead must be 0 or more, not -1"),
        ({"poll": 0}, ValueError, "poll must be over 0, not 0"),
    ],
)
def test_bad_parameters(options, error, text):
    with pytest.raises(error, match=text):
        make(options=options)


def test_a_bad_limit():
    _, scheduler = make(options={"limit": lambda job: 0})
    with pytest.raises(ValueError, match="the limit of a job must be 1 or more, not 0"):
        scheduler.modmul(1, 2, 35)
    assert scheduler.waiting == 0


def test_an_occupied_cluster():
    cluster = Cluster(ClusterModel())
    cluster.wipe(2)
    with pytest.raises(ValueError, match="1 cores of the cluster are occupied"):
        Scheduler(cluster)


@pytest.mark.parametrize("after", [0, 1, 5, 17])
@pytest.mark.parametrize("limited", [False, True])
def test_a_reset_is_noticed(after, limited):
    """What ran is started anew, and counts as another attempt; no core is blamed."""
    device, scheduler = (make_limited if limited else make)(4)
    expected = submit_all(scheduler, 60)
    for delivered, _ in enumerate(scheduler.completed()):
        if delivered == after:
            device.reset()
    for request, value in expected.items():
        check(request, value)
    attempts = Counter(request.attempts for request in expected)
    assert attempts[2] in (3, 4)
    assert max(attempts) == 2
    assert not scheduler.failed_cores
    assert scheduler._cluster.resets == 1


@pytest.mark.parametrize("write", range(150, 450, 7))
@pytest.mark.parametrize("cycles", [1, 2000])
def test_a_reset_while_loading_or_starting(write, cycles):
    """Also a command that starts on another core then does no harm: the reset selects core 0."""
    device, scheduler = make(2, least_cycles=cycles, most_cycles=cycles)
    expected = submit_all(scheduler, 20)
    write32, left = device.write32, write
    strays = []

    def resetting(address, value):
        nonlocal left
        left -= 1
        if left <= 0 and not strays and (write % 2 or address == r.COMMAND.address):
            strays.append(device.selected)
            device.reset()
        write32(address, value)

    device.write32 = resetting
    scheduler.run()
    assert strays
    for request, value in expected.items():
        check(request, value)
        assert request.attempts <= 2
    assert not scheduler.failed_cores


def test_a_request_that_is_started_first_after_a_reset_is_not_started_again():
    device, scheduler = make(2)
    old = scheduler.modmul(3, 4, 35)
    scheduler._step()
    device.reset()
    new = scheduler.modmul(3, 5, 35)
    scheduler.run()
    assert (old.result.value, old.attempts) == (12, 2)
    assert (new.result.value, new.attempts) == (15, 1)


def test_after_a_reset_the_order_is_as_before():
    device, scheduler = make(4)
    for x in range(8):
        scheduler.modmul(3, x, 35)
    scheduler._step()
    assert (scheduler.running, scheduler.waiting) == (4, 4)
    device.reset()
    assert scheduler._restart_after_reset()
    assert [request.number for request in scheduler._waiting] == list(range(8))


def test_bus_errors_lose_nothing():
    """Any access may be refused; whoever iterates goes on."""
    device, scheduler = make_limited(3)
    source = random.Random(6)
    expected = submit_all(scheduler, 60)
    read32, write32 = device.read32, device.write32

    def read(address):
        if source.randrange(40) == 0:
            raise BusError(address, False)
        return read32(address)

    def write(address, value):
        if source.randrange(200) == 0:
            raise BusError(address, True)
        write32(address, value)

    device.read32, device.write32 = read, write
    errors = 0
    delivered = []
    while len(delivered) < 60:
        try:
            delivered += scheduler.ordered()
        except BusError:
            errors += 1
            delivered = [request for request in expected if request not in scheduler._undelivered]
    assert errors > 20
    for request, value in expected.items():
        check(request, value)
    assert not scheduler.failed_cores


def test_one_core():
    _, scheduler = make(1)
    expected = submit_all(scheduler, 50)
    scheduler.run()
    for request, value in expected.items():
        check(request, value)


@pytest.mark.fuzz
def test_a_thousand_cores():
    device, scheduler = make(1023, least_cycles=100_000, most_cycles=200_000, cycle_limit=10**6)
    expected = submit_all(scheduler, 2500)
    scheduler.run()
    for request, value in expected.items():
        check(request, value)
    assert {core for core, _ in device.started} == set(range(1023))
