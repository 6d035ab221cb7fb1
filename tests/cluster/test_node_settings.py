"""What a node keeps beside the operands: that it is written, and that a change is detected."""

from itertools import combinations

import pytest
from amaranth.sim import Simulator

from coprime.catalog import choose
from coprime.cluster.node_settings import NodeSettings
from coprime.cluster.packet import SETTINGS, PacketLayout
from coprime.engine.contract import Command

OWN = choose("compact", {"max_bits": "64"}).design.capabilities


def run(process):
    settings = NodeSettings(OWN, PacketLayout(OWN, 2))
    simulator = Simulator(settings)
    simulator.add_clock(1e-6)

    async def testbench(ctx):
        for index in range(len(SETTINGS)):
            ctx.set(settings.sets, 1)
            ctx.set(settings.index, index)
            ctx.set(settings.value, index + 3)
            await ctx.tick()
        ctx.set(settings.sets, 0)
        ctx.set(settings.starts, 1)
        ctx.set(settings.begun, Command.RSA_PRIVATE)
        await ctx.tick()
        ctx.set(settings.starts, 0)
        await ctx.tick()
        assert ctx.get(settings.sound)
        await process(ctx, settings)

    simulator.add_testbench(testbench)
    simulator.run()


def test_they_are_written():
    async def process(ctx, settings):
        for index, (port, field) in enumerate(SETTINGS):
            assert ctx.get(getattr(settings, port)[field]) == index + 3
        assert ctx.get(settings.command) == Command.RSA_PRIVATE
        ctx.set(settings.wipes, 1)
        await ctx.tick()
        ctx.set(settings.wipes, 0)
        assert ctx.get(settings.command) == Command.WIPE
        assert ctx.get(settings.sound)

    run(process)


@pytest.mark.parametrize(("name", "most"), [("counts", 2), ("lengths", 1), ("command", 2)])
def test_a_change_is_detected(name, most):
    """Of any one or two bits of the counts and of the command, and of one bit of the lengths."""

    async def process(ctx, settings):
        register = getattr(settings, name)
        value = register.as_value() if hasattr(register, "as_value") else register
        written = ctx.get(value)
        for count in range(1, most + 1):
            for places in combinations(range(len(value)), count):
                ctx.set(value, written ^ sum(1 << place for place in places))
                await ctx.tick()
                assert not ctx.get(settings.sound), places
        ctx.set(value, written)
        await ctx.tick()
        assert ctx.get(settings.sound)

    run(process)


def test_a_command_without_a_check_needs_no_sound_counts():
    async def process(ctx, settings):
        ctx.set(settings.starts, 1)
        ctx.set(settings.begun, Command.MODMUL)
        await ctx.tick()
        ctx.set(settings.starts, 0)
        counts = settings.counts.as_value()
        ctx.set(counts, ctx.get(counts) ^ 1)
        await ctx.tick()
        assert ctx.get(settings.sound)
        ctx.set(settings.command, Command.RSA_PRIVATE)
        await ctx.tick()
        assert not ctx.get(settings.sound)

    run(process)
