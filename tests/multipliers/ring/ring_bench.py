"""The multiplier of `ring` between memories, and what integers make of the same products."""

from dataclasses import dataclass, replace

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from coprime.cells.block_ram import BlockRam
from coprime.cells.tiles.tile import Tile
from coprime.model.montgomery import inverse
from coprime.model.ring import to_words
from coprime.multipliers.contract import Role
from coprime.multipliers.ring.multiplication import RingMultiplication
from coprime.multipliers.ring.multiplier import RingMultiplier
from tests.multipliers.ring.ring_watch import watched

COUNT_BITS = 7
SLOT = 1 << COUNT_BITS
SLOTS = 8
MODULUS, INVERSE = 0, 1
"""Places of operands; those from 2 on are for factors and results."""
JUNK = int("5A" * 16, 16)
"""In the memory where an operand has no words."""
ONE = -1
"""A multiplier that is not in the memory."""


def tiny_tiles(word, latency, D, tiles=1, *, skewed=False):
    """Tiles that multiply words of any width, for operands of D words."""
    tile = tiny_tile(word, latency)
    products = RingMultiplication(word, latency, tiles).sum_products(D)
    return [tile(products, skewed=skewed, holds=tiles == 2) for _ in range(tiles)]


def tiny_tile(word, latency):
    """A tile that multiplies words of any width."""

    class Tiny(Tile):
        NAME, SLICES, PRODUCTS = "tiny", 2, (1,)  # rings in block RAM, as of most tiles
        WORD, LATENCY, TREE, SKEWS = word, latency, latency - 4, True

    return Tiny


@dataclass(frozen=True)
class Product:
    """x * y to the place `to`, asked for `wait` cycles after the last `done`; None: when idle."""

    x: int
    y: int
    to: int
    follows: bool = False
    descale: bool = False
    rounds: int | None = None
    wait: int | None = 0


def chained(*products):
    """A product, and others that follow it without a break."""
    first, *others = products
    return [first, *[replace(product, follows=True) for product in others]]


