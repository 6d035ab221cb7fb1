"""The generator of fresh bits gives Trivium's output, in the stated cycles."""

import random

import pytest
from amaranth.sim import Simulator

from coprime.cells.keccak.fresh_bits import FreshBits
from coprime.model import trivium
from coprime.model.trivium import SEED_BYTES

SEED = 11


def seed_of(unit, seed):
    """Key and vector that bytes are."""
    size, half = 2 * unit.steps // 8, unit.steps
    key = vector = 0
    for place in range(0, SEED_BYTES, size):
        part = int.from_bytes(seed[place : place + size], "little")
        key = key << half | part & (1 << half) - 1
        vector = vector << half | part >> half
    return key, vector


@pytest.mark.parametrize("count", [5, 13, 16, 21, 37, 40])
def test_bits_are_those_of_trivium(count):
    generator = random.Random(SEED)
    unit = FreshBits(count)
    cycles = 6

    async def run(ctx):
        assert (ctx.get(unit.ready), ctx.get(unit.bits)) == (0, 0)
        for seed in (generator.randbytes(SEED_BYTES) for _ in range(3)):
            ctx.set(unit.reseed, 1)
            ctx.set(unit.random.valid, 1)
            await ctx.tick()
            ctx.set(unit.reseed, 0)
            taken = waited = 0
            while not ctx.get(unit.ready):
                assert ctx.get(unit.bits) == 0
                if ctx.get(unit.random.ready):
                    ctx.set(unit.random.payload, seed[taken])
                    taken += 1
                await ctx.tick()
                waited += 1
            assert (taken, waited + 1) == (SEED_BYTES, unit.cycles)
            late = unit.steps * unit.blank_cycles - trivium.BLANK_STEPS
            stream = trivium.keystream(*seed_of(unit, seed), late + unit.steps * cycles)[late:]
            for cycle in range(cycles):
                wanted = stream[unit.steps * cycle :][:count]
                assert ctx.get(unit.bits) == sum(bit << k for k, bit in enumerate(wanted))
                assert not ctx.get(unit.random.ready)
                await ctx.tick()

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(run)
    simulator.run()


@pytest.mark.parametrize("count", [0, 41, None])
def test_wrong_counts_are_refused(count):
    with pytest.raises(ValueError, match=r"count must be in 1\.\.40, not "):
        FreshBits(count)
