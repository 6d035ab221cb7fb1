"""The parts of the unit against their twins in integers, with steps that no program has."""

import random
from dataclasses import replace

import pytest
from amaranth.sim import Simulator

from coprime.padding.addressing import Addressing, AddressingTwin
from coprime.padding.assembler import ALL, BYTE, END, assemble, bound, loop, point, skip, when
from coprime.padding.checks import Checks, ChecksTwin
from coprime.padding.control import ControlTwin
from coprime.padding.instructions import ADDRESS_BITS, STEP, Base, Check, Kind, Step, encode
from coprime.padding.programs import PROGRAMS
from coprime.padding.tasks import Option, Task

SEED = 7
COUNT_BITS = 8


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


def test_addressing():
    generator = random.Random(SEED)
    addressing = Addressing(COUNT_BITS)
    steps = [
        *(point(base, offset) for base in Base for offset in (0, -33, 34)),
        *(point(base, -1, minus_blocks=True) for base in Base),
        *(bound(base, offset) for base in Base for offset in (0, 1)),
        *(Step(Kind.LOOP, count=count) for count in (1, 2, 8)),
        Step(Kind.LOOP, bounded=True),
        Step(Kind.SET_LENGTH, literal=51),
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
            for step in generator.choices(steps, k=300):
                ctx.set(addressing.now.step, STEP.from_bits(encode(step, 0)))
                if step.kind is Kind.STREAM:
                    await pulse(ctx, addressing, "act", step)
                    twin.act(step)
                else:
                    if step.kind is Kind.LOOP:
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


def test_checks():
    generator = random.Random(SEED)
    checks = Checks(COUNT_BITS)
    steps = [replace(BYTE, check=check) for check in Check]

    async def process(ctx):
        ctx.set(checks.at.size, 128)
        for chosen in [steps] * 10 + [[step] for step in steps] * 5:
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
            decide = Step(Kind.DECIDE)
            await pulse(ctx, checks, "execute", decide)
            twin.execute(decide)
            assert (ctx.get(checks.bad), ctx.get(checks.length)) == (twin.bad, twin.length)

    simulate(checks, process)


@pytest.mark.parametrize("label", [False, True])
def test_conditions_and_loops(label):
    """Which steps are executed, and their cycles without bytes."""
    marks = [bound(Base.ZERO, k) for k in range(4)]
    program = [
        marks[0],
        *when(Option.LABEL, [marks[1]], [marks[2], marks[2]]),
        *skip(Option.SALT, True, [marks[3]]),
        *loop([marks[0]], 3),
        END,
    ]
    twin = ControlTwin(program, frozenset({Option.LABEL} if label else ()))
    addressing = AddressingTwin(1024, 0, 0)
    found = []
    for step in twin.steps():
        if step in marks:
            found.append(marks.index(step))
        if step.kind is Kind.LOOP:
            twin.jump(step, addressing.repeat(step))
        addressing.execute(step)
    assert found == [0, *([1] if label else [2, 2]), 3, 0, 0, 0]
    others = 2 + 1 + 3 + 1  # conditions, the other condition, loop, end
    assert twin.cycles == 3 * (len(found) + others)


def test_all_programs_fit_the_program_memory():
    words, entries = assemble(PROGRAMS)
    assert len(words) <= 1 << ADDRESS_BITS
    assert entries[Task.PKCS1_ENCRYPT] == 0
    assert all(
        words[address] == encode(PROGRAMS[task][0], address) for task, address in entries.items()
    )
