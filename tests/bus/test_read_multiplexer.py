"""Reads alone: three cycles, and what is shown."""

from amaranth.sim import Simulator

from coprime.bus import registers as r
from coprime.bus.read_multiplexer import ReadMultiplexer


def simulate(process):
    known = [r.STATUS, r.ERROR, r.FAMILY, r.OUTPUT_FIFO, r.OUTPUT_WINDOW, r.CYCLES]
    late = {"word": [r.OUTPUT_FIFO, r.OUTPUT_WINDOW], "cycles": [r.CYCLES]}
    reads = ReadMultiplexer(known, {"FAMILY": 0xABCD, "VERSION": 7}, late)
    simulator = Simulator(reads)
    simulator.add_clock(1e-6)

    async def testbench(ctx):
        await process(ctx, reads)

    simulator.add_testbench(testbench)
    simulator.run()


async def read(ctx, reads, address, wait=0):
    ctx.set(reads.read, 1)
    ctx.set(reads.read_address, address)
    ctx.set(reads.settled, 0)
    for _ in range(wait):
        await ctx.tick()
        assert not ctx.get(reads.looks_up)
    ctx.set(reads.settled, 1)
    await ctx.tick()
    assert ctx.get(reads.looks_up) and not ctx.get(reads.read_ready)
    await ctx.tick()
    assert ctx.get(reads.read_ready) and not ctx.get(reads.looks_up)
    answer = ctx.get(reads.read_data), ctx.get(reads.read_error)
    ctx.set(reads.read, 0)
    await ctx.tick()
    assert not ctx.get(reads.read_ready) and ctx.get(reads.read_data) == 0
    return answer


def test_values_and_constants():
    async def process(ctx, reads):
        ctx.set(reads.values.status, 2)
        ctx.set(reads.values.error, 0x1234)
        for wait in (0, 2):
            assert await read(ctx, reads, r.STATUS.address // 4, wait) == (2, 0)
            assert await read(ctx, reads, r.ERROR.address // 4, wait) == (0x1234, 0)
            assert await read(ctx, reads, r.FAMILY.address // 4, wait) == (0xABCD, 0)
            # Neither a register that is not known nor a constant that belongs to none.
            assert await read(ctx, reads, r.INPUT_LENGTH.address // 4, wait) == (0, 1)
            assert await read(ctx, reads, r.VERSION.address // 4, wait) == (0, 1)

    simulate(process)


def test_late_values():
    async def process(ctx, reads):
        ctx.set(reads.late.word, 0x5555_AAAA)
        ctx.set(reads.late.cycles, 99)
        for shown in (0, 1):
            ctx.set(reads.late_shown.word, shown)
            ctx.set(reads.late_shown.cycles, not shown)
            expected = (0x5555_AAAA * shown, 0)
            assert await read(ctx, reads, r.OUTPUT_FIFO.address // 4) == expected
            assert await read(ctx, reads, r.OUTPUT_WINDOW.address // 4 + 3) == expected
            assert await read(ctx, reads, r.CYCLES.address // 4) == (99 * (not shown), 0)

    simulate(process)
