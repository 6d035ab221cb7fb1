"""Decoding of writes to registers, and refusal of writes that are not allowed at the time."""

from collections.abc import Collection, Mapping, Sequence

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from coprime.bus.port import WRITE_PORTS
from coprime.bus.register_classes import Field, Register
from coprime.bus.shared_registers import number


class WriteDecode(wiring.Component):
    """The write side of the register port.

    A write takes two cycles, from the first in which `settled` is 1: in the first, in which
    `accepts` is 1, the address is decoded; in the second, in which `write_ready` is 1, the write
    takes place. Address and data do not change in between.

    Parameters
    ----------
    registers: the registers and windows that can be written; each has a strobe
    aliases: windows without a strobe, each with the register for which it stands
    conditions: registers to which a write has no effect unless a field of one bit is 1
    guards: groups of registers that cannot be written at times

    Members
    -------
    write, write_address, write_data, write_ready, write_error: as in RegisterSignature
    settled: 1 if a write may begin
    closed: bit k is 1 while the registers of guard k cannot be written; sampled with `accepts`
    accepts: the first cycle of a write
    strobes: in the second cycle, 1 for the register that is written
    refused: in the second cycle, bit k is 1 if guard k did not allow the write
    """

    def __init__(
        self,
        registers: Sequence[Register],
        *,
        aliases: Mapping[Register, Register] | None = None,
        conditions: Mapping[Register, Field] | None = None,
        guards: Sequence[Collection[Register]] = (),
    ):
        self.known = tuple(registers)
        self.aliases = dict(aliases or {})
        self.conditions = dict(conditions or {})
        self.guards = tuple(guards)
        ports = {
            **WRITE_PORTS,
            "settled": In(1),
            "closed": In(len(self.guards)),
            "accepts": Out(1),
            "strobes": Out(data.StructLayout({r.name.lower(): 1 for r in self.known})),
            "refused": Out(len(self.guards)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        m.d.comb += self.accepts.eq(self.write & ~self.write_ready & self.settled)
        m.d.sync += [
            self.write_ready.eq(self.accepts),
            self.write_error.eq(0),
            self.strobes.eq(0),
            self.refused.eq(0),
        ]
        with m.If(self.accepts), m.Switch(self.write_address):
            for register in self.known:
                same = [window for window, meant in self.aliases.items() if meant is register]
                with m.Case(*map(number, (register, *same))):
                    self._decode(m, register)
            with m.Default():
                m.d.sync += self.write_error.eq(1)
        return m

    def _decode(self, m: Module, register: Register) -> None:
        """A write to `register`."""
        guards = [k for k, guarded in enumerate(self.guards) if register in guarded]
        closed = sum(1 << k for k in guards)
        strobe = ~(self.closed & closed).any()
        refused = self.closed & closed
        if register in self.conditions:
            takes_place = self.write_data[self.conditions[register].offset]
            strobe &= takes_place
            refused &= takes_place.replicate(len(self.guards))
        m.d.sync += [self.strobes[register.name.lower()].eq(strobe), self.refused.eq(refused)]
