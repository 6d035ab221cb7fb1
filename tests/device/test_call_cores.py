"""Several cores for byte strings, and their scheduler, at mock engines in Verilator."""

import random

import pytest

from coprime.bus import registers
from coprime.bus.kinds import Bus
from coprime.device.base import BusError, InterruptTimeout
from coprime.device.call_cores import CallCores
from coprime.device.call_scheduler import CallScheduler
from coprime.device.calls import CallAccelerator
from coprime.device.jobs import EngineError
from coprime.device.simulated import SimulatedDevice
from coprime.engine.capabilities import Error
from coprime.flow.parts import accelerator_verilog
from tests.calls.mock import FAMILY, INTERFACE, inverted

CORES = 3
CHOICE = FAMILY.choose({"cores": str(CORES)})
CORE = registers.CORE_SELECT.address


@pytest.fixture(scope="module", params=Bus)
def opened(request):
    verilog = accelerator_verilog(CHOICE, bus=request.param)
    with SimulatedDevice(verilog, CHOICE.module_name, access_limit=10_000) as device:
        yield device


@pytest.fixture
def device(opened):
    opened.cycle_limit = 100_000
    opened.reset()
    return opened


@pytest.fixture
def driver(device):
    return CallCores(device, INTERFACE, predict=CHOICE.design.predict)


def key_of(core):
    return bytes([core] * 7)


def copies(cores):
    """What each core has as the slot copy."""
    return [core.call("COPY", {}, parameter_set="short").outputs["copy"] for core in cores]


@pytest.mark.matrix
def test_cores_have_slots_of_their_own(driver):
    assert len(driver.cores) == CORES
    for number, core in enumerate(driver.cores):
        core.load({"key": key_of(number), "second": bytes(4)}, parameter_set="short")
    assert copies(driver.cores) == [inverted(key_of(number)) for number in range(CORES)]


@pytest.mark.matrix
def test_a_core_is_an_accelerator_to_a_driver_that_knows_of_one(device):
    known = CallAccelerator(device, INTERFACE)
    values = {"key": key_of(5), "second": bytes(4)}
    assert known.call("COPY", values, parameter_set="short").outputs["copy"] == inverted(key_of(5))


def test_cores_work_at_the_same_time(driver):
    started = [
        core.start("COPY", {"key": key_of(place), "second": bytes(4)}, parameter_set="short")
        for place, core in enumerate(driver.cores)
    ]
    while len(driver.pending()) < CORES:
        driver.wait()
    results = [core.finish(each) for core, each in zip(driver.cores, started, strict=True)]
    assert [one.outputs["copy"] for one in results] == [inverted(key_of(k)) for k in range(CORES)]
    assert all(one.cycles == one.predicted_cycles == 8 for one in results)
    assert driver.pending() == frozenset()


def test_wiping_a_core_leaves_the_others_and_wiping_all_leaves_none(driver):
    for core in driver.cores:
        core.load({"key": key_of(1), "second": bytes(4)}, parameter_set="short")
    driver.cores[1].wipe()
    assert [bool(core.complete()) for core in driver.cores] == [True, False, True]
    driver.wipe()
    assert not any(core.complete() for core in driver.cores)


def test_a_core_that_there_is_not(device):
    device.write32(CORE, 1)
    for wrong in (CORES, 0xFFFFFFFF, 1 << 31 | 2):
        with pytest.raises(BusError):
            device.write32(CORE, wrong)
    assert device.read32(CORE) == 1
    assert device.read32(registers.CORES.address) == CORES
    for place in (registers.CORES, registers.PENDING):
        with pytest.raises(BusError):
            device.write32(place.address, 0)


def test_random_bytes_go_to_one_core_each(device, driver):
    drawn = bytes(range(4 * CORES))
    device.give_random(drawn)
    started = [core.start("DRAW", {}, parameter_set="short") for core in driver.cores]
    found = [
        core.finish(each).outputs["second"]
        for core, each in zip(driver.cores, started, strict=True)
    ]
    assert sorted(b"".join(found)) == sorted(drawn)


def test_a_fault_is_that_of_its_core_alone(driver):
    wrong = driver.cores[1]
    wrong.call("DRAW", {}, parameter_set="short")
    started = [
        (core, core.start("COPY", {"key": key_of(9), "second": bytes(4)}, parameter_set="short"))
        for core in (driver.cores[0], driver.cores[2])
    ]
    with pytest.raises(EngineError) as raised:
        wrong.call("FAIL", {"key": key_of(1)}, parameter_set="short")
    assert raised.value.code is Error.FAULT
    for core, each in started:
        assert core.finish(each).outputs == {"copy": inverted(key_of(9))}


# --- The scheduler ------------------------------------------------------------------------------


def submitted(scheduler, count, seed=1):
    """Requests with both parameter sets, each with what it must give."""
    draw, found = random.Random(seed), []
    for _ in range(count):
        parameter_set = draw.choice(["short", "long"])
        drawn = INTERFACE.call["COPY"].draw(parameter_set, draw)
        values = {name: drawn[name] for name in ("key", "second")}
        request = scheduler.submit("COPY", values, parameter_set=parameter_set)
        found.append((request, {"copy": inverted(values["key"])}))
    return found


def test_requests_in_order_on_all_cores(driver):
    scheduler = CallScheduler(driver)
    requests = submitted(scheduler, 60)
    assert list(scheduler.ordered()) == [request for request, _ in requests]
    for request, outputs in requests:
        assert request.result.outputs == outputs
        assert request.result.predicted_cycles in (None, request.result.cycles)
    assert {request.core for request, _ in requests} == set(range(CORES))


def test_no_request_sees_slots_of_another(driver):
    scheduler = CallScheduler(driver, use=[2])
    scheduler.submit("COPY", {"key": key_of(1), "second": b"mine"}, parameter_set="short")
    scheduler.submit("DRAW", {}, parameter_set="short")
    _, drawn = scheduler.ordered()
    assert drawn.core == 2
    assert drawn.result.outputs["second"] != b"mine"


def test_wiped_after_each_request(driver):
    scheduler = CallScheduler(driver, wipe=True)
    requests = submitted(scheduler, 12)
    assert len(list(scheduler.completed())) == len(requests)
    assert not any(core.complete() for core in driver.cores)


def test_an_error_ends_its_request_alone(driver):
    scheduler = CallScheduler(driver)
    before = submitted(scheduler, 5)
    wrong = scheduler.submit("FAIL", {"key": key_of(1)}, parameter_set="short")
    after = submitted(scheduler, 5, seed=2)
    list(scheduler.completed())
    for request, outputs in (*before, *after):
        assert request.result.outputs == outputs
    with pytest.raises(EngineError) as raised:
        _ = wrong.result
    assert raised.value.code is Error.OPERAND_MISSING
    assert scheduler.failed_cores == {}


def test_a_request_that_works_for_too_long(device, driver):
    device.cycle_limit = 1
    scheduler = CallScheduler(driver, limit=3)
    long = scheduler.submit("COPY", {"key": bytes(12), "second": bytes(4)}, parameter_set="long")
    [ended] = scheduler.completed()
    assert ended is long
    device.cycle_limit = 100_000
    with pytest.raises(InterruptTimeout, match="COPY has not ended after"):
        _ = long.result
