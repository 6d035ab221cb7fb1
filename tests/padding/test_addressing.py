import random
from dataclasses import replace

import pytest

from coprime.padding.addressing import Addressing, AddressingTwin
from coprime.padding.instructions import STEP, Base, ByteStep, ByteStepKind, encode
from coprime.padding.program_blocks import ALL, bound, point
from tests.padding.bench import pulse, simulate, start

SEED = 7
COUNT_BITS = 8


@pytest.mark.parametrize("count", [80, pytest.param(300, marks=pytest.mark.matrix)])
def test_the_hardware_is_its_twin(count):
    generator = random.Random(SEED)
    addressing = Addressing(COUNT_BITS)
    steps = [
        *(point(base, offset) for base in Base for offset in (0, -33, 34)),
        *(point(base, -1, minus_blocks=True) for base in Base),
        *(bound(base, offset) for base in Base for offset in (0, 1)),
        *(ByteStep(ByteStepKind.LOOP, count=count) for count in (1, 2, 8)),
        ByteStep(ByteStepKind.LOOP, bounded=True),
        ByteStep(ByteStepKind.SET_LENGTH, literal=51),
        replace(ALL, advance=True),
        ALL,
    ]

    async def process(ctx):
        for bits in (1016, 1017, 1024):
            twin = AddressingTwin(bits, 100, 20)
            ctx.set(addressing.modulus_length, bits)
            ctx.set(addressing.given_length, 100)
            ctx.set(addressing.salt_length, 20)
            await start(ctx, addressing)
            twin.pointer = ctx.get(addressing.at.address) + 1
            await pulse(ctx, addressing, "execute", bound(Base.ZERO))
            for step in generator.choices(steps, k=count):
                ctx.set(addressing.now.step, STEP.from_bits(encode(step, 0)))
                if step.kind is ByteStepKind.STREAM:
                    await pulse(ctx, addressing, "act", step)
                    twin.act(step)
                else:
                    if step.kind is ByteStepKind.LOOP:
                        assert ctx.get(addressing.at.repeat) == twin.repeat(step)
                    await pulse(ctx, addressing, "execute", step)
                    twin.execute(step)
                twin.pointer %= 1 << COUNT_BITS
                twin.bound %= 1 << COUNT_BITS
                twin.block %= 256
                assert ctx.get(addressing.at.address) == twin.address % (1 << COUNT_BITS)
                assert ctx.get(addressing.at.at_bound) == twin.at_bound()
                assert ctx.get(addressing.at.block) == twin.block
                assert ctx.get(addressing.at.size) == twin.size
                assert ctx.get(addressing.at.input_length) == twin.input_length

    simulate(addressing, process)
