"""A suite of an engine of numbers and two of byte strings, in Verilator: each is as if alone."""

import random

import pytest

from coprime.bus import registers
from coprime.bus.kinds import Bus
from coprime.bus.shared_registers import (
    CORE_REGISTERS,
    call_fields,
    defined_call_registers,
    defined_registers,
    identity_fields,
)
from coprime.catalog import choose
from coprime.device.accelerator import Accelerator
from coprime.device.base import ADDRESS_SPACE, BusError
from coprime.device.calls import CallAccelerator
from coprime.device.cores import Cores
from coprime.device.jobs import EngineError, IdentificationError
from coprime.device.simulated import SimulatedDevice
from coprime.engine.contract import Command, Error
from coprime.flow.parts import suite_verilog
from coprime.random.generator import SourceState
from coprime.random.kinds import RandomSource
from coprime.rsa import keys
from coprime.suites import SuiteChoice
from tests.calls.mock import FAMILY, INTERFACE, inverted

COMPACT = choose("compact", {"max_bits": 64})
MOCK = FAMILY.choose({})
CHOICE = SuiteChoice((COMPACT, MOCK, MOCK))
OWN = COMPACT.design.capabilities
M = (1 << 64) - 59
KEY, SECOND = bytes(range(7)), bytes(4)
SELECT = registers.CORE_SELECT.address


@pytest.fixture(scope="module")
def opened():
    verilog = suite_verilog(CHOICE, bus=Bus.AXI4)
    with SimulatedDevice(verilog, CHOICE.module_name, access_limit=10_000) as device:
        yield device


@pytest.fixture
def device(opened):
    opened.cycle_limit = 1_000_000
    opened.reset()
    return opened


@pytest.fixture
def cores(device):
    return Cores(device)


def numbers_of(cores):
    return Accelerator(cores.cores[0], predict=COMPACT.design.predict)


def calls_of(cores, core):
    return CallAccelerator(cores.cores[core], INTERFACE, predict=MOCK.design.predict)


def started_copy(mock):
    return mock.start("COPY", {"key": KEY, "second": SECOND}, parameter_set="short")


def defined(device):
    """The addresses of the registers that can be read, or written, in a window of the map."""
    found = []
    for address in range(0, ADDRESS_SPACE, 4):
        try:
            device.read32(address)
        except BusError:
            continue
        found.append(address)
    return found


def addresses(known):
    return [
        one.address + 4 * word
        for one in known
        if one.readable
        for word in range(getattr(one, "words", 1))
    ]


def test_the_registers_of_a_core_are_those_of_its_engine_and_no_others(device):
    of_numbers = defined_registers(OWN, padded=False, many=True)
    of_calls = defined_call_registers(source=0, many=True)
    fields = [identity_fields(OWN, many=True), *[call_fields(INTERFACE, many=True)] * 2]
    for core, known in enumerate((of_numbers, of_calls, of_calls)):
        device.write32(SELECT, core)
        assert defined(device) == sorted(addresses(known))
        for register, values in fields[core].items():
            for name, value in values.items():
                assert register[name].of(device.read32(register.address)) == value
        assert set(CORE_REGISTERS) < set(known)
        assert device.read32(registers.CORES.address) == 3


def test_a_driver_finds_its_core(cores):
    assert [core.has_slots for core in cores.cores] == [False, True, True]
    assert cores.numbers(Command.RSA_PRIVATE).number == cores.numbers().number == 0
    assert cores.calls(INTERFACE.call["COPY"].code, INTERFACE.family_number).number == 1
    with pytest.raises(ValueError, match="no engine of numbers"):
        cores.numbers(Command.X_MULTIPLY)
    with pytest.raises(ValueError, match="no engine of byte strings"):
        cores.calls(INTERFACE.call["COPY"].code, INTERFACE.family_number + 1)


def test_after_a_reset_software_that_knows_of_no_cores_finds_the_first_one(device):
    assert Accelerator(device).modexp(5, 77, M).value == pow(5, 77, M)
    device.write32(SELECT, 1)
    with pytest.raises(IdentificationError):
        Accelerator(device)


def test_engines_work_at_once_and_take_the_cycles_of_each_alone(cores):
    numbers, mock, other = numbers_of(cores), calls_of(cores, 1), calls_of(cores, 2)
    draw = random.Random(1)
    for _ in range(5):
        running = started_copy(mock)
        x, e = draw.randrange(M), draw.getrandbits(40)
        found = numbers.modexp(x, e, M)
        assert (found.value, found.cycles) == (pow(x, e, M), found.predicted_cycles)
        assert cores.pending() == {1}  # that of core 0 has been taken
        between = other.finish(started_copy(other))
        assert between.outputs["copy"] == inverted(KEY)
        done = mock.finish(running)
        assert (done.outputs["copy"], done.cycles) == (inverted(KEY), done.predicted_cycles)
        assert not cores.pending()


def test_an_error_and_a_wipe_are_those_of_one_core(cores):
    numbers, mock = numbers_of(cores), calls_of(cores, 1)
    mock.load({"key": KEY, "second": SECOND}, parameter_set="short")
    with pytest.raises(EngineError) as raised:
        numbers.modmul(3, 5, 1 << 20)
    assert raised.value.code is Error.MODULUS_EVEN
    assert numbers.modmul(3, 5, M).value == 15
    numbers.wipe()
    assert mock.complete() == {"key", "second"}
    mock.wipe()
    assert not mock.complete()
    assert numbers.modmul(7, 5, M).value == 35


def test_a_core_that_there_is_not(device):
    for wrong in (3, 1 << 31, 0xFFFFFFFF):
        with pytest.raises(BusError):
            device.write32(SELECT, wrong)
    assert device.read32(SELECT) == 0


def test_random_bytes_go_to_one_of_the_cores_that_draw(device, cores):
    drawn = bytes(range(8))
    device.give_random(drawn)
    started = [
        (mock, mock.start("DRAW", {}, parameter_set="short"))
        for mock in (calls_of(cores, 1), calls_of(cores, 2))
    ]
    found = [mock.finish(each).outputs["second"] for mock, each in started]
    assert sorted(b"".join(found)) == sorted(drawn)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("source", "requests"), [(RandomSource.SEEDED, 2), (RandomSource.TRNG, 1)], ids=str
)
def test_one_source_serves_engines_of_both_kinds(source, requests):
    """Each request after the first is one of the same seed, but that noise seeds anew meanwhile."""
    blinded = choose("compact", {"max_bits": 128, "blinding": "all"})
    choice = SuiteChoice((blinded, MOCK), source)
    key = keys.generate(128, seed=3)
    with SimulatedDevice(suite_verilog(choice), choice.module_name) as device:
        cores = Cores(device)
        numbers, mock = Accelerator(cores.cores[0]), calls_of(cores, 1)
        assert numbers.source.state is not SourceState.READY
        draws = set()
        for _ in range(2):
            draws.add(mock.call("DRAW", {}, parameter_set="short").outputs["second"])
            mock.wipe()
        assert len(draws) == 2
        numbers.load_private(key)
        for x in (2, key.n - 3):
            assert numbers.private(x).value == pow(x, key.d, key.n)
        assert mock.source.state is numbers.source.state is SourceState.READY
        assert mock.source.requests == numbers.source.requests >= requests
