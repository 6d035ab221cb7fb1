"""Random and hostile accesses to accelerators for byte strings: nothing hangs, all works later."""

import random
from collections import Counter

import pytest

from coprime.bus import registers
from coprime.bus.kinds import Bus
from coprime.bus.shared_registers import CALL_REGISTERS, CORE_REGISTERS
from coprime.calls.interface import WIPE
from coprime.catalog import choose_calls
from coprime.device.base import ADDRESS_SPACE, BusError
from coprime.device.calls import CallAccelerator
from coprime.device.simulated import SimulatedDevice
from coprime.flow.kept_verilog import kept_accelerator
from coprime.flow.parts import accelerator_verilog

SEED = 1
BETWEEN = 500
"""Accesses from one call whose answer is compared to the next one."""
PATIENT = 1 << 18
"""Cycles that a burst may take: 256 words, each after 1,023 cycles."""
LONGEST = 1 << 17
"""Cycles after which a WIPE must have ended."""
WINDOW = registers.DATA_WINDOW


class Hostile:
    """A device, and who writes and reads whatever comes to mind."""

    def __init__(self, choice, bus, seed):
        self.known = (*CALL_REGISTERS, *(CORE_REGISTERS if choice.cores > 1 else ()))
        self.interface = choice.design.interface
        self.predict = choice.design.predict
        lite = bus is Bus.AXI4_LITE
        verilog = kept_accelerator(choice) if lite else accelerator_verilog(choice, bus=bus)
        self.device = SimulatedDevice(verilog, choice.module_name, access_limit=PATIENT)
        self.random = random.Random(seed)
        self.seen = Counter()
        """How often each kind of access was made, was refused, and met a busy engine."""

    # Accesses

    def value(self):
        """A word: any, one of few bits, or one that is right somewhere."""
        draw = self.random
        slots = [length for slot in self.interface.slots for length in slot.lengths]
        codes = [WIPE, *(call.code for call in self.interface.calls)]
        return draw.choice(
            [
                draw.getrandbits(32),
                draw.randrange(8),
                1 << draw.randrange(32),
                draw.choice(slots) | draw.randrange(2) << 31,
                draw.choice(codes),
                0xFFFFFFFF,
            ]
        )

    def address(self):
        """Of a known register, of the window, or any."""
        draw = self.random
        known = draw.choice(self.known).address
        window = WINDOW.address + 4 * draw.randrange(WINDOW.words)
        return draw.choice([known, known, window, 4 * draw.randrange(ADDRESS_SPACE // 4)])

    def read(self):
        self.device.read32(self.address())

    def write(self):
        self.device.write32(self.address(), self.value())

    def read_block(self):
        address = self.address()
        most = (ADDRESS_SPACE - address) // 4
        self.device.read_block(address, self.random.randint(1, min(256, most)))

    def write_block(self):
        address = self.address()
        most = (ADDRESS_SPACE - address) // 4
        count = self.random.randint(1, min(256, most))
        self.device.write_block(address, [self.value() for _ in range(count)])

    def load(self):
        """A slot as it should be, of the right length or not, but perhaps not to its end."""
        slot = self.random.choice(self.interface.slots)
        length = self.random.choice([*slot.lengths, *slot.lengths, self.random.randrange(5000)])
        self.device.write32(registers.ERROR.address, 0)
        self.device.write32(registers.SLOT.address, slot.number)
        self.device.write32(registers.SLOT_LENGTH.address, length)
        words = [self.value() for _ in range(min(-(-length // 4), self.random.choice([3, 2000])))]
        for place in range(0, len(words), WINDOW.words):
            self.device.write_block(WINDOW.address, words[place : place + WINDOW.words])

    def fetch(self):
        slot = self.random.randrange(32)
        self.device.write32(registers.ERROR.address, 0)
        self.device.write32(registers.SLOT.address, slot)
        self.device.read_block(WINDOW.address, self.random.randint(1, WINDOW.words))

    def start(self):
        """A call, with whatever is complete."""
        call = self.random.choice(self.interface.calls)
        self.device.write32(registers.COMMAND.address, call.code)

    def wipe(self):
        self.device.write32(registers.COMMAND.address, WIPE)

    def wait(self):
        self.device.run(self.random.choice([1, 10, 100, 3000]))

    def access(self):
        """One of these; an address that there is not is refused."""
        kinds = [self.read, self.write, self.read_block, self.write_block, self.load, self.fetch]
        kind = self.random.choices(
            [*kinds, self.start, self.wipe, self.wait], [20, 20, 4, 4, 8, 4, 6, 1, 3]
        )[0]
        self.seen[kind.__name__] += 1
        try:
            self.seen["busy"] += bool(self.device.read32(registers.STATUS.address))
            kind()
        except BusError:
            self.seen["refused"] += 1

    # Afterwards

    def recover(self):
        """WIPE ends whatever runs; then a call with all of its inputs gives the right answer."""
        self.wipe()
        began = self.device.cycles
        while self.device.read32(registers.STATUS.address):
            assert self.device.cycles - began < LONGEST
            self.device.run(100)
        assert self.device.read32(registers.COMPLETE.address) == 0
        for register in (registers.ERROR, registers.INTERRUPT_STATUS):
            self.device.write32(register.address, 0xFFFFFFFF)
        driver = CallAccelerator(self.device, self.interface)
        call = self.random.choice(self.interface.calls)
        name = self.random.choice(self.interface.sets_of(call))
        values = call.draw(name, self.random)
        result = driver.call(call.name, values, parameter_set=name)
        assert result.outputs == call.reference(name, values), call.name
        assert result.cycles == self.predict(call, name, values).cycles
        self.seen["calls"] += 1


FAMILIES = [("shake", 1), ("lattice", 1), ("shake", 3)]
"""With numbers of cores, of which hostile accesses select any."""


def run_hostile(family, cores, bus, accesses, seed=SEED, **settings):
    hostile = Hostile(choose_calls(family, {"cores": str(cores), **settings}), bus, seed)
    with hostile.device:
        for number in range(accesses):
            hostile.access()
            if number % BETWEEN == BETWEEN - 1:
                hostile.recover()
        for core in range(cores if cores > 1 else 0):
            hostile.device.write32(registers.CORE_SELECT.address, core)
            hostile.recover()
    print(family, cores, bus.value, dict(hostile.seen))
    return hostile.seen


def recoveries(accesses, cores):
    return accesses // BETWEEN + (cores if cores > 1 else 0)


@pytest.mark.fuzz(quick=1)
@pytest.mark.parametrize(("family", "cores"), FAMILIES)
def test_a_thousand(family, cores):
    seen = run_hostile(family, cores, Bus.AXI4_LITE, 1000)
    assert seen["calls"] == recoveries(1000, cores)
    # Of all kinds, at idle and busy engines.
    assert all(seen[kind] for kind in ("refused", "wipe", "wait", "load", "start"))
    assert 0 < seen["busy"] < 1000


@pytest.mark.fuzz
@pytest.mark.parametrize(("family", "cores"), FAMILIES)
@pytest.mark.parametrize("bus", [Bus.AXI4_LITE, Bus.AXI4])
def test_a_hundred_thousand(family, cores, bus):
    seen = run_hostile(family, cores, bus, 100_000, SEED + 1)
    assert seen["calls"] == recoveries(100_000, cores)


@pytest.mark.fuzz
@pytest.mark.timeout(3600)  # calls of ML-DSA are predicted
def test_ten_thousand_on_both_schemes():
    """Calls of both, with parameter sets of both."""
    seen = run_hostile("lattice", 1, Bus.AXI4_LITE, 10_000, SEED + 2, schemes="both")
    assert seen["calls"] == recoveries(10_000, 1)
