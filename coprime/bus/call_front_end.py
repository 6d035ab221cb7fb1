"""The registers of an accelerator for byte strings, and their effect on its engine."""

from amaranth.hdl import Elaboratable, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from coprime.bus import registers
from coprime.bus.call_control import CallControl
from coprime.bus.port import RegisterSignature, connect_sides
from coprime.bus.read_multiplexer import ReadMultiplexer
from coprime.bus.shared_registers import (
    CALL_REGISTERS,
    call_identity,
    number,
    register_value,
)
from coprime.bus.slot_access import SlotAccess
from coprime.bus.status import CommandStatus, Refusal
from coprime.bus.write_decode import WriteDecode
from coprime.calls.interface import WIPE, EngineInterface
from coprime.calls.ports import CallSignature
from coprime.cells.wires import same_named
from coprime.engine.capabilities import COMMAND_BITS, Error

_BY_ITSELF = registers.DATA_WINDOW
_NOT_WRITTEN = registers.STATUS  # STATUS starts operations on numbers only


class CallFrontEnd(wiring.Component):
    """Registers, loading and reading of slots, for any engine of byte strings.

    The register map describes each register. A command has these steps, while STATUS.BUSY is 1:
    check of its inputs, 1 cycle; start, 1 cycle; work of the engine. A write of DATA_WINDOW takes 1
    cycle and a read 1; of other registers a write takes 2 and a read 3. Only accesses of
    DATA_WINDOW wait, for at most 2^PATIENCE_BITS - 1 cycles.

    Raises TypeError if `interface` is no EngineInterface, and ValueError for more units than
    CAPABILITIES.MULTIPLIERS holds.

    Parameters
    ----------
    interface: that of the engine
    source: the value of CAPABILITIES.SOURCE
    many: whether it is one of several, CAPABILITIES.CORES

    Members
    -------
    registers: the register port
    engine: connects to the engine
    reset_engine: resets the engine, which then clears itself
    irq: 1 while an interrupt is pending and enabled
    pending: 1 while an interrupt is pending; only if there are `many`
    random: stream of random bytes; only if the engine draws some
    source_failed: no random byte will come any more; only with a `source`
    """

    def __init__(self, interface: EngineInterface, source: int = 0, *, many: bool = False):
        if not isinstance(interface, EngineInterface):
            raise TypeError(f"interface must be an EngineInterface, not {interface!r}")
        greatest = registers.CAPABILITIES["MULTIPLIERS"].of(~0)
        if not 1 <= interface.units <= greatest:
            raise ValueError(f"units must be 1 to {greatest}, not {interface.units}")
        self.interface = interface
        self.draws, self.many = interface.draws, many
        self.sourced = bool(source)
        super().__init__(
            {
                "registers": Out(RegisterSignature()),
                "engine": In(CallSignature(interface)),
                **dict.fromkeys(("reset_engine", "irq"), Out(1)),
                **({"pending": Out(1)} if many else {}),
                **({"random": In(stream.Signature(8))} if self.draws else {}),
                **({"source_failed": In(1)} if source else {}),
            }
        )
        known = [register for register in CALL_REGISTERS if register is not _BY_ITSELF]
        self.write = WriteDecode(
            [register for register in known if register.writable and register is not _NOT_WRITTEN],
            guards=[[registers.PARAMETER_SET], [registers.COMMAND]],
        )
        self.read = ReadMultiplexer(
            [register for register in known if register.readable],
            call_identity(interface, source, many=many),
        )
        self.refusal = Refusal(max(Error.NOT_READY, Error.SLOT_LENGTH))
        self.status = CommandStatus(1, interface.units)
        self.control = CallControl(interface, sourced=self.sourced)
        self.access = SlotAccess(interface)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        m.submodules.write = self.write
        m.submodules.read = self.read
        m.submodules.refusal = self.refusal
        m.submodules.status = self.status
        m.submodules.control = self.control
        m.submodules.access = self.access
        self._share_port(m)
        self._show(m)
        self._move(m)
        self._run(m)
        if self.draws:
            connect(m, flipped(self.random), flipped(self.engine.random))
        if self.many:
            m.d.comb += self.pending.eq(self.status.interrupt)
        return m

    def _share_port(self, m: Module) -> None:
        """Accesses of DATA_WINDOW take their own way; all others wait for nothing."""
        port, write, read, access = self.registers, self.write, self.read, self.access
        window = number(_BY_ITSELF)
        connect_sides(m, port, write, read)
        writes, reads = port.write_address.matches(window), port.read_address.matches(window)
        m.d.comb += [
            write.settled.eq(1),
            read.settled.eq(1),
            access.writes.eq(port.write & writes),
            access.reads.eq(port.read & reads),
            access.data.eq(port.write_data),
        ]
        with m.If(writes):
            m.d.comb += [
                write.write.eq(0),
                port.write_ready.eq(access.written),
                port.write_error.eq(0),
            ]
        with m.If(reads):
            m.d.comb += [
                read.read.eq(0),
                port.read_ready.eq(access.given),
                port.read_data.eq(access.word),
                port.read_error.eq(0),
            ]

    def _show(self, m: Module) -> None:
        """Connect the registers that are read."""
        port, strobes, values, status = (
            self.registers,
            self.write.strobes,
            self.read.values,
            self.status,
        )
        interrupt_enable = Signal()
        with m.If(strobes.interrupt_enable):
            m.d.sync += interrupt_enable.eq(port.write_data)
        waits_for_random = (
            self.status.busy & self.random.ready & ~self.random.valid if self.draws else 0
        )
        m.d.comb += [
            values.status.eq(
                register_value(registers.STATUS, BUSY=status.busy | self.control.clearing)
            ),
            values.error.eq(
                register_value(registers.ERROR, CODE=status.error, REFUSAL=self.refusal.code)
            ),
            values.interrupt_enable.eq(interrupt_enable),
            values.interrupt_status.eq(status.interrupt),
            values.cycles.eq(status.cycles),
            values.products.eq(status.products),
            values.parameter_set.eq(self.engine.parameter_set),
            values.slot_length.eq(self.access.left),
            values.complete.eq(self.control.complete),
            values.waiting.eq(
                register_value(
                    registers.WAITING,
                    WORD=self.access.takes_word,
                    READER=self.access.has_word,
                    RANDOM=waits_for_random,
                )
            ),
            self.refusal.clear.eq(strobes.error),
            status.clear_error.eq(strobes.error),
            status.clear_interrupt.eq(strobes.interrupt_status & port.write_data[0]),
            self.irq.eq(status.interrupt & interrupt_enable),
        ]
        if self.sourced:
            m.d.comb += self.control.starved.eq(waits_for_random & self.source_failed)

    def _move(self, m: Module) -> None:
        """Connect the slots."""
        port, access, control, engine = self.registers, self.access, self.control, self.engine
        strobes = self.write.strobes
        sets = len(self.interface.parameter_sets)
        field = registers.PARAMETER_SET["NUMBER"]
        wanted = port.write_data[field.offset : field.offset + field.width]
        connect(m, access.load, flipped(engine.load))
        connect(m, flipped(engine.output), access.output)
        m.d.comb += [
            access.selects.eq(strobes.slot),
            access.announces.eq(strobes.slot_length),
            access.value.eq(port.write_data),
            access.busy.eq(self.status.busy | control.clearing),
            access.closed.eq(self.refusal.code != Error.NONE),
            access.deselect.eq(control.start | control.forget),
            access.clear.eq(control.end),
            *same_named(access, engine, "parameter_set"),
            *same_named(access, control, "complete"),
            *same_named(engine, access, "read_slot", "read_restart"),
            *same_named(control, access, "begins", "loaded", "slot", "held"),
            self.refusal.refused.eq(Mux(self.write.refused.any(), Error.BUSY, access.refused)),
        ]
        with m.If(strobes.parameter_set):
            with m.If(wanted < sets):
                m.d.comb += control.forget.eq(1)
                m.d.sync += engine.parameter_set.eq(wanted)
            with m.Else():
                m.d.comb += self.refusal.refused.eq(Error.ADDRESS)

    def _run(self, m: Module) -> None:
        """Connect the start, check and end of commands."""
        control, status, engine = self.control, self.status, self.engine
        code = self.registers.write_data[:COMMAND_BITS]
        m.d.comb += [
            self.write.closed[0].eq(status.busy | control.clearing),
            self.write.closed[1].eq((status.busy & (code != WIPE)) | control.clearing),
            control.start.eq(self.write.strobes.command),
            control.start_command.eq(code),
            control.busy.eq(status.busy),
            self.reset_engine.eq(control.reset_engine),
            *same_named(engine, control, "call", "complete"),
            engine.start.eq(control.engine_start),
            control.engine_busy.eq(engine.busy),
            control.engine_done.eq(engine.done),
            control.engine_error.eq(engine.error),
            *same_named(control, engine, "given"),
            status.running.eq(control.running & engine.working),
            *same_named(status, engine, "multiplying"),
            *same_named(status, control, "start", "end", "end_error"),
        ]
