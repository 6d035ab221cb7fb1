"""A lane of a bare engine: one memory, whose words the host addresses.

Source: Ito, Nakano, Song (2011), section 5.3: a node writes and reads the words of its core's block
RAM, and all else of an operand's life is its host's. What differs: nothing of the schedule of
`Lane`, whose cycles it has; it lacks what only other programs need.
"""

from amaranth.hdl import Cat, Module, Mux, Signal, Value

from coprime.multipliers.contract import Role
from coprime.multipliers.delays import past
from coprime.program.operands import MODULI, Core, Operand

from .addresses import LocationAddress
from .lane import Lane


class BareLane(Lane):
    """Port A reads factors, modulus and exponent; port B has the result, and while idle the host.

    Indices are 0 while their unit asks for nothing, so that they are joined by an OR, which needs
    no selection: a LUT for each bit of an index.

    Parameters and members as of `Lane`; `index` is a word's address, and `operand` is not
    used.
    """

    def elaborate(self, platform: object) -> Module:
        """Connect the memory: who has its ports, and what they are asked for."""
        m = Module()
        multiplies = self.connect_units(m)
        (memory,) = self.memories
        m.submodules.memory = memory
        sequencer, multiplier, linear = self.sequencer, self.multiplier, self.linear
        m.d.comb += [
            sequencer.exponent_data.eq(memory.a_data),
            multiplier.a_data.eq(memory.a_data),
            multiplier.b_data.eq(memory.b_data),
            linear.a_data.eq(memory.a_data),
            linear.b_data.eq(memory.b_data),
            self.result_digit.eq(memory.b_data),
        ]
        a_index = multiplier.a_index | linear.index
        a_index |= Mux(sequencer.exponent_read, sequencer.exponent_index, 0)
        b_index = multiplier.b_index | linear.index | Mux(self.busy, 0, self.index)
        write, digit = Signal(), Signal(len(self.digit))
        with m.If(~self.busy):
            m.d.comb += [write.eq(self.write), digit.eq(self.digit)]
        with m.Elif(multiplies):
            m.d.comb += [write.eq(multiplier.b_write), digit.eq(multiplier.b_write_data)]
        with m.Else():
            m.d.comb += [write.eq(linear.b_write), digit.eq(linear.b_write_data)]
        a_location = self._a_location(m, multiplies)
        b_location = self._b_location(m, multiplies, write)
        m.submodules.a_address = a_address = LocationAddress(self.layout, dense=True)
        m.submodules.b_address = b_address = LocationAddress(self.layout, dense=True)
        m.d.comb += [
            a_address.location.eq(a_location),
            a_address.index.eq(a_index),
            memory.a_address.eq(a_address.address),
            b_address.location.eq(b_location),
            b_address.index.eq(b_index),
            memory.b_address.eq(b_address.address),
        ]
        m.d.comb += [
            memory.b_write.eq(past(m, write, 2)),
            memory.b_write_data.eq(past(m, digit, 2)),
        ]
        return m

    def _a_location(self, m: Module, multiplies: Value) -> Value:
        """The location that port A is asked for."""
        sequencer, number = self.sequencer, self.number
        location = Signal(self.layout.number_bits, name="a_location")
        m.d.comb += location.eq(sequencer.x)
        with m.If(sequencer.exponent_read), m.Switch(sequencer.modulus):
            for context in MODULI:
                with m.Case(context):
                    m.d.comb += location.eq(number(context.exponent))
        with m.Elif(multiplies), m.Switch(self.multiplier.a_role):
            with m.Case(Role.MULTIPLIER):
                m.d.comb += location.eq(sequencer.y)
            with m.Case(Role.MODULUS):
                m.d.comb += location.eq(number(Operand.M) + sequencer.modulus)
            with m.Case(Role.INVERSE):
                m.d.comb += location.eq(number(Operand.M_INVERSE) + sequencer.modulus)
        return self._placed(m, location)

    def _b_location(self, m: Module, multiplies: Value, write: Value) -> Value:
        """The same of port B; the host's is the number at address 0."""
        sequencer = self.sequencer
        location = Signal(self.layout.number_bits, name="b_location")
        m.d.comb += location.eq(Mux(multiplies | write, sequencer.destination, sequencer.y))
        with m.If(~self.busy):
            first = next(reference for reference, base in self.layout.bases.items() if base == 0)
            m.d.comb += location.eq(self.number(first))
        return self._placed(m, location)

    def _placed(self, m: Module, location: Signal) -> Value:
        """The location, where ACCUMULATOR and SPARE have changed places."""
        first = self.layout.numbers[Core.ACCUMULATOR] >> 1
        exchanged = (location[1:] == first) & self.sequencer.parity
        return Cat(location[0] ^ exchanged, location[1:])
