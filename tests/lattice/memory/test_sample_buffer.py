"""The sample buffer beside its twin, and what it reads."""

import random

import pytest
from amaranth.sim import Simulator

from coprime.lattice.memory.sample_buffer import NUMBERS, PAIRS, SampleBuffer
from coprime.lattice.memory.semaphore import Semaphore
from coprime.lattice.memory.twins import SampleBufferTwin, SemaphoreTwin


def simulate(component, testbench):
    simulator = Simulator(component)
    simulator.add_clock(1e-6)
    simulator.add_testbench(testbench)
    simulator.run()


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        (NUMBERS, {"numbers": True}),
        (PAIRS, {"numbers": True}),
        (PAIRS, {}),
        (NUMBERS, {"numbers": True, "pairs": False}),
    ],
)
def test_agrees_with_its_twin_in_every_cycle(words, kinds):
    """Also one of both kinds of words, after an odd number of polynomials of pairs."""
    buffer = SampleBuffer(**kinds)
    twin = SampleBufferTwin(words)
    generator = random.Random(words)

    async def testbench(ctx):
        while ctx.get(buffer.wiping):
            assert not ctx.get(buffer.samples.ready)
            await ctx.tick()
        if buffer.holds_both:
            ctx.set(buffer.holds_pairs, 1)
            ctx.set(buffer.samples.valid, 1)
            await ctx.tick().repeat(PAIRS + 3)
            assert ctx.get(buffer.full) == 1
            ctx.set(buffer.samples.valid, 0)
            ctx.set(buffer.holds_pairs, words == PAIRS)
            ctx.set(buffer.begin, 1)
            await ctx.tick()
            ctx.set(buffer.begin, 0)
        wanted = None
        for _ in range(9000):
            assert ctx.get(buffer.full) == twin.full
            assert ctx.get(buffer.room) == ctx.get(buffer.samples.ready) == twin.room
            assert ctx.get(buffer.at_last) == twin.at_last
            if wanted is not None:
                found = ctx.get(buffer.word)
                assert (found.even, found.odd) == wanted
            offers = generator.randrange(8) > 0
            address = generator.randrange(words)
            releases = twin.full > 0 and generator.randrange(2 * words) == 0
            restarts = generator.randrange(3 * words) == 0 and not twin.at_last
            pair = generator.randrange(-1 << 17, 1 << 17), generator.randrange(-1 << 17, 1 << 17)
            wanted = twin.oldest[address] if twin.full else None
            if wanted is not None:
                wanted = tuple(one & (1 << 18) - 1 for one in wanted)
            ctx.set(buffer.samples.valid, offers)
            ctx.set(buffer.samples.payload, {"even": pair[0], "odd": pair[1]})
            ctx.set(buffer.address, address)
            ctx.set(buffer.release, releases)
            ctx.set(buffer.restart, restarts)
            if offers and twin.room:
                twin.take(pair)
            if releases:
                twin.release()
            if restarts:
                twin.restart()
            twin.tick()
            await ctx.tick()

    simulate(buffer, testbench)


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("lanes", [4, 8])
def test_lanes_read_numbers_that_came_in_pairs(lanes):
    """In every cycle as the twin says, with words, releases and restarts at random."""
    buffer = SampleBuffer(numbers=True, pairs=False, lanes=lanes)
    twin = SampleBufferTwin(PAIRS, joined_for=lanes)
    generator = random.Random(lanes)
    assert buffer.polynomials == twin.capacity == 2 * lanes

    async def testbench(ctx):
        while ctx.get(buffer.wiping):
            assert not ctx.get(buffer.samples.ready)
            await ctx.tick()
        wanted, seen = None, set()
        for _ in range(1000 * lanes):
            assert ctx.get(buffer.full) == twin.full
            assert ctx.get(buffer.room) == ctx.get(buffer.samples.ready) == twin.room
            assert ctx.get(buffer.at_last) == twin.at_last
            if wanted is not None:
                assert list(ctx.get(buffer.word)) == wanted
            offers = generator.randrange(8) > 0
            address = generator.randrange(NUMBERS // lanes)
            releases = twin.full > 0 and generator.randrange(4 * PAIRS) == 0
            restarts = generator.randrange(6 * PAIRS) == 0 and not twin.at_last
            pair = tuple(generator.randrange(-1 << 23, 1 << 23) for _ in range(2))
            wanted = twin.oldest[lanes * address :][:lanes] if twin.full else None
            ctx.set(buffer.samples.valid, offers)
            ctx.set(buffer.samples.payload, {"even": pair[0], "odd": pair[1]})
            ctx.set(buffer.address, address)
            ctx.set(buffer.release, releases)
            ctx.set(buffer.restart, restarts)
            if offers and twin.room:
                twin.take(pair)
            if releases:
                twin.release()
            if restarts:
                twin.restart()
            twin.tick()
            seen.add(twin.full)
            await ctx.tick()
        assert seen == set(range(twin.capacity + 1))

    simulate(buffer, testbench)


def test_a_wipe_clears_the_memories_of_all_lanes():
    buffer = SampleBuffer(numbers=True, pairs=False, lanes=8)

    async def testbench(ctx):
        await ctx.tick().until(~buffer.wiping)
        ctx.set(buffer.samples.valid, 1)
        ctx.set(buffer.samples.payload, {"even": -5, "odd": 7})
        await ctx.tick().repeat(300)
        assert ctx.get(buffer.full) == 2
        ctx.set(buffer.wipe, 1)
        await ctx.tick()
        ctx.set(buffer.wipe, 0)
        ctx.set(buffer.samples.valid, 0)
        cycles = 0
        while ctx.get(buffer.wiping):
            if cycles == 2:
                ctx.set(buffer.samples.payload, {"even": 0, "odd": 0})
            cycles += 1
            await ctx.tick()
        assert cycles == 2050
        assert ctx.get(buffer.full) == 0
        assert len(buffer.memories) == 4
        assert not any(ctx.get(one.data[k]) for one in buffer.memories for k in range(512))

    simulate(buffer, testbench)


def test_a_wipe_leaves_zeros_and_no_polynomial():
    buffer = SampleBuffer()

    async def testbench(ctx):
        await ctx.tick().until(~buffer.wiping)
        ctx.set(buffer.samples.valid, 1)
        ctx.set(buffer.samples.payload, {"even": 5, "odd": 7})
        await ctx.tick().repeat(300)
        assert ctx.get(buffer.full) == 2
        ctx.set(buffer.wipe, 1)
        await ctx.tick()
        ctx.set(buffer.wipe, 0)
        ctx.set(buffer.samples.valid, 0)
        cycles = 0
        while ctx.get(buffer.wiping):
            if cycles == 2:
                ctx.set(buffer.samples.payload, {"even": 0, "odd": 0})
            cycles += 1
            await ctx.tick()
        assert cycles == 1026
        assert ctx.get(buffer.full) == 0
        assert not any(ctx.get(buffer.memories[0].data[k]) for k in range(1024))

    simulate(buffer, testbench)


def test_a_semaphore_agrees_with_its_twin():
    semaphore, twin = Semaphore(), SemaphoreTwin()
    generator = random.Random(3)

    async def testbench(ctx):
        for _ in range(300):
            assert ctx.get(semaphore.available) == twin.available
            posts = twin.count < 3 and generator.randrange(2)
            takes = twin.available and generator.randrange(2)
            ctx.set(semaphore.post, posts)
            ctx.set(semaphore.take, takes)
            if posts:
                twin.post()
            if takes:
                twin.take()
            twin.tick()
            await ctx.tick()
        ctx.set(semaphore.post, 1)
        ctx.set(semaphore.take, 0)
        ctx.set(semaphore.clear, 1)
        await ctx.tick()
        assert not ctx.get(semaphore.available)

    simulate(semaphore, testbench)
