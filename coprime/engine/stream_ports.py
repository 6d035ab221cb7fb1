"""The ports of a multiplier that takes a product before the last one has ended."""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import wiring

from coprime.cells.wires import same_named
from coprime.multipliers.contract import READ_LATENCY, Role
from coprime.multipliers.delays import history
from coprime.program.operands import Mode, Scratch
from coprime.program.steps import StepKind

from .bank_access import (
    INVERSES,
    MODULUS_OPERANDS,
    Blocks,
    Detour,
    ProductAccess,
    StepInBanks,
    is_right,
)


class ProductPlaces:
    """Where a product's multiplier and its result lie: what the sequencer had for it."""

    def __init__(self, blocks: Blocks, name: str):
        numbers, entries = blocks.layout.number_bits, blocks.layout.entry_bits
        self.multiplier = Signal(numbers, name=f"{name}_multiplier")
        self.destination = Signal(numbers, name=f"{name}_destination")
        self.window = Signal(entries, name=f"{name}_window")
        self.entry = Signal(entries, name=f"{name}_entry")
        self.copies = Signal(name=f"{name}_copies")

    def take(self, other: "ProductPlaces") -> list[Any]:
        """The assignments that make it the same as another one."""
        return [getattr(self, name).eq(value) for name, value in vars(other).items()]


class StreamPorts:
    """For `OverlappingMultiplierSignature`: a word of the multiplicand, and one of the multiplier.

    The sequencer is up to one product ahead of the new one, and the new one of the old one, whose
    result is written. So what the sequencer has had for both is kept here. A linear step, and the
    scan of an exponent, wait until no product is under way.

    The multiplicand lies left, and is not read if it is the result under way. The multiplier lies
    right, a word a step through port B. The modulus lies left, and the inverse in either bank; they
    are read while nothing else is. An entry of the table is written left as well, to ACCUMULATOR:
    so each is the multiplicand of the next one, and they follow each other without a break.

    Parameters
    ----------
    multiplier : the multiplier's ports
    longest_digits : the most digits that any modulus of the operation has
    keeps_scaled_modulus : as of `Multiplication`
    """

    def __init__(
        self,
        multiplier: wiring.PureInterface,
        blocks: Blocks,
        longest_digits: Value,
        *,
        keeps_scaled_modulus: bool = False,
    ):
        self.multiplier, self.blocks = multiplier, blocks
        self.longest_digits = longest_digits
        self.keeps_scaled_modulus = keeps_scaled_modulus
        self.asked, self.new, self.old = (
            ProductPlaces(blocks, name) for name in ("asked", "new", "old")
        )

    def connect(self, m: Module, step: StepInBanks, banks: Mapping[str, Value]) -> ProductAccess:
        """Connect the digits that the banks read; say what is asked of the ports."""
        multiplier, blocks = self.multiplier, self.blocks
        asked, new, old = self.asked, self.new, self.old
        self._keep_places(m, step)
        m.d.comb += [
            multiplier.squares.eq(~is_right(step.y)),
            multiplier.a_data.eq(self._a_data(m, banks)),
            multiplier.b_data.eq(banks["b_right"]),
        ]
        left = Signal(blocks.layout.block_bits, name="multiplicand")
        m.d.comb += left.eq(step.x)
        with m.Switch(multiplier.a_role):
            with m.Case(Role.MODULUS):
                m.d.comb += left.eq(blocks.of_context(MODULUS_OPERANDS, step.modulus))
            with m.Case(Role.INVERSE):
                m.d.comb += left.eq(blocks.of_context(INVERSES, step.modulus))
        reads_inverse = multiplier.a_role == Role.INVERSE
        right, reads_right = step.x, Const(0)
        if not blocks.layout.inverses_left:
            right, reads_right = blocks.of_context(INVERSES, step.modulus), reads_inverse
        writes = multiplier.b_write
        read = Mux(multiplier.b_of_next, asked.multiplier, new.multiplier)
        written: Value = old.destination
        if self.keeps_scaled_modulus:
            preparing = Signal()  # the sequencer has PREPARE before the product ahead of it ends
            with m.If(multiplier.prepare | multiplier.done):
                m.d.sync += preparing.eq(multiplier.prepare)
            written = Mux(preparing, step.destination, written)
        window = Mux(writes, old.window, Mux(multiplier.b_of_next, asked.window, new.window))
        return ProductAccess(
            a_left=left,
            a_right=right,
            a_index=multiplier.a_index,
            b_index=multiplier.b_index,
            reads_inverse=reads_inverse,
            location=Mux(writes, written, read),
            writes=writes,
            copies=old.copies,
            b_left=Detour(
                when=writes & (old.destination == blocks.of(Mode.ENTRY)),
                block=blocks.of(Scratch.ACCUMULATOR),
                writes=Const(1),
            ),
            b_right=Detour(when=Const(0), block=Const(0), writes=Const(0)),
            window=window,
            entry=old.entry,
            takes_part={"a_right": reads_right, "b_left": Const(0), "b_right": ~writes},
        )

    def _a_data(self, m: Module, banks: Mapping[str, Value]) -> Value:
        """What port A has read for the multiplier; an inverse may lie right."""
        if self.blocks.layout.inverses_left:
            return banks["a_left"]
        of_inverse = self.multiplier.a_role == Role.INVERSE
        late = history(m, "of_inverse", of_inverse, READ_LATENCY)[-1]
        return Mux(late, banks["a_right"], banks["a_left"])

    def _keep_places(self, m: Module, step: StepInBanks) -> None:
        """Keep what the sequencer has for a product, and find out which one follows another."""
        multiplier, blocks, asked, new = self.multiplier, self.blocks, self.asked, self.new
        modulus, rounds = Signal.like(step.modulus), Signal.like(step.rounds)
        takes_power = step.x == blocks.of(Scratch.ACCUMULATOR)
        makes_power = takes_power & (new.destination == blocks.of(Mode.ENTRY))
        m.d.comb += [
            asked.multiplier.eq(step.y),
            *same_named(asked, step, "destination", "window", "entry", "copies"),
            multiplier.longest_digits.eq(self.longest_digits),
            multiplier.chained.eq(
                (step.kind == StepKind.MULTIPLY)
                & ((step.x == new.destination) | makes_power)
                & (step.modulus == modulus)
                & (step.rounds == rounds)
            ),
        ]
        with m.If(multiplier.turns):
            m.d.sync += self.old.take(new)
        with m.If(multiplier.takes):
            m.d.sync += new.take(asked)
            m.d.sync += [modulus.eq(step.modulus), rounds.eq(step.rounds)]
