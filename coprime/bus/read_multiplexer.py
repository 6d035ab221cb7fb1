"""Reads of registers."""

from collections.abc import Mapping, Sequence

from amaranth.hdl import Array, Elaboratable, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.bus.port import READ_PORTS, WORD_BITS
from coprime.bus.register_classes import Register
from coprime.bus.shared_registers import number


class ReadMultiplexer(wiring.Component):
    """The read side of the register port.

    A read takes three cycles, from the first in which `settled` is 1: one to fetch, one to look up,
    one to answer. The look-up is idle without a read. A read waits in the same way as a write, so
    that ERROR includes the effect of the preceding write.

    Parameters
    ----------
    registers: the readable registers
    constants: values that never change, by the registers' names
    late: names of the values that are put on the port in the cycle of the answer, each with the
        registers that show it: at most 3, the free inputs of the last multiplexer

    Members
    -------
    read, read_address, read_ready, read_data, read_error: as in RegisterSignature
    settled: 1 if a read may begin
    looks_up: the second cycle of a read
    values: of all other registers, in the second cycle
    late: values of the names in `late`, in the third cycle
    late_shown: in the second cycle, whether the late value is shown; else it reads as 0
    """

    def __init__(
        self,
        registers: Sequence[Register],
        constants: Mapping[str, int],
        late: Mapping[str, Sequence[Register]] | None = None,
    ):
        self.late_registers = dict(late or {})
        looked_up = [
            r for r in registers if not any(r in each for each in self.late_registers.values())
        ]
        self.constants = {r: constants[r.name] for r in looked_up if r.name in constants}
        self.known = tuple(r for r in looked_up if r.name not in constants)
        ports = {
            **READ_PORTS,
            "settled": In(1),
            "looks_up": Out(1),
            "values": In(data.StructLayout({r.name.lower(): WORD_BITS for r in self.known})),
            "late": In(data.StructLayout(dict.fromkeys(self.late_registers, WORD_BITS))),
            "late_shown": In(data.StructLayout(dict.fromkeys(self.late_registers, 1))),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        answer = Signal(WORD_BITS)
        source = Signal(bits_for(len(self.late_registers)))  # of the value that is read: see below
        m.d.sync += [
            self.looks_up.eq(self.read & ~self.looks_up & ~self.read_ready & self.settled),
            self.read_ready.eq(self.looks_up),
            answer.eq(0),
            source.eq(0),
            self.read_error.eq(0),
        ]
        with m.If(self.looks_up), m.Switch(self.read_address):
            for place, (name, registers) in enumerate(self.late_registers.items(), start=1):
                with m.Case(*map(number, registers)):
                    m.d.sync += source.eq(Mux(self.late_shown[name], place, 0))
            for register in self.known:
                with m.Case(number(register)):
                    m.d.sync += answer.eq(self.values[register.name.lower()])
            for register, value in self.constants.items():
                with m.Case(number(register)):
                    m.d.sync += answer.eq(value)
            with m.Default():
                m.d.sync += self.read_error.eq(1)
        late = [self.late[name] for name in self.late_registers]
        m.d.comb += self.read_data.eq(Array((answer, *late))[source] if late else answer)
        return m
