"""A lane of two banks of memory, for a multiplier that reads four digits in a cycle."""

from collections.abc import Collection

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring

from coprime.cells.block_ram import BlockRam
from coprime.cells.tables import look_up
from coprime.cells.target import Target
from coprime.exponentiators.steps import Context, Slot, Step, StepKind
from coprime.multipliers.contract import ModularMultiplier, Pair

from .contract import Capabilities, Operand
from .lane import LINEAR_OPERATIONS, Lane, stage
from .layout import BankedLayout, Layout
from .program import Program
from .sequencer import Sequencer

__all__ = ["BankedLane"]


class BankedLane(Lane):
    """A lane whose operands lie in two banks, as `BankedLayout` tells.

    Each bank has a port A, which reads, and a port B, which reads or writes. A product's factors
    lie in opposite banks; a square's in the left one. What linear steps write, and what they read
    through port B, is in the left bank.

    ValueError if the program does not keep to that. Parameters as of `Lane`.
    """

    layout: BankedLayout

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
        if not isinstance(layout, BankedLayout):
            raise TypeError(f"layout must be a BankedLayout, not {layout!r}")
        for step in program.steps:
            if not _keeps_to_banks(step, layout):
                raise ValueError(f"operands of {step.note!r} are in the wrong banks")
        super().__init__(capabilities, multiplier, program, layout, leads=leads, target=target)

    def _memories(self, target: Target) -> list[BlockRam]:
        width, depth = self.capabilities.digit_width, self.layout.depth
        return [BlockRam(width, depth, target=target) for _ in range(2)]

    def _sequencer(self) -> Sequencer:
        numbers = self.layout.numbers
        return Sequencer(self.program, self.capabilities, leads=self.leads, numbers=numbers)

    def _place(self, slot: Slot) -> Const:
        return Const(self.layout.numbers[slot], self.layout.NUMBER_BITS)

    def elaborate(self, platform: object) -> Module:
        """Connect the parts; turn slots and indices into addresses."""
        m = Module()
        place, bits = self._place, self.layout.NUMBER_BITS
        left, right = self.memories
        m.submodules.left, m.submodules.right = left, right
        sequencer, multiplier = self.sequencer, self.multiplier
        factors = [
            multiplier.a_left.eq(left.a_data),
            multiplier.a_right.eq(right.a_data),
            multiplier.b_left.eq(left.b_data),
            multiplier.b_right.eq(right.b_data),
        ]
        linear = self._connect(m, left.a_data, left.b_data, left.a_data, factors)

        # --- Slots -----------------------------------------------------------------------------
        # Factors, each in its bank; x and y of linear steps, too.
        swapped = sequencer.x[-1]
        factor_left, factor_right = Signal(bits), Signal(bits)
        multiplies = Signal()
        m.d.comb += [
            multiplier.swapped.eq(swapped),
            multiplier.squares.eq((sequencer.y == place(Slot.ACCUMULATOR)) & ~swapped),
            factor_left.eq(Mux(swapped, sequencer.y, sequencer.x)),
            factor_right.eq(Mux(swapped, sequencer.x, sequencer.y)),
            multiplies.eq(
                sequencer.operation.matches(StepKind.MULTIPLY, StepKind.PREPARE)
                & ~sequencer.clearing
            ),
        ]
        a_left, a_right = Signal(bits), Signal(bits)
        modulus = sequencer.modulus

        def of_context(first: Slot) -> Value:
            """The slot of the step's modulus: the context is its lowest bits."""
            low = int(first in _BY_HALVES) ^ 1
            return place(first) | modulus << low

        m.d.comb += [a_left.eq(factor_left), a_right.eq(factor_right)]
        with m.If(sequencer.exponent_read):
            m.d.comb += a_left.eq(of_context(Slot.E))
        with m.Elif(multiplies):
            with m.Switch(multiplier.a_role):
                with m.Case(Pair.QUOTIENT):
                    m.d.comb += a_left.eq(place(Slot.SCALED))
                with m.Case(Pair.MODULUS):
                    m.d.comb += a_left.eq(of_context(Slot.M))
                with m.Case(Pair.RESULT):
                    m.d.comb += a_left.eq(sequencer.destination)
            with m.If(multiplier.a_role == Pair.QUOTIENT):
                m.d.comb += a_right.eq(place(Slot.QUOTIENT))
            with m.Elif(multiplier.a_role != Pair.FACTORS):
                m.d.comb += a_right.eq(of_context(Slot.M_INVERSE))

        operand = look_up(
            [self.layout.numbers.get(Slot(k), 0) for k in range(len(Operand))], self.operand, bits
        )
        b_left, b_right = Signal(bits), Signal(bits)
        write_left, write_right = Signal(), Signal()
        m.d.comb += [b_left.eq(a_left), b_right.eq(a_right)]
        with m.If(~self.busy):
            m.d.comb += [
                b_left.eq(Mux(self.write, operand, place(Slot.RESULT))),
                b_right.eq(operand),
                write_left.eq(self.write & ~operand[-1]),
                write_right.eq(self.write & operand[-1]),
            ]
        with m.Elif(multiplies), m.If(multiplier.b_write):
            m.d.comb += [b_left.eq(sequencer.destination), b_right.eq(sequencer.destination)]
            with m.If(multiplier.b_quotient):
                m.d.comb += [b_right.eq(place(Slot.QUOTIENT)), write_right.eq(1)]
            with m.Else():
                m.d.comb += [
                    write_left.eq(~sequencer.destination[-1]),
                    write_right.eq(sequencer.destination[-1]),
                ]
        with m.Else():
            m.d.comb += [
                b_left.eq(Mux(linear.b_write, sequencer.destination, sequencer.y)),
                write_left.eq(linear.b_write),
                write_right.eq(sequencer.clearing),
            ]

        # --- Indices ---------------------------------------------------------------------------
        a_index, b_index = Signal.like(linear.index), Signal.like(linear.index)
        m.d.comb += [a_index.eq(linear.index), b_index.eq(linear.index)]
        with m.If(sequencer.exponent_read):
            m.d.comb += a_index.eq(sequencer.exponent_index)
        with m.Elif(multiplies):
            m.d.comb += [a_index.eq(multiplier.a_index), b_index.eq(multiplier.b_index)]
        with m.If(~self.busy):
            m.d.comb += b_index.eq(Mux(self.write, self.index, self.result_index))
        a_index_right = Mux(multiplier.a_role == Pair.MODULUS, 0, a_index)  # of one digit

        # --- Addresses -------------------------------------------------------------------------
        # Two stages before the memory, so that no path is long.
        places = len(left.a_address) - bits + 1
        parity = stage(m, sequencer.parity)
        entries = {Slot.WINDOW: stage(m, self._entry(0)), Slot.ENTRY: stage(m, self._entry(1))}
        for bank, port, slot, index, address in (
            (left, "a_left", a_left, a_index, left.a_address),
            (left, "b_left", b_left, b_index, left.b_address),
            (right, "a_right", a_right, a_index_right, right.a_address),
            (right, "b_right", b_right, b_index, right.b_address),
        ):
            current = Signal(bits - 1, name=f"{port}_current")
            asked = stage(m, slot)
            m.d.comb += current.eq(asked)
            if bank is left:
                # ACCUMULATOR and NEXT change places.
                with m.If(asked[2:-1] == 0):
                    m.d.comb += current[1].eq(asked[1] ^ parity)
            else:
                for named, entry in entries.items():
                    if named is Slot.WINDOW or port == "b_right":
                        with m.If(asked == place(named)):
                            m.d.comb += current.eq(place(Slot.T_0) | entry)
            # A number's lowest bit is an index's highest one; a wipe counts beyond the indices.
            m.d.comb += address.eq(stage(m, (current << places) ^ stage(m, index)))
        # The multiplier's digit is there as it is written; others come with their index.
        late, busy, digit, of_linear = (
            stage(m, stage(m, value))
            for value in (multiplies & self.busy, self.busy, self.digit, linear.b_write_data)
        )
        for bank, write in ((left, write_left), (right, write_right)):
            m.d.comb += [
                bank.b_write.eq(stage(m, stage(m, write))),
                bank.b_write_data.eq(
                    Mux(late, multiplier.b_write_data, Mux(busy, of_linear, digit))
                ),
            ]
        m.d.comb += [
            linear.a_other.eq(right.a_data),
            linear.x_is_other.eq(swapped),
            self.a_slot.eq(a_left),
            self.a_index.eq(a_index),
            self.a_data.eq(left.a_data),
            self.result_digit.eq(left.b_data),
        ]
        return m

    def _entry(self, after: int) -> Value:
        """The table's entry that the window names, or one `after` that."""
        window, program = self.sequencer.window, self.program
        assert window is not None
        bits, whole_bits = program.window_bits, program.whole_window_bits
        named = (window + after)[:bits]
        whole = Cat(Const(0, bits - whole_bits), named[:whole_bits])
        return Mux(self.sequencer.modulus == Context.WHOLE, whole, named)


_BY_HALVES = (Slot.M_INVERSE,)


def _keeps_to_banks(step: Step, layout: BankedLayout) -> bool:
    right = {slot for slot in layout.numbers if layout.lies_right(slot)}
    if step.kind in LINEAR_OPERATIONS:
        return not {step.destination, step.y} & right
    if step.kind is not StepKind.MULTIPLY or step.y is Slot.ONE:
        return True
    if step.leaves and step.destination in right:
        return False
    square: Collection[Slot] = {step.x, step.y}
    return square == {Slot.ACCUMULATOR} or (step.x in right) != (step.y in right)
