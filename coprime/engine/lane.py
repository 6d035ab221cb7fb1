"""A lane: operand memory, sequencer, linear unit and one modular multiplier."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import Out
from amaranth.utils import bits_for

from coprime.cells.target import Target
from coprime.multipliers.contract import ModularMultiplier, Role
from coprime.multipliers.delays import past, past_value
from coprime.multipliers.multiplication import READ_LATENCY, Multiplication
from coprime.program.assembler import Program
from coprime.program.operands import MODULI, Core, Entry, Mode, Operand

from .addresses import LocationAddress
from .contract import Capabilities
from .lane_of_units import LaneOfUnits
from .layout import Layout


class LaneLinkSignature(wiring.Signature):
    """Signals from a lane to the other one.

    Members
    -------
    at_barrier, ends : it waits at a BARRIER; it ends the operation
    location, index, data : the request to port A, and its data READ_LATENCY cycles later
    result : digits that its multiplier writes; only where products chain
    """

    def __init__(self, number_bits: int, address_bits: int, digit_width: int, *, chains: bool):
        ports = {
            **dict.fromkeys(("at_barrier", "ends"), Out(1)),
            "location": Out(number_bits),
            "index": Out(address_bits),
            "data": Out(digit_width),
            **({"result": Out(digit_width)} if chains else {}),
        }
        super().__init__(ports)


class ChainedPlaces:
    """Where the factors and results of products lie that chain.

    The sequencer is at the next product while one is under way, whose places are kept here; and
    that may have begun before the last digit of the result before is written.

    Parameters
    ----------
    multiplier : the multiplier's ports
    x, y, destination : locations of the sequencer's step
    """

    def __init__(self, multiplier: wiring.PureInterface, x: Signal, y: Signal, destination: Signal):
        self.multiplier = multiplier
        self.asked = {"x": x, "y": y, "destination": destination}
        self.now = {
            name: Signal.like(location, name=f"{name}_now") for name, location in self.asked.items()
        }
        self.written = Signal.like(destination, name="written_now")
        self.a, self.b = Signal.like(x, name="factor"), Signal.like(y, name="factor_or_result")
        """What port A and port B are asked for."""

    def connect(self, m: Module) -> None:
        """Keep the places of a product as it is accepted, and that of a result from digit 0 on."""
        multiplier, asked, now = self.multiplier, self.asked, self.now
        with m.If(multiplier.accepts):
            m.d.sync += [now[name].eq(location) for name, location in asked.items()]
        m.d.comb += [
            self.a.eq(Mux(multiplier.a_of_next, asked["x"], now["x"])),
            self.b.eq(asked["x"]),
        ]
        with m.If(multiplier.b_multiplier):
            m.d.comb += self.b.eq(Mux(multiplier.b_of_next, asked["y"], now["y"]))
        with m.Elif(multiplier.b_write):
            m.d.comb += self.b.eq(self.written)
            with m.If(multiplier.b_index == 0):
                m.d.comb += self.b.eq(now["destination"])
                m.d.sync += self.written.eq(now["destination"])
        m.d.sync += [
            multiplier.x_is_result.eq(asked["x"] == now["destination"]),
            multiplier.y_is_result.eq(asked["y"] == now["destination"]),
        ]


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
            if step.copies:
                raise ValueError(f"in one memory {step.note!r} has no copy")
        self.layout = layout
        link = LaneLinkSignature(
            layout.number_bits,
            bits_for(layout.depth - 1),
            capabilities.digit_width,
            chains=multiplication.chains,
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
        x, y, destination = sequencer.x, sequencer.y, sequencer.destination
        factor = x
        places = None
        if self.multiplication.chains:
            # What a product keeps of its step is resolved as that is executed.
            x, y, destination = (self._resolved(m, number) for number in (x, y, destination))
            places = self._chained_places(m, x, y, destination)
            factor = places.a
        a_location, a_index = self._port_a(m, multiplies, x, factor)
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
        with m.If(~self.busy):
            m.d.comb += [
                b_location.eq(Mux(self.write, self.operand, self.number(Core.RESULT))),
                b_index.eq(self.index),
                write.eq(self.write),
                write_data.eq(self.digit),
            ]
        with m.Elif(multiplies):
            m.d.comb += [
                b_location.eq(destination),
                b_index.eq(multiplier.b_index),
                write.eq(multiplier.b_write),
                write_data.eq(multiplier.b_write_data),
            ]
            if places is not None:
                m.d.comb += b_location.eq(places.b)
            elif self.multiplication.two_streams:
                with m.If(multiplier.b_multiplier):
                    m.d.comb += b_location.eq(y)
        with m.Else():
            m.d.comb += [
                b_location.eq(Mux(linear.b_write, destination, y)),
                b_index.eq(linear.index),
                write.eq(linear.b_write),
                write_data.eq(linear.b_write_data),
            ]
        for port, location, index, to in (
            ("a", a_location, a_index, memory.a_address),
            ("b", b_location, b_index, memory.b_address),
        ):
            m.submodules[f"{port}_address"] = address = LocationAddress(self.layout)
            m.d.comb += [
                address.location.eq(location if places else self._resolved(m, location)),
                address.index.eq(index),
                to.eq(address.address),
            ]
        given = past(m, write_data, 2)
        m.d.comb += [memory.b_write.eq(past(m, write, 2)), memory.b_write_data.eq(given)]
        return m

    def _chained_places(
        self, m: Module, x: Signal, y: Signal, destination: Signal
    ) -> ChainedPlaces:
        """Places of products that chain; and whether a multiplicand is the other lane's result.

        Such a one is made in the same cycles as this lane's: both lanes execute the same steps.
        """
        sequencer, multiplier = self.sequencer, self.multiplier
        places = ChainedPlaces(multiplier, x, y, destination)
        places.connect(m)
        m.d.comb += [
            self.to_other.result.eq(multiplier.b_write_data),
            multiplier.other_result.eq(self.from_other.result),
        ]
        if any(step.x is Mode.OTHER_ACCUMULATOR for step in self.program.steps):
            m.d.comb += multiplier.x_is_other.eq(sequencer.x == self.number(Mode.OTHER_ACCUMULATOR))
        return places

    def _port_a(
        self, m: Module, multiplies: Signal, x: Signal, multiplicand: Signal
    ) -> tuple[Signal, Signal]:
        """Location and index that port A is asked for: of the step's x, or of a product's."""
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
                    m.d.comb += location.eq(multiplicand)
                with m.Case(Role.MULTIPLIER):
                    m.d.comb += location.eq(sequencer.y)
                with m.Case(Role.MODULUS):
                    m.d.comb += location.eq(number(Operand.M) + sequencer.modulus)
                with m.Case(Role.INVERSE):
                    m.d.comb += location.eq(number(Operand.M_INVERSE) + sequencer.modulus)
        with m.Else():
            m.d.comb += [location.eq(x), index.eq(self.linear.index)]
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
        others = [mode for mode in (Mode.OTHER_ACCUMULATOR, Mode.OTHER_PART) if mode in used]
        if others:
            asks = location.matches(*(self.number(other) for other in others))
            with m.If(past_value(m, "asks_other", asks, READ_LATENCY)):
                m.d.comb += data.eq(self.from_other.data)
        return data

    def _resolved(self, m: Module, location: Signal) -> Signal:
        """The location, where some change places, and others are named by the window."""
        sequencer, numbers = self.sequencer, self.layout.numbers
        resolved = Signal.like(location)
        m.d.comb += resolved.eq(location)
        places = None if sequencer.rotation is None else sequencer.rotation.places
        if places is None:
            with m.If(location[1:] == numbers[Core.ACCUMULATOR] >> 1):
                m.d.comb += resolved[0].eq(location[0] ^ sequencer.parity)
        else:
            for place, is_at in places.items():
                names = (place, Mode.NEXT_BASE) if place is Core.SPARE else (place,)
                with m.If(location.matches(*(numbers[name] for name in names))):
                    m.d.comb += resolved.eq(self.number(Core.ACCUMULATOR) | is_at)
        if sequencer.windows is not None:
            with m.If(location == self.number(Mode.WINDOW)):
                m.d.comb += resolved.eq(self.number(Entry.T_0) | sequencer.windows.value)
        return resolved
