"""The engine: operand memory, sequencer, linear unit and one modular multiplier."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring

from coprime.cells.block_ram import BlockRam
from coprime.cells.target import Target
from coprime.exponentiators.steps import Context, Slot, StepKind
from coprime.multipliers.contract import Role

from .contract import Capabilities, EngineSignature
from .layout import Layout
from .linear import LinearOperation, LinearUnit
from .program import Program
from .sequencer import Sequencer
from .tables import look_up

__all__ = ["Engine"]

LINEAR_OPERATIONS = {
    StepKind.TEST: LinearOperation.COMPARE,
    StepKind.BELOW: LinearOperation.COMPARE,
    StepKind.SUBTRACT: LinearOperation.SUBTRACT,
    StepKind.ADD: LinearOperation.ADD,
    StepKind.RESTORE: LinearOperation.RESTORE,
}
"""What each linear step asks of the linear unit."""


class Engine(wiring.Component):
    """An engine as `contract.py` tells, around a multiplier that reads and writes digits.

    All operands and intermediate values lie in one block RAM. Port A reads factors, modulus and
    exponent; port B reads and writes the result; the host uses port B while the engine is idle.

    Parameters
    ----------
    capabilities : Capabilities
    multiplier : component with MultiplierSignature, and its `cycles` and `products`
    program : Program
    layout : Layout
    target : Target
    """

    def __init__(
        self,
        capabilities: Capabilities,
        multiplier: wiring.Component,
        program: Program,
        layout: Layout,
        *,
        target: Target = Target.GENERIC,
    ):
        self.capabilities = capabilities
        self.multiplier = multiplier
        self.layout = layout
        self.memory = BlockRam(capabilities.digit_width, layout.depth, target=target)
        self.sequencer = Sequencer(program, capabilities)
        super().__init__(EngineSignature(capabilities))

    def elaborate(self, platform: object) -> Module:
        """Connect the parts; turn slots and indices into addresses."""
        m = Module()
        width = self.capabilities.digit_width
        count = self.capabilities.count_bits
        m.submodules.memory = memory = self.memory
        m.submodules.sequencer = sequencer = self.sequencer
        m.submodules.linear_unit = linear = LinearUnit(width, count, self.layout.depth)
        m.submodules.multiplier = multiplier = self.multiplier

        # --- Commands --------------------------------------------------------------------------
        m.d.comb += [
            sequencer.command.eq(self.command),
            sequencer.start.eq(self.start),
            self.busy.eq(sequencer.busy),
            self.done.eq(sequencer.done),
            self.error.eq(sequencer.error),
            self.multiplying.eq(multiplier.multiplying),
            sequencer.modulus_digits.eq(self.modulus_digits),
            sequencer.exponent_digits.eq(self.exponent_digits),
            sequencer.p_digits.eq(self.p_digits),
            sequencer.q_digits.eq(self.q_digits),
            sequencer.exponent_data.eq(memory.a_data),
            multiplier.start.eq(sequencer.multiply),
            multiplier.inner_digits.eq(sequencer.inner_digits),
            multiplier.outer_digits.eq(sequencer.outer_digits),
            multiplier.y_is_one.eq(sequencer.y == Slot.ONE),
            multiplier.a_data.eq(memory.a_data),
            multiplier.b_data.eq(memory.b_data),
            sequencer.multiplied.eq(multiplier.done),
            linear.start.eq(sequencer.linear),
            linear.clear.eq(sequencer.clear),
            linear.digits.eq(sequencer.inner_digits),
            linear.a_data.eq(memory.a_data),
            linear.b_data.eq(memory.b_data),
            sequencer.linear_done.eq(linear.done),
            sequencer.borrow.eq(linear.borrow),
            sequencer.z_is_zero.eq(linear.z_is_zero),
            sequencer.z_is_odd.eq(linear.z_is_odd),
        ]
        with m.Switch(sequencer.operation):
            for kind, operation in LINEAR_OPERATIONS.items():
                with m.Case(kind):
                    m.d.comb += linear.operation.eq(operation)

        # --- Addresses -------------------------------------------------------------------------
        multiplies = Signal()
        m.d.comb += multiplies.eq(sequencer.operation == StepKind.MULTIPLY)
        a_slot, b_slot = Signal(5), Signal(5)
        a_index = Signal.like(linear.index)
        b_index = Signal.like(linear.index)
        with m.If(sequencer.exponent_read):
            with m.Switch(sequencer.modulus):
                for context in Context:
                    with m.Case(context):
                        m.d.comb += a_slot.eq(Slot.exponent(context))
            m.d.comb += a_index.eq(sequencer.exponent_index)
        with m.Elif(multiplies):
            m.d.comb += a_index.eq(multiplier.a_index)
            with m.Switch(multiplier.a_role):
                with m.Case(Role.X):
                    m.d.comb += a_slot.eq(sequencer.x)
                with m.Case(Role.Y):
                    m.d.comb += a_slot.eq(sequencer.y)
                with m.Case(Role.M):
                    m.d.comb += a_slot.eq(Slot.M + sequencer.modulus)
                with m.Case(Role.M_INVERSE):
                    m.d.comb += a_slot.eq(Slot.M_INVERSE + sequencer.modulus)
        with m.Else():
            m.d.comb += [a_slot.eq(sequencer.x), a_index.eq(linear.index)]

        write = Signal()
        write_data = Signal(width)
        with m.If(~self.busy):
            m.d.comb += [
                b_slot.eq(Mux(self.write, self.operand, Slot.RESULT)),
                b_index.eq(Mux(self.write, self.index, self.result_index)),
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
        with m.Else():
            m.d.comb += [
                b_slot.eq(Mux(linear.b_write, sequencer.destination, sequencer.y)),
                b_index.eq(linear.index),
                write.eq(linear.b_write),
                write_data.eq(linear.b_write_data),
            ]

        bases = [self.layout.bases.get(Slot(k), 0) if k in set(Slot) else 0 for k in range(32)]

        # Two stages before the memory, so that no path is long: what is asked for, its address.
        def stage(value: Signal) -> Signal:
            staged = Signal.like(value, reset_less=True)
            m.d.sync += staged.eq(value)
            return staged

        for slot, index, address in (
            (a_slot, a_index, memory.a_address),
            (b_slot, b_index, memory.b_address),
        ):
            current = Signal.like(slot)
            m.d.comb += current.eq(slot)
            with m.If(slot[1:] == Slot.ACCUMULATOR >> 1):
                # ACCUMULATOR and NEXT change places.
                m.d.comb += current[0].eq(slot[0] ^ sequencer.parity)
            found = Signal.like(address)
            m.d.comb += found.eq(look_up(bases, stage(current), len(found)) + stage(index))
            m.d.comb += address.eq(stage(found))
        m.d.comb += [
            memory.b_write.eq(stage(stage(write))),
            memory.b_write_data.eq(stage(stage(write_data))),
        ]
        m.d.comb += self.result_digit.eq(memory.b_data)
        return m
