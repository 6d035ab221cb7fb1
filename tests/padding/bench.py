"""Steps for a part of the padding unit that is simulated alone."""

from amaranth.sim import Simulator

from coprime.padding.instructions import STEP, encode


def simulate(component, process):
    simulator = Simulator(component)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()


async def pulse(ctx, component, strobe, step):
    """Let a part execute a step, or act on a byte of it."""
    ctx.set(component.now.step, STEP.from_bits(encode(step, 0)))
    ctx.set(component.now[strobe], 1)
    await ctx.tick()
    ctx.set(component.now[strobe], 0)


async def start(ctx, component):
    ctx.set(component.start, 1)
    await ctx.tick()
    ctx.set(component.start, 0)
