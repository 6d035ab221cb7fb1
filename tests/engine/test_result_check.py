"""The comparison of a private result, as it is read, with what was checked."""

from amaranth.sim import Simulator

from coprime.engine.contract import RESULT_LATENCY
from coprime.engine.result_check import ResultCheck


def test_what_is_compared():
    check = ResultCheck(5, 3)

    async def differs(context, index, *, write=0, busy=0):
        """Whether the digits of an index are found to differ; those of all others do not."""
        seen = False
        for cycle in range(RESULT_LATENCY + 3):
            asks = cycle == 0
            context.set(check.index, index if asks else 7)
            context.set(check.write, asks and write)
            context.set(check.busy, asks and busy)
            context.set(check.read, cycle == RESULT_LATENCY)
            seen |= bool(context.get(check.differs))
            await context.tick()
        return seen

    async def succeed(context):
        context.set(check.succeeds, 1)
        await context.tick()
        context.set(check.succeeds, 0)

    async def process(context):
        context.set(check.count, 4)
        assert not await differs(context, 0)  # nothing was checked yet
        for index in range(4):
            await succeed(context)
            assert await differs(context, index)
            assert not await differs(context, index)  # once, until the next result
        await succeed(context)
        assert not await differs(context, 4)  # beyond the result
        assert not await differs(context, 1, busy=1)
        assert await differs(context, 1)
        for end in ("write", "ends"):
            await succeed(context)
            context.set(getattr(check, end), 1)
            await context.tick()
            context.set(getattr(check, end), 0)
            assert not await differs(context, 1)

    simulator = Simulator(check)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()
