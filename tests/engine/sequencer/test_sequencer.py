"""The sequencer by itself: which steps it starts, in which cycles, whatever the units take.

The units are a testbench: it gives the flags that the steps on integers have, and is done after as
many cycles as the real ones, or after any number of them.
"""

import random
from dataclasses import dataclass
from functools import partial

import pytest
from amaranth.sim import Simulator

from coprime.catalog import choose
from coprime.device.accelerator import Accelerator
from coprime.engine.contract import Error, Length, Operand
from coprime.engine.linear_pipeline import linear_cycles
from coprime.engine.sequencer.lane_model import LaneModel
from coprime.engine.sequencer.sequencer import Sequencer
from coprime.engine.sequencer.step_kinds import step_kinds
from coprime.multipliers.multiplication import READ_LATENCY
from coprime.operations.modexp2 import MODEXP2
from coprime.program.operands import Context
from coprime.program.steps import StepKind
from coprime.rsa.keys import generate
from coprime.runs.execution import Identity

DESIGNS = {
    "fdfm": ("fdfm", {"max_bits": "96", "modexp2": "1"}),
    "right to left": ("fdfm", {"max_bits": "96", "exponentiator": "right-to-left"}),
    "sliding windows": ("fdfm", {"max_bits": "96", "exponentiator": "sliding-window"}),
    "counted down": ("fdfm", {"max_bits": "96", "exponentiator": "repeated"}),
    "aligned": ("interleaved-csa", {"max_bits": "96", "multipliers": "1"}),
    "compact": ("compact", {"max_bits": "128", "modexp2": "1"}),
}
CASES = [
    pytest.param(one, marks=[pytest.mark.matrix] * (one not in ("fdfm", "aligned", "compact")))
    for one in DESIGNS
]
M = (1 << 60) - 93
KEY = generate(64, seed=3)
MULTIPLIER = frozenset({StepKind.MULTIPLY, StepKind.PREPARE})
SILENT = frozenset(
    {
        *(StepKind.SCAN, StepKind.SCAN_UPWARDS, StepKind.SCAN_WINDOWS, StepKind.SCAN_PUBLIC),
        *(StepKind.LOAD_COUNTER, StepKind.BRANCH, StepKind.PASS),
    }
)
"""Steps in which no unit works."""


@dataclass(frozen=True)
class Work:
    """What a unit is asked for, and what it answers."""

    kind: StepKind
    numbers: tuple[int, int, int]
    modulus: Context
    digits: int
    cycles: int
    flags: dict[str, int]
    discards: int


def trace(design, command, operands, lengths):
    """The work of the units of an operation on integers, and its outcome."""
    (program,), capabilities, multiplication = (
        design.programs,
        design.capabilities,
        design.multiplication,
    )
    kinds = step_kinds(program, capabilities)
    numbers = design.layout.numbers
    every = {kind: one for one in kinds for kind in one.kinds}
    lane = LaneModel(command, operands, lengths, program, capabilities, multiplication, every)
    work, borrow = [], 0
    while lane.pc.address and not lane.error:
        step = lane.current.resolved(lane.pc.step)
        x, y = lane.value(step.x), lane.value(step.y)
        digits, discards = lane.digits(step.modulus), 0
        if step.conditional:
            discards = 1 - lane.scanner.bit(step)
        if step.kind is StepKind.MULTIPLY:
            descale = {"descale": True} if step.descale else {}
            cycles = multiplication.cycles(digits, lane.rounds(step.outer), **descale)
        elif step.kind is StepKind.PREPARE:
            cycles = multiplication.prepare_cycles(digits)
        else:
            cycles = linear_cycles(program, multiplication, digits)
        if step.kind in (StepKind.SUBTRACT, StepKind.CHECK_BELOW, StepKind.CHECK_REDUCED):
            borrow = int(x < y)
        flags = {
            "borrow": borrow,
            "z_is_zero": int(y == 0),
            "z_is_odd": y & 1,
            "z_is_normalized": int(y.bit_length() >= lane.length(step.modulus)),
        }
        places = tuple(numbers[one] for one in (step.x, step.y, step.destination))
        before = lane.cycles
        lane.execute()
        refused = step.kind is StepKind.CHECK_MODULUS and lane.cycles - before == 2
        if step.kind not in SILENT and not refused:
            work.append(Work(step.kind, places, step.modulus, digits, cycles, flags, discards))
    return work, lane


