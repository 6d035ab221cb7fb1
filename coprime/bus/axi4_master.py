"""An AXI4 master that makes bursts, with a simple handshake."""

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from coprime.bus.axi4 import ID_BITS, WORD, AXI4Signature, Burst
from coprime.bus.axi4_lite import OKAY
from coprime.bus.port import WINDOW_BITS, WORD_BITS


class AXI4Master(wiring.Component):
    """Makes bursts to consecutive registers, one at a time, with the ID 0.

    Members
    -------
    valid (1 bit, in): requests a burst; this and the next three keep their values until `ready`
    address (12 bits, in): of the first register
    beats (8 bits, in): registers after the first one: AxLEN
    strobes (4 bits, in): bytes to write of each register; 0 is a read
    words (stream of 32 bits, in): what is written
    answers (stream of 32 bits, out): what was read
    ready (1 bit, out): the burst ends in this cycle
    refused (1 bit, out): with `ready`: at least one response was an error
    axi: the bus
    """

    def __init__(self) -> None:
        ports = {
            "valid": In(1),
            "address": In(WINDOW_BITS),
            "beats": In(8),
            "strobes": In(4),
            "words": In(stream.Signature(WORD_BITS)),
            "answers": Out(stream.Signature(WORD_BITS, always_ready=True)),
            "ready": Out(1),
            "refused": Out(1),
            "axi": In(AXI4Signature(ID_BITS)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Hold an address until it is accepted, count the words, and end with the response."""
        m = Module()
        axi = self.axi
        write, read = Signal(), Signal()
        left = Signal(8)  # words to write after the next one, once one has been accepted
        begun, all_sent = Signal(), Signal()
        last = Signal()
        failed = Signal()  # a beat before this one
        m.d.comb += [
            write.eq(self.valid & self.strobes.any()),
            read.eq(self.valid & ~self.strobes.any()),
            axi.wdata.eq(self.words.payload),
            axi.wstrb.eq(self.strobes),
            axi.wvalid.eq(write & self.words.valid & ~all_sent),
            axi.wlast.eq(last),
            last.eq((begun & (left == 0)) | (~begun & (self.beats == 0))),
            self.words.ready.eq(write & axi.wready & ~all_sent),
            axi.bready.eq(write),
            axi.rready.eq(read),
            self.answers.valid.eq(read & axi.rvalid),
            self.answers.payload.eq(axi.rdata),
            self.ready.eq((write & axi.bvalid) | (read & axi.rvalid & axi.rlast)),
        ]
        response = Signal(2)
        with m.If(write):
            m.d.comb += response.eq(axi.bresp)
        with m.Else():
            m.d.comb += response.eq(axi.rresp)
        m.d.comb += self.refused.eq(failed | (response != OKAY))
        with m.If(self.ready):
            m.d.sync += [begun.eq(0), all_sent.eq(0), failed.eq(0)]
        with m.Else():
            with m.If(axi.wvalid & axi.wready):
                m.d.sync += [begun.eq(1), all_sent.eq(last)]
                m.d.sync += left.eq(left - 1)
                with m.If(~begun):
                    m.d.sync += left.eq(self.beats - 1)
            with m.If(self.answers.valid):
                m.d.sync += failed.eq(self.refused)
        m.d.comb += [
            axi.awaddr.eq(self.address),
            axi.awlen.eq(self.beats),
            axi.awsize.eq(WORD),
            axi.awburst.eq(Burst.INCR),
        ]
        self._request(m, write, axi.awvalid, axi.awready)
        m.d.comb += [
            axi.araddr.eq(self.address),
            axi.arlen.eq(self.beats),
            axi.arsize.eq(WORD),
            axi.arburst.eq(Burst.INCR),
        ]
        self._request(m, read, axi.arvalid, axi.arready)
        return m

    def _request(self, m: Module, wanted: Value, valid: Value, ready: Value) -> None:
        """Show an address until it is accepted, once in a burst."""
        taken = Signal()
        m.d.comb += valid.eq(wanted & ~taken)
        with m.If(self.ready):
            m.d.sync += taken.eq(0)
        with m.Elif(valid & ready):
            m.d.sync += taken.eq(1)
