"""Writes alone: which strobe, when, and what is refused."""

import pytest
from amaranth.sim import Simulator

from coprime.bus import registers as r
from coprime.bus.write_decode import WriteDecode

KNOWN = [r.STATUS, r.COMMAND, r.KEY_DATA, r.READ_ADDRESS, r.INPUT_WINDOW]


def simulate(process):
    decode = WriteDecode(
        KNOWN,
        aliases={r.KEY_WINDOW: r.KEY_DATA},
        conditions={r.STATUS: r.STATUS["START"]},
        guards=[[r.STATUS, r.COMMAND], [r.COMMAND, r.KEY_DATA]],
    )
    simulator = Simulator(decode)
    simulator.add_clock(1e-6)

    async def testbench(ctx):
        await process(ctx, decode)

    simulator.add_testbench(testbench)
    simulator.run()


async def write(ctx, decode, address, value=0, *, closed=0, wait=0):
    """Write; the strobes of the cycle in which it takes place, what is refused, and the error."""
    ctx.set(decode.write, 1)
    ctx.set(decode.write_address, address)
    ctx.set(decode.write_data, value)
    ctx.set(decode.closed, closed)
    ctx.set(decode.settled, 0)
    for _ in range(wait):
        assert not ctx.get(decode.accepts)
        await ctx.tick()
        assert not ctx.get(decode.write_ready)
    ctx.set(decode.settled, 1)
    assert ctx.get(decode.accepts)
    await ctx.tick()
    ctx.set(decode.closed, ~closed)  # sampled before
    assert ctx.get(decode.write_ready) and not ctx.get(decode.accepts)
    strobes = ctx.get(decode.strobes)
    found = {one for one in KNOWN if strobes[one.name.lower()]}
    answer = found, ctx.get(decode.refused), ctx.get(decode.write_error)
    ctx.set(decode.write, 0)
    await ctx.tick()
    assert not ctx.get(decode.write_ready)
    assert ctx.get(decode.strobes.as_value()) == ctx.get(decode.refused) == 0
    return answer


@pytest.mark.parametrize("wait", [0, 3])
def test_each_register_has_its_strobe(wait):
    async def process(ctx, decode):
        for register in KNOWN:
            answer = await write(ctx, decode, register.address // 4, ~0, wait=wait)
            assert answer == ({register}, 0, 0)
        last = r.INPUT_WINDOW.address // 4 + r.INPUT_WINDOW.words - 1
        assert await write(ctx, decode, last) == ({r.INPUT_WINDOW}, 0, 0)
        assert await write(ctx, decode, r.KEY_WINDOW.address // 4 + 5) == ({r.KEY_DATA}, 0, 0)

    simulate(process)


def test_a_field_that_must_be_1():
    async def process(ctx, decode):
        start = 1 << r.STATUS["START"].offset
        assert await write(ctx, decode, 0, start) == ({r.STATUS}, 0, 0)
        for closed in (0, 3):  # nothing is refused that would do nothing
            assert await write(ctx, decode, 0, ~start, closed=closed) == (set(), 0, 0)
        assert await write(ctx, decode, 0, start, closed=1) == (set(), 1, 0)

    simulate(process)


def test_guards():
    async def process(ctx, decode):
        for closed in range(4):
            for register, guards in ((r.COMMAND, 3), (r.KEY_DATA, 2), (r.READ_ADDRESS, 0)):
                refused = closed & guards
                expected = (set() if refused else {register}, refused, 0)
                found = await write(ctx, decode, register.address // 4, closed=closed)
                assert found == expected, (register.name, closed)

    simulate(process)


def test_other_addresses_are_an_error():
    async def process(ctx, decode):
        for address in (r.OUTPUT_LENGTH.address // 4, r.OUTPUT_WINDOW.address // 4 + 1):
            assert await write(ctx, decode, address, ~0, closed=3) == (set(), 0, 1)

    simulate(process)
