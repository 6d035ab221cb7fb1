"""Sums with multiples of the modulus, in either bank and in both, on lanes in simulation.

The steps are those of no operation: they take the place of MODMUL's.
"""

import random
from dataclasses import replace

import pytest
from amaranth.sim import Simulator

from coprime.engine.compact import compact
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.engine.fdfm import fdfm
from coprime.engine.linear_pipeline import LinearPipeline
from coprime.engine.ring import ring
from coprime.operations.banked import Banked, prepare_banked
from coprime.operations.encodings.radix import Radix
from coprime.program.assembler import Program
from coprime.program.builder import Builder
from coprime.program.numbers.allocation import Allocation
from coprime.program.operands import Context, Core, Mode
from coprime.program.steps import MOST_TIMES_MODULUS, Next, StepKind
from tests.engine.ports import EnginePorts
from tests.program.steps import linear

X, Y, M, GIVEN = Operand.X, Operand.Y, Operand.M, Operand.CRT_P
BITS = 64
DESIGNS = {
    "fdfm": lambda: fdfm(BITS),
    "compact": lambda: compact(BITS),
    "ring": lambda: ring(BITS, tile="one17"),
    "ring, two tiles": lambda: ring(BITS, tile="one17", tiles=2),
}
MULTIPLES = [0, *(1 << k for k in range(MOST_TIMES_MODULUS.bit_length()))]
CASES = [
    (kind, x, y, times)
    for times in MULTIPLES
    for kind in (StepKind.SUBTRACT, StepKind.ADD)[: 2 if times in (1, 32) else 1]
    for x, y in ((X, Y), (Y, X), (X, X), (Y, Y))
]


def step(kind, destination, x, y, **others):
    note = f"{destination.name} = {x.name}, {y.name}"
    return replace(linear(kind, destination, x, y, Context.WHOLE, note), **others)


def sums():
    """Each sum goes to a place of its turn; a total doubles, and has the sum added."""
    total = Core.SCALED
    places = [
        (Core.ACCUMULATOR, None),
        (Banked.TERM, None),
        (Core.ACCUMULATOR, Core.SUM),
    ]
    yield step(StepKind.SUBTRACT, total, M, M)
    yield step(StepKind.MOVE, Core.ADDED_MODULUS, GIVEN, M)
    for turn, (kind, x, y, times) in enumerate(CASES):
        place, copy = places[turn % len(places)]
        yield step(kind, place, x, y, times_modulus=times, copy=copy)
        yield step(StepKind.ADD, total, total, total)
        yield step(StepKind.ADD, total, total, place if copy is None else copy)
    yield step(StepKind.ADD, total, Core.ACCUMULATOR, total)
    yield step(StepKind.MOVE, Core.RESULT, total, M, next=Next.JUMP)


def expected(x, y, modulus):
    total, numbers, last = 0, {X: x, Y: y}, 0
    for turn, (kind, first, second, times) in enumerate(CASES):
        sign = -1 if kind is StepKind.SUBTRACT else 1
        value = numbers[first] + sign * numbers[second] + times * modulus
        total = 2 * total + value
        if turn % 3 != 1:
            last = value
    return total + last


def with_steps(design, steps):
    """The design, with these steps after its own, and the places of its own."""
    (own,), layout = design.programs, design.layout
    more = Program.assemble({(Command.MODMUL,): steps})
    program = replace(
        own,
        steps=(*own.steps, *more.steps),
        targets=(*own.targets, *(0 for _ in more.targets)),
        entries={**own.entries, Command.MODMUL: len(own.steps) + 1},
    )
    design.__dict__["programs"] = [program]
    # ADDED_MODULUS is in DP's place, which these steps have no need of.
    numbers, bases = dict(layout.numbers), dict(layout.bases)
    numbers[Core.ADDED_MODULUS] = numbers[Operand.DP]
    bases[Core.ADDED_MODULUS] = bases[Operand.DP]
    places = layout.places
    of = {**places.of, Core.ADDED_MODULUS: places.of[Operand.DP]}
    pieces = {(Core.ADDED_MODULUS, part) for part in (0, 1)}  # it is as long as M
    conflicts = replace(places.conflicts, used=places.conflicts.used | pieces)
    places = Allocation(of, conflicts)
    design.__dict__["layout"] = replace(layout, numbers=numbers, bases=bases, places=places)
    return design


def simulate(ports, process):
    simulator = Simulator(ports.engine)
    simulator.add_clock(1e-8)
    simulator.add_testbench(process)
    simulator.run()


