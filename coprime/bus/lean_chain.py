"""The ends of a chain of lean nodes: packets of many kinds become those of two, and the reverse.

The front end of a cluster sends and receives the packets of `coprime.cluster.packet`. Here each
becomes one packet of `coprime.cluster.lean_packet`, and what a lean node does not do itself is done
for all of them: addresses are computed, and cores are asked in turn whether they have ended.
"""

from amaranth.hdl import Cat, Elaboratable, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.bus.collector import distributed
from coprime.cells.tables import look_up
from coprime.cluster.lean_packet import LeanPacketLayout, Setting
from coprime.cluster.packet import SETTINGS, PacketKind, PacketLayout
from coprime.engine.contract import ERROR_BITS, Capabilities, Error

_WORD_OF_SETTING = {
    ("counts", "modulus"): Setting.MODULUS_DIGITS,
    ("counts", "p"): Setting.P_DIGITS,
    ("counts", "q"): Setting.Q_DIGITS,
}
"""Where a lean node has a setting; the others it does not need."""


class RunningCores(wiring.Component):
    """Which cores work, and which of these were cancelled: three bits for each core.

    A core works while two bits differ: `starts` changes one of them, and `ends` makes the other one
    equal. So each memory has one writer.

    Members
    -------
    clear, clear_core : this core does not work
    core, starts, cancels : it begins to work; or is cancelled, if it works
    works : whether it does
    asked, asked_works : the same of another core
    ending, ends : this core, which works, has ended
    cancelled : whether that one was cancelled
    """

    def __init__(self, cores: int, core_bits: int):
        self.held = {name: distributed(1, cores) for name in ("begun", "ended", "cancelled")}
        ports = {
            **dict.fromkeys(("clear", "starts", "cancels", "ends"), In(1)),
            **dict.fromkeys(("clear_core", "core", "asked", "ending"), In(core_bits)),
            **dict.fromkeys(("works", "asked_works", "cancelled"), Out(1)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        for name, memory in self.held.items():
            m.submodules[name] = memory
        writes = {name: memory.write_port() for name, memory in self.held.items()}

        def read(name: str, core: Value) -> Value:
            port = self.held[name].read_port(domain="comb")
            m.d.comb += port.addr.eq(core)
            return port.data[0]

        ended = read("ended", self.core)
        begun, end = writes["begun"], writes["ended"]
        cancelled = writes["cancelled"]
        m.d.comb += [
            self.works.eq(read("begun", self.core) ^ ended),
            self.asked_works.eq(read("begun", self.asked) ^ read("ended", self.asked)),
            self.cancelled.eq(read("cancelled", self.ending)),
            begun.addr.eq(self.core),
            begun.en.eq(self.starts),
            begun.data.eq(~ended),
            cancelled.addr.eq(self.core),
            cancelled.en.eq(self.starts | (self.cancels & self.works)),
            cancelled.data.eq(self.cancels),
            end.addr.eq(self.ending),
            end.en.eq(self.ends),
            end.data.eq(read("begun", self.ending)),
        ]
        with m.If(self.clear):
            for port in writes.values():
                m.d.comb += [port.addr.eq(self.clear_core), port.en.eq(1), port.data.eq(0)]
        return m


class LeanChain(wiring.Component):
    """Between a front end and its chain of lean nodes: a packet each way in each cycle.

    | from the front end | to the chain |
    |---|---|
    | SEND | writes a word: the operand's address, plus the index |
    | RECEIVE | reads a word of the result |
    | SET | writes a count of digits; nothing for other settings |
    | START, CANCEL | writes CONTROL; a core is cancelled only while it works |
    | EMPTY | reads CONTROL of a core that works, or nothing |

    Cores are asked in rounds, in which each core that works is asked once. A round ends with a
    packet to nobody, and the next one begins when that has returned: so no answer can be older than
    a core's command. Without other packets a round takes as many cycles as there are cores, and
    then those of a packet's way around the chain.

    | from the chain | to the front end |
    |---|---|
    | a word of the result | RECEIVE |
    | CONTROL of a core that does not work any more | NOTICE |
    | others | EMPTY |

    Parameters
    ----------
    capabilities (Capabilities): of the engines, which are bare
    cores (int): 1 to 1023

    Members
    -------
    clear, clear_core : no packet is sent or received; records of this core are cleared
    sent, received : packets of the front end
    packet_out, packet_in : the two ends of the chain
    """

    LATENCY = 2  # cycles that this component adds to a packet's way, in all

    def __init__(self, capabilities: Capabilities, cores: int):
        self.capabilities, self.cores = capabilities, cores
        front, chain = PacketLayout(capabilities, cores), LeanPacketLayout(capabilities, cores)
        self.front, self.chain = front, chain
        self.running = RunningCores(cores, front["core"].width)
        ports = {
            "clear": In(1),
            "clear_core": In(front["core"].shape),
            "sent": In(front),
            "received": Out(front),
            "packet_out": Out(chain),
            "packet_in": In(chain),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        m.submodules.running = self.running
        m.d.comb += [
            self.running.clear.eq(self.clear),
            self.running.clear_core.eq(self.clear_core),
        ]
        returned = Signal()  # the packet that ends a round has returned
        self._send(m, returned)
        self._receive(m, returned)
        return m

    def _send(self, m: Module, returned: Signal) -> None:
        """To the chain."""
        addresses, sent, running = self.capabilities.addresses, self.sent, self.running
        assert addresses is not None
        bases = [0] * (1 << len(sent.operand))
        for operand, address in addresses.operands.items():
            bases[operand] = address
        base = look_up(bases, sent.operand, addresses.bits)
        is_result = sent.kind == PacketKind.RECEIVE
        packet = Signal(self.chain)
        m.d.comb += [
            packet.core.eq(sent.core),
            packet.receive.eq(is_result),
            packet.address.eq(addresses.free + Setting.CONTROL),
            packet.data.eq(sent.data),
            running.core.eq(sent.core),
        ]
        polled = Signal(range(self.cores + 1))  # number of the core that is asked next
        round_ends = Signal()  # all were asked
        m.d.comb += running.asked.eq(polled)
        with m.Switch(sent.kind):
            with m.Case(PacketKind.SEND, PacketKind.RECEIVE):
                m.d.comb += packet.address.eq(Mux(is_result, addresses.result, base) + sent.index)
            with m.Case(PacketKind.SET):
                m.d.comb += packet.core.eq(self.cores)
                for place, setting in enumerate(SETTINGS):
                    if setting in _WORD_OF_SETTING:
                        with m.If(sent.index[: len(SETTINGS).bit_length() - 1] == place):
                            address = addresses.free + _WORD_OF_SETTING[setting]
                            m.d.comb += [packet.core.eq(sent.core), packet.address.eq(address)]
            with m.Case(PacketKind.START):
                m.d.comb += [packet.data.eq(1), running.starts.eq(1)]
            with m.Case(PacketKind.CANCEL):
                m.d.comb += [packet.data.eq(0), running.cancels.eq(1)]
                with m.If(~running.works):
                    m.d.comb += packet.core.eq(self.cores)
            with m.Default():
                m.d.comb += packet.core.eq(self.cores)
                with m.If(~round_ends & ~self.clear):
                    m.d.comb += packet.receive.eq((polled == self.cores) | running.asked_works)
                    with m.If(polled == self.cores):
                        m.d.sync += [polled.eq(0), round_ends.eq(1)]
                    with m.Else():
                        m.d.sync += polled.eq(polled + 1)
                        with m.If(running.asked_works):
                            m.d.comb += packet.core.eq(polled)
        with m.If(returned):
            m.d.sync += round_ends.eq(0)
        m.d.sync += self.packet_out.eq(packet)

    def _receive(self, m: Module, returned: Signal) -> None:
        """From the chain."""
        addresses, found, running = self.capabilities.addresses, self.packet_in, self.running
        assert addresses is not None
        busy = found.data[-1]
        is_state = found.receive & (found.address == addresses.free + Setting.CONTROL)
        is_nobody = found.core == self.cores
        cancelled = running.cancelled
        error = Mux(cancelled, Error.CANCELLED, found.data[:ERROR_BITS])
        packet = Signal(self.front)
        m.d.comb += [
            returned.eq(is_state & is_nobody & ~self.clear),
            running.ending.eq(found.core),
            running.ends.eq(is_state & ~is_nobody & ~busy & ~self.clear),
            packet.core.eq(found.core),
            packet.data.eq(found.data[:-1]),
        ]
        with m.If(running.ends):
            m.d.comb += [
                packet.kind.eq(PacketKind.NOTICE),
                packet.data.eq(Cat(error, error == Error.NONE)),
            ]
        with m.Elif(found.receive & ~is_state):
            m.d.comb += packet.kind.eq(PacketKind.RECEIVE)
        m.d.sync += self.received.eq(packet)
