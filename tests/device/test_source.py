"""The random source in the hardware, as both drivers and a serial link reach it."""

from dataclasses import replace
from functools import partial

import pytest

from coprime.bus import random_registers, registers
from coprime.bus.axi_accelerator import AxiAccelerator
from coprime.bus.kinds import Bus
from coprime.bus.shared_registers import RANDOM_REGISTERS
from coprime.catalog import choose
from coprime.device.accelerator import Accelerator
from coprime.device.base import BusError, DeviceError
from coprime.device.calls import CallAccelerator
from coprime.device.simulated import SimulatedDevice, open_simulation
from coprime.device.source import AcceleratorSource
from coprime.engine.contract import Command, Error
from coprime.flow.simulation import build_simulation
from coprime.flow.verilog import to_verilog
from coprime.model.hash_drbg import HashDrbg
from coprime.random.generator import Generator, SourceState
from coprime.random.kinds import RandomSource
from coprime.random.programs import known_answer
from coprime.rsa import keys
from tests.calls.mock import INTERFACE, MockCalls
from tests.device.accesses import check_accesses
from tests.drivers.harness import CALLS, DRIVER, HARNESS, Harness, compile_c

MATERIAL = bytes(range(7, 55))
LONG = bytes(range(192))
NAME = "coprime_sourced"
TIMEOUT, SIZE = 257, 260


def verilog(source=RandomSource.SEEDED):
    return to_verilog(AxiAccelerator(MockCalls(), Bus.AXI4_LITE, source=source), NAME)


@pytest.fixture
def device():
    with SimulatedDevice(verilog(), NAME) as opened:
        yield opened


def drawn(driver):
    """Four bytes that the engine draws."""
    driver.wipe()
    return driver.call("DRAW", {}, parameter_set="short").outputs["second"]


def test_the_driver_seeds_it_from_the_system_before_the_first_command(device):
    asked = []

    def entropy(size):
        asked.append(size)
        return MATERIAL

    driver = CallAccelerator(device, INTERFACE, entropy=entropy)
    assert driver.source.kind is RandomSource.SEEDED
    wanted = HashDrbg(MATERIAL).generate(128)
    assert [drawn(driver) for _ in range(3)] == [wanted[k : k + 4] for k in (0, 4, 8)]
    assert asked == [48] and driver.source.requests == 1
    assert driver.source.state is SourceState.READY
    device.reset()
    assert drawn(driver) == wanted[:4] and asked == [48, 48]


def test_seeds_are_mixed_and_a_restart_forgets_them(device):
    source = AcceleratorSource(device)
    source.seed(MATERIAL)
    source.seed(LONG)
    model = HashDrbg(MATERIAL)
    model.reseed(LONG)
    driver = CallAccelerator(device, INTERFACE, entropy=lambda size: MATERIAL)
    assert drawn(driver) == model.generate(128)[:4]
    source.restart()
    assert source.state is SourceState.UNSEEDED
    assert drawn(driver) == HashDrbg(MATERIAL).generate(128)[:4]


def test_a_seed_of_a_wrong_length_is_refused(device):
    source = AcceleratorSource(device)
    for size in (47, 196):
        with pytest.raises(ValueError, match=f"not {size}"):
            source.seed(bytes(size))
    with pytest.raises(DeviceError, match="does not take its seed"):
        source.seed(bytes(44))


def test_a_command_waits_until_it_is_seeded(device):
    """So the status says."""
    driver = CallAccelerator(device, INTERFACE)
    device.write32(registers.PARAMETER_SET.address, 0)
    while driver.source.state is SourceState.TESTING:
        pass
    device.write32(registers.INTERRUPT_ENABLE.address, 1)
    device.write32(registers.COMMAND.address, 40)
    assert not device.wait(20_000)
    status = device.read32(registers.RANDOM_STATUS.address)
    assert registers.RANDOM_STATUS["WANTED"].of(status)
    assert device.read32(registers.WAITING.address) & registers.WAITING["RANDOM"].mask
    driver.source.seed(MATERIAL)
    assert device.wait(20_000)


def test_there_are_no_registers_of_it_without_it():
    with SimulatedDevice(verilog(RandomSource.STREAM), NAME) as device:
        assert AcceleratorSource(device).kind is RandomSource.STREAM
        AcceleratorSource(device).prepare()
        for register in RANDOM_REGISTERS:
            with pytest.raises(BusError):
                device.read32(register.address)


def test_registers_are_readable_and_writable_as_the_map_says(device):
    check_accesses(device, RANDOM_REGISTERS)
    device.write32(registers.RANDOM_CONTROL.address, 0)  # no effect