@pytest.mark.matrix
@pytest.mark.parametrize("name", ["compact", pytest.param("ring", marks=pytest.mark.matrix)])
def test_results_and_cycles(name):
    design = DESIGNS[name]()
    capabilities, steps = design.capabilities, list(sums())
    with_steps(design, steps)
    digits = capabilities.digits(BITS)
    bound = 1 << capabilities.digit_width * digits
    generator = random.Random(7)
    most = bound - 1
    cases = [(0, most, most), (most, 0, most)]
    cases.append(tuple(generator.randrange(bound) for _ in range(3)))
    ports = EnginePorts(design)
    lengths = {Length.MODULUS: BITS, Length.EXPONENT: 9}

    async def load(context, operand, value):
        context.set(ports.engine.write, 1)
        context.set(ports.engine.operand, operand)
        for index in range(digits):
            context.set(ports.engine.index, index)
            digit = value >> capabilities.digit_width * index & (1 << capabilities.digit_width) - 1
            context.set(ports.engine.digit, digit)
            await context.tick()
        context.set(ports.engine.write, 0)

    async def process(context):
        await ports.load(context, {}, lengths)
        for x, y, modulus in cases:
            operands = {X: x, Y: y, M: 3, GIVEN: modulus}
            for operand, value in operands.items():
                await load(context, operand, value)
            await ports.start(context, Command.MODMUL)
            cycles, error = await ports.finish(context)
            predicted = design.predict(Command.MODMUL, operands, lengths)
            assert (error, cycles) == (Error.NONE, predicted.cycles)
            assert cycles == 1 + len(steps) * (3 + LinearPipeline.cycles(digits, sums=True))
            found = await ports.result(context, digits)
            assert found == expected(x, y, modulus) % bound == predicted.result % bound

    simulate(ports, process)


@pytest.mark.parametrize(
    "name",
    [
        "compact",
        *(pytest.param(name, marks=pytest.mark.matrix) for name in ("ring", "ring, two tiles")),
    ],
)
def test_a_product_in_both_banks(name):
    """X * R, as both factors of a square."""
    design = DESIGNS[name]()
    multiplication, acc = design.multiplication, Core.ACCUMULATOR
    code = Builder()
    prepare_banked(code, multiplication)
    code.multiply(acc, X, Y, "X * R", copy=Core.SUM)
    code.move(Core.ADDED_MODULUS, acc)
    code.multiply(acc, acc, Core.SUM, "X * X * R")
    code.multiply(acc, acc, Mode.ONE, "X * X", descale=multiplication.scaled)
    code.reduce(acc, acc)
    code.move(Core.RESULT, acc)
    code.finish()
    with_steps(design, code.steps)
    ports, lengths = EnginePorts(design), {Length.MODULUS: BITS, Length.EXPONENT: 9}
    generator = random.Random(8)

    async def process(context):
        for m in ((1 << BITS) - 1, generator.getrandbits(BITS) | 1 << BITS - 1 | 1):
            found = Radix.of(design.capabilities).modulus_operands(m, BITS)
            for x in (0, 1, m - 1, generator.randrange(m)):
                operands = {**found, X: x, Y: found[Operand.M_POWER]}
                await ports.load(context, operands, lengths)
                await ports.start(context, Command.MODMUL)
                cycles, error = await ports.finish(context)
                predicted = design.predict(Command.MODMUL, operands, lengths)
                assert (error, cycles) == (Error.NONE, predicted.cycles)
                result = await ports.result(context, design.capabilities.digits(BITS))
                assert result == x * x % m == predicted.result

    simulate(ports, process)


@pytest.mark.parametrize("times", [-1, 3, 64])
def test_a_multiple_that_is_refused(times):
    with pytest.raises(ValueError, match=f"power of two up to 32, not {times}"):
        step(StepKind.SUBTRACT, X, X, Y, times_modulus=times)


def test_steps_that_are_refused():
    with pytest.raises(ValueError, match="CHECK_BELOW adds no modulus"):
        step(StepKind.CHECK_BELOW, X, X, Y, times_modulus=2)
    with pytest.raises(ValueError, match="has no copy"):
        step(StepKind.CHECK_BELOW, X, X, Y, copy=Core.SUM)


@pytest.mark.parametrize("name", ["fdfm", "compact"])
def test_a_copy_at_another_place_is_refused(name):
    design = DESIGNS[name]()
    (own,) = design.programs
    wrong = step(StepKind.ADD, Core.ACCUMULATOR, X, X, copy=Core.BASE)
    design.__dict__["programs"] = [
        replace(own, steps=(*own.steps, wrong), targets=(*own.targets, 0))
    ]
    with pytest.raises(ValueError, match=r"wrong banks|has no copy"):
        design.hardware()
