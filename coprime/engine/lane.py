"""A lane: operand memory, sequencer, linear unit and one modular multiplier."""

from collections.abc import Sequence

from amaranth.hdl import Const, Module, Mux, Signal
from amaranth.hdl._ast import Assign
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.block_ram import BlockRam
from coprime.cells.tables import look_up
from coprime.cells.target import Target
from coprime.multipliers.contract import READ_LATENCY, ModularMultiplier, Role
from coprime.program.assembler import Program
from coprime.program.operands import MODULI, Mode, Operand, Reference, Scratch
from coprime.program.steps import StepKind

from .contract import Capabilities, EngineSignature
from .layout import Layout
from .linear import LinearUnit
from .sequencer import Sequencer
from .sequencer.linear_steps import LINEAR_OPERATIONS

__all__ = ["Lane"]


class LaneSignature(wiring.Signature):
    """An engine's ports, and those to the other lane, seen from the lane."""

    def __init__(self, capabilities: Capabilities, slot_bits: int, address_bits: int):
        engine = dict(EngineSignature(capabilities).members)
        engine["multiplying"] = Out(1)
        super().__init__(
            engine
            | {
                "at_barrier": Out(1),
                "other_at_barrier": In(1),
                "other_ends": In(1),
                # Which slot and index port A is asked for, and its data.
                "a_slot": Out(slot_bits),
                "a_index": Out(address_bits),
                "a_data": Out(capabilities.digit_width),
                "other_a_slot": In(slot_bits),
                "other_a_index": In(address_bits),
                "other_a_data": In(capabilities.digit_width),
            }
        )


