"""A datapath in the Amaranth simulator, with a sample, bytes and the table of constants."""

from amaranth.sim import Simulator

from coprime.lattice.arithmetic.datapath import DEPTH, Datapath
from coprime.lattice.arithmetic.steps import Region
from coprime.lattice.arithmetic.table import table_words
from coprime.model.lattice.arithmetic import WORDS, N

LANE = 13


def as_word(even, odd):
    mask = (1 << LANE) - 1
    return even & mask | (odd & mask) << LANE


def as_pair(word):
    lanes = (word & (1 << LANE) - 1, word >> LANE & (1 << LANE) - 1)
    return tuple(x - (1 << LANE) if x >> LANE - 1 else x for x in lanes)


class DatapathBench:
    """The integers that the datapath works on, and what it makes of them.

    Attributes
    ----------
    sample : the oldest polynomial of the sample buffer
    words : 32-bit words of bytes
    pointer : the next one that is read or written
    """

    def __init__(self):
        self.dut = Datapath()
        self.memory = self.dut.memory.data
        self.sample = [0] * N
        self.words = [0] * 128
        self.pointer = 0
        self.uses = []

    def run(self, script):
        """Simulate; `script` is a coroutine that is given the context and the bench."""
        simulator = Simulator(self.dut)
        simulator.add_clock(1e-8)
        table = table_words()

        async def surroundings(context):
            dut = self.dut
            cycle = 0
            while True:
                _, _, table_address, address, use, write, data = await context.tick().sample(
                    dut.table_address, dut.sample_address, dut.use, dut.write, dut.write_data
                )
                context.set(dut.table_word, table[table_address])
                pair = self.sample[2 * address : 2 * address + 2]
                context.set(dut.sample, [x % (1 << LANE) for x in pair])
                # What is not read is anything.
                found = 0x5A5AA5A5
                if use:
                    assert not self.uses or self.uses[-1] < cycle - 1
                    self.uses.append(cycle)
                    if write:
                        self.words[self.pointer] = data
                    else:
                        found = self.words[self.pointer]
                    self.pointer += 1
                context.set(dut.read_data, found)
                cycle += 1

        async def bench(context):
            await self.clear(context)
            await script(context, self)

        simulator.add_testbench(surroundings, background=True)
        simulator.add_testbench(bench)
        simulator.run()

    async def clear(self, context):
        """As an engine does it after a reset, or in the cycles after a wipe."""
        context.set(self.dut.wiping, 1)
        for address in range(DEPTH):
            context.set(self.dut.wipe_address, address)
            await context.tick()
        context.set(self.dut.wiping, 0)

    def load(self, context, region, f):
        base = region.value * WORDS
        for w in range(WORDS):
            word = as_word(*f[2 * w : 2 * w + 2])
            context.set(self.memory[base + w], word | (word.bit_count() % 2) << 2 * LANE)

    def read(self, context, region):
        base = region.value * WORDS
        found = []
        for w in range(WORDS):
            found += as_pair(context.get(self.memory[base + w]))
        return found

    def read_roots(self, context, j):
        found = []
        for w in range(WORDS // 2):
            found += as_pair(context.get(self.memory[512 + 64 * j + w]))
        return found

    async def step(self, context, step):
        """Execute it; its cycles must be those that it states."""
        dut = self.dut
        self.pointer = 0
        context.set(dut.step, step.fields())
        context.set(dut.start, 1)
        await context.tick()
        context.set(dut.start, 0)
        cycles = 1
        while not context.get(dut.done):
            assert context.get(dut.busy)
            assert not context.get(dut.wrong)
            await context.tick()
            cycles += 1
        assert cycles == step.cycles, (step, cycles)
        await context.tick().repeat(2)  # the last results are written
        assert not context.get(dut.busy)


assert len(Region) * WORDS < DEPTH
