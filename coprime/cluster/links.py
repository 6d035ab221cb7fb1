"""What every node of a chain has: ports, its hop's clock and reset, registers on its links."""

from amaranth.hdl import ClockDomain, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from .limits import MAX_LINK_REGISTERS


class ChainNode(wiring.Component):
    """A node without its hop and its core.

    Raises ValueError for `link_registers` out of range.

    Parameters
    ----------
    layout : of the packets, with a field `core`
    link_registers (int): 0 to 2. With 1 a packet leaves from a register, with 2 it also arrives in
        one, before it is compared: then there is only a wire between two nodes. A hop takes this
        many additional cycles.

    Members
    -------
    clk : the clock
    reset_in, reset_out : reset of this node and of the next one, a hop later
    number : the core's number, a constant
    packet_in, packet_out : the chain
    """

    def __init__(self, layout: data.StructLayout, link_registers: int):
        if link_registers not in range(MAX_LINK_REGISTERS + 1):
            raise ValueError(
                f"link_registers must be in 0..{MAX_LINK_REGISTERS}, not {link_registers}"
            )
        self.layout, self.link_registers = layout, link_registers
        ports = {
            **dict.fromkeys(("clk", "reset_in"), In(1)),
            "reset_out": Out(1),
            "number": In(layout["core"].shape),
            "packet_in": In(layout),
            "packet_out": Out(layout),
        }
        super().__init__(ports)

    def place_links(self, m: Module) -> tuple[data.View, data.View]:
        """Make the node's clock domain; give the packet after its arrival register, and before its
        departure register, if any.

        A reset passes through such registers, too, so that none of them has to be reset.
        """
        m.domains.sync = sync = ClockDomain()
        reset = Signal(init=1, reset_less=True)
        arriving, reset_in = self.packet_in, self.reset_in
        leaving, reset_out = self.packet_out, reset
        if self.link_registers >= 1:
            leaving = Signal(self.layout)
            reset_out = Signal(init=1, reset_less=True)
            left = Signal(self.layout, reset_less=True)
            m.d.sync += [left.eq(leaving), reset_out.eq(reset)]
            m.d.comb += self.packet_out.eq(left)
        if self.link_registers == 2:
            arriving = Signal(self.layout, reset_less=True)
            reset_in = Signal(init=1, reset_less=True)
            m.d.sync += [arriving.eq(self.packet_in), reset_in.eq(self.reset_in)]
        m.d.sync += reset.eq(reset_in)
        m.d.comb += [sync.clk.eq(self.clk), sync.rst.eq(reset), self.reset_out.eq(reset_out)]
        return arriving, leaving
