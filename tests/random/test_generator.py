"""The generator: tests itself, refuses to give a byte before it is seeded, counts, and fails."""

import pytest
from amaranth.sim import Simulator

from coprime.model.hash_drbg import HashDrbg as Model
from coprime.random.generator import Generator, SourceState
from coprime.random.mechanism import DrbgMechanism
from coprime.random.programs import DrbgTask, known_answer

SEED = bytes(range(3, 51))
AGAIN = bytes(range(90, 122))


class Owner:
    """Who has the generator: loads seeds, draws bytes."""

    def __init__(self, ctx, source):
        self.ctx, self.source = ctx, source

    def state(self):
        return SourceState(self.ctx.get(self.source.state))

    async def pulse(self, name):
        self.ctx.set(getattr(self.source, name), 1)
        await self.ctx.tick()
        self.ctx.set(getattr(self.source, name), 0)

    async def seed(self, material):
        self.ctx.set(self.source.hold, 1)
        for place in range(0, len(material), 4):
            self.ctx.set(self.source.word, int.from_bytes(material[place : place + 4]))
            while not self.ctx.get(self.source.ready):
                await self.ctx.tick()
            await self.pulse("load")
        await self.pulse("seed")
        self.ctx.set(self.source.hold, 0)

    async def draw(self, count, limit=3000):
        """Bytes; fewer if none comes in `limit` cycles."""
        found, waited = bytearray(), 0
        self.ctx.set(self.source.random.ready, 1)
        while len(found) < count and waited < limit:
            waited += 1
            if self.ctx.get(self.source.random.valid):
                found.append(self.ctx.get(self.source.random.payload))
                waited = 0
            await self.ctx.tick()
        self.ctx.set(self.source.random.ready, 0)
        return bytes(found)

    async def until(self, state, limit=10_000):
        cycles = 0
        while self.state() is not state:
            await self.ctx.tick()
            cycles += 1
            assert cycles < limit
        return cycles


def simulate(use, **settings):
    source = Generator(**settings)

    async def bench(ctx):
        await use(Owner(ctx, source))

    simulator = Simulator(source)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def test_bytes_are_the_model_s_after_a_seed_and_none_come_before():
    async def use(owner):
        assert owner.state() is SourceState.TESTING
        owner.ctx.set(owner.source.random.ready, 1)
        cycles = 0
        while owner.state() is SourceState.TESTING:
            assert not owner.ctx.get(owner.source.random.valid)
            await owner.ctx.tick()
            cycles += 1
        assert cycles == Generator.start_cycles()
        assert await owner.draw(1) == b""
        await owner.seed(SEED[:44])  # a word too few
        assert owner.state() is SourceState.UNSEEDED and await owner.draw(1) == b""
        await owner.seed(SEED)
        seeding = DrbgMechanism.cycles(DrbgTask.SEED, material_words=len(SEED) // 4)
        assert await owner.until(SourceState.READY) == seeding
        model = Model(SEED)
        assert owner.ctx.get(owner.source.requests) == 0
        assert await owner.draw(200) == (model.generate(128) + model.generate(128))[:200]
        assert owner.ctx.get(owner.source.requests) == 2
        await owner.seed(AGAIN[:28])  # a word too few
        await owner.seed(AGAIN)
        model.reseed(AGAIN)
        assert await owner.draw(50) == model.generate(128)[:50]
        assert owner.ctx.get(owner.source.requests) == 1

    simulate(use)


@pytest.mark.matrix
def test_it_needs_a_new_seed_after_an_interval_and_starts_again():
    async def use(owner):
        await owner.until(SourceState.UNSEEDED)
        await owner.seed(SEED)
        model = Model(SEED)
        ages = []
        for _ in range(2):
            assert await owner.draw(128) == model.generate(128)
            ages.append(owner.ctx.get(owner.source.ages))
        assert ages == [1, 1] and owner.state() is SourceState.UNSEEDED
        assert await owner.draw(1) == b""
        await owner.seed(AGAIN)
        model.reseed(AGAIN)
        assert await owner.draw(5) == model.generate(128)[:5]
        await owner.pulse("restart")
        assert await owner.draw(1) == b""
        await owner.until(SourceState.UNSEEDED)
        assert await owner.draw(1) == b""
        await owner.seed(SEED)
        assert await owner.draw(5) == Model(SEED).generate(128)[:5]

    simulate(use, interval=2)


@pytest.mark.fuzz
def test_a_failed_test_ends_all():
    async def use(owner):
        await owner.until(SourceState.FAILED)
        assert await owner.draw(1) == b""
        await owner.pulse("restart")
        await owner.until(SourceState.TESTING)
        await owner.until(SourceState.FAILED)

    answer = bytearray(known_answer())
    answer[-1] ^= 1
    simulate(use, answer=bytes(answer))


@pytest.mark.fuzz
def test_a_failure_of_the_seed_s_source_ends_all_at_once():
    async def use(owner):
        await owner.until(SourceState.UNSEEDED)
        await owner.seed(SEED)
        assert len(await owner.draw(5)) == 5
        await owner.pulse("fail")
        assert owner.state() is SourceState.FAILED
        assert await owner.draw(1) == b""
        assert owner.state() is SourceState.FAILED

    simulate(use)
