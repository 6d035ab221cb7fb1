"""The bridge with the copy engine, in front of our AXI4 slave and registers that a test answers."""

import random

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.sim import Simulator

from coprime.bus.axi4 import AXI4
from coprime.soc.burst_bridge import (
    BURST_WORDS,
    BurstBridge,
    CopyRegister,
    receive_cycles,
    send_cycles,
)
from coprime.soc.system_memory import SystemMemory

DEPTH = 512
COPY = 4096
REFUSED = 0x7FC  # the registers answer an access to it with an error
SEED = 25


class Bench:
    """Bridge, memory, slave; registers are a list, which answers at once or after stalls."""

    def __init__(self, stalls=0.0):
        self.rng = random.Random(SEED)
        self.stalls = stalls
        self.registers = [self.rng.getrandbits(32) for _ in range(1024)]
        self.bridge, self.memory, self.slave = BurstBridge(DEPTH), SystemMemory(DEPTH), AXI4()
        self.module = m = Module()
        m.submodules.bridge, m.submodules.memory = bridge, memory = self.bridge, self.memory
        m.submodules.slave = self.slave
        wiring.connect(m, bridge.axi, self.slave.axi)
        m.d.comb += [
            memory.fetch.eq(bridge.fetch),
            memory.store.eq(bridge.store),
            memory.place.eq(bridge.place),
            memory.copied.eq(bridge.answer),
            bridge.fetched.eq(memory.read_data),
        ]

    def run(self, testbench):
        async def user(context):
            self.context = context
            await testbench(self)

        simulator = Simulator(self.module)
        simulator.add_clock(1e-6)
        simulator.add_testbench(user)
        simulator.add_testbench(self._registers, background=True)
        simulator.run()

    async def _registers(self, context):
        """Answer a write in its second cycle, a read in its third, as the front end does, or after
        stalls."""
        port = self.slave.registers
        waited = {"write": 0, "read": 0}
        while True:
            for kind, least in (("write", 1), ("read", 2)):
                ready = waited[kind] >= least and self.rng.random() >= self.stalls
                context.set(getattr(port, f"{kind}_ready"), ready)
            place = context.get(port.read_address)
            context.set(port.read_error, place == REFUSED // 4)
            context.set(port.read_data, self.registers[place])
            context.set(port.write_error, context.get(port.write_address) == REFUSED // 4)
            _, _, write, written, read, taken, address, data = await context.tick().sample(
                *(port.write, port.write & port.write_ready, port.read),
                *(port.read & port.read_ready, port.write_address, port.write_data),
            )
            waited = {
                "write": (waited["write"] + 1) * (write and not written),
                "read": (waited["read"] + 1) * (read and not taken),
            }
            if written and address != REFUSED // 4:
                self.registers[address] = data

    async def access(self, address, data=0, strobes=0):
        """One access of the processor: what it reads, whether it is refused, its cycles."""
        bridge, context = self.bridge, self.context
        for port, value in ((bridge.address, address), (bridge.data, data)):
            context.set(port, value)
        context.set(bridge.strobes, strobes)
        context.set(bridge.valid, 1)
        ready = cycles = 0
        while not ready:
            cycles += 1
            assert cycles < 20_000
            _, _, ready, answer, refused = await context.tick().sample(
                bridge.ready, bridge.answer, bridge.refused
            )
        context.set(bridge.valid, 0)
        for _ in range(self.rng.randrange(2)):
            await context.tick()
        return answer, refused, cycles

    async def write(self, address, data):
        return (await self.access(address, data, 0xF))[1:]

    async def copy(self, memory, register, kind, count):
        assert await self.write(COPY + CopyRegister.MEMORY, memory) == (0, 1)
        assert await self.write(COPY + CopyRegister.ACCELERATOR, register) == (0, 1)
        return await self.write(COPY + kind, count)

    async def fill(self):
        words = [self.rng.getrandbits(32) for _ in range(DEPTH)]
        for place, word in enumerate(words):
            self.context.set(self.memory.load, 1)
            self.context.set(self.memory.load_address, place)
            self.context.set(self.memory.load_data, word)
            await self.context.tick()
        self.context.set(self.memory.load, 0)
        return words

    async def contents(self):
        words = []
        for place in range(DEPTH):
            self.context.set(self.memory.read_ahead, 1)
            self.context.set(self.memory.read_address, place)
            await self.context.tick()
            words.append(self.context.get(self.memory.read_data))
        self.context.set(self.memory.read_ahead, 0)
        return words


COPIES = [(0, 0x400, 1), (4, 0x800, 2), (0x100, 0xC00, BURST_WORDS), (4 * (DEPTH - 3), 0, 3)]


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("stalls", [0, 0.5])
def test_copies(stalls):
    async def testbench(bench):
        words = await bench.fill()
        for memory, register, count in COPIES:
            before, first, place = list(bench.registers), memory // 4, register // 4
            refused, cycles = await bench.copy(memory, register, CopyRegister.SEND, count)
            assert not refused
            assert stalls or cycles == send_cycles(count)
            before[place : place + count] = words[first : first + count]
            assert bench.registers == before
        for memory, register, count in COPIES:
            bench.registers = [bench.rng.getrandbits(32) for _ in range(1024)]
            first, place = memory // 4, register // 4
            refused, cycles = await bench.copy(memory, register, CopyRegister.RECEIVE, count)
            assert not refused
            assert stalls or cycles == receive_cycles(count)
            words[first : first + count] = bench.registers[place : place + count]
            assert await bench.contents() == words

    Bench(stalls).run(testbench)


def test_accesses_of_the_processor():
    async def testbench(bench):
        assert (await bench.write(0x10, 77))[0] == 0
        assert bench.registers[4] == 77
        answer, refused, _ = await bench.access(0x10)
        assert (answer, refused) == (77, 0)
        assert (await bench.access(0x10, 78, 0x1))[1] == 1  # the slave takes whole words only
        assert (await bench.write(REFUSED, 1))[0] == 1
        assert (await bench.access(REFUSED))[1] == 1
        assert bench.registers[4] == 77

    Bench().run(testbench)


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize(
    ("memory", "register", "kind", "count"),
    [
        (0, 0x400, CopyRegister.SEND, 0),
        (0, 0x400, CopyRegister.RECEIVE, BURST_WORDS + 1),
        (0, 0x400, CopyRegister.SEND, (1 << 32) - 1),
        (4 * (DEPTH - 3), 0x400, CopyRegister.RECEIVE, 4),
    ],
)
def test_a_block_out_of_range_is_refused(memory, register, kind, count):
    async def testbench(bench):
        words = await bench.fill()
        registers = list(bench.registers)
        assert await bench.copy(memory, register, kind, count) == (1, 1)
        assert await bench.contents() == words
        assert bench.registers == registers

    Bench().run(testbench)


def test_what_the_accelerator_refuses_in_a_burst_is_refused():
    async def testbench(bench):
        await bench.fill()
        for kind in (CopyRegister.SEND, CopyRegister.RECEIVE):
            assert (await bench.copy(0, REFUSED - 8, kind, 4))[0] == 1
            assert (await bench.copy(0, REFUSED - 8, kind, 2))[0] == 0

    Bench().run(testbench)


def test_accesses_that_the_copy_engine_refuses():
    async def testbench(bench):
        for address, data, strobes in (
            (COPY, 0, 0),  # a read
            (COPY, 0, 0x3),  # a part of a word
            (COPY + 16, 0, 0xF),
            (COPY + CopyRegister.MEMORY, 2, 0xF),
            (COPY + CopyRegister.MEMORY, 4 * DEPTH, 0xF),
            (COPY + CopyRegister.ACCELERATOR, 4096, 0xF),
        ):
            assert (await bench.access(address, data, strobes))[1:] == (1, 1), (address, data)

    Bench().run(testbench)
