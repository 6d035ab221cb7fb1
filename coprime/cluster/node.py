"""A node: one hop of the chain, with its core."""

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import wiring

from coprime.cells.wires import same_named
from coprime.engine.contract import Error, capabilities_of
from coprime.operations.operation import among

from .links import ChainNode
from .node_settings import WIPE, NodeSettings
from .packet import PacketKind, PacketLayout


class Node(ChainNode):
    """Packets pass through one register; those for this core are taken out of the chain.

    All nodes are identical except for their number, so the module of a node exists only once. There
    is no combinational path from `packet_in` or `reset_in` to an output: no wire is longer than
    from one node to the next, for any number of nodes.

    When the core's command has ended, the next EMPTY packet is replaced by the NOTICE.

    Parameters
    ----------
    engine : component with the ports of EngineSignature and the attribute `capabilities`
    cores (int): number of cores of the chain, 1 to 1023; sets the width of a core's number
    link_registers (int): as of `ChainNode`, as are all members
    """

    def __init__(self, engine: wiring.Component, cores: int, link_registers: int = 0):
        self.engine = engine
        super().__init__(PacketLayout(capabilities_of(engine), cores), link_registers)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        engine, capabilities = self.engine, capabilities_of(self.engine)
        arriving, leaving = self.place_links(m)

        # The hop: a packet, and whether it carries this core's number.
        packet = Signal(self.layout)
        mine = Signal()
        m.d.sync += [packet.eq(arriving), mine.eq(arriving.core == self.number)]
        kind = packet.kind

        # Inputs of the engine. START comes a cycle later, when the command is stable.
        cancels = Signal()
        m.submodules.engine = ResetInserter(cancels)(engine)
        start, wipes = Signal(), Signal()
        result_index = Signal.like(engine.index)
        m.submodules.settings = settings = NodeSettings(capabilities, self.layout)
        starts, receives = Signal(), Signal()
        m.d.comb += [
            starts.eq(mine & (kind == PacketKind.START)),
            receives.eq(mine & (kind == PacketKind.RECEIVE)),
            settings.sets.eq(mine & (kind == PacketKind.SET)),
            settings.index.eq(packet.index),
            settings.value.eq(packet.data),
            settings.starts.eq(starts),
            settings.begun.eq(packet.data),
            settings.wipes.eq(wipes),
            *same_named(engine, settings, "counts", "lengths", "command"),
            engine.operand.eq(packet.operand),
            engine.index.eq(Mux(engine.write, packet.index, result_index)),
            engine.digit.eq(packet.data),
            engine.write.eq(mine & (kind == PacketKind.SEND)),
            engine.start.eq(start),
        ]
        m.d.sync += start.eq(starts | wipes)
        if capabilities.checked:
            # Digits are compared only while they are requested.
            m.d.sync += result_index.eq(-1)
        with m.If(receives):
            m.d.sync += result_index.eq(packet.index)

        due, free, noticed = (Signal(name=name) for name in ("due", "free", "noticed"))
        cancelling = mine & (kind == PacketKind.CANCEL)
        notice = self._await_end(m, settings, starts, cancelling, (cancels, wipes), (due, noticed))

        # The packet sent on. A RECEIVE carries the digit; a packet that was taken out leaves a gap.
        digit = Signal.like(engine.result_digit)
        m.d.sync += digit.eq(engine.result_digit)
        m.d.comb += [
            free.eq((kind == PacketKind.EMPTY) | (mine & ~receives & (kind != PacketKind.NOTICE))),
            noticed.eq(free & due),
            leaving.eq(packet),
        ]
        with m.If(receives):
            m.d.comb += leaving.data.eq(digit)
            if capabilities.checked:
                m.d.comb += leaving.operand.eq(engine.error != Error.NONE)
                with m.If(packet.index.all()):
                    checked = among(settings.command, capabilities.with_check)
                    m.d.comb += leaving.data.eq(Mux(checked, engine.residue, 0))
        with m.If(free):
            m.d.comb += leaving.kind.eq(Mux(due, PacketKind.NOTICE, PacketKind.EMPTY))
        with m.If(noticed):
            m.d.comb += [
                leaving.core.eq(self.number),
                leaving.data.eq(notice),
            ]
        return m

    def _await_end(
        self,
        m: Module,
        settings: NodeSettings,
        starts: Signal,
        cancelling: Value,
        commands: tuple[Signal, Signal],
        notices: tuple[Signal, Signal],
    ) -> Value:
        """The NOTICE to be sent: `working` from START until it is `due`; returns its data.

        `commands` are to cancel the engine's and to wipe it; `notices` are `due`, and that it has
        been sent.
        """
        engine, capabilities = self.engine, capabilities_of(self.engine)
        cancels, wipes = commands
        due, noticed = notices
        working, cancelled, faulty = (
            Signal(name=name) for name in ("working", "cancelled", "faulty")
        )
        m.d.sync += cancels.eq(0)
        if capabilities.checked:
            # Without a command an engine works only to wipe its memory, after a digit was found
            # wrong that it has given.
            with m.If(engine.busy & ~working & ~cancels):
                m.d.sync += working.eq(1)
        with m.If(starts):
            m.d.sync += working.eq(1)
        with m.If(noticed):
            m.d.sync += [due.eq(0), cancelled.eq(0), faulty.eq(0)]
        if capabilities.checked:
            # A result that depends on settings that have changed: the memory is wiped first.
            m.d.comb += wipes.eq(
                working & engine.done & (engine.error == Error.NONE) & ~settings.sound & ~faulty
            )
            with m.If(wipes):
                m.d.sync += faulty.eq(1)
        with m.If(working & engine.done & ~wipes):
            m.d.sync += [working.eq(0), due.eq(1)]
        with m.Elif(working & cancelling):
            m.d.sync += [working.eq(0), due.eq(1), cancelled.eq(1), cancels.eq(1)]
        error = Mux(cancelled, Error.CANCELLED, Mux(faulty, Error.FAULT, engine.error))
        has_result = (error == Error.NONE) & (settings.command != WIPE)
        return Cat(error, has_result, Const(0, 1))
