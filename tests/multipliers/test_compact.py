import random

import pytest
from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from coprime.cells.block_ram import BlockRam
from coprime.model.compact import (
    RADIX_BITS,
    last_round,
    montgomery,
    scaled_modulus,
    scaling,
    to_digits,
)
from coprime.multipliers.compact.multiplication import CompactMultiplication
from coprime.multipliers.compact.multiplier import CompactMultiplier
from coprime.multipliers.contract import Pair
from coprime.multipliers.multiplication import READ_LATENCY

COUNT_BITS = 7
SLOT = 1 << COUNT_BITS
LEFT = {"factor": 0, "scaled": 1, "modulus": 2, "result": 3}
RIGHT = {"factor": 0, "quotient": 1, "inverse": 2}


class Bench(wiring.Component):
    """The multiplier, and two banks with a slot of SLOT digits for each operand."""

    def __init__(self, max_digits):
        self.max_digits = max_digits
        flags = ("start", "prepare", "wipe", "is_one", "descale", "squares", "in_place", "spoils")
        super().__init__(
            {
                **{name: In(1) for name in (*flags, "write_left", "write_right")},
                "done": Out(1),
                "address": In(COUNT_BITS + 2),
                "digit": In(RADIX_BITS),
                "inner": In(COUNT_BITS),
                "outer": In(COUNT_BITS),
                "read": Out(RADIX_BITS),
                "multiplying": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.left = left = BlockRam(RADIX_BITS, 4 * SLOT)
        m.submodules.right = right = BlockRam(RADIX_BITS, 4 * SLOT)
        m.submodules.multiplier = multiplier = CompactMultiplier(self.max_digits, COUNT_BITS)
        self.multiplier = multiplier
        idle, preparing = Signal(init=1), Signal()
        with m.If(self.start | self.prepare | self.wipe):
            m.d.sync += [idle.eq(0), preparing.eq(self.prepare)]
        with m.If(self.done):
            m.d.sync += idle.eq(1)
        m.d.comb += [
            multiplier.start.eq(self.start),
            multiplier.prepare.eq(self.prepare),
            multiplier.wipe.eq(self.wipe),
            self.done.eq(multiplier.done),
            self.multiplying.eq(multiplier.multiplying),
            multiplier.inner_digits.eq(self.inner),
            multiplier.outer_digits.eq(self.outer),
            multiplier.rounds.eq(self.outer),
            multiplier.multiplier_is_one.eq(self.is_one),
            multiplier.descale.eq(self.descale),
            multiplier.squares.eq(self.squares),
            self.read.eq(left.b_data),
        ]
        for bank, name, slots, own in (
            (left, "left", LEFT, self.write_left),
            (right, "right", RIGHT, self.write_right),
        ):
            m.d.comb += [
                getattr(multiplier, f"a_{name}").eq(bank.a_data),
                getattr(multiplier, f"b_{name}").eq(bank.b_data),
            ]
            slot = Signal(2)
            with m.Switch(multiplier.a_role):
                for role, left_slot, right_slot in (
                    (Pair.FACTORS, "factor", "factor"),
                    (Pair.QUOTIENT, "scaled", "quotient"),
                    (Pair.MODULUS, "modulus", "inverse"),
                    (Pair.RESULT, "result", "inverse"),
                ):
                    with m.Case(role):
                        m.d.comb += slot.eq(slots[left_slot if name == "left" else right_slot])
            result = Mux(self.in_place, LEFT["factor"], LEFT["result"])
            if name == "left":
                with m.If(multiplier.a_role == Pair.RESULT):
                    m.d.comb += slot.eq(result)
            else:
                with m.If(self.spoils & (multiplier.a_role == Pair.FACTORS)):
                    m.d.comb += slot.eq(RIGHT["quotient"])
            b_slot = Signal(2)
            m.d.comb += b_slot.eq(slot)
            written = Mux(preparing, LEFT["scaled"], result)
            with m.If(multiplier.b_write):
                m.d.comb += b_slot.eq(written if name == "left" else RIGHT["quotient"])
            writes = multiplier.b_write & (multiplier.b_quotient == (name == "right"))
            # A digit of the inverse is at index 0.
            a_index = Mux((name == "right") & multiplier.a_role[1], 0, multiplier.a_index)
            for port, value in (
                (bank.a_address, (slot << COUNT_BITS) + a_index),
                (
                    bank.b_address,
                    Mux(idle, self.address, (b_slot << COUNT_BITS) + multiplier.b_index),
                ),
                (bank.b_write, Mux(idle, own, writes)),
            ):
                asked, found = Signal.like(port), Signal.like(port)
                m.d.sync += [asked.eq(value), found.eq(asked)]
                m.d.comb += port.eq(found)
            idle_before, digit = Signal(), Signal(RADIX_BITS)
            idle_then, digit_then = Signal(), Signal(RADIX_BITS)
            m.d.sync += [idle_before.eq(idle), idle_then.eq(idle_before)]
            m.d.sync += [digit.eq(self.digit), digit_then.eq(digit)]
            m.d.comb += bank.b_write_data.eq(Mux(idle_then, digit_then, multiplier.b_write_data))
        return m


def multiply(cases, max_digits=32):
    """(result, cycles, products) of each (x, y, m, inner, outer, options)."""
    dut = Bench(max_digits)
    outcomes = []

    async def bench(context):
        async def store(bank, slot, value, count):
            for index, digit in enumerate(to_digits(value, count)):
                context.set(getattr(dut, f"write_{bank}"), 1)
                context.set(dut.address, (LEFT if bank == "left" else RIGHT)[slot] * SLOT + index)
                context.set(dut.digit, digit)
                await context.tick()
            context.set(getattr(dut, f"write_{bank}"), 0)

        async def run(command, gap=3):  # in 3 cycles the last digit has come
            if gap:
                await context.tick().repeat(gap)
            context.set(getattr(dut, command), 1)
            await context.tick()
            context.set(getattr(dut, command), 0)
            cycles = products = done = 0
            while not done:
                cycles += 1
                products += context.get(dut.multiplying)
                done = context.get(dut.done)
                await context.tick()
            return cycles, products

        async def load(slot, count):
            value = 0
            for index in range(count):
                context.set(dut.address, LEFT[slot] * SLOT + index)
                await context.tick().repeat(READ_LATENCY + 2)
                value |= context.get(dut.read) << (RADIX_BITS * index)
            return value

        prepared = None
        for x, y, m, inner, outer, options in cases:
            await store("left", "factor", x, inner)
            if y != 1 and "squares" not in options:
                await store("right", "factor", y, outer)
            context.set(dut.inner, inner)
            context.set(dut.outer, outer)
            for name in ("descale", "squares", "in_place"):
                context.set(getattr(dut, name), name in options)
            context.set(dut.is_one, y == 1)
            if (m, inner) != prepared:
                prepared = m, inner
                await store("left", "modulus", m, inner)
                await store("right", "inverse", scaling(m), 1)
                cycles, products = await run("prepare")
                assert (cycles, products) == (CompactMultiplication().prepare_cycles(inner), 0)
                assert await load("scaled", inner) == scaled_modulus(m, inner)
            gap = 3
            if "after" in options:
                # Another one whose multiplier changes under its hands, as the quotient does.
                gap = options[-1]
                context.set(dut.spoils, 1)
                await run("start")
                context.set(dut.spoils, 0)
            cycles, products = await run("start", gap)
            slot = "factor" if "in_place" in options else "result"
            outcomes.append((await load(slot, inner), cycles, products))

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    return outcomes


def check(cases, **settings):
    cases = [(*case, ()) if len(case) == 5 else case for case in cases]
    for case, (result, cycles, products) in zip(cases, multiply(cases, **settings), strict=True):
        x, y, m, inner, outer, options = case
        descale = "descale" in options
        expected = montgomery(x, y, m, inner, outer - descale)
        if descale:
            assert result == last_round(expected.value, m, inner), case
        else:
            assert result == expected.value, case
            assert products == expected.products, case
        assert result % m == x * y * pow(2, -RADIX_BITS * outer, m) % m, case
        assert result == CompactMultiplication().product(x, y, m, outer, descale=descale), case
        assert cycles == CompactMultiplication().cycles(inner, outer, descale=descale), case
        assert products == CompactMultiplication().products(inner, outer, descale=descale), case


def digits_of(m):
    return max(3, -(-(m.bit_length() + RADIX_BITS + 2) // RADIX_BITS))


@pytest.mark.parametrize(
    ("digits", "count"),
    [(3, 25), *(pytest.param(digits, None, marks=pytest.mark.matrix) for digits in (3, 4, 5, 8))],
)
def test_edges(digits, count):
    """All of them, or so many."""
    cases = []
    longest = RADIX_BITS * (digits - 1) - 2
    for m in ((1 << longest) - 1, (1 << (longest - 1)) + 1, 3):
        whole = scaling(m) * m
        values = sorted({0, 1, 2, m - 1, whole - 1, whole, 2 * whole - 1})
        cases += [(x, y, m, digits, digits) for x in values for y in values]
        cases += [(x, x, m, digits, digits, ("squares",)) for x in values]
        cases += [(x, x, m, digits, digits, ("squares", "in_place")) for x in values]
        cases += [(x, 1, m, digits, digits, ("descale",)) for x in values]
        cases += [(x, 1, m, digits, digits, ("descale", "in_place")) for x in values]
    check(cases if count is None else random.Random(digits).sample(cases, count))


@pytest.mark.matrix
def test_random_sizes():
    generator = random.Random(11)
    cases = []
    for _ in range(12):
        m = generator.getrandbits(generator.randrange(16, 200)) | 1
        digits, whole = digits_of(m), scaling(m) * m
        x, y = generator.randrange(2 * whole), generator.randrange(2 * whole)
        cases.append((x, y, m, digits, digits))
        cases.append((x, x, m, digits, digits, ("squares",)))
        cases.append((x, y, m, digits, digits, ("in_place",)))
        cases.append((x, x, m, digits, digits, ("squares", "in_place")))
    check(cases)


@pytest.mark.parametrize(
    "sizes",
    [((3, 3), (3, 5)), pytest.param(((9, 3), (5, 5), (12, 12)), marks=pytest.mark.matrix)],
)
def test_one_after_the_other(sizes):
    """What one asked for at last is not the next one's, even if the first one was no product.

    That is what a window of 0 has in the engine, which does not keep it.
    """
    generator = random.Random(13)
    cases = []
    for inner, outer in sizes:
        m = generator.getrandbits(RADIX_BITS * (inner - 1) - 2) | 1
        x, y = generator.randrange(m), generator.getrandbits(RADIX_BITS * (outer - 1) - 1)
        for gap in range(6):
            cases.append((x, y, m, inner, outer, ("after", gap)))
            if outer > 3:
                cases.append((x, y, m, inner, outer, ("descale", "after", gap)))
    check(cases)


@pytest.mark.parametrize(
    "sizes",
    [
        ((3, 2), (3, 5), (9, 3), (5, 4), (4, 5)),
        pytest.param(((3, 9), (16, 2), (12, 24)), marks=pytest.mark.matrix),
    ],
)
def test_unequal_counts(sizes):
    """Entering with a message longer than a prime; weighing a residue; descaling with either."""
    generator = random.Random(12)
    cases = []
    for inner, outer in sizes:
        m = generator.getrandbits(RADIX_BITS * (inner - 1) - 2) | 1
        y = generator.getrandbits(RADIX_BITS * outer)
        small = generator.getrandbits(RADIX_BITS * (outer - 1) - 1)
        x = generator.randrange(m)
        cases.append((x, y, m, inner, outer))
        if inner <= outer:
            cases.append((x, y, m, inner, outer, ("in_place",)))
        cases.append((x, 1, m, inner, outer))
        if outer > 2:
            cases.append((x, small, m, inner, outer, ("descale",)))
            if inner <= outer:
                cases.append((x, small, m, inner, outer, ("descale", "in_place")))
    check(cases)


@pytest.mark.parametrize("length", [512, pytest.param(1024, marks=pytest.mark.matrix)])
def test_long_operands(length):
    """All-ones digits: the largest products, sums and carries."""
    m = (1 << length) - 1
    digits, whole = digits_of(m), scaling(m) * m
    ones = (1 << (RADIX_BITS * digits - 1)) - 1
    cases = [(2 * whole - 1, ones % whole, m, digits, digits)]
    cases.append((2 * whole - 1, 2 * whole - 1, m, digits, digits, ("squares",)))
    check(cases, max_digits=digits)


@pytest.mark.parametrize("digits", range(6, 130))
def test_distance_to_the_bound(digits):
    """As in the docstring's table."""
    assert CompactMultiplication().products(digits, digits) == digits**2 + digits
    assert CompactMultiplication().cycles(digits, digits) == digits**2 + 3 * digits + 19
