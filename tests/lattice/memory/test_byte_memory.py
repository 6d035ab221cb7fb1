"""Who has which port of the byte memory."""

import random
from functools import partial

import pytest
from amaranth.sim import Simulator

from coprime.lattice.memory.byte_memory import ByteMemory

DEPTH = 24


@pytest.fixture(params=[1, 2], ids=lambda banks: f"{banks} banks")
def simulate(request):
    """Run a testbench on a memory of one bank or two, once it is clear."""
    return partial(simulated, request.param)


def stored(memory, address):
    """A word and its parity, as a bank has them."""
    bank = memory.banks[address % len(memory.banks)]
    return bank.memory.data[address // len(memory.banks)]


def simulated(banks, testbench):
    memory = ByteMemory(DEPTH, banks=banks)
    simulator = Simulator(memory)
    simulator.add_clock(1e-6)

    async def run(ctx):
        assert ctx.get(memory.wiping)
        await ctx.tick().until(~memory.wiping)
        await testbench(ctx, memory)

    simulator.add_testbench(run)
    simulator.run()


def joined(words):
    return sum(word << 32 * k for k, word in enumerate(words))


def test_every_word_is_where_it_was_written(simulate):
    """All writers at once, beside a model: the arithmetic side, the sponge side's register, or the
    host alone."""
    generator = random.Random(1)

    async def testbench(ctx, memory):
        words = [0] * DEPTH
        at_once = len(memory.banks)
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
            addresses[0] -= addresses[0] % at_once
            values = [generator.getrandbits(32) for _ in range(4)]
            writes, loads, stores = (generator.randrange(2) for _ in range(3))
            writes &= not host
            arithmetic = memory.arithmetic
            ctx.set(arithmetic.use, used)
            ctx.set(arithmetic.write, stores and used)
            ctx.set(arithmetic.address, addresses[0] // at_once)
            ctx.set(arithmetic.write_data, joined([values[0], values[3]][:at_once]))
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
            written = {}
            if used and stores:
                written = {addresses[0] + k: values[3 * k] for k in range(at_once)}
            elif host and loads:
                written = {addresses[2]: values[2]}
            elif not used and not host and held:
                written = dict([held])
            if free:
                held = (addresses[1], values[1]) if writes else None
            read = addresses[4] if host else addresses[3]
            expected_a = None if read in written else words[read]
            expected_b = None
            if used and not stores:
                expected_b = joined(words[addresses[0] :][:at_once])
            for address, value in written.items():
                words[address] = value
            await ctx.tick()

    simulate(testbench)


def test_a_word_of_the_sponge_side_is_taken_at_once(simulate):
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
def test_every_bit_that_changes_is_seen(simulate, port):
    async def testbench(ctx, memory):
        ctx.set(memory.host_reads, 1)
        ctx.set(memory.loads.valid, 1)
        ctx.set(memory.loads.payload, {"address": 5, "data": 0x12345678})
        await ctx.tick()
        ctx.set(memory.loads.valid, 0)
        ctx.set(memory.host_reads, 0)
        data = stored(memory, 5)
        word = ctx.get(data)
        for bit in range(33):
            ctx.set(data, word ^ 1 << bit)
            address = memory.address if port == "word" else memory.arithmetic.address
            ctx.set(address, 5 if port == "word" else 5 // len(memory.banks))
            ctx.set(memory.arithmetic.use, port == "data")
            await ctx.tick()
            ctx.set(address, 0)
            ctx.set(memory.arithmetic.use, 0)
            await ctx.tick()
            assert ctx.get(memory.wrong)
            ctx.set(data, word)
            await ctx.tick().repeat(3)
            assert not ctx.get(memory.wrong)

    simulate(testbench)


def test_a_wipe_leaves_zeros(simulate):
    async def testbench(ctx, memory):
        ctx.set(memory.host_reads, 1)
        ctx.set(memory.loads.valid, 1)
        for address in range(DEPTH):
            ctx.set(memory.loads.payload, {"address": address, "data": 0xFFFFFFFF})
            await ctx.tick()
        assert all(ctx.get(stored(memory, k)) for k in range(DEPTH))
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
        assert not any(ctx.get(stored(memory, k)) for k in range(DEPTH))

    simulate(testbench)
