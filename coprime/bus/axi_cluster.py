"""The cluster: many engines on a chain, with one slave on a bus."""

from collections.abc import Mapping

from amaranth.hdl import Const, Elaboratable, Instance, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from coprime.bus.axi4_lite import connect_ports, flat_ports
from coprime.bus.axi_accelerator import bus_signature, bus_slave
from coprime.bus.cluster_front_end import ClusterFrontEnd
from coprime.bus.kinds import Bus
from coprime.cells.target import Target
from coprime.cluster.chain import ChainLayout, chain_layout
from coprime.engine.contract import Capabilities


class ChainEnds(wiring.Component):
    """A cluster without its nodes: bus, registers, and the two ends of the chain.

    Parameters
    ----------
    capabilities : of the engines
    cores : number of cores, 1 to 1023
    bus : the slave's
    link_registers : of each node

    Members
    -------
    s_axi_* : the bus with clock and reset, as in an accelerator
    irq : interrupt, active high, as long as there is a completion and the interrupt is enabled
    packet_out, packet_in : the two ends of the chain
    reset_out : reset of the first node
    """

    def __init__(
        self,
        capabilities: Capabilities,
        cores: int,
        bus: Bus = Bus.AXI4_LITE,
        link_registers: int = 0,
        *,
        target: Target = Target.GENERIC,
    ):
        self.capabilities, self.cores = capabilities, cores
        self.bus, self.link_registers, self.target = bus, link_registers, target
        layout = chain_layout(capabilities, cores)
        ports = {
            **flat_ports(bus_signature(bus)),
            "irq": Out(1),
            "packet_out": Out(layout),
            "packet_in": In(layout),
            "reset_out": Out(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        m.submodules.registers = front_end = ClusterFrontEnd(
            self.capabilities, self.cores, self.link_registers, target=self.target
        )
        m.submodules[self.bus.name.lower()] = slave = bus_slave(self.bus)
        connect_ports(m, self, slave)
        connect(m, slave.registers, front_end.registers)
        reset = Signal(init=1, reset_less=True)
        m.d.sync += reset.eq(ResetSignal())
        m.d.comb += [
            self.reset_out.eq(reset),
            self.irq.eq(front_end.irq),
            self.packet_out.eq(front_end.packet_out),
            front_end.packet_in.eq(self.packet_in),
        ]
        return m


class WiredCluster(wiring.Component):
    """The wires of a chain, from one end through all nodes to the other.

    The ends and the nodes are instances of other modules in the same Verilog text. Each module
    occurs once there, so tools that work module by module process it once.

    Parameters
    ----------
    ports : those of the ends except the chain's; this component has the same
    clock : name of the clock port
    layout : of the packets
    cores : number of cores, 1 to 1023
    ends, node : str
        Names of the modules of the chain's ends and of `coprime.cluster.node.Node`.
    """

    def __init__(
        self,
        ports: Mapping[str, wiring.Member],
        clock: str,
        layout: ChainLayout,
        cores: int,
        *,
        ends: str,
        node: str,
    ):
        self.clock, self.layout = clock, layout
        self.cores, self.ends, self.node = cores, ends, node
        super().__init__(dict(ports))

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        packets = [Signal(self.layout.size, name=f"packet_{k}") for k in range(self.cores + 1)]
        resets = [Signal(name=f"reset_{k}") for k in range(self.cores + 1)]
        bus = {
            f"{'i' if member.flow == In else 'o'}_{name}": getattr(self, name)
            for name, member in self.signature.members.items()
        }
        m.submodules.front_end = Instance(
            self.ends,
            **bus,
            o_packet_out=packets[0],
            o_reset_out=resets[0],
            i_packet_in=packets[-1],
        )
        for number in range(self.cores):
            m.submodules[f"node_{number}"] = Instance(
                self.node,
                i_clk=getattr(self, self.clock),
                i_number=Const(number, self.layout["core"].shape),
                i_packet_in=packets[number],
                o_packet_out=packets[number + 1],
                i_reset_in=resets[number],
                o_reset_out=resets[number + 1],
            )
        return m


class AxiCluster(WiredCluster):
    """A cluster with a slave on a bus, as wires between the modules of its ends and its nodes.

    Parameters
    ----------
    capabilities : of the engines
    cores : number of cores, 1 to 1023
    bus : of the ends
    ends, node : str
        Names of the modules with the ports of ChainEnds and of `coprime.cluster.node.Node`.

    Members
    -------
    s_axi_*, irq : as ChainEnds
    """

    def __init__(
        self,
        capabilities: Capabilities,
        cores: int,
        bus: Bus = Bus.AXI4_LITE,
        *,
        ends: str,
        node: str,
    ):
        ports = {**flat_ports(bus_signature(bus)), "irq": Out(1)}
        layout = chain_layout(capabilities, cores)
        super().__init__(ports, "s_axi_aclk", layout, cores, ends=ends, node=node)
