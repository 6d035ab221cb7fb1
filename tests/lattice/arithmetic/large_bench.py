"""A LargeDatapath in the Amaranth simulator."""

from amaranth.sim import Simulator

from coprime.lattice.arithmetic.large_datapath import LargeDatapath
from coprime.lattice.arithmetic.large_steps import LargeKind, large_table
from coprime.lattice.arithmetic.parallel_large_datapath import ParallelLargeDatapath
from coprime.model.lattice.large_arithmetic import N

REGIONS = 4


def as_words(data):
    return [int.from_bytes(data[k : k + 4], "little") for k in range(0, len(data), 4)]


def with_parity(word):
    return word | (word.bit_count() % 2) << 24


def signed(word):
    word &= (1 << 24) - 1
    return word - (word >> 23 << 24)


class LargeBench:
    """A datapath with a table, a sample, bytes and hints.

    Attributes
    ----------
    sample : the polynomial of the sample buffer
    words : of bytes, that are read
    written : words that were written
    hints : of the coefficients whose high parts are packed
    cycles : of all steps
    """

    def __init__(self, regions=REGIONS, *, verify_only=False, lanes=1):
        self.lanes = lanes
        if lanes == 1:
            self.dut = LargeDatapath(regions, verify_only=verify_only)
            parts = [self.dut]
        else:
            self.dut = ParallelLargeDatapath(regions, lanes, verify_only=verify_only)
            parts = self.dut.lanes
        self.memories = [part.memory for part in parts]
        self.sample, self.cycles = [0] * N, 0
        self.reads = False  # the word that is addressed in this cycle is needed
        self.words, self.written, self.hints = [], [], []

    def run(self, script):
        dut = self.dut
        tables = [large_table(lane, self.lanes).words for lane in range(self.lanes)]
        simulator = Simulator(dut)
        simulator.add_clock(1e-8)

        async def surroundings(context):
            memory = self.memories[0]
            constants = [dut.table_word] if self.lanes == 1 else dut.table_words
            samples = [dut.sample] if self.lanes == 1 else dut.sample
            while True:
                (
                    _,
                    _,
                    constant,
                    place,
                    use,
                    write,
                    word,
                    hinted,
                    *ports,
                ) = await context.tick().sample(
                    dut.table_address,
                    dut.sample_address,
                    dut.use,
                    dut.write,
                    dut.write_data,
                    dut.hint_step,
                    memory.a_address,
                    memory.b_address,
                    memory.b_write,
                )
                at_once = 1 if self.lanes == 1 else 2
                found = 0x5A5A5A5A
                if use and write:
                    self.written += [word & 0xFFFFFFFF, word >> 32][:at_once]
                elif use:
                    found = sum(one << 32 * k for k, one in enumerate(self.words[:at_once]))
                    del self.words[:at_once]
                context.set(dut.read_data, found)
                hints = self.hints[: 1 if self.lanes == 1 else 2] if hinted else []
                context.set(dut.hint, sum(hint << k for k, hint in enumerate(hints)))
                del self.hints[: len(hints)]
                # The block RAM does not say what is read where it is being written.
                assert not (self.reads and ports[2] and ports[0] == ports[1])
                for lane in range(self.lanes):
                    context.set(constants[lane], tables[lane][constant])
                    context.set(samples[lane], self.sample[place * self.lanes + lane])

        async def bench(context):
            while context.get(dut.wiping):
                await context.tick()
            await script(context)

        simulator.add_testbench(surroundings, background=True)
        simulator.add_testbench(bench)
        simulator.run()

    def load(self, context, region, f):
        for place, x in enumerate(f):
            word = x & (1 << 24) - 1
            context.set(self._word(region, place), with_parity(word))

    def _word(self, region, place):
        memory = self.memories[place % self.lanes]
        return memory.memory.data[(region * N + place) // self.lanes]

    def read(self, context, region):
        return [signed(context.get(self._word(region, place))) for place in range(N)]

    async def step(self, context, step):
        dut = self.dut
        context.set(dut.step, step.fields())
        context.set(dut.start, 1)
        await context.tick()
        context.set(dut.start, 0)
        cycles = 1
        while not context.get(dut.done):
            assert context.get(dut.busy)
            slot = cycles - 1
            self.reads = slot < step.slots(self.lanes) and step.kind is not LargeKind.UNPACK
            if step.kind is LargeKind.LAST:
                self.reads &= slot % 4 < 2
            if step.kind is LargeKind.SUM and step.sample:
                self.reads &= slot % 2 == 0
            await context.tick()
            cycles += 1
        assert cycles == step.cycles_on(self.lanes)
        assert not self.words
        self.cycles += cycles
        await context.tick()
        assert not context.get(dut.busy)
