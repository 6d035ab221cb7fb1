"""AXI4 against a master that is not ours: cocotbext-axi, on Verilator."""

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from coprime.bus.axi4 import AXI4
from coprime.bus.axi4_lite import flat_ports
from coprime.bus.axi_accelerator import AxiAccelerator, bus_signature
from coprime.bus.axi_cluster import ChainEnds
from coprime.bus.kinds import Bus
from coprime.cluster.node import Node


class Ring(wiring.Component):
    """A cluster of two engines, without the instances that `Cluster` has."""

    def __init__(self, engines):
        self.nodes = [Node(engine, len(engines)) for engine in engines]
        self.ends = ChainEnds(engines[0].capabilities, len(engines), Bus.AXI4)
        super().__init__({**flat_ports(bus_signature(Bus.AXI4)), "irq": Out(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.ends = ends = self.ends
        for name, member in self.signature.members.items():
            own, inner = getattr(self, name), getattr(ends, name)
            m.d.comb += own.eq(inner) if member.flow is Out else inner.eq(own)
        packet, reset = ends.packet_out, ends.reset_out
        for number, node in enumerate(self.nodes):
            m.submodules[f"node_{number}"] = node
            m.d.comb += [
                node.clk.eq(self.s_axi_aclk),
                node.number.eq(number),
                node.packet_in.eq(packet),
                node.reset_in.eq(reset),
            ]
            packet, reset = node.packet_out, node.reset_out
        m.d.comb += ends.packet_in.eq(packet)
        return m


@pytest.mark.clients
def test_with_cocotb(mock_engine, simulate_bench):
    accelerator = AxiAccelerator(mock_engine(40, max_length=8192), Bus.AXI4)
    assert simulate_bench(accelerator, "axi4_bench") == (17, 0)


@pytest.mark.clients
def test_a_cluster_with_cocotb(mock_engine, simulate_bench):
    engines = [mock_engine(40) for _ in range(2)]
    assert simulate_bench(Ring(engines), "cluster_axi4_bench") == (4, 0)


def test_id_width(rejects):
    rejects(lambda: AXI4("4"), TypeError, "id_width must be an int, not '4'")
    rejects(lambda: AXI4(0), ValueError, "id_width must be in 1..32, not 0")
    rejects(lambda: AXI4(33), ValueError, "id_width must be in 1..32, not 33")
    assert len(AXI4(12).axi.rid) == 12
