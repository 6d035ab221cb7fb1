"""A lean node: one hop of a chain with two kinds of packets, and its core.

Source: Ito, Nakano, Song (2011), section 5.3, Figure 9. What differs: a packet does not wait for
the word that it reads. It returns the one that the packet before it by REPLY_OFFSET has requested;
and a core starts, and reports its end, at an address of its own.
"""

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, ResetInserter, Signal
from amaranth.lib import wiring

from coprime.engine.contract import PerLength, capabilities_of
from coprime.engine.fdfm import BARE

from .lean_packet import LeanPacketLayout, Setting
from .links import ChainNode

_COUNTS = {
    Setting.MODULUS_DIGITS: "modulus",
    Setting.P_DIGITS: "p",
    Setting.Q_DIGITS: "q",
}


class LeanNode(ChainNode):
    """Packets pass through one register, and none is taken out; words are written and read.

    All nodes are identical except for their number, and no path leads from an input to an output,
    as of `Node`. What a packet writes to the `free` addresses of the memory is there, too, and
    means nothing. A core that is busy must not be written to, except to CONTROL.

    Parameters
    ----------
    engine : component with the ports of EngineSignature and the attribute `capabilities`; bare
    cores (int): number of cores of the chain, 1 to 1023
    link_registers (int): as of `ChainNode`, as are all members
    """

    def __init__(self, engine: wiring.Component, cores: int, link_registers: int = 0):
        self.engine = engine
        super().__init__(LeanPacketLayout(capabilities_of(engine), cores), link_registers)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        engine, capabilities = self.engine, capabilities_of(self.engine)
        assert capabilities.addresses is not None
        arriving, leaving = self.place_links(m)

        # The hop: a packet, and whether it carries this core's number.
        packet = Signal(self.layout)
        mine = Signal()
        m.d.sync += [packet.eq(arriving), mine.eq(arriving.core == self.number)]
        writes, reads = mine & ~packet.receive, mine & packet.receive
        word = packet.data[: capabilities.digit_width]

        # The core's memory, a cycle later.
        cancels = Signal()
        m.submodules.engine = ResetInserter(cancels)(engine)
        write, start = Signal(), Signal()
        address, written = Signal.like(packet.address), Signal.like(word)
        m.d.sync += [write.eq(writes), address.eq(packet.address), written.eq(word)]
        m.d.comb += [
            engine.write.eq(write),
            engine.index.eq(address),
            engine.digit.eq(written),
            engine.command.eq(BARE),
            engine.start.eq(start),
        ]

        # Settings.
        is_setting = packet.address[2:] == capabilities.addresses.free >> 2
        setting = packet.address[:2]
        counts = Signal(PerLength(capabilities.count_bits))
        m.d.comb += engine.counts.eq(counts)
        for count_setting, field in _COUNTS.items():
            with m.If(writes & is_setting & (setting == count_setting)):
                m.d.sync += counts[field].eq(word)
        is_control = is_setting & (setting == Setting.CONTROL)
        m.d.sync += [
            start.eq(writes & is_control & word[0]),
            cancels.eq(writes & is_control & ~word[0]),
        ]

        # The packet sent on: one that reads carries a digit, or the state of the core.
        digit = Signal.like(engine.result_digit)
        m.d.sync += digit.eq(engine.result_digit)
        unused = Const(0, capabilities.digit_width - len(engine.error))
        state = Cat(engine.error, unused, engine.busy | start)
        m.d.comb += [
            leaving.eq(packet),
            leaving.data.eq(
                Mux(reads & ~is_control, digit, packet.data) | Mux(reads & is_control, state, 0)
            ),
        ]
        return m
