"""The ends of a cluster's chain that are reached over a serial wire."""

from fractions import Fraction

from amaranth.hdl import Elaboratable, Module, ResetInserter, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from coprime.bus.axi4_lite import AXI4Lite
from coprime.bus.cluster_front_end import ClusterFrontEnd
from coprime.bus.serial.bridge import SerialBridge
from coprime.cells.target import Target
from coprime.cluster.chain import chain_layout
from coprime.engine.contract import Capabilities


class SerialChainEnds(wiring.Component):
    """Everything of a cluster but its nodes, behind a bridge from a serial wire. Domain `sync`.

    Parameters
    ----------
    capabilities : of the engines
    cores : number of cores, 1 to 1023
    divisor : clock cycles of a bit, as SerialBridge's
    link_registers : of each node

    Members
    -------
    rx, tx (1 bit each, in and out): the wires, 1 at rest
    session (1 bit, out): a host has opened a session
    irq (1 bit, out): a completion is there and the interrupt is enabled
    packet_out, packet_in : the chain's ends
    reset_out : reset of the first node
    """

    def __init__(
        self,
        capabilities: Capabilities,
        cores: int,
        divisor: int | Fraction,
        link_registers: int = 0,
        *,
        target: Target = Target.GENERIC,
    ):
        self.front_end = ClusterFrontEnd(capabilities, cores, link_registers, target=target)
        self.bridge = SerialBridge(divisor)
        layout = chain_layout(capabilities, cores)
        ports = {
            "rx": In(1),
            "tx": Out(1, init=1),
            "session": Out(1),
            "irq": Out(1),
            "packet_out": Out(layout),
            "packet_in": In(layout),
            "reset_out": Out(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Connect them, and let the bridge reset everything after it."""
        m = Module()
        m.submodules.bridge = bridge = self.bridge
        by_bridge = ResetInserter(bridge.reset)
        front_end, slave = self.front_end, AXI4Lite()
        m.submodules.front_end = by_bridge(front_end)
        m.submodules.slave = by_bridge(slave)
        connect(m, slave.registers, front_end.registers)
        connect(m, bridge.axi, slave.axi)
        reset = Signal(init=1, reset_less=True)
        m.d.sync += reset.eq(ResetSignal() | bridge.reset)
        m.d.comb += [
            bridge.rx.eq(self.rx),
            self.tx.eq(bridge.tx),
            bridge.irq.eq(front_end.irq),
            self.session.eq(bridge.session),
            self.irq.eq(front_end.irq),
            self.reset_out.eq(reset),
            self.packet_out.eq(front_end.packet_out),
            front_end.packet_in.eq(self.packet_in),
        ]
        return m
