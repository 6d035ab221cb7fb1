"""A datapath in the Amaranth simulator, with a sample, bytes and the table of constants."""

from amaranth.sim import Simulator

from coprime.lattice.arithmetic.datapath import DEPTH, Datapath
from coprime.lattice.arithmetic.parallel_datapath import ParallelDatapath
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
    """The integers that a datapath of one lane or several works on, and what it makes of them.

    Attributes
    ----------
    sample : the oldest polynomial of the sample buffer
    words : 32-bit words of bytes
    pointer : the next one that is read or written, of `at_once` at a time
    """

    def __init__(self, lanes=1):
        self.lanes = lanes
        self.dut = Datapath() if lanes == 1 else ParallelDatapath(lanes)
        parts = [self.dut] if lanes == 1 else self.dut.lanes
        self.memories = [part.memory.data for part in parts]
        self.sample = [0] * N
        self.words = [0] * 128
        self.pointer, self.at_once = 0, 1 if lanes == 1 else 2
        self.uses = []

    def run(self, script):
        """Simulate; `script` is a coroutine that is given the context and the bench."""
        simulator = Simulator(self.dut)
        simulator.add_clock(1e-8)
        tables = [table_words(lane, self.lanes) for lane in range(self.lanes)]

        async def surroundings(context):
            dut = self.dut
            cycle = 0
            while True:
                _, _, table_address, address, use, write, data = await context.tick().sample(
                    dut.table_address, dut.sample_address, dut.use, dut.write, dut.write_data
                )
                words = [dut.table_word] if self.lanes == 1 else dut.table_words
                samples = [dut.sample] if self.lanes == 1 else dut.sample
                for lane, table in enumerate(tables):
                    context.set(words[lane], table[table_address])
                    first = 2 * (address * self.lanes + lane)
                    pair = [x % (1 << LANE) for x in self.sample[first : first + 2]]
                    context.set(samples[lane], pair)
                # What is not read is anything.
                found = 0x5A5AA5A55A5AA5A5 >> (64 - 32 * self.at_once)
                if use:
                    assert not self.uses or self.uses[-1] < cycle - 1
                    self.uses.append(cycle)
                    used = slice(self.pointer, self.pointer + self.at_once)
                    if write:
                        self.words[used] = [data & 0xFFFFFFFF, data >> 32][: self.at_once]
                    else:
                        found = sum(word << 32 * k for k, word in enumerate(self.words[used]))
                    self.pointer += self.at_once
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

    def word(self, address):
        """A word of memory, as one lane has it."""
        return self.memories[address % self.lanes][address // self.lanes]

    def load(self, context, region, f):
        base = region.value * WORDS
        for w in range(WORDS):
            word = as_word(*f[2 * w : 2 * w + 2])
            context.set(self.word(base + w), word | (word.bit_count() % 2) << 2 * LANE)

    def read(self, context, region):
        base = region.value * WORDS
        found = []
        for w in range(WORDS):
            found += as_pair(context.get(self.word(base + w)))
        return found

    def read_roots(self, context, j):
        """Products with roots; of two words of a lane in one of its words."""
        found = []
        for w in range(WORDS):
            place, lane = divmod(w, self.lanes)
            word = self.memories[lane][(512 + 64 * j) // self.lanes + place // 2]
            found.append(as_pair(context.get(word))[place % 2])
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
        assert cycles == step.cycles_on(self.lanes), (step, cycles)
        await context.tick().repeat(2)  # the last results are written
        assert not context.get(dut.busy)


assert len(Region) * WORDS < DEPTH
