"""The kind of chain that engines need: of nodes, or of lean nodes where engines are bare."""

from amaranth.lib import wiring

from coprime.engine.contract import Capabilities, capabilities_of

from .lean_node import LeanNode
from .lean_packet import LeanPacketLayout
from .links import ChainNode
from .node import Node
from .packet import PacketLayout

ChainLayout = PacketLayout | LeanPacketLayout


def chain_layout(capabilities: Capabilities, cores: int) -> ChainLayout:
    """Packets of a chain of these engines. ValueError for `cores` out of range."""
    layout = LeanPacketLayout if capabilities.bare else PacketLayout
    return layout(capabilities, cores)


def chain_node(engine: wiring.Component, cores: int, link_registers: int = 0) -> ChainNode:
    """Make a node of that chain; raises as `Node` and `LeanNode`."""
    node = LeanNode if capabilities_of(engine).bare else Node
    return node(engine, cores, link_registers)