def execute(design, command, operands, lengths, *, wait=None):
    """Run the sequencer; gives its error and cycles. With `wait`, units take that() cycles,
    2 at least."""
    (program,), capabilities = design.programs, design.capabilities
    dut = Sequencer(program, capabilities, numbers=design.layout.numbers)
    expected, lane = trace(design, command, operands, lengths)
    outcome = {}

    def digits_of(context, dut):
        """The digit of the exponent that is read, and the other memory's."""
        modulus = Context(context.get(dut.modulus))
        of_e = modulus is Context.WHOLE or (program.scans_public and context.get(dut.public))
        operand = Context.WHOLE.exponent if of_e else modulus.exponent
        width = capabilities.digit_width
        digit = operands.get(operand, 0) >> width * context.get(dut.exponent_index)
        digit &= (1 << width) - 1
        return (0, digit) if of_e and program.in_place else (digit, 0)

    async def bench(context):
        cycles, done_in, left, read = 0, {}, list(expected), []
        for one in lengths:
            if one is not Length.DIGIT:
                context.set(getattr(dut.lengths, one.field), lengths[one])
                context.set(getattr(dut.counts, one.field), capabilities.digits(lengths[one]))
        context.set(dut.command, command)
        await context.tick()
        context.set(dut.start, 1)
        await context.tick()
        context.set(dut.start, 0)
        cycles += 1
        check = None
        while not context.get(dut.done):
            assert context.get(dut.busy)
            if check is not None:
                assert context.get(dut.operation) == check.kind, check
                found = tuple(context.get(getattr(dut, n)) for n in ("x", "y", "destination"))
                assert found == check.numbers, check
                assert context.get(dut.modulus) == check.modulus, check
                assert context.get(dut.inner_digits) == check.digits, check
                assert context.get(dut.discards) == check.discards, check
                for flag, value in check.flags.items():
                    context.set(getattr(dut, flag), value)
                check = None
            begins = context.get(dut.multiply) or context.get(dut.prepare)
            # In FETCH the next kind is known before the step is there; of a linear step it is.
            starts = begins or context.get(dut.linear)
            done = done_in.pop(cycles, None)
            for unit in ("multiplied", "linear_done"):
                context.set(getattr(dut, unit), int(done == unit))
            if starts:
                assert not done_in and left, "a step that integers do not have"
                check = left.pop(0)
                assert bool(begins) == (check.kind in MULTIPLIER), check
                length = check.cycles if wait is None else wait()
                done_in[cycles + length] = "multiplied" if begins else "linear_done"
            if context.get(dut.clear):
                done_in[cycles + 3] = "linear_done"
            read.append(digits_of(context, dut) if context.get(dut.exponent_read) else (0, 0))
            await context.tick()
            cycles += 1
            if len(read) >= READ_LATENCY:
                digit, other = read[-READ_LATENCY]
                context.set(dut.exponent_data, digit)
                if program.in_place:
                    context.set(dut.exponent_other, other)
            assert cycles < 200_000
        assert not left, "steps are missing"
        outcome.update(error=Error(context.get(dut.error)), cycles=cycles)
        await context.tick()
        assert not context.get(dut.busy)

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert outcome["error"] is lane.error
    return outcome, lane


def jobs_of(design):
    """Operations with short exponents, and such that end with an error."""
    capabilities = design.capabilities
    jobs = Accelerator(Identity(capabilities))
    yield jobs.modmul_job(5, M - 7, M), {Operand.X: 5}
    yield jobs.modmul_job(1, 1, M), {Operand.X: M}  # OPERAND_RANGE
    for e, bits in ((0, 9), (1, 18), (0b1011, 4), (0x155, 9), (1, 1)):
        yield jobs.modexp_job(3, e, M, exponent_length=bits), {Operand.X: 3}
    yield jobs.public_job(KEY.n, 17), {Operand.X: 12345}
    yield jobs.private_job(KEY), {Operand.X: 54321}
    if MODEXP2 in capabilities.required:
        numbers = {"x": 3, "e": 0b101, "y": 7, "f": 0b11, "m": M}
        yield jobs.operation_job(MODEXP2, numbers), {}
    if capabilities.montgomery:
        job = jobs.modmul_job(1, 1, M)
        yield job, {Operand.M: M - 1}  # MODULUS_EVEN


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("name", CASES)
def test_steps_and_cycles_are_those_of_the_prediction(name):
    family, settings = DESIGNS[name]
    design = choose(family, settings).design
    errors = set()
    for job, changed in jobs_of(design):
        operands = {**job.operands, **changed}
        outcome, _ = execute(design, job.command, operands, job.lengths)
        predicted = design.predict(job.command, operands, job.lengths)
        assert outcome["error"] is predicted.error, job
        if outcome["error"] is not Error.FAULT:  # the bench's memory is wiped in no time
            assert outcome["cycles"] == predicted.cycles, job
        errors.add(outcome["error"])
    assert {Error.NONE, Error.OPERAND_RANGE} <= errors


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("name", CASES)
def test_it_waits_for_its_units(name):
    """The same steps in the same order, when they take any number of cycles."""
    family, settings = DESIGNS[name]
    design = choose(family, settings).design
    generator = random.Random(len(name))
    for job, changed in jobs_of(design):
        operands = {**job.operands, **changed}
        some = partial(generator.randrange, 2, 9)
        execute(design, job.command, operands, job.lengths, wait=some)


def test_a_wrong_result_is_found_and_the_memory_wiped():
    """A key whose numbers contradict each other: FAULT, after a wipe."""
    family, settings = DESIGNS["compact"]
    design = choose(family, settings).design
    job = Accelerator(Identity(design.capabilities)).private_job(KEY)
    operands = {**job.operands, Operand.X: 2, Context.P.exponent: KEY.dp ^ 2}
    outcome, _ = execute(design, job.command, operands, job.lengths)
    assert outcome["error"] is Error.FAULT


def test_an_unknown_command_ends_at_once():
    family, settings = DESIGNS["fdfm"]
    design = choose(family, settings).design
    (program,) = design.programs
    dut = Sequencer(program, design.capabilities, numbers=design.layout.numbers)
    unknown = next(
        code
        for code in range(1, 1 << design.capabilities.command_bits)
        if code not in program.entries and code not in design.capabilities.wipes
    )
    found = []

    async def bench(context):
        context.set(dut.command, unknown)
        context.set(dut.start, 1)
        await context.tick()
        context.set(dut.start, 0)
        found.append((context.get(dut.done), context.get(dut.error)))

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert found == [(1, Error.UNSUPPORTED)]
