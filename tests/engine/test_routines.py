"""CALL, RETURN, LOOP and IF_BORROW on lanes in simulation, with the steps in LUTs or block RAM.

The steps are those of no operation: they take the place of MODMUL's.
"""

from dataclasses import replace

import pytest
from amaranth.sim import Simulator

from coprime.engine.compact import compact
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.engine.fdfm import fdfm
from coprime.engine.ring import ring
from coprime.operations.encodings.radix import Radix
from coprime.program.assembler import LONGEST_TABLE, Program
from coprime.program.operands import Context, Core
from coprime.program.steps import Next, StepKind
from tests.engine.ports import EnginePorts
from tests.program.steps import PASS, linear

ACC, RESULT = Core.ACCUMULATOR, Core.RESULT
X, M, BITS = Operand.X, Operand.M, 64
DESIGNS = {
    "fdfm": lambda: fdfm(BITS),
    "compact": lambda: compact(BITS),
    "compact, 32 blocks": lambda: with_32_blocks(compact(BITS)),
    "ring": lambda: ring(BITS, tile="one17"),
}
TIMES = 5


def with_32_blocks(design):
    return replace(design, memory=replace(design.memory, entry_bits=5, block_bits=5))


def step(kind, destination, x, y, label="", **rule):
    note = f"{destination.name} = {x.name}, {y.name}"
    return replace(linear(kind, destination, x, y, Context.WHOLE, note), label=label, **rule)


def add(destination, x, y, label="", **rule):
    return step(StepKind.ADD, destination, x, y, label, **rule)


def steps_on(layout):
    """Their difference lies in a place as long as M: on lanes of two banks it is not PART."""
    difference = Core.PART if layout.banks == 1 else Core.SCALED
    return [
        step(StepKind.SUBTRACT, ACC, X, X),
        add(ACC, ACC, X, "again", next=Next.CALL, target="double"),
        replace(PASS, next=Next.LOOP, times=TIMES, target="again"),
        step(
            StepKind.SUBTRACT,
            difference,
            ACC,
            M,
            next=Next.IF_BORROW,
            target="not_below",
        ),
        add(RESULT, ACC, ACC, next=Next.JUMP),
        add(RESULT, difference, X, "not_below", next=Next.JUMP),
        add(ACC, ACC, ACC, "double", next=Next.CALL, target="inner"),
        replace(PASS, next=Next.RETURN),
        add(ACC, ACC, X, "inner", next=Next.RETURN),
    ]


def expected(x, m):
    value = 0
    for _ in range(TIMES):
        value = 2 * (value + x) + x
    return 2 * value if value < m else value - m + x


def with_steps(design, filling):
    """The design, with these steps after its own and after `filling` ones."""
    (own,) = design.programs
    more = Program.assemble({(Command.MODMUL,): steps_on(design.layout)})
    steps = (*own.steps, *[PASS] * filling)
    program = replace(
        own,
        steps=(*steps, *more.steps),
        targets=(
            *own.targets,
            *[0] * filling,
            *(target and target + len(steps) for target in more.targets),
        ),
        entries={**own.entries, Command.MODMUL: len(steps) + 1},
    )
    design.__dict__["programs"] = [program]
    design.__dict__.pop("layout", None)  # the numbers of these steps have places, too
    return design


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("filling", [0, pytest.param(LONGEST_TABLE, marks=pytest.mark.matrix)])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(one, marks=[pytest.mark.matrix] * (one not in ("fdfm", "compact")))
        for one in DESIGNS
    ],
)
def test_results_and_cycles(name, filling):
    """Of the steps, and of a power by the design's own steps."""
    design = with_steps(DESIGNS[name](), filling)
    assert design.programs[0].in_block_ram == bool(filling)
    assert design.programs[0].call_depth == 2
    ports = EnginePorts(design)
    lengths = {Length.MODULUS: BITS, Length.EXPONENT: 9}
    m = (1 << BITS) - 59
    cases = [
        (Command.MODMUL, {X: x, M: modulus}, expected(x, modulus))
        for x, modulus in ((1, 3), (77, 1 << 60), (0, 1), (1000, 1000 * 217), (1000, 1000 * 93))
    ]
    powers = design_operands(design, m)
    cases.append((Command.MODEXP, {**powers, X: 3, Operand.E: 0x155}, pow(3, 0x155, m)))

    async def process(context):
        for command, operands, value in cases:
            await ports.load(context, operands, lengths)
            await ports.start(context, command)
            cycles, error = await ports.finish(context)
            predicted = design.predict(command, operands, lengths)
            assert (error, cycles) == (Error.NONE, predicted.cycles)
            found = await ports.result(context, design.capabilities.digits(BITS))
            assert found == value == predicted.result

    simulator = Simulator(ports.engine)
    simulator.add_clock(1e-8)
    simulator.add_testbench(process)
    simulator.run()


def design_operands(design, m):
    return Radix.of(design.capabilities).modulus_operands(m, BITS)


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (
            [replace(PASS, label="a", next=Next.CALL, target="a"), PASS],
            "routines call each other in a circle: a, a",
        ),
        (
            [
                replace(PASS, label="a"),
                replace(PASS, label="b", next=Next.LOOP, times=2, target="b"),
                replace(PASS, next=Next.LOOP, times=2, target="a"),
            ],
            "is a loop in a loop",
        ),
        (
            [
                replace(PASS, label="a", next=Next.CALL, target="r"),
                replace(PASS, next=Next.LOOP, times=2, target="a"),
                replace(PASS, next=Next.JUMP),
                replace(PASS, label="r", next=Next.LOOP, times=2, target="r"),
                replace(PASS, next=Next.RETURN),
            ],
            "is a loop in a loop",
        ),
        ([replace(PASS, label="a", next=Next.LOOP, times=1, target="a")], "a LOOP of 1 time:"),
    ],
)
def test_refused(steps, text):
    with pytest.raises(ValueError, match=text):
        program = Program.assemble({(Command.MODMUL,): steps})
        assert program.call_depth


def test_two_sequences_of_moduli_are_refused():
    steps = [replace(PASS, next=Next.JUMP)]
    moduli = {1: (Context.Q, Context.P), 2: (Context.P,)}
    with pytest.raises(ValueError, match="different moduli"):
        Program.assemble({(1, 2): steps}, moduli=moduli)
