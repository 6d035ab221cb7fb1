"""An AXI4-Lite master with a simple handshake."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.bus.axi4_lite import OKAY, AXI4LiteSignature
from coprime.bus.port import WINDOW_BITS


class AXI4LiteMaster(wiring.Component):
    """Makes AXI4-Lite accesses, one at a time.

    Members
    -------
    valid (1 bit, in): requests an access; this and the next three keep their values until `ready`
    address (12 bits, in)
    data (32 bits, in)
    strobes (4 bits, in): bytes to write; 0 is a read
    ready (1 bit, out): the access is answered in this cycle
    answer (32 bits, out): the data read; valid with `ready`
    refused (1 bit, out): with `ready`: the response is an error
    axi: the bus
    """

    def __init__(self) -> None:
        ports = {
            "valid": In(1),
            "address": In(WINDOW_BITS),
            "data": In(32),
            "strobes": In(4),
            "ready": Out(1),
            "answer": Out(32),
            "refused": Out(1),
            "axi": In(AXI4LiteSignature()),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Hold each channel's valid until it is accepted, and end with the response."""
        m = Module()
        axi = self.axi
        write, read = Signal(), Signal()
        m.d.comb += [
            write.eq(self.valid & self.strobes.any()),
            read.eq(self.valid & ~self.strobes.any()),
            axi.awaddr.eq(self.address),
            axi.araddr.eq(self.address),
            axi.wdata.eq(self.data),
            axi.wstrb.eq(self.strobes),
            axi.bready.eq(write),
            axi.rready.eq(read),
            self.ready.eq((write & axi.bvalid) | (read & axi.rvalid)),
            self.answer.eq(axi.rdata),
            self.refused.eq((write & (axi.bresp != OKAY)) | (read & (axi.rresp != OKAY))),
        ]
        for wanted, valid, ready in (
            (write, axi.awvalid, axi.awready),
            (write, axi.wvalid, axi.wready),
            (read, axi.arvalid, axi.arready),
        ):
            taken = Signal()
            m.d.comb += valid.eq(wanted & ~taken)
            with m.If(self.ready):
                m.d.sync += taken.eq(0)
            with m.Elif(valid & ready):
                m.d.sync += taken.eq(1)
        return m
