"""A block RAM with parity: each bit that changes is seen as its word is read."""

import pytest
from amaranth.sim import Simulator

from coprime.cells.parity_ram import ParityRam

WIDTH, DEPTH = 17, 8


def simulate(testbench, **settings):
    ram = ParityRam(WIDTH, DEPTH, **settings)
    simulator = Simulator(ram)
    simulator.add_clock(1e-6)

    async def run(ctx):
        await testbench(ctx, ram)

    simulator.add_testbench(run)
    simulator.run()


async def write(ctx, ram, address, value):
    ctx.set(ram.b_address, address)
    ctx.set(ram.b_write_data, value)
    ctx.set(ram.b_write, 1)
    await ctx.tick()
    ctx.set(ram.b_write, 0)


async def read(ctx, ram, port, address):
    """The data, and whether it is found to be wrong a cycle later, or two."""
    ctx.set(getattr(ram, f"{port}_address"), address)
    await ctx.tick()
    data = ctx.get(getattr(ram, f"{port}_data"))
    ctx.set(getattr(ram, f"{port}_address"), 0)
    await ctx.tick().repeat(2 if ram.late else 1)
    return data, ctx.get(ram.wrong)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("port", ["a", "b"])
def test_every_bit_that_changes_is_seen(port, late):
    async def testbench(ctx, ram):
        value = 0b10110011100011110
        await write(ctx, ram, 5, value)
        await ctx.tick().repeat(3)
        assert await read(ctx, ram, port, 5) == (value, 0)
        for bit in range(WIDTH + 1):
            word = ctx.get(ram.memory.data[5])
            ctx.set(ram.memory.data[5], word ^ 1 << bit)
            data, wrong = await read(ctx, ram, port, 5)
            assert wrong and data == (word ^ 1 << bit) & (1 << WIDTH) - 1
            ctx.set(ram.memory.data[5], word)

    simulate(testbench, late=late)


def test_memory_begins_with_words_that_are_right():
    async def testbench(ctx, ram):
        for address in range(DEPTH):
            assert await read(ctx, ram, "a", address) == (0, 0)

    simulate(testbench)


def test_what_is_read_while_port_b_writes_is_not_looked_at():
    async def testbench(ctx, ram):
        ctx.set(ram.memory.data[3], 1)  # of odd parity
        ctx.set(ram.a_address, 3)
        for value in range(4):
            await write(ctx, ram, 6, value)
            assert not ctx.get(ram.wrong)

    simulate(testbench)


@pytest.mark.parametrize("late", [False, True])
def test_what_port_a_reads_while_port_b_writes_another_word(late):
    async def testbench(ctx, ram):
        ctx.set(ram.memory.data[3], 1)  # of odd parity
        ctx.set(ram.a_address, 3)
        ctx.set(ram.b_write, 1)
        found = []
        for address in (6, 3, 6, 6, 6, 6, 6):  # the word in question is written in the second cycle
            ctx.set(ram.b_address, address)
            await ctx.tick()
            found.append(ctx.get(ram.wrong))
        expected = [0, 1, 0, 0, 0, 0, 0]
        assert found == ([0, *expected[:-1]] if late else expected)

    simulate(testbench, streams=True, late=late)
