"""A lane of two banks for a multiplier that takes a product before the last one has ended."""

from typing import Any

from amaranth.hdl import Const, Module, Mux, Signal, Value

from coprime.multipliers.contract import Role
from coprime.program.operands import Context, Mode, Scratch
from coprime.program.steps import StepKind

from .banked_lane import INVERSES, MODULUS_OPERANDS, BankedLane, is_right

__all__ = ["RingLane"]


class ProductPlaces:
    """Where a product's multiplier and its result lie: what the sequencer had for it.

    Parameters
    ----------
    lane : RingLane
    name : str
    """

    def __init__(self, lane: "RingLane", name: str):
        numbers, entries = lane.layout.number_bits, lane.layout.entry_bits
        self.multiplier = Signal(numbers, name=f"{name}_multiplier")
        self.destination = Signal(numbers, name=f"{name}_destination")
        self.window = Signal(entries, name=f"{name}_window")
        self.entry = Signal(entries, name=f"{name}_entry")

    def take(self, other: "ProductPlaces") -> list[Any]:
        """The assignments that make it the same as another one."""
        return [getattr(self, name).eq(value) for name, value in vars(other).items()]


class RingLane(BankedLane):
    """A lane of two banks whose products overlap.

    The sequencer is up to one product ahead of the new one, and the new one of the old one, whose
    result is written. So what the sequencer has had for both is kept here. A linear step, and the
    scan of an exponent, wait until no product is under way.

    The multiplicand lies left, and is not read if it is the result under way. The multiplier lies
    right, a word a step through port B. Inverse and modulus lie left, and are read while nothing
    else is. An entry of the table is written left as well, to ACCUMULATOR: so each is the
    multiplicand of the next one, and they follow each other without a break.
    Parameters and members as of `Lane`.
    """

    def multiplier_data(self) -> list[Any]:
        """X, M and the inverses lie left, Y right."""
        left, right = self.memories
        return [self.multiplier.a_data.eq(left.a_data), self.multiplier.b_data.eq(right.b_data)]

    def a_reads_inverse(self) -> Value:
        """That of the left bank."""
        return self.multiplier.a_role == Role.INVERSE

    def read_for_product(self, m: Module, left: Signal, right: Signal) -> None:
        """Port A of the left bank reads X, which the sequencer has, or M or its inverse."""
        with m.Switch(self.multiplier.a_role):
            with m.Case(Role.MODULUS):
                m.d.comb += left.eq(self.of_context(MODULUS_OPERANDS))
            with m.Case(Role.INVERSE):
                m.d.comb += left.eq(self.of_context(INVERSES))

    def index_beside_scan(self, m: Module, b_index: Signal) -> None:
        """The multiplier's index."""
        with m.If(self.multiplies):
            m.d.comb += b_index.eq(self.multiplier.b_index)

    def connect_units(self, m: Module) -> None:
        """Place the units, and keep what the sequencer has for a product."""
        super().connect_units(m)
        sequencer, multiplier = self.sequencer, self.multiplier
        self.asked, self.new, self.old = (ProductPlaces(self, n) for n in ("asked", "new", "old"))
        modulus, rounds = Signal.like(sequencer.modulus), Signal.like(sequencer.rounds)
        takes_power = sequencer.x == self.number(Scratch.ACCUMULATOR)
        makes_power = takes_power & (self.new.destination == self.number(Mode.ENTRY))
        m.d.comb += [
            self.asked.multiplier.eq(sequencer.y),
            self.asked.destination.eq(sequencer.destination),
            self.asked.window.eq(self.entry(0)),
            self.asked.entry.eq(self.entry(1)),
            multiplier.longest_digits.eq(self.counts.modulus),
            multiplier.chained.eq(
                (sequencer.operation == StepKind.MULTIPLY)
                & ((sequencer.x == self.new.destination) | makes_power)
                & (sequencer.modulus == modulus)
                & (sequencer.rounds == rounds)
            ),
        ]
        with m.If(multiplier.turns):
            m.d.sync += self.old.take(self.new)
        with m.If(multiplier.takes):
            m.d.sync += self.new.take(self.asked)
            m.d.sync += [modulus.eq(sequencer.modulus), rounds.eq(sequencer.rounds)]

    def b_of_units(
        self,
        sums: Value,
        given: Signal,
        reads_pair: Signal,
        writes: Signal,
        of_right: Signal,
        write_quotient: Signal,
    ) -> list[Any]:
        """Port B: the old product's result; the multiplier of the new one, or of the next one."""
        sequencer, multiplier = self.sequencer, self.multiplier
        read = Mux(multiplier.b_of_next, self.asked.multiplier, self.new.multiplier)
        destination = Mux(self.multiplies, self.old.destination, sequencer.destination)
        of_product = Mux(multiplier.b_write, self.old.destination, read)
        of_linear = Mux(sums, sequencer.destination, sequencer.y)
        return [
            given.eq(Mux(self.multiplies, of_product, of_linear)),
            writes.eq(Mux(self.multiplies, multiplier.b_write, sums)),
            of_right.eq(is_right(destination)),
        ]

    def left_of_both(self, writes: Value, given: Signal) -> tuple[Value, Value]:
        """An entry of the table goes to ACCUMULATOR, too."""
        power = self.multiplies & (self.old.destination == self.number(Mode.ENTRY))
        accumulator = self.layout.block_of(Scratch.ACCUMULATOR)
        also = power & self.multiplier.b_write & self.busy
        return writes | also, Mux(also, accumulator, given)

    def entries(self) -> tuple[Value, Value]:
        """Of the sequencer's step, or of the product whose multiplier or result port B is asked."""
        multiplier, old, new, asked = self.multiplier, self.old, self.new, self.asked
        of_product = Mux(
            multiplier.b_write, old.window, Mux(multiplier.b_of_next, asked.window, new.window)
        )
        window = Mux(self.multiplies, of_product, asked.window)
        return window, Mux(self.multiplies, old.entry, asked.entry)

    def idle_ports(self) -> dict[str, Value]:
        """When a port has nothing to do, by its name; for a lane that blinds, and no other.

        Port A of the right bank has no part in a product, and port B of the left one writes only.
        """
        if not self.program.draws:
            return {}
        sequencer, product = self.sequencer, self.multiplies
        scans = sequencer.exponent_read
        of_right: Value = Const(1)
        if not self.program.blinds_exponents:
            of_right = sequencer.public | (sequencer.modulus == Context.WHOLE)
        x_right = Mux(scans, of_right, is_right(sequencer.x))
        writes_left, writes_right = self._writes
        return {
            "a_left": self.busy & x_right & (scans | ~product),
            "a_right": self.busy & ~(x_right & (scans | ~product)),
            "b_left": self.busy & ~writes_left & (writes_right | scans | product),
            "b_right": self.busy & ~writes_right & (writes_left | ~product),
        }