class Bench(wiring.Component):
    """The multiplier and a memory of `slots` operands, which the test reads and writes at once."""

    def __init__(self, tiles, max_words, delay, slots):
        self.slots = slots
        self.multiplier = RingMultiplier(tiles, max_words, COUNT_BITS, delay=delay)
        self.memory = BlockRam(tiles[0].WORD, slots * SLOT)
        place = dict.fromkeys(("x", "y", "to"), In(range(slots)))
        flags = ("start", "prepare", "follows", "descale", "squares", "is_one", "a_taken")
        counts = ("inner", "rounds", "longest")
        super().__init__(
            {
                **place,
                **dict.fromkeys(flags, In(1)),
                **dict.fromkeys(counts, In(COUNT_BITS)),
                **dict.fromkeys(("done", "busy", "multiplying", "fault"), Out(1)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.multiplier = multiplier = self.multiplier
        m.submodules.memory = memory = self.memory
        for name in ("start", "prepare", "follows", "descale", "squares", "a_taken"):
            m.d.comb += getattr(multiplier, name).eq(getattr(self, name))
        for name in ("done", "busy", "multiplying", "fault"):
            m.d.comb += getattr(self, name).eq(getattr(multiplier, name))
        m.d.comb += [
            multiplier.multiplier_is_one.eq(self.is_one),
            multiplier.inner_digits.eq(self.inner),
            multiplier.rounds.eq(self.rounds),
            multiplier.longest_digits.eq(self.longest),
            multiplier.a_data.eq(memory.a_data),
            multiplier.b_data.eq(memory.b_data),
        ]
        new_x, new_y, new_to, old_to = (Signal(range(self.slots)) for _ in range(4))
        with m.If(multiplier.turns):
            m.d.sync += old_to.eq(new_to)
        with m.If(multiplier.takes):
            m.d.sync += [new_x.eq(self.x), new_y.eq(self.y), new_to.eq(self.to)]
        m.d.comb += [
            multiplier.x_is_result.eq(self.x == new_to),
            multiplier.y_is_result.eq((self.y == new_to) & ~self.is_one),
        ]
        read_x = Mux(multiplier.a_of_next, self.x, new_x)
        of_inverse = multiplier.a_role == Role.INVERSE
        read_a = Mux(of_inverse, INVERSE, Mux(multiplier.a_role == Role.MODULUS, MODULUS, read_x))
        index = Mux(of_inverse | self.a_taken, 0, multiplier.a_index)  # it has one word
        read_a = (Mux(self.a_taken, INVERSE, read_a) << COUNT_BITS) + index
        read_b = Mux(multiplier.b_of_next, self.y, new_y)
        read_b = (read_b << COUNT_BITS) + multiplier.b_index
        for port, value in (
            (memory.a_address, read_a),
            (
                memory.b_address,
                Mux(multiplier.b_write, (old_to << COUNT_BITS) + multiplier.b_index, read_b),
            ),
            (memory.b_write, multiplier.b_write),
        ):
            asked, found = Signal.like(port), Signal.like(port)
            m.d.sync += [asked.eq(value), found.eq(asked)]
            m.d.comb += port.eq(found)
        m.d.comb += memory.b_write_data.eq(multiplier.b_write_data)
        return m


@dataclass
class Outcome:
    """What a run has given.

    Attributes
    ----------
    starts, dones : cycles of the preparation's and each product's start and `done`
    idle : first cycle in which nothing is busy, after the last product
    multiplying : cycles with a product of words, after the preparation
    operands : numbers in the memory, by place
    """

    starts: list
    dones: list
    idle: int
    multiplying: int
    operands: dict


def run(
    tiles, modulus, operands, products, *, inner, delay=0, longest=None, watch=False, slots=SLOTS
):
    """Prepare and multiply; the operands are a dictionary by place.

    A place that is only a multiplier has as many words as its product has rounds, others `inner`.
    With `watch`, the ranges of each tile's sum, of S and of the running sums are asserted in every
    cycle, and that no word is read as it is written.
    """
    word = tiles[0].WORD
    rounds = [product.rounds or inner for product in products]
    dut = Bench(tiles, max(inner, *rounds, longest or 0), delay, slots)
    outcome = Outcome([], [], 0, 0, {})
    cycle, totals = 0, [0] * len(tiles)

    async def bench(context):
        def add_up(tile, total):
            x_0, x_1, y_0, y_1 = (
                context.get(getattr(tile, name)) for name in ("x_0", "x_1", "y_0", "y_1")
            )
            difference = (x_0 - x_1) * (y_0 - y_1)
            total = 0 if context.get(tile.first) else total
            total += -difference if context.get(tile.subtract) else difference
            assert -1 << tile.sum_bits - 1 <= total < 1 << tile.sum_bits - 1, "range of the sum"
            return total

        async def step():
            nonlocal cycle, totals
            if watch:
                totals = [add_up(*each) for each in zip(tiles, totals, strict=True)]
                for one in watches:
                    one.step(context)
            outcome.multiplying += context.get(dut.multiplying)
            assert not context.get(dut.fault), "fault"
            await context.tick()
            cycle += 1

        async def ask(command):
            context.set(command, 1)
            outcome.starts.append(cycle)
            await step()
            context.set(command, 0)

        async def finish():
            while not context.get(dut.done):
                await step()
            outcome.dones.append(cycle)

        for place in range(slots):
            for index in range(SLOT):
                context.set(dut.memory.data[place * SLOT + index], JUNK & (1 << word) - 1)
        multipliers = {p.y: n for p, n in zip(products, rounds, strict=True) if p.x != p.y}
        stored = {MODULUS: (modulus, inner), INVERSE: (inverse(modulus, word), 1)}
        for place, value in operands.items():
            stored[place] = value, multipliers.get(place, inner)
        for place, (value, count) in stored.items():
            for index, digit in enumerate(to_words(value, count, word)):
                context.set(dut.memory.data[place * SLOT + index], digit)
        context.set(dut.inner, inner)
        context.set(dut.longest, longest or inner)
        context.set(dut.rounds, rounds[0])
        flags = dut.follows, dut.descale, dut.squares, dut.is_one
        for flag in flags:  # of no meaning to a preparation
            context.set(flag, 1)
        await ask(dut.prepare)
        await finish()
        for flag in flags:
            context.set(flag, 0)
        await step()
        outcome.multiplying = 0
        for product in products:
            if product.wait is None:
                while context.get(dut.busy):
                    await step()
            for _ in range(product.wait or 0):
                context.set(dut.a_taken, cycle % 4 == 0)  # an exponent's digit is read
                await step()
            context.set(dut.a_taken, 0)
            # Valid from the cycle after `start`; the last product has ended by then, or is taken.
            context.set(dut.start, 1)
            outcome.starts.append(cycle)
            await step()
            context.set(dut.start, 0)
            for name, value in (
                ("x", product.x),
                ("y", max(0, product.y)),
                ("to", product.to),
                ("follows", product.follows),
                ("descale", product.descale),
                ("squares", product.x == product.y),
                ("is_one", product.y == ONE),
                ("rounds", product.rounds or inner),
            ):
                context.set(getattr(dut, name), value)
            await finish()
            await step()
        while context.get(dut.busy):
            await step()
        outcome.idle = cycle
        for _ in range(3):  # a word that is written follows two cycles later
            await step()
        for place in range(2, slots):
            digits = [context.get(dut.memory.data[place * SLOT + k]) for k in range(inner)]
            outcome.operands[place] = sum(d << word * k for k, d in enumerate(digits))

    with watched() as watches:
        simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return outcome
