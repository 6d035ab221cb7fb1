"""The exponent scanner by itself: every bit of an exponent, its place and its cycles."""

import random
from dataclasses import replace

import pytest
from amaranth.sim import Simulator

from coprime.catalog import choose
from coprime.cells.target import Target
from coprime.engine.sequencer.exponent_scanner import ExponentScanner, ScannerModel
from coprime.model.combs import COMB_TEETH, tooth_of
from coprime.multipliers.multiplication import READ_LATENCY
from coprime.program.operands import Context, Length
from coprime.program.steps import StepKind, exponent_blinding_bits

SCANS = (
    StepKind.SCAN,
    StepKind.SCAN_UPWARDS,
    StepKind.SCAN_WINDOWS,
    StepKind.SCAN_PUBLIC,
    StepKind.SCAN_COLUMNS,
)
DESIGNS = {
    "left to right": ("fdfm", {"max_bits": "96", "exponentiator": "left-to-right"}),
    "right to left": ("fdfm", {"max_bits": "96", "exponentiator": "right-to-left"}),
    "windows of any digit": (
        "montgomery-r2",
        {"max_bits": "96", "word": "11", "multipliers": "1", "exponentiator": "m-ary"},
    ),
    "windows that divide a digit": (
        "karatsuba",
        {"max_bits": "96", "word": "16", "latency": "2", "exponentiator": "fixed-window"},
    ),
    "a digit more than the modulus": (
        "karatsuba",
        {"max_bits": "160", "word": "32", "multipliers": "1", "scaled": "1"},
    ),
    "two memories": ("compact", {"max_bits": "128"}),
    "blinded exponents": ("compact", {"max_bits": "128", "blinding": "all"}),
    "late bits": ("ring", {"max_bits": "128", "tile": "one17"}),
    "columns": ("compact", {"max_bits": "128", "curves": "weierstrass"}),
}
JUNK = 0x5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A5A


def design_of(name):
    family, settings = DESIGNS[name]
    return choose(family, settings).design


def steps_of(program):
    """A step of each kind that scans, with each modulus that has it; the current one is P."""
    found = {}
    for step in program.steps:
        if step.kind in SCANS:
            if step.modulus is Context.CURRENT:
                step = replace(step, modulus=Context.P)
            found.setdefault((step.kind, step.modulus), step)
    return [*found.values()]


def lengths_of(kind, own):
    width = own.digit_width
    if kind is StepKind.SCAN_COLUMNS:
        some = (width // 4, width - 1, width, width + 3)
        return sorted({COMB_TEETH * tooth_of(one, width, own.headroom) for one in some})
    return sorted({1, 2, 5, width - 1, width, width + 1, 2 * width - 1, 2 * width, 3 * width - 2})


def scan(design, step, length, value):
    """The bits that hardware gives, with what it says of them, and the cycles to each; and the same
    of the model."""
    (program, *_), capabilities = design.programs, design.capabilities
    width = capabilities.digit_width
    dut = ExponentScanner(program, capabilities, Target.GENERIC)
    of_e = step.modulus is Context.WHOLE or step.kind in (
        StepKind.SCAN_PUBLIC,
        StepKind.SCAN_COLUMNS,
    )
    lengths = {Length.EXPONENT if of_e else step.modulus.length: length}
    model = ScannerModel(program, capabilities, lengths, {}, private=False)
    cycles = model.begin(step)
    model.values = {model.exponent(step): value}
    found, expected = [], []

    async def bench(context):
        now = 0

        async def tick(**given):
            nonlocal now
            for name, one in given.items():
                context.set(getattr(dut, name), one)
            await context.tick()
            now += 1
            for name in given:
                context.set(getattr(dut, name), 0)

        async def next_digit():
            await tick(seek=1)
            digit = value >> width * context.get(dut.exponent_index) & (1 << width) - 1
            others = JUNK & (1 << width) - 1
            for _ in range(READ_LATENCY):
                await tick()
            in_other = of_e and dut.two_memories
            context.set(dut.exponent_data, others if in_other else digit)
            context.set(dut.exponent_other, digit if in_other else others)
            await tick(take=1)
            context.set(dut.exponent_data, others)
            context.set(dut.exponent_other, others)

        context.set(dut.busy, 1)
        context.set(dut.operation, step.kind)
        context.set(dut.modulus, step.modulus)
        context.set(dut.length, length)
        context.set(dut.whole_digits if of_e else dut.inner_digits, capabilities.digits(length))
        for _ in range(3):  # lengths are stable for some cycles
            await tick()
        now = 0
        await tick(begin=1)
        await next_digit()
        if step.kind not in (StepKind.SCAN, StepKind.SCAN_PUBLIC):
            context.set(dut.operation, StepKind.MULTIPLY)  # other steps take the bits
        while True:
            await tick()  # what is registered follows
            now -= 1
            if program.scans_columns:
                context.set(dut.column_ends, int(model.columns.in_highest_tooth))
            last = context.get(dut.last_bit)
            found.append((context.get(dut.bit), last, now))
            expected.append((model.bit(step), model.ends(step), cycles_of[0]))
            if last or model.ends(step):
                break
            edge = context.get(dut.edge_bit)
            more = model.next_bit()
            assert bool(edge) == bool(more)
            await tick(next_bit=1)
            now -= 1  # the step's own
            if edge:
                await next_digit()
            cycles_of[0] += more
        context.set(dut.busy, 0)
        await tick()
        await tick()
        assert context.get(dut.digit) == 0

    cycles_of = [cycles]
    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return found, expected


def bits_of(step, length, value, own, program):
    """The order in which a scan gives an exponent's bits, without the zeros above its length."""
    if step.kind is StepKind.SCAN_UPWARDS:
        return [value >> k & 1 for k in range(length)]
    if step.kind is StepKind.SCAN_COLUMNS:
        tooth = length // 4
        return [value >> k + tooth * j & 1 for k in reversed(range(tooth)) for j in range(4)]
    return [value >> k & 1 for k in reversed(range(value.bit_length()))]


OFTEN = ("left to right", "right to left", "windows that divide a digit", "columns")


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[pytest.mark.matrix] * (one not in OFTEN)) for one in DESIGNS],
)
def test_every_bit_of_an_exponent(name):
    design = design_of(name)
    (program, *_), capabilities = design.programs, design.capabilities
    generator, kinds = random.Random(len(name)), set()
    for step in steps_of(program):
        kinds.add(step.kind)
        blinded = step.modulus in program.blinded and step.kind is not StepKind.SCAN_PUBLIC
        more = exponent_blinding_bits(capabilities.digit_width) if blinded else 0
        for length in lengths_of(step.kind, capabilities):
            longest = length + more
            for value in (
                (1 << longest) - 1,
                1 << longest - 1,
                generator.getrandbits(longest),
            ):
                found, expected = scan(design, step, length, value)
                assert found == expected, (step.kind, step.modulus, length, value)
                bits = [bit for bit, _, _ in found]
                order = bits_of(step, length, value, capabilities, program)
                assert bits[len(bits) - len(order) :] == order
                assert not any(bits[: len(bits) - len(order)])
    assert kinds


def test_each_kind_of_scan_is_among_these():
    kinds = {step.kind for name in DESIGNS for step in steps_of(design_of(name).programs[0])}
    assert kinds == set(SCANS)
