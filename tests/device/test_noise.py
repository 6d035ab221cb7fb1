"""A random source that seeds itself by noise, in a whole accelerator."""

from dataclasses import replace
from functools import cache, partial
from random import Random

import pytest

from coprime.bus import random_registers, registers
from coprime.bus.axi_accelerator import AxiAccelerator
from coprime.bus.kinds import Bus
from coprime.bus.shared_registers import NOISE_REGISTERS
from coprime.catalog import choose
from coprime.device.accelerator import Accelerator
from coprime.device.base import BusError, DeviceError
from coprime.device.calls import CallAccelerator
from coprime.device.noise import NoiseModel
from coprime.device.simulated import SimulatedDevice, open_simulation
from coprime.engine.contract import Error
from coprime.flow.simulation import build_simulation
from coprime.flow.verilog import to_verilog
from coprime.model.hash_drbg import HashDrbg
from coprime.model.health import WINDOW
from coprime.random.generator import SourceState
from coprime.random.kinds import RandomSource
from coprime.random.noise_generator import NoiseGenerator
from coprime.random.raw_samples import SAMPLES
from coprime.random.seed_material import MATERIAL_BITS
from coprime.random.seeder import START_SAMPLES, first_material
from coprime.rsa import keys
from coprime.runs.calls import seed_by_noise
from tests.calls.mock import INTERFACE, MockCalls
from tests.device.accesses import check_accesses
from tests.drivers.harness import CALLS, DRIVER, HARNESS, Harness, compile_c

NAME = "coprime_noisy"
PERIOD = 8
UNSUPPORTED = Error.UNSUPPORTED


def noise(count, seed):
    return bytes(Random(seed).choices((0, 1), k=count))


@cache
def verilog():
    return to_verilog(AxiAccelerator(MockCalls(), Bus.AXI4_LITE, source=RandomSource.TRNG), NAME)


@pytest.fixture
def device():
    with SimulatedDevice(verilog(), NAME) as opened:
        opened.set_noise(NoiseModel(period=PERIOD, seed=1))
        yield opened


def drawn(driver):
    """Four bytes that the engine draws."""
    driver.wipe()
    return driver.call("DRAW", {}, parameter_set="short").outputs["second"]


def start_call(device):
    """Start a command that draws."""
    device.write32(registers.ERROR.address, 0)
    device.write32(registers.INTERRUPT_STATUS.address, 1)
    device.write32(registers.INTERRUPT_ENABLE.address, 1)
    device.write32(registers.PARAMETER_SET.address, 0)
    device.write32(registers.COMMAND.address, 40)


def ends_without_bytes(device):
    """Whether a command that draws ends with SOURCE and gives nothing."""
    start_call(device)
    ended = device.wait(100_000)
    error = registers.ERROR["CODE"].of(device.read32(registers.ERROR.address))
    return ended and error == Error.SOURCE and device.read32(registers.COMPLETE.address) == 0


@pytest.mark.matrix
def test_it_seeds_itself_and_its_bytes_are_the_model_s(device):
    samples = noise(START_SAMPLES, 3)
    driver = CallAccelerator(device, INTERFACE, entropy=lambda size: pytest.fail("no seed"))
    assert driver.source.kind is RandomSource.TRNG
    seed_by_noise(device, samples)
    wanted = HashDrbg(first_material(samples)).generate(128)
    assert [drawn(driver) for _ in range(2)] == [wanted[:4], wanted[4:8]]
    assert driver.source.requests == 1 and driver.source.state is SourceState.READY
    with pytest.raises(DeviceError, match="no random source that software seeds"):
        driver.source.seed(bytes(48))


def test_it_gives_no_byte_before_its_noise_has_been_tested(device):
    start_call(device)
    assert not device.wait(PERIOD * (START_SAMPLES - 10))
    driver = CallAccelerator(device, INTERFACE)
    assert driver.source.state is SourceState.UNSEEDED and driver.source.awaited
    assert device.wait(10_000)


