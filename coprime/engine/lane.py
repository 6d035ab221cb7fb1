"""A lane: operand memory, sequencer, linear unit and one modular multiplier."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out
from amaranth.utils import bits_for

from coprime.cells.target import Target
from coprime.multipliers.contract import READ_LATENCY, ModularMultiplier, Multiplication, Role
from coprime.multipliers.delays import delays, history
from coprime.program.assembler import Program
from coprime.program.operands import MODULI, OF_ONE, Mode, Operand, Scratch, third_entry

from .addresses import LocationAddress
from .contract import Capabilities
from .curve_layout import CurveLayout
from .lane_of_units import LaneOfUnits
from .layout import Layout


class LaneLinkSignature(wiring.Signature):
    """Signals from a lane to the other one.

    Members
    -------
    at_barrier, ends : it waits at a BARRIER; it ends the operation
    location, index, data : the request to port A, and its data READ_LATENCY cycles later
    """

    def __init__(self, number_bits: int, address_bits: int, digit_width: int):
        ports = {
            **dict.fromkeys(("at_barrier", "ends"), Out(1)),
            "location": Out(number_bits),
            "index": Out(address_bits),
            "data": Out(digit_width),
        }
        super().__init__(ports)


class Lane(LaneOfUnits):
    """A lane with one memory, and a multiplier that reads and writes its digits.

    All operands and intermediate values lie in one block RAM. Port A reads factors, modulus and
    exponent; port B reads and writes the result; the host uses port B while the engine is idle.

    While the second of two lanes is idle, its port A serves the leading lane, which thus has access
    to its intermediate values.

    Parameters and members as of `LaneOfUnits`.

    Raises ValueError for a program that copies a result, as only banks can.
    """

    def __init__(
        self,
        capabilities: Capabilities,
        multiplication: Multiplication,
        multiplier: ModularMultiplier | wiring.PureInterface,
        program: Program,
        layout: Layout,
        *,
        leads: bool = True,
        target: Target = Target.GENERIC,
    ):
        for step in program.steps:
            if step.copy is not None and step.copy is not step.destination:
                raise ValueError(f"in one memory {step.note!r} has no copy")
        self.layout = layout
        link = LaneLinkSignature(
            layout.number_bits, bits_for(layout.depth - 1), capabilities.digit_width
        )
        parts = (capabilities, multiplication, multiplier, program, layout, link)
        super().__init__(*parts, leads=leads, target=target)

    def elaborate(self, platform: object) -> Module:
        """Connect the memory: who has its ports, and what they are asked for."""
        m = Module()
        multiplies = self.connect_units(m)
        (memory,) = self.memories
        m.submodules.memory = memory
        sequencer, multiplier, linear = self.sequencer, self.multiplier, self.linear
        a_location, a_index = self._port_a(m, multiplies)
        a_data = self._a_data(m, a_location)
        m.d.comb += [
            sequencer.exponent_data.eq(memory.a_data),
            multiplier.a_data.eq(a_data),
            multiplier.b_data.eq(memory.b_data),
            linear.a_data.eq(a_data),
            linear.b_data.eq(memory.b_data),
            self.result_digit.eq(memory.b_data),
            self.to_other.location.eq(a_location),
            self.to_other.index.eq(a_index),
            self.to_other.data.eq(memory.a_data),
        ]
        # The host, then the unit that works.
        b_location, b_index = Signal.like(a_location), Signal.like(a_index)
        write, write_data = Signal(), Signal.like(a_data)
        operand, index = self._of_host(m)
        with m.If(~self.busy):
            m.d.comb += [
                b_location.eq(Mux(self.write, operand, self.number(Scratch.RESULT))),
                b_index.eq(index),
                write.eq(self.write),
                write_data.eq(self.digit),
            ]
        with m.Elif(multiplies):
            m.d.comb += [
                b_location.eq(sequencer.destination),
                b_index.eq(multiplier.b_index),
                write.eq(multiplier.b_write),
                write_data.eq(multiplier.b_write_data),
            ]
            if self.multiplication.two_streams:
                with m.If(multiplier.b_multiplier):
                    m.d.comb += b_location.eq(sequencer.y)
        with m.Else():
            m.d.comb += [
                b_location.eq(Mux(linear.b_write, sequencer.destination, sequencer.y)),
                b_index.eq(linear.index),
                write.eq(linear.b_write),
                write_data.eq(linear.b_write_data),
            ]
            if self.program.sums:
                m.d.comb += b_index.eq(linear.b_index)
        for port, location, index in (("a", a_location, a_index), ("b", b_location, b_index)):
            m.submodules[f"{port}_address"] = address = LocationAddress(self.layout)
            m.d.comb += [
                address.location.eq(self._resolved(m, location)),
                address.index.eq(index),
                getattr(memory, f"{port}_address").eq(address.address),
            ]
        given: Value = delays(m, write_data, 2)[-1]
        if self.program.sums:
            # The pipeline's digits are there as they are written.
            sums = history(m, "sums", self.busy & ~multiplies, 2)[-1]
            given = Mux(sums, linear.b_write_data, given)
        m.d.comb += [memory.b_write.eq(delays(m, write, 2)[-1]), memory.b_write_data.eq(given)]
        return m

    def _of_host(self, m: Module) -> tuple[Value, Value]:
        """Location and index of what the host writes: of a table's points, an entry of it."""
        layout = self.layout
        if not isinstance(layout, CurveLayout) or not layout.has_points:
            return self.operand, self.index
        lower = bits_for(layout.half - 1)
        location, index = Signal(layout.number_bits), Signal.like(self.index)
        m.d.comb += [location.eq(self.operand), index.eq(self.index)]
        with m.If(self.write & (self.operand >= Operand.TABLE_0)):
            first = layout.numbers[Scratch.T_0] - 2 * Operand.TABLE_0
            m.d.comb += [
                location.eq(Cat(self.index[lower], self.operand) + first),
                index.eq(self.index[:lower]),
            ]
        return location, index

    def _port_a(self, m: Module, multiplies: Signal) -> tuple[Signal, Signal]:
        """Location and index that port A is asked for."""
        sequencer, multiplier, number = self.sequencer, self.multiplier, self.number
        location, index = Signal(self.layout.number_bits), Signal.like(self.linear.index)
        with m.If(sequencer.exponent_read):
            m.d.comb += index.eq(sequencer.exponent_index)
            with m.Switch(sequencer.modulus):
                for context in MODULI:
                    with m.Case(context):
                        m.d.comb += location.eq(number(context.exponent))
            if self.program.scans_public:
                with m.If(sequencer.public):
                    m.d.comb += location.eq(number(Operand.E))
        with m.Elif(multiplies):
            m.d.comb += index.eq(multiplier.a_index)
            with m.Switch(multiplier.a_role):
                with m.Case(Role.MULTIPLICAND):
                    m.d.comb += location.eq(sequencer.x)
                with m.Case(Role.MULTIPLIER):
                    m.d.comb += location.eq(sequencer.y)
                with m.Case(Role.MODULUS):
                    m.d.comb += location.eq(number(Operand.M) + sequencer.modulus)
                with m.Case(Role.INVERSE):
                    m.d.comb += location.eq(number(Operand.M_INVERSE) + sequencer.modulus)
        with m.Else():
            m.d.comb += [location.eq(sequencer.x), index.eq(self.linear.index)]
            if self.program.sums:
                added = number(Operand.M) + sequencer.modulus
                if self.multiplication.scaled:
                    added = number(Scratch.ADDED_MODULUS)
                with m.If(self.linear.reads_modulus):
                    m.d.comb += location.eq(added)
        if not self.leads:
            with m.If(~self.busy):
                m.d.comb += [location.eq(self.from_other.location), index.eq(self.from_other.index)]
        return location, index

    def _a_data(self, m: Module, location: Signal) -> Signal:
        """What port A reads; in place of it what the other lane reads, as late, if that is asked
        for."""
        data = Signal(self.capabilities.digit_width)
        m.d.comb += data.eq(self.memories[0].a_data)
        used = {step.x for step in self.program.steps}
        others = [one for one in (Mode.OTHER_ACCUMULATOR, Mode.OTHER_PART) if one in used]
        if others:
            asks = location.matches(*(self.number(other) for other in others))
            with m.If(history(m, "asks_other", asks, READ_LATENCY)[-1]):
                m.d.comb += data.eq(self.from_other.data)
        return data

    def _resolved(self, m: Module, location: Signal) -> Signal:
        """The location, where some change places, and others are named by the window."""
        sequencer, numbers = self.sequencer, self.layout.numbers
        resolved = Signal.like(location)
        m.d.comb += resolved.eq(location)
        if sequencer.places is None:
            with m.If(location[1:] == numbers[Scratch.ACCUMULATOR] >> 1):
                m.d.comb += resolved[0].eq(location[0] ^ sequencer.parity)
        else:
            for one, is_at in sequencer.places.items():
                names = (one, Mode.NEXT_BASE) if one is Scratch.SPARE else (one,)
                with m.If(location.matches(*(numbers[name] for name in names))):
                    m.d.comb += resolved.eq(self.number(Scratch.ACCUMULATOR) | is_at)
        if self.program.swaps:
            pairs = (numbers[one] for one in OF_ONE if one in numbers)
            with m.If(sequencer.swaps & location.matches(*pairs)):
                m.d.comb += resolved[0].eq(~location[0])
        if sequencer.window is not None:
            selected: Value = sequencer.window
            if self.program.scans_columns:
                selected = Mux(sequencer.columns, self._of_column(m, location, resolved), selected)
            with m.If(location == self.number(Mode.WINDOW)):
                m.d.comb += resolved.eq(self.number(Scratch.T_0) | selected)
        return resolved

    def _of_column(self, m: Module, location: Signal, resolved: Signal) -> Value:
        """The entry that a column selects: its lowest bit is its sign; and resolve the others."""
        window, numbers = self.sequencer.window, self.layout.numbers
        assert window is not None
        point = window[1:] ^ (~window[0]).replicate(len(window) - 1)
        with m.If(location == numbers[Mode.ENTRY]):
            m.d.comb += resolved.eq(self.number(Scratch.T_0) | Cat(Const(1, 1), point))
        if self.program.has_thirds:
            with m.If(location == numbers[Mode.THIRD]):
                m.d.comb += resolved.eq(self.number(Scratch.table(third_entry(0))) | point)
        return Cat(Const(0, 1), point)