def test_the_c_driver_seeds_it(tmp_path):
    simulation = build_simulation(verilog(), NAME)
    program = compile_c(
        tmp_path, "harness", "-DSIMULATION", "-DCALLS", HARNESS, DRIVER, CALLS, simulation
    )
    harness = Harness(program)
    harness("limit", 100_000)
    assert harness("open")[0] == 0
    assert harness("needs_seed") == (0, 1, 1)
    for size in (44, 50, 196):
        assert harness("seed", "x" + bytes(size).hex())[0] == SIZE
    assert harness("seed", "x" + MATERIAL.hex())[0] == 0
    assert harness("needs_seed") == (0, 0, 1)
    assert harness("parameter_set", 0)[0] == 0
    assert harness("start", 40)[0] == 0 and harness("end")[0] == 0
    code, *found = harness("read_slot", 1, 4)
    assert code == 0 and found[-1].to_bytes(5) == b"\1" + HashDrbg(MATERIAL).generate(4)
    harness.close()


def busy(device):
    return bool(registers.STATUS["BUSY"].of(device.read32(registers.STATUS.address)))


def test_wipe_ends_a_call_that_waits_for_random_bytes(device):
    driver = CallAccelerator(device, INTERFACE)
    assert not driver.source.awaited
    device.write32(registers.INTERRUPT_ENABLE.address, 1)
    device.write32(registers.PARAMETER_SET.address, 0)
    device.write32(registers.COMMAND.address, 40)
    device.run(20_000)
    assert driver.source.awaited and busy(device)
    driver.wipe()
    assert not driver.source.awaited and not busy(device)
    driver.source.seed(MATERIAL)
    assert drawn(driver) == HashDrbg(MATERIAL).generate(4)


def test_a_failed_source_ends_a_call_with_its_error(monkeypatch):
    answer = bytes(len(known_answer()))
    broken = partial(Generator, answer=answer)
    monkeypatch.setattr(random_registers, "Generator", broken)
    with SimulatedDevice(verilog(), NAME) as device:
        driver = CallAccelerator(device, INTERFACE)
        with pytest.raises(DeviceError, match="has failed"):
            drawn(driver)
        device.write32(registers.COMMAND.address, 40)
        assert device.wait(20_000)
        assert device.read32(registers.ERROR.address) == Error.SOURCE
        assert device.read32(registers.COMPLETE.address) == 0 and not busy(device)


def rsa_device(source=RandomSource.SEEDED):
    choice = replace(choose("compact", {"blinding": "all", "max_bits": "128"}), source=source)
    return open_simulation(choice)


@pytest.mark.matrix
def test_wipe_ends_an_operation_on_numbers_that_waits_for_random_bytes():
    key = keys.generate(128, seed=3)
    with rsa_device() as device:
        driver = Accelerator(device)
        job = driver.private_job(key, 5)
        driver.load_private(key)
        device.write32(registers.INPUT_WINDOW.address, 5)
        device.write32(registers.INPUT_LENGTH.address, 1)
        device.write32(registers.INTERRUPT_STATUS.address, 1)
        device.write32(registers.COMMAND.address, job.command)
        device.run(50_000)
        assert driver.source.awaited and busy(device)
        device.write32(registers.COMMAND.address, Command.MODMUL)
        refusal = registers.ERROR["REFUSAL"].of(device.read32(registers.ERROR.address))
        assert refusal == Error.BUSY and driver.source.awaited
        driver.wipe()
        assert not driver.source.awaited and not busy(device)
        assert device.read32(registers.OUTPUT_LENGTH.address) == 0
        driver.load_private(key)
        assert driver.private(5).value == pow(5, key.d, key.n)
        driver.wipe()  # with nothing to end
        driver.load_private(key)
        assert driver.private(7).value == pow(7, key.d, key.n)


@pytest.mark.fuzz
def test_a_failed_source_ends_an_operation_on_numbers_with_its_error(monkeypatch):
    broken = partial(Generator, answer=bytes(len(known_answer())))
    monkeypatch.setattr(random_registers, "Generator", broken)
    key = keys.generate(128, seed=3)
    choice = choose("compact", {"blinding": "all", "max_bits": "128"})
    hardware = AxiAccelerator(choice.design.hardware(), source=RandomSource.SEEDED)
    with SimulatedDevice(to_verilog(hardware, NAME), NAME) as device:
        driver = Accelerator(device)
        driver.load_private(key)
        device.write32(registers.INPUT_WINDOW.address, 5)
        device.write32(registers.INPUT_LENGTH.address, 1)
        device.write32(registers.COMMAND.address, driver.private_job(key, 5).command)
        assert device.wait(50_000)
        assert device.read32(registers.ERROR.address) == Error.SOURCE
        assert device.read32(registers.OUTPUT_LENGTH.address) == 0 and not busy(device)


def test_the_c_driver_ends_a_call_that_waits(tmp_path):
    simulation = build_simulation(verilog(), NAME)
    sources = (HARNESS, DRIVER, CALLS, simulation)
    harness = Harness(compile_c(tmp_path, "harness", "-DSIMULATION", "-DCALLS", *sources))
    harness("limit", 20_000)
    assert harness("open")[0] == 0
    assert harness("waits") == (0, 0)
    assert harness("parameter_set", 0)[0] == 0
    assert harness("start", 40)[0] == 0 and harness("end")[0] == TIMEOUT
    assert harness("waits") == (0, 1)
    assert harness("wipe")[0] == 0
    assert harness("waits") == (0, 0)
    harness.close()
