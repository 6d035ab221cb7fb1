"""The accelerator: an engine behind AXI4-Lite, with the ports that vendor tools recognize."""

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out, connect

from coprime.bus.axi4_lite import AXI4Lite, connect_ports, flat_ports
from coprime.bus.front_end import FrontEnd
from coprime.engine.contract import Capabilities, EngineSignature

__all__ = ["Accelerator"]


class Accelerator(wiring.Component):
    """An engine, its registers and their AXI4-Lite slave, with flat ports.

    Parameters
    ----------
    engine: a component with the ports of EngineSignature and the attribute `capabilities`

    Members
    -------
    s_axi_aclk: the clock of everything inside
    s_axi_aresetn: reset, active low, sampled with the clock
    s_axi_*: the channels of AXI4-Lite, 12-bit addresses and 32-bit data
    irq: interrupt, active high, as long as it is pending and enabled
    """

    def __init__(self, engine: wiring.Component):
        capabilities = getattr(engine, "capabilities", None)
        if not isinstance(capabilities, Capabilities):
            raise TypeError(f"engine must have capabilities, and {engine!r} has not")
        if engine.signature.members != EngineSignature(capabilities).members:
            raise TypeError(
                f"engine must have the ports of EngineSignature, and {engine!r} has not"
            )
        self.engine = engine
        self.capabilities = capabilities
        super().__init__({**flat_ports(), "irq": Out(1)})

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        m.submodules.engine = self.engine
        m.submodules.front_end = front_end = FrontEnd(self.capabilities)
        m.submodules.axi4_lite = slave = AXI4Lite()
        connect(m, front_end.engine, self.engine)
        connect(m, slave.registers, front_end.registers)
        connect_ports(m, self, slave)
        m.d.comb += self.irq.eq(front_end.irq)
        return m
