import random
from dataclasses import replace

import pytest

from coprime.padding.checks import Checks, ChecksTwin
from coprime.padding.instructions import ByteStep, ByteStepKind, Check
from coprime.padding.program_blocks import BYTE
from tests.padding.bench import pulse, simulate, start

SEED = 7
COUNT_BITS = 8


@pytest.mark.parametrize("times", [1, pytest.param(5, marks=pytest.mark.matrix)])
def test_the_hardware_is_its_twin(times):
    generator = random.Random(SEED)
    checks = Checks(COUNT_BITS)
    steps = [replace(BYTE, check=check) for check in Check]

    async def process(ctx):
        ctx.set(checks.at.size, 128)
        for chosen in [steps] * 2 * times + [[step] for step in steps] * times:
            twin = ChecksTwin(128)
            await start(ctx, checks)
            for _ in range(40):
                step = generator.choice(chosen)
                value = generator.choice((0, 1, 1, 2, generator.getrandbits(8)))
                address, upper = generator.randrange(128), generator.getrandbits(1)
                ctx.set(checks.value, value)
                ctx.set(checks.at.address, address)
                ctx.set(checks.upper, upper)
                await pulse(ctx, checks, "act", step)
                twin.act(step, value, address, upper=bool(upper))
                assert (ctx.get(checks.bad), ctx.get(checks.length)) == (twin.bad, twin.length)
            decide = ByteStep(ByteStepKind.DECIDE)
            await pulse(ctx, checks, "execute", decide)
            twin.execute(decide)
            assert (ctx.get(checks.bad), ctx.get(checks.length)) == (twin.bad, twin.length)

    simulate(checks, process)