def test_it_seeds_itself_again_after_a_request(device):
    samples = noise(START_SAMPLES, 4)
    driver = CallAccelerator(device, INTERFACE)
    seed_by_noise(device, samples)
    drawn(driver)
    fresh = noise(MATERIAL_BITS, 5)
    device.give_noise(fresh)
    device.set_noise(NoiseModel(period=PERIOD))
    device.run(PERIOD * MATERIAL_BITS + 50_000)
    assert driver.source.requests == 0
    model = HashDrbg(first_material(samples))
    model.generate(128)
    model.reseed(first_material(bytes(WINDOW) + fresh))
    assert drawn(driver) == model.generate(128)[:4]


@pytest.mark.matrix
def test_it_reaches_no_limit_of_requests(monkeypatch):
    """It reseeds itself, and a command waits for the seed if need be."""
    monkeypatch.setattr(random_registers, "NoiseGenerator", partial(NoiseGenerator, interval=2))
    with SimulatedDevice(verilog.__wrapped__(), NAME) as device:
        device.set_noise(NoiseModel(period=PERIOD, seed=1))
        driver = CallAccelerator(device, INTERFACE)
        found = [drawn(driver) for _ in range(3 * 128 // 4)]
        assert len(set(found)) == len(found)
        assert driver.source.requests <= 2


FAILURES = {
    "sticks": (NoiseModel(period=PERIOD, repeats=1), "repeated"),
    "repeats": (NoiseModel(period=PERIOD, repeats=5), "repeated"),
    "drifts": (NoiseModel(period=PERIOD, drift=0.001, seed=2), "repeated"),
    "is biased": (NoiseModel(period=PERIOD, ones=0.95, seed=2), "unequal"),
    "stops": (NoiseModel(period=0), "late"),
}
"""Each with a test that finds it."""


@pytest.mark.parametrize(("model", "found_by"), FAILURES.values(), ids=list(FAILURES))
def test_a_failure_ends_every_command_that_draws(device, model, found_by):
    driver = CallAccelerator(device, INTERFACE)
    drawn(driver)
    device.set_noise(model)
    device.run(100_000)
    assert driver.source.state is SourceState.FAILED
    assert found_by in driver.source.failures
    assert ends_without_bytes(device) and ends_without_bytes(device)
    with pytest.raises(DeviceError, match=r"of its noise \(.*\) has failed"):
        drawn(driver)
    device.set_noise(NoiseModel(period=PERIOD, seed=3))
    device.run(50_000)
    assert ends_without_bytes(device), "it stays so until it is restarted"
    driver.source.restart()
    assert driver.source.failures == []
    drawn(driver)


def test_samples_are_those_of_the_source_and_seed_nothing(device):
    driver = CallAccelerator(device, INTERFACE)
    drawn(driver)
    before = noise(2 * SAMPLES, 7)
    device.set_noise(NoiseModel(period=0))
    source = driver.source
    source.begin_samples()
    device.give_noise(before)
    device.set_noise(NoiseModel(period=PERIOD))
    assert bytes(source.next_samples()) == before[:SAMPLES]
    with pytest.raises(DeviceError, match="test mode"):
        drawn(driver)
    start_call(device)
    assert not device.wait(100_000), "no byte in the test mode"
    assert device.read32(registers.RANDOM_REQUESTS.address) == 0
    assert source.awaited and source.state is SourceState.UNSEEDED
    device.set_noise(NoiseModel(period=0))
    source.restart()
    with pytest.raises(DeviceError, match="not in its test mode"):
        source.next_samples()
    assert not any(device.read_block(registers.RANDOM_SAMPLES.address, 32))
    after = noise(START_SAMPLES, 8)
    device.give_noise(after)
    device.set_noise(NoiseModel(period=PERIOD))
    assert device.wait(100_000)
    driver.wipe()
    model = HashDrbg(first_material(after))
    assert drawn(driver) == model.generate(128)[4:8]


def test_sets_of_samples_are_collected_one_after_the_other(device):
    source = CallAccelerator(device, INTERFACE).source
    device.set_noise(NoiseModel(period=PERIOD, repeats=1))  # which tests would refuse
    assert len(set(source.samples(3000))) == 1
    device.set_noise(NoiseModel(period=PERIOD, ones=0.75, seed=9))
    found = source.samples(3000)
    assert len(found) == 3000 and 0.7 < sum(found) / len(found) < 0.8
    device.set_noise(NoiseModel(period=0))
    source.begin_samples()
    with pytest.raises(DeviceError, match="gives no samples"):
        source.next_samples()


def test_registers_are_readable_and_writable_as_the_map_says(device):
    check_accesses(device, NOISE_REGISTERS)
    with pytest.raises(BusError):
        device.write32(registers.RANDOM_SEED.address, 0)


def test_the_c_driver_reads_samples_and_sees_failures(tmp_path):
    simulation = build_simulation(verilog(), NAME)
    sources = (HARNESS, DRIVER, CALLS, simulation)
    harness = Harness(compile_c(tmp_path, "harness", "-DSIMULATION", "-DCALLS", *sources))
    harness("limit", 200_000)
    assert harness("open")[0] == 0
    assert harness("needs_seed") == (0, 0, 2)
    assert harness("seed", "x" + bytes(48).hex())[0] == UNSUPPORTED
    assert harness("begin_samples") == (0,)
    sets = [harness("next_samples") for _ in range(2)]
    for code, *words in sets:
        ones = sum(word.bit_count() for word in words)
        assert code == 0 and len(words) == 32 and 400 < ones < 624
    assert sets[0] != sets[1]
    assert harness("restart_source") == (0,) and harness("source_failed") == (0, 0)
    assert harness("parameter_set", 0)[0] == 0
    assert harness("start", 40)[0] == 0 and harness("end")[0] == 0
    harness.close()


@pytest.mark.fuzz
def test_a_failure_ends_an_operation_on_numbers():
    key = keys.generate(128, seed=3)
    choice = choose("compact", {"blinding": "all", "max_bits": "128"})
    with open_simulation(replace(choice, source=RandomSource.TRNG)) as device:
        device.set_noise(NoiseModel(period=PERIOD))
        driver = Accelerator(device)
        driver.load_private(key)
        assert driver.private(5).value == pow(5, key.d, key.n)
        device.write32(registers.INTERRUPT_STATUS.address, 1)
        device.set_noise(NoiseModel(period=PERIOD, repeats=2))
        device.run(PERIOD * 200)
        device.write32(registers.INPUT_WINDOW.address, 5)
        device.write32(registers.INPUT_LENGTH.address, 1)
        device.write32(registers.COMMAND.address, driver.private_job(key, 5).command)
        assert device.wait(100_000)
        assert device.read32(registers.ERROR.address) == Error.SOURCE
        assert device.read32(registers.OUTPUT_LENGTH.address) == 0


@pytest.mark.fuzz
@pytest.mark.timeout(1200)
def test_failures_at_any_time_give_no_result():
    """1,000 failures, while the source tests itself, seeds itself, or gives bytes."""
    draws = Random(1)
    kinds = [model for model, _ in FAILURES.values()]
    with SimulatedDevice(verilog(), NAME) as device:
        driver = CallAccelerator(device, INTERFACE)
        for number in range(1000):
            device.set_noise(NoiseModel(period=PERIOD, seed=number + 1))
            driver.source.restart()
            device.run(draws.randrange(60_000))
            starts = number % 2 and driver.source.state is not SourceState.READY
            if starts:
                start_call(device)
            device.set_noise(replace(kinds[number % len(kinds)], seed=number + 1))
            device.run(100_000)
            if starts and not device.read32(registers.COMPLETE.address):
                error = registers.ERROR["CODE"].of(device.read32(registers.ERROR.address))
                assert error == Error.SOURCE, number
            assert driver.source.state is SourceState.FAILED, number
            assert ends_without_bytes(device), number


def test_impossible_models_are_refused():
    for settings, text in (
        ({"ones": 1.5}, "ones must be 0 to 1, not 1.5"),
        ({"stays": 0.4}, "stays must be"),
        ({"repeats": 65}, "repeats must be"),
        ({"period": -1}, "period must be"),
    ):
        with pytest.raises(ValueError, match=text):
            NoiseModel(**settings)