class Lane(wiring.Component):
    """An engine as `contract.py` tells, around a multiplier that reads and writes digits.

    All operands and intermediate values lie in one block RAM. Port A reads factors, modulus and
    exponent; port B reads and writes the result; the host uses port B while the engine is idle.

    Of two lanes the first leads: it checks, ends the operation and gives the result. The other one
    holds the same operands. It does what its own program tells; while it has nothing to do, its
    port A reads what the leading one asks for, which so gets at its intermediate values.

    Parameters
    ----------
    capabilities : Capabilities
    multiplier : ModularMultiplier, or the ports of one that belongs to the other lane
    program : Program
    layout : Layout
    leads : bool
    target : Target
    """

    def __init__(
        self,
        capabilities: Capabilities,
        multiplier: ModularMultiplier | wiring.PureInterface,
        program: Program,
        layout: Layout,
        *,
        leads: bool = True,
        target: Target = Target.GENERIC,
    ):
        self.capabilities = capabilities
        self.multiplier = multiplier
        self.program = program
        self.layout = layout
        self.leads = leads
        self.memories = self._memories(target)
        self.sequencer = self._sequencer()
        super().__init__(
            LaneSignature(capabilities, layout.number_bits, bits_for(layout.depth - 1))
        )

    def _memories(self, target: Target) -> list[BlockRam]:
        return [BlockRam(self.capabilities.digit_width, self.layout.depth, target=target)]

    def _sequencer(self) -> Sequencer:
        return Sequencer(
            self.program,
            self.capabilities,
            numbers=self.layout.numbers,
            leads=self.leads,
        )

    def _place(self, reference: Reference) -> Const:
        return Const(self.layout.numbers[reference], self.layout.number_bits)

    def _connect(
        self,
        m: Module,
        a_data: Signal,
        b_data: Signal,
        exponent_data: Signal,
        factors: Sequence[Assign],
    ) -> LinearUnit:
        """Place and connect all but the memory; `factors` are the multiplier's digits."""
        width, count = self.capabilities.digit_width, self.capabilities.count_bits
        place = self._place
        m.submodules.sequencer = sequencer = self.sequencer
        m.submodules.linear_unit = linear = LinearUnit(
            width,
            count,
            self.layout.depth,
            two_banks=len(self.memories) == 2,
            waits=self.program.draws,
        )
        multiplier = self.multiplier
        if isinstance(multiplier, ModularMultiplier):
            m.submodules.multiplier = multiplier
        m.d.comb += [
            sequencer.command.eq(self.command),
            sequencer.start.eq(self.start),
            self.busy.eq(sequencer.busy),
            self.done.eq(sequencer.done),
            self.error.eq(sequencer.error),
            self.multiplying.eq(multiplier.multiplying & ~sequencer.discards),
            sequencer.counts.eq(self.counts),
            sequencer.lengths.eq(self.lengths),
            sequencer.exponent_data.eq(exponent_data),
            sequencer.other_at_barrier.eq(self.other_at_barrier),
            sequencer.other_ends.eq(self.other_ends),
            self.at_barrier.eq(sequencer.at_barrier),
            multiplier.start.eq(sequencer.multiply),
            multiplier.prepare.eq(sequencer.prepare),
            multiplier.wipe.eq(sequencer.clear),
            multiplier.inner_digits.eq(sequencer.inner_digits),
            multiplier.outer_digits.eq(sequencer.outer_digits),
            multiplier.rounds.eq(sequencer.rounds),
            multiplier.multiplier_is_one.eq(sequencer.y == place(Mode.ONE)),
            *factors,
            sequencer.multiplied.eq(multiplier.done),
            linear.start.eq(sequencer.linear),
            linear.clear.eq(sequencer.clear),
            linear.digits.eq(sequencer.inner_digits),
            linear.a_data.eq(a_data),
            linear.b_data.eq(b_data),
            sequencer.linear_done.eq(linear.done),
            sequencer.borrow.eq(linear.borrow),
            sequencer.z_is_zero.eq(linear.z_is_zero),
            sequencer.z_is_odd.eq(linear.z_is_odd),
            sequencer.z_is_normalized.eq(linear.z_is_normalized),
        ]
        if "descale" in multiplier.signature.members:
            m.d.comb += multiplier.descale.eq(sequencer.descale)
        with m.Switch(sequencer.operation):
            for kind, operation in LINEAR_OPERATIONS.items():
                if kind in self.program.kinds:
                    with m.Case(kind):
                        m.d.comb += linear.operation.eq(operation)
        return linear

    def elaborate(self, platform: object) -> Module:
        """Connect the parts; turn slots and indices into addresses."""
        m = Module()
        width = self.capabilities.digit_width
        slot_bits = self.layout.number_bits
        place = self._place
        (memory,) = self.memories
        m.submodules.memory = memory
        sequencer, multiplier = self.sequencer, self.multiplier
        a_data = Signal(width)
        factors = [multiplier.a_data.eq(a_data), multiplier.b_data.eq(memory.b_data)]
        linear = self._connect(m, a_data, memory.b_data, memory.a_data, factors)

        # --- Addresses -------------------------------------------------------------------------
        multiplies = Signal()
        m.d.comb += multiplies.eq(
            sequencer.operation.matches(StepKind.MULTIPLY, StepKind.PREPARE) & ~sequencer.clearing
        )
        a_slot, b_slot = Signal(slot_bits), Signal(slot_bits)
        a_index = Signal.like(linear.index)
        b_index = Signal.like(linear.index)
        with m.If(sequencer.exponent_read):
            with m.Switch(sequencer.modulus):
                for context in MODULI:
                    with m.Case(context):
                        m.d.comb += a_slot.eq(place(context.exponent))
            m.d.comb += a_index.eq(sequencer.exponent_index)
        with m.Elif(multiplies):
            m.d.comb += a_index.eq(multiplier.a_index)
            with m.Switch(multiplier.a_role):
                with m.Case(Role.MULTIPLICAND):
                    m.d.comb += a_slot.eq(sequencer.x)
                with m.Case(Role.MULTIPLIER):
                    m.d.comb += a_slot.eq(sequencer.y)
                with m.Case(Role.MODULUS):
                    m.d.comb += a_slot.eq(place(Operand.M) + sequencer.modulus)
                with m.Case(Role.INVERSE):
                    m.d.comb += a_slot.eq(place(Operand.M_INVERSE) + sequencer.modulus)
        with m.Else():
            m.d.comb += [a_slot.eq(sequencer.x), a_index.eq(linear.index)]

        write = Signal()
        write_data = Signal(width)
        with m.If(~self.busy):
            m.d.comb += [
                b_slot.eq(Mux(self.write, self.operand, place(Scratch.RESULT))),
                b_index.eq(self.index),
                write.eq(self.write),
                write_data.eq(self.digit),
            ]
        with m.Elif(multiplies):
            m.d.comb += [
                b_slot.eq(sequencer.destination),
                b_index.eq(multiplier.b_index),
                write.eq(multiplier.b_write),
                write_data.eq(multiplier.b_write_data),
            ]
            if "b_multiplier" in multiplier.signature.members:
                with m.If(multiplier.b_multiplier):
                    m.d.comb += b_slot.eq(sequencer.y)
        with m.Else():
            m.d.comb += [
                b_slot.eq(Mux(linear.b_write, sequencer.destination, sequencer.y)),
                b_index.eq(linear.index),
                write.eq(linear.b_write),
                write_data.eq(linear.b_write_data),
            ]

        m.d.comb += [
            self.a_slot.eq(a_slot),
            self.a_index.eq(a_index),
            self.a_data.eq(memory.a_data),
        ]
        m.d.comb += a_data.eq(memory.a_data)
        others = {Mode.OTHER_ACCUMULATOR, Mode.OTHER_PART} & {step.x for step in self.program.steps}
        if others:
            # What was asked of the other lane comes from its memory, as late as from the own one.
            asks_other = Signal()
            m.d.comb += asks_other.eq(a_slot.matches(*(place(other) for other in others)))
            for _ in range(READ_LATENCY):
                asks_other = stage(m, asks_other)
            with m.If(asks_other):
                m.d.comb += a_data.eq(self.other_a_data)
        if not self.leads:
            with m.If(~self.busy):
                m.d.comb += [a_slot.eq(self.other_a_slot), a_index.eq(self.other_a_index)]

        bases = self.layout.bases_by_number
        # Two stages before the memory, so that no path is long: what is asked for, its address.
        for slot, index, address in (
            (a_slot, a_index, memory.a_address),
            (b_slot, b_index, memory.b_address),
        ):
            current = Signal.like(slot)
            m.d.comb += current.eq(slot)
            if sequencer.places is None:
                with m.If(slot[1:] == Scratch.ACCUMULATOR >> 1):
                    # ACCUMULATOR and NEXT change places.
                    m.d.comb += current[0].eq(slot[0] ^ sequencer.parity)
            else:
                for own, is_at in sequencer.places.items():
                    names = (own, Mode.NEXT_BASE) if own is Scratch.SPARE else (own,)
                    with m.If(slot.matches(*(self.layout.numbers[name] for name in names))):
                        m.d.comb += current.eq(place(Scratch.ACCUMULATOR) | is_at)
            if sequencer.window is not None:
                with m.If(slot == place(Mode.WINDOW)):
                    m.d.comb += current.eq(place(Scratch.T_0) | sequencer.window)
            found = Signal.like(address)
            m.d.comb += found.eq(look_up(bases, stage(m, current), len(found)) + stage(m, index))
            m.d.comb += address.eq(stage(m, found))
        m.d.comb += [
            memory.b_write.eq(stage(m, stage(m, write))),
            memory.b_write_data.eq(stage(m, stage(m, write_data))),
        ]
        m.d.comb += self.result_digit.eq(memory.b_data)
        return m


def stage(m: Module, value: Signal) -> Signal:
    """The value as it was one cycle ago."""
    staged = Signal.like(value, reset_less=True)
    m.d.sync += staged.eq(value)
    return staged
