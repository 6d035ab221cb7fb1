"""The mechanism, task by task, against the model."""

from amaranth.sim import Simulator

from coprime.model.hash_drbg import HashDrbg as Model
from coprime.random.mechanism import DrbgMechanism
from coprime.random.programs import DrbgTask
from coprime.random.steps import REQUEST_BYTES, C, V

SEED = bytes(range(3, 51))
LONG = bytes(range(192))


class Machine:
    """The hardware, task by task."""

    def __init__(self, ctx, drbg):
        self.ctx, self.drbg = ctx, drbg

    async def run(self, task, *, seeded=False, material=b"", count=1):
        """Do a task; its cycles are as predicted."""
        ctx, drbg = self.ctx, self.drbg
        for index in range(len(material) // 4):
            ctx.set(drbg.load, 1)
            ctx.set(drbg.load_index, index)
            ctx.set(drbg.load_word, int.from_bytes(material[4 * index : 4 * index + 4]))
            await ctx.tick()
        ctx.set(drbg.load, 0)
        settings = {"task": task, "seeded": seeded, "material_words": len(material) // 4}
        for name, value in {**settings, "count": count, "start": 1}.items():
            ctx.set(getattr(drbg, name), value)
        await ctx.tick()
        ctx.set(drbg.start, 0)
        cycles = 1
        while not ctx.get(drbg.done):
            assert ctx.get(drbg.busy)
            await ctx.tick()
            cycles += 1
        await ctx.tick()
        assert not ctx.get(drbg.busy)
        assert cycles == drbg.cycles(task, seeded=seeded, material_words=len(material) // 4)

    def words(self, region):
        """A number in the memory."""
        memory = self.drbg.memory.data
        words = [self.ctx.get(memory[region.base + k]) for k in range(region.words)]
        return int.from_bytes(b"".join(word.to_bytes(4) for word in words))

    def write(self, region, value):
        """Put a number there."""
        for k in range(region.words):
            word = value >> 32 * (region.words - 1 - k) & 0xFFFF_FFFF
            self.ctx.set(self.drbg.memory.data[region.base + k], word)

    async def output(self):
        """The bytes of the last request, which become 0."""
        found = []
        for index in range(REQUEST_BYTES):
            self.ctx.set(self.drbg.output_index, index)
            await self.ctx.tick()
            found.append(self.ctx.get(self.drbg.output))
            self.ctx.set(self.drbg.clear, index % 4 == 3)
            self.ctx.set(self.drbg.clear_index, index // 4)
        await self.ctx.tick()
        self.ctx.set(self.drbg.clear, 0)
        return bytes(found)


def simulate(use):
    drbg = DrbgMechanism()

    async def bench(ctx):
        await use(Machine(ctx, drbg))

    simulator = Simulator(drbg)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def test_state_and_output_are_the_model_s():
    async def use(machine):
        await machine.run(DrbgTask.CLEAR)
        await machine.run(DrbgTask.SEED, material=SEED)
        model = Model(SEED)
        assert (machine.words(V), machine.words(C)) == (model.v, model.c)
        await machine.run(DrbgTask.SEED, seeded=True, material=LONG)
        model.reseed(LONG)
        assert (machine.words(V), machine.words(C)) == (model.v, model.c)
        for count in (1, 2):
            await machine.run(DrbgTask.GENERATE, count=count)
            assert await machine.output() == model.generate(REQUEST_BYTES)
            assert (machine.words(V), machine.words(C)) == (model.v, model.c)
        assert not any(await machine.output())

    simulate(use)


def test_sums_carry_through_all_words():
    async def use(machine):
        model = Model(SEED)
        model.v, model.c, model.count = (1 << 440) - 1, (1 << 440) - 2, (1 << 32) - 1
        machine.write(V, model.v)
        machine.write(C, model.c)
        await machine.run(DrbgTask.GENERATE, count=model.count)
        assert await machine.output() == model.generate(REQUEST_BYTES)
        assert (machine.words(V), machine.words(C)) == (model.v, model.c)

    simulate(use)
