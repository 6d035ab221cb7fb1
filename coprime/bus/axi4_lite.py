"""An AXI4-Lite slave in front of the register port."""

from amaranth.hdl import ClockDomain, Elaboratable, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.bus.port import WINDOW_BITS, RegisterSignature

PREFIX = "s_axi_"

OKAY = 0
SLVERR = 2


class AXI4LiteSignature(wiring.Signature):
    """AXI4-Lite with 12-bit addresses and 32-bit data, seen from the slave; AXI's own names."""

    def __init__(self) -> None:
        ports = {
            "awaddr": In(WINDOW_BITS),
            "awprot": In(3),
            "awvalid": In(1),
            "awready": Out(1),
            "wdata": In(32),
            "wstrb": In(4),
            "wvalid": In(1),
            "wready": Out(1),
            "bresp": Out(2),
            "bvalid": Out(1),
            "bready": In(1),
            "araddr": In(WINDOW_BITS),
            "arprot": In(3),
            "arvalid": In(1),
            "arready": Out(1),
            "rdata": Out(32),
            "rresp": Out(2),
            "rvalid": Out(1),
            "rready": In(1),
        }
        super().__init__(ports)


def flat_ports(bus: wiring.Signature | None = None) -> dict[str, wiring.Member]:
    """Members of a top module, with the names by which vendor tools recognize the bus.

    s_axi_aclk is the clock of the module, s_axi_aresetn its reset, active low and sampled with the
    clock; the others are the channels of the bus, which is AXI4-Lite by default.
    """
    members = (AXI4LiteSignature() if bus is None else bus).members
    axi = {f"{PREFIX}{name}": member for name, member in members.items()}
    return {f"{PREFIX}aclk": In(1), f"{PREFIX}aresetn": In(1), **axi}


def connect_ports(m: Module, top: wiring.Component, slave: wiring.Component) -> None:
    """Connect a top module's `flat_ports` to its slave's bus `axi`, and make its clock domain."""
    m.domains.sync = sync = ClockDomain()
    m.d.comb += [sync.clk.eq(top.s_axi_aclk), sync.rst.eq(~top.s_axi_aresetn)]
    for name, member in slave.axi.signature.members.items():
        outside, inside = getattr(top, f"{PREFIX}{name}"), getattr(slave.axi, name)
        m.d.comb += inside.eq(outside) if member.flow == In else outside.eq(inside)


class AXI4Lite(wiring.Component):
    """Turn AXI4-Lite transactions into accesses of the register port.

    One write and one read are processed at a time; a write's address and data may arrive in either
    order. All outputs to the bus are registered. A write whose strobes are not all 1, and an access
    that the registers refuse, are answered with SLVERR. The two low address bits and the protection
    bits are ignored. A master that is always ready can write every 4 cycles and read every 5, plus
    the cycles for which the registers make it wait.

    Members
    -------
    axi: the bus
    registers: connects to the registers
    """

    def __init__(self) -> None:
        super().__init__({"axi": Out(AXI4LiteSignature()), "registers": In(RegisterSignature())})

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        axi, port = self.axi, self.registers

        # Write: the registers of address and data are free, or full and then ready is 0.
        address_free = Signal(init=1)
        data_free = Signal(init=1)
        strobes = Signal(4)
        complete = ~address_free & ~data_free & ~axi.bvalid
        m.d.comb += [
            axi.awready.eq(address_free),
            axi.wready.eq(data_free),
            port.write.eq(complete & strobes.all()),
        ]
        with m.If(axi.awvalid & axi.awready):
            m.d.sync += [port.write_address.eq(axi.awaddr[2:]), address_free.eq(0)]
        with m.If(axi.wvalid & axi.wready):
            m.d.sync += [port.write_data.eq(axi.wdata), strobes.eq(axi.wstrb), data_free.eq(0)]
        with m.If(complete & (port.write_ready | ~strobes.all())):
            m.d.sync += [
                axi.bvalid.eq(1),
                axi.bresp.eq(Mux(strobes.all() & ~port.write_error, OKAY, SLVERR)),
            ]
        with m.If(axi.bvalid & axi.bready):
            m.d.sync += [axi.bvalid.eq(0), address_free.eq(1), data_free.eq(1)]

        # Read. The register is cleared, since the data may be a secret that is wiped later.
        read_free = Signal(init=1)
        m.d.comb += [axi.arready.eq(read_free), port.read.eq(~read_free & ~axi.rvalid)]
        with m.If(axi.arvalid & axi.arready):
            m.d.sync += [port.read_address.eq(axi.araddr[2:]), read_free.eq(0)]
        with m.If(port.read & port.read_ready):
            m.d.sync += [
                axi.rvalid.eq(1),
                axi.rdata.eq(port.read_data),
                axi.rresp.eq(Mux(port.read_error, SLVERR, OKAY)),
            ]
        with m.If(axi.rvalid & axi.rready):
            m.d.sync += [axi.rvalid.eq(0), axi.rdata.eq(0), read_free.eq(1)]
        return m
