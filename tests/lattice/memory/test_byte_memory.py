"""Who has which port of the byte memory."""

import random

import pytest
from amaranth.sim import Simulator

from coprime.lattice.memory.byte_memory import ByteMemory

DEPTH = 24


def simulate(testbench):
    memory = ByteMemory(DEPTH)
    simulator = Simulator(memory)
    simulator.add_clock(1e-6)

    async def run(ctx):
        assert ctx.get(memory.wiping)
        await ctx.tick().until(~memory.wiping)
        await testbench(ctx, memory)

    simulator.add_testbench(run)
    simulator.run()


def test_every_word_is_where_it_was_written():
    """All writers at once, beside a model: the arithmetic side, the sponge side's register, or the
    host alone."""
    generator = random.Random(1)

    async def testbench(ctx, memory):
        words = [0] * DEPTH
        used = False
        held = expected_a = expected_b = None
        for _ in range(3000):
            assert not ctx.get(memory.wrong)
            if expected_a is not None:
                assert ctx.get(memory.word) == expected_a
            if expected_b is not None:
                assert ctx.get(memory.arithmetic.data) == expected_b
            host = held is None and generator.randrange(4) == 0
            used = not used and not host and generator.randrange(2)
            addresses = [generator.randrange(DEPTH) for _ in range(5)]
            values = [generator.getrandbits(32) for _ in range(3)]
            writes, loads, stores = (generator.randrange(2) for _ in range(3))
            writes &= not host
            arithmetic = memory.arithmetic
            ctx.set(arithmetic.use, used)
            ctx.set(arithmetic.write, stores and used)
            ctx.set(arithmetic.address, addresses[0])
            ctx.set(arithmetic.write_data, values[0])
            ctx.set(memory.writes.valid, writes)
            ctx.set(memory.writes.payload, {"address": addresses[1], "data": values[1]})
            ctx.set(memory.loads.valid, loads)
            ctx.set(memory.loads.payload, {"address": addresses[2], "data": values[2]})
            ctx.set(memory.host_reads, host)
            ctx.set(memory.address, addresses[3])
            ctx.set(memory.host_address, addresses[4])
            free = held is None or not (used or host)
            assert ctx.get(memory.writes.ready) == free
            assert ctx.get(memory.loads.ready) == host
            written = None
            if used and stores:
                written = addresses[0], values[0]
            elif host and loads:
                written = addresses[2], values[2]
            elif not used and not host:
                written = held
            if free:
                held = (addresses[1], values[1]) if writes else None
            read = addresses[4] if host else addresses[3]
            expected_a = words[read] if written is None or written[0] != read else None
            expected_b = words[addresses[0]] if used and not stores else None
            if written is not None:
                words[written[0]] = written[1]
            await ctx.tick()

    simulate(testbench)


def test_a_word_of_the_sponge_side_is_taken_at_once():
    """Every other cycle, as long as the arithmetic side does not use its port in two consecutive
    ones."""
    generator = random.Random(2)

    async def testbench(ctx, memory):
        used = offered = False
        for _ in range(300):
            used = not used and bool(generator.randrange(2))
            offered = not offered and bool(generator.randrange(4))
            ctx.set(memory.arithmetic.use, used)
            ctx.set(memory.writes.valid, offered)
            assert ctx.get(memory.writes.ready) or not offered
            await ctx.tick()

    simulate(testbench)


@pytest.mark.parametrize("port", ["word", "data"])
def test_every_bit_that_changes_is_seen(port):
    async def testbench(ctx, memory):
        ctx.set(memory.host_reads, 1)
        ctx.set(memory.loads.valid, 1)
        ctx.set(memory.loads.payload, {"address": 5, "data": 0x12345678})
        await ctx.tick()
        ctx.set(memory.loads.valid, 0)
        ctx.set(memory.host_reads, 0)
        data = memory.memory.memory.data
        word = ctx.get(data[5])
        for bit in range(33):
            ctx.set(data[5], word ^ 1 << bit)
            address = memory.address if port == "word" else memory.arithmetic.address
            ctx.set(address, 5)
            ctx.set(memory.arithmetic.use, port == "data")
            await ctx.tick()
            ctx.set(address, 0)
            ctx.set(memory.arithmetic.use, 0)
            await ctx.tick()
            assert ctx.get(memory.wrong)
            ctx.set(data[5], word)
            await ctx.tick().repeat(3)
            assert not ctx.get(memory.wrong)

    simulate(testbench)


def test_a_wipe_leaves_zeros():
    async def testbench(ctx, memory):
        ctx.set(memory.host_reads, 1)
        ctx.set(memory.loads.valid, 1)
        for address in range(DEPTH):
            ctx.set(memory.loads.payload, {"address": address, "data": 0xFFFFFFFF})
            await ctx.tick()
        data = memory.memory.memory.data
        assert all(ctx.get(data[k]) for k in range(DEPTH))
        ctx.set(memory.wipe, 1)
        await ctx.tick()
        ctx.set(memory.wipe, 0)
        cycles = 0
        while ctx.get(memory.wiping):
            assert not ctx.get(memory.loads.ready)
            ctx.set(memory.arithmetic.use, cycles % 2)
            ctx.set(memory.host_reads, cycles % 3 == 0)
            ctx.set(memory.writes.valid, 1)  # which is ignored
            ctx.set(memory.writes.payload, {"address": cycles % DEPTH, "data": 0xFFFFFFFF})
            cycles += 1
            if cycles == 1 << memory.address_bits:
                ctx.set(memory.loads.valid, 0)
                ctx.set(memory.writes.valid, 0)
            await ctx.tick()
        assert cycles == 1 << memory.address_bits
        await ctx.tick().repeat(3)
        assert not any(ctx.get(data[k]) for k in range(DEPTH))

    simulate(testbench)
