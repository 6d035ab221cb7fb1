"""A multiplier that scans one bit a round, and a memory, in Amaranth's simulator."""

from dataclasses import dataclass

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator
from amaranth.utils import bits_for

from coprime.cells.block_ram import BlockRam
from coprime.multipliers.carry_save import CarrySaveMultiplier
from coprime.multipliers.contract import Role
from coprime.multipliers.multiplication import READ_LATENCY

RESULT = 4
JUNK = int("5A" * 512, 16)
"""Content of memory where an operand has no digits, and of ports that are not sampled."""


@dataclass(frozen=True)
class Case:
    """x * y modulo m: m and y of `inner` digits, x of `outer` digits, in `rounds` rounds."""

    x: int
    y: int
    m: int
    rounds: int
    inner: int
    outer: int
    is_one: bool = False


@dataclass
class Outcome:
    result: int
    cycles: int
    products: int
    trace: list
    """S and C, or S alone, after each round."""


class Bench(wiring.Component):
    """The multiplier, and a memory with a slot for each role and the result."""

    def __init__(self, multiplier):
        self.multiplier = multiplier
        self.slot_bits = multiplier.count_bits
        width = multiplier.digit_width
        super().__init__(
            {
                "write": In(1),
                "address": In(3 + self.slot_bits),
                "digit": In(width),
                "idle": In(1),
                "read": Out(width),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.multiplier = multiplier = self.multiplier
        m.submodules.memory = memory = BlockRam(multiplier.digit_width, 8 << self.slot_bits)
        m.d.comb += [
            multiplier.a_data.eq(memory.a_data),
            multiplier.b_data.eq(memory.b_data),
            self.read.eq(memory.b_data),
        ]
        result = RESULT << self.slot_bits
        for port, value in (
            (memory.a_address, (multiplier.a_role << self.slot_bits) | multiplier.a_index),
            (memory.b_address, Mux(self.idle, self.address, result | multiplier.b_index)),
            (memory.b_write, Mux(self.idle, self.write, multiplier.b_write)),
            (memory.b_write_data, Mux(self.idle, self.digit, multiplier.b_write_data)),
        ):
            # As in the engine: the port sees it two cycles later, so that data come in the third.
            asked, found = Signal.like(port), Signal.like(port)
            m.d.sync += [asked.eq(value), found.eq(asked)]
            m.d.comb += port.eq(found)
        return m


def placed(value, length, digits, multiplier):
    """The value in its digits: at the upper end, if the multiplier is `aligned`."""
    return (
        value << (digits * multiplier.digit_width - length)
        if multiplier.multiplication.aligned
        else value
    )


class Run:
    """Drives a bench; each method is to be awaited in a test bench."""

    def __init__(self, bench, context):
        self.bench, self.context = bench, context
        self.dut = bench.multiplier
        context.set(bench.idle, 1)

    async def store(self, role, value, digits):
        bench, context, width = self.bench, self.context, self.dut.digit_width
        for index in range(1 << bench.slot_bits):
            word = value >> (index * width) if index < digits else JUNK
            context.set(bench.write, 1)
            context.set(bench.address, (role << bench.slot_bits) | index)
            context.set(bench.digit, word & ((1 << width) - 1))
            await context.tick()
        context.set(bench.write, 0)

    async def go(self, command, case):
        """Give `start` or `prepare`; count cycles and products, trace S and C round by round."""
        context, dut = self.context, self.dut
        await context.tick().repeat(3)  # the memory's pipeline
        context.set(self.bench.idle, 0)
        context.set(command, 1)
        self.set_lengths(JUNK, JUNK, JUNK, not case.is_one)  # they hold from the next cycle on
        await context.tick()
        context.set(command, 0)
        self.set_lengths(case.inner, case.outer, case.rounds, case.is_one)
        cycles = products = done = 0
        trace = []
        while not done:
            cycles += 1
            assert cycles < 1000 + 100 * dut.words + case.rounds
            running = context.get(dut.multiplying)
            products += running
            done = context.get(dut.done)
            await context.tick()
            if running:
                s = context.get(dut.s)
                carry_save = isinstance(dut, CarrySaveMultiplier)
                trace.append((s, context.get(dut.c)) if carry_save else s)
        self.set_lengths(JUNK, JUNK, JUNK, 1)
        await context.tick().repeat(3)
        context.set(self.bench.idle, 1)
        return cycles, products, trace

    def set_lengths(self, inner, outer, rounds, is_one):
        for signal, value in (
            (self.dut.inner_digits, inner),
            (self.dut.outer_digits, outer),
            (self.dut.rounds, rounds),
            (self.dut.multiplier_is_one, is_one),
        ):
            self.context.set(signal, value & ((1 << len(signal)) - 1))

    async def prepare(self, case):
        """Store the modulus and prepare for it; give the cycles."""
        modulus = placed(case.m, case.m.bit_length(), case.inner, self.dut)
        await self.store(Role.MODULUS, modulus, case.inner)
        cycles, products, _ = await self.go(self.dut.prepare, case)
        assert products == 0
        return cycles

    async def multiply(self, case):
        """Store the factors, multiply, load the result."""
        dut = self.dut
        length = case.m.bit_length()
        x = JUNK if case.is_one else placed(case.x, case.rounds, case.outer, dut)
        await self.store(Role.MULTIPLICAND, placed(case.y, length, case.inner, dut), case.inner)
        await self.store(Role.MULTIPLIER, x, case.outer)
        cycles, products, trace = await self.go(dut.start, case)
        result = await self.load(case.inner)
        if dut.multiplication.aligned:
            result, below = divmod(result, 1 << (case.inner * dut.digit_width - length))
            assert below == 0
        return Outcome(result, cycles, products, trace)

    async def load(self, digits):
        bench, context = self.bench, self.context
        result = 0
        for index in range(digits):
            context.set(bench.address, (RESULT << bench.slot_bits) | index)
            await context.tick().repeat(READ_LATENCY)
            result |= context.get(bench.read) << (self.dut.digit_width * index)
        return result


def simulate(multiplier, steps):
    """Run `steps(run)`, a coroutine function, on a bench of the multiplier."""
    bench = Bench(multiplier)

    async def testbench(context):
        await steps(Run(bench, context))

    simulator = Simulator(bench)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()


def make(family, words, width, round_bits=14):
    """A multiplier of the class `family`."""
    return family(family.computes(words, width), bits_for(words + 1), round_bits)


def run_cases(multiplier, cases):
    """Outcomes of all cases; a modulus is prepared only where it changes."""
    outcomes = []

    async def steps(run):
        before = None
        for case in cases:
            if (case.m, case.inner) != before:
                assert await run.prepare(case) == multiplier.multiplication.prepare_cycles(
                    case.inner
                ), case
                before = case.m, case.inner
            outcomes.append(await run.multiply(case))

    simulate(multiplier, steps)
    return outcomes
