"""The units of a lane and their connections, for any memories."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.block_ram import BlockRam
from coprime.cells.parity_ram import ParityRam
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.multipliers.contract import ModularMultiplier
from coprime.multipliers.delays import history, past_value
from coprime.multipliers.multiplication import Multiplication
from coprime.program.assembler import Program
from coprime.program.operands import Mode, Reference
from coprime.program.steps import StepKind

from .contract import Capabilities, EngineSignature
from .layout import Layout
from .linear import LinearUnit
from .linear_pipeline import LinearPipeline
from .sequencer import Sequencer
from .sequencer.linear_steps import LINEAR_OPERATIONS


class LinearTask:
    """The step that the linear unit executes: the sequencer's, or where a sum runs on beside the
    steps after it (`shares`), a copy of that sum's.

    Attributes
    ----------
    kind, digits, shift : of the step; the last one only with sums
    x, y, destination, copies : the step's numbers; of a lane of banks with other places, these
    """

    def __init__(self, sequencer: Sequencer, *, shares: bool):
        self.of_step = {
            "kind": sequencer.operation,
            "digits": sequencer.inner_digits,
            "x": sequencer.x,
            "y": sequencer.y,
            "destination": sequencer.destination,
        }
        if sequencer.program.sums:
            self.of_step["shift"] = sequencer.shift
        self.of_step["copies"] = sequencer.copies if sequencer.program.copies else Const(0)
        self.kept = self.of_step
        if shares:
            self.kept = {
                name: Signal(Value.cast(value).shape(), name=f"task_{name}")
                for name, value in self.of_step.items()
            }

    def __getattr__(self, name: str) -> Value:
        return self.kept[name]

    def keep(self, m: Module, under_way: Value) -> None:
        """Follow the step but while something is under way."""
        with m.If(~under_way):
            m.d.sync += [self.kept[name].eq(value) for name, value in self.of_step.items()]


class LaneOfUnits(wiring.Component):
    """Sequencer, linear unit, multiplier and memories: a lane without the access to its memories.

    Of two lanes the first leads: it checks, ends the operation and has the result. The other holds
    the same operands, and executes its own program.

    Parameters
    ----------
    multiplier : ModularMultiplier, or the ports of one that belongs to the other lane
    link (wiring.Signature): signals to the other lane: `at_barrier`, `ends` and others

    Members
    -------
    Those of an engine, with 1 bit of `multiplying`; and
    to_other, from_other : signals between the lanes
    """

    def __init__(
        self,
        capabilities: Capabilities,
        multiplication: Multiplication,
        multiplier: ModularMultiplier | wiring.PureInterface,
        program: Program,
        layout: Layout,
        link: wiring.Signature,
        *,
        leads: bool,
        target: Target,
    ):
        self.capabilities, self.multiplication = capabilities, multiplication
        self.multiplier, self.program = multiplier, program
        self.leads, self.target = leads, target
        width, depth = capabilities.digit_width, layout.depth
        banked = layout.banks == 2
        self.shares = multiplication.overlaps and program.sums
        """The linear unit works while products are under way."""
        self.memories: Sequence[BlockRam | ParityRam] = [
            ParityRam(width, depth, streams=self.shares, late=True, target=target)
            if program.has_parity
            else BlockRam(width, depth, target=target)
            for _ in range(layout.banks)
        ]
        self.numbers, self.number_bits = layout.numbers, layout.number_bits
        self.sequencer = Sequencer(
            program,
            capabilities,
            numbers=layout.numbers,
            leads=leads,
            # Only the lane of two banks, the smallest, has its sequencer of explicit LUTs.
            target=target if banked else Target.GENERIC,
            overlaps=multiplication.overlaps,
            chains=multiplication.chains,
        )
        sizes = (width, capabilities.count_bits, depth)
        self.task = LinearTask(self.sequencer, shares=self.shares)
        self.linear: LinearUnit | LinearPipeline
        if multiplication.banked:
            self.linear = LinearPipeline(
                *sizes, waits=program.draws, sums=program.sums, shares=self.shares
            )
        else:
            self.linear = LinearUnit(*sizes, clears=not capabilities.bare)
        ports = {
            **EngineSignature(capabilities).members,
            "multiplying": Out(1),
            "to_other": Out(link),
            "from_other": In(link),
        }
        super().__init__(ports)

    def number(self, reference: Reference) -> Const:
        """The number of a location, or of an addressing mode, in steps."""
        return Const(self.numbers[reference], self.number_bits)

    def connect_units(self, m: Module) -> Signal:
        """Place sequencer, linear unit and multiplier, and connect all but their digits.

        Returns whether the memory is the multiplier's.
        """
        m.submodules.sequencer = sequencer = self.sequencer
        m.submodules.linear_unit = linear = self.linear
        multiplier = self.multiplier
        if isinstance(multiplier, ModularMultiplier):
            m.submodules.multiplier = multiplier
        multiplies = Signal()
        works = sequencer.operation.matches(StepKind.MULTIPLY, StepKind.PREPARE)
        accepted, discards = multiplier.done, sequencer.discards
        if self.multiplication.overlaps:
            works = multiplier.busy
        if self.multiplication.chains:
            works, accepts, discards = multiplier.busy, multiplier.accepts, Signal()
            m.d.comb += sequencer.occupied.eq(multiplier.busy)
            with m.If(accepts):
                m.d.sync += discards.eq(sequencer.discards)
            # A product may be accepted in the step's first cycle; what follows is known a cycle
            # later. A preparation has taken many.
            prepares = sequencer.operation == StepKind.PREPARE
            accepted = past_value(m, "accepted", accepts, 1, reset=True) | (accepts & prepares)
        m.d.comb += [
            multiplies.eq(works & ~sequencer.clearing),
            # The bus.
            *same_named(sequencer, self, "command", "start", "counts", "lengths"),
            *same_named(self, sequencer, "busy", "done", "error"),
            self.multiplying.eq(multiplier.multiplying & ~discards),
            # The other lane.
            sequencer.other_at_barrier.eq(self.from_other.at_barrier),
            sequencer.other_ends.eq(self.from_other.ends),
            self.to_other.at_barrier.eq(sequencer.at_barrier),
            self.to_other.ends.eq(sequencer.done),
            # The multiplier.
            multiplier.start.eq(sequencer.multiply),
            multiplier.prepare.eq(sequencer.prepare),
            multiplier.wipe.eq(sequencer.clear),
            *same_named(multiplier, sequencer, "inner_digits", "rounds"),
            multiplier.multiplier_is_one.eq(sequencer.y == self.number(Mode.ONE)),
            sequencer.multiplied.eq(accepted),
            # The linear unit.
            linear.start.eq(sequencer.linear),
            linear.clear.eq(sequencer.clear),
            linear.digits.eq(self.task.digits),
            sequencer.linear_done.eq(linear.done),
            *same_named(sequencer, linear, "borrow", "z_is_zero", "z_is_odd", "z_is_normalized"),
        ]
        if self.multiplication.overlaps:
            occupied = multiplier.busy
            if self.shares:
                occupied |= Cat(history(m, "adds", linear.under_way, 1, reset=True)).any()
            m.d.comb += sequencer.occupied.eq(occupied)
            if self.shares:
                m.d.comb += [
                    sequencer.adds.eq(linear.under_way),
                    sequencer.runs_on.eq(linear.runs_on),
                    multiplier.may_begin.eq(~linear.under_way),
                ]
        else:
            m.d.comb += multiplier.outer_digits.eq(sequencer.outer_digits)
        if self.program.sums:
            m.d.comb += linear.shift.eq(self.task.shift)
        if self.multiplication.scaled:
            m.d.comb += multiplier.descale.eq(sequencer.descale)
        with m.Switch(self.task.kind):
            for kind, operation in LINEAR_OPERATIONS.items():
                if kind in self.program.kinds:
                    with m.Case(kind):
                        m.d.comb += linear.operation.eq(operation)
        return multiplies
