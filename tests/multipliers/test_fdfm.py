import random

import pytest
from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator
from coprime_evidence.papers import fdfm as paper

from coprime.cells.block_ram import BlockRam
from coprime.model.fdfm import RADIX_BITS, montgomery, to_digits
from coprime.multipliers.contract import Role
from coprime.multipliers.fdfm import FdfmMultiplier
from coprime.multipliers.fdfm_multiplication import FdfmMultiplication
from coprime.multipliers.multiplication import READ_LATENCY

COUNT_BITS = 8
RESULT = 4


class Bench(wiring.Component):
    """The multiplier, and a memory with a slot of 256 digits for each role and the result."""

    def __init__(self, *, dense):
        self.dense = dense
        super().__init__(
            {
                "write": In(1),
                "address": In(11),
                "digit": In(RADIX_BITS),
                "start": In(1),
                "done": Out(1),
                "inner": In(COUNT_BITS),
                "outer": In(COUNT_BITS),
                "y_is_one": In(1),
                "read": Out(RADIX_BITS),
                "multiplying": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = BlockRam(RADIX_BITS, 2048)
        m.submodules.multiplier = multiplier = FdfmMultiplier(COUNT_BITS, dense=self.dense)
        idle = Signal(init=1)
        with m.If(self.start):
            m.d.sync += idle.eq(0)
        with m.If(self.done):
            m.d.sync += idle.eq(1)
        m.d.comb += [
            multiplier.start.eq(self.start),
            self.done.eq(multiplier.done),
            self.multiplying.eq(multiplier.multiplying),
            multiplier.inner_digits.eq(self.inner),
            multiplier.outer_digits.eq(self.outer),
            multiplier.multiplier_is_one.eq(self.y_is_one),
            multiplier.a_data.eq(memory.a_data),
            multiplier.b_data.eq(memory.b_data),
            self.read.eq(memory.b_data),
        ]
        for port, value in (
            (memory.a_address, (multiplier.a_role << 8) + multiplier.a_index),
            (memory.b_address, Mux(idle, self.address, RESULT * 256 + multiplier.b_index)),
            (memory.b_write, Mux(idle, self.write, multiplier.b_write)),
            (memory.b_write_data, Mux(idle, self.digit, multiplier.b_write_data)),
        ):
            # As in the engine: the port sees it two cycles later, so that data come in the third.
            asked, found = Signal.like(port), Signal.like(port)
            m.d.sync += [asked.eq(value), found.eq(asked)]
            m.d.comb += port.eq(found)
        return m


def multiply(cases, *, dense=False):
    """Results, cycles and products of (x, y, m, inner, outer); y = 1 is not read from memory."""
    dut = Bench(dense=dense)
    outcomes = []

    async def bench(context):
        for x, y, m, inner, outer in cases:
            inverse = -pow(m, -1, 1 << RADIX_BITS) % (1 << RADIX_BITS)
            operands = {
                Role.MULTIPLICAND: (x, inner),
                Role.MULTIPLIER: (y, outer),
                Role.MODULUS: (m, inner),
                Role.INVERSE: (inverse, 1),
            }
            for role, (value, count) in operands.items():
                for index, digit in enumerate(to_digits(value, count)):
                    context.set(dut.write, 1)
                    context.set(dut.address, role * 256 + index)
                    context.set(dut.digit, digit if y != 1 or role != Role.MULTIPLIER else 0x1ABCD)
                    await context.tick()
            context.set(dut.write, 0)
            context.set(dut.inner, inner)
            context.set(dut.outer, outer)
            context.set(dut.y_is_one, y == 1)
            context.set(dut.start, 1)
            await context.tick()
            context.set(dut.start, 0)
            cycles = products = done = 0
            while not done:
                cycles += 1
                products += context.get(dut.multiplying)
                done = context.get(dut.done)
                await context.tick()
            result = 0
            for index in range(inner):
                context.set(dut.address, RESULT * 256 + index)
                await context.tick().repeat(READ_LATENCY)
                result |= context.get(dut.read) << (RADIX_BITS * index)
            outcomes.append((result, cycles, products))

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    return outcomes


def check(cases, *, dense=False):
    found = multiply(cases, dense=dense)
    for case, (result, cycles, products) in zip(cases, found, strict=True):
        x, y, m, inner, outer = case
        assert result == montgomery(x, y, m, inner, outer), case
        assert result % m == x * y * pow(2, -RADIX_BITS * outer, m) % m, case
        assert cycles == FdfmMultiplication().cycles(inner, outer), case
        assert products == FdfmMultiplication().products(inner, outer), case


def edge_moduli(digits):
    longest = RADIX_BITS * digits - 2
    yield (1 << longest) - 1  # all ones
    yield (1 << (longest - 1)) + 1  # sparse
    yield (1 << (RADIX_BITS * (digits - 1))) + 1  # one bit into the last digit
    yield 3


@pytest.mark.parametrize(
    "digits", [2, *(pytest.param(digits, marks=pytest.mark.matrix) for digits in (3, 4, 7))]
)
def test_edges(digits):
    cases = []
    for m in edge_moduli(digits):
        values = sorted({0, 1, 2, m - 1, m, 2 * m - 1, max(0, m - 2), (1 << m.bit_length()) - 1})
        values = [value for value in values if value < 2 * m]
        cases += [(x, y, m, digits, digits) for x in values for y in values]
    check(cases)


@pytest.mark.parametrize("count", [20, pytest.param(60, marks=pytest.mark.matrix)])
def test_random_sizes(count):
    generator = random.Random(11)
    cases = []
    for _ in range(count):
        digits = generator.randrange(2, 16)
        m = generator.getrandbits(RADIX_BITS * digits - 2) | 1
        x, y = generator.randrange(2 * m), generator.randrange(2 * m)
        cases.append((x, y, m, digits, digits))
    check(cases)


def test_longest_carries():
    """All-ones digits everywhere: the largest products, sums and carries."""
    digits = 5
    full = (1 << (RADIX_BITS * digits)) - 1
    m = full >> 2
    check([(2 * m - 1, 2 * m - 1, m, digits, digits), (m, full, m, digits, digits)])


def test_unequal_counts():
    """A y of more or fewer digits than the modulus: steps 1 and 3 of the CRT decryption."""
    generator = random.Random(12)
    cases = []
    for inner, outer in ((2, 5), (3, 9), (9, 3), (16, 2), (5, 4)):
        m = generator.getrandbits(RADIX_BITS * inner - 2) | 1
        y = generator.getrandbits(RADIX_BITS * outer)
        cases.append((generator.randrange(m), y, m, inner, outer))
        cases.append((generator.randrange(2 * m), 1, m, inner, outer))
    check(cases)


@pytest.mark.parametrize(
    "length",
    [512, *(pytest.param(length, marks=pytest.mark.matrix) for length in (1024, 2048, 2176))],
)
def test_long_operands(length):
    generator = random.Random(length)
    digits = -(-(length + 2) // RADIX_BITS)
    m = generator.getrandbits(length) | 1 << (length - 1) | 1
    check([(generator.randrange(2 * m), 2 * m - 1, m, digits, digits)])


@pytest.mark.parametrize("digits", range(2, 130))
def test_no_slower_than_the_paper(digits):
    cycles = FdfmMultiplication().cycles(digits, digits)
    assert cycles <= paper.multiplication_cycles(digits)
    assert FdfmMultiplication().products(digits, digits) == paper.products(digits)
    assert FdfmMultiplication().products(digits, digits) / cycles >= paper.utilization(digits)


def test_the_dense_one_is_the_same():
    """Results, cycles and products, of moduli with the longest carries and of random ones."""
    generator = random.Random(5)
    cases = []
    for digits in (2, 3, 4):
        moduli = [*edge_moduli(digits), generator.getrandbits(RADIX_BITS * digits - 2) | 1]
        for m in moduli:
            x, y = (generator.randrange(2 * m) for _ in range(2))
            cases += [(x, y, m, digits, digits), (2 * m - 1, 1, m, digits, digits)]
    check(cases, dense=True)
