"""The bytes of a request, on their way out."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from .steps import OUTPUT, REQUEST_BYTES


class Delivery(wiring.Component):
    """The bytes of a request, one after the other; a word is cleared with its last byte.

    Members
    -------
    random : as in Generator
    enable : bytes may be given, and the mechanism is idle
    fill : there is a new request
    drop : no byte is left
    wanted : a byte is wanted, and none is left
    empty : none is left
    index, byte, clear, clear_index : those of DrbgMechanism
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "random": Out(stream.Signature(8)),
                **dict.fromkeys(("enable", "fill", "drop"), In(1)),
                **dict.fromkeys(("wanted", "empty", "clear"), Out(1)),
                "index": Out(range(REQUEST_BYTES)),
                "byte": In(8),
                "clear_index": Out(range(OUTPUT.words)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Count the bytes."""
        m = Module()
        left, place = Signal(range(REQUEST_BYTES + 1)), Signal(range(REQUEST_BYTES))
        shown, taken = Signal(), Signal()  # the next byte has been read; it is taken
        m.d.comb += [
            self.empty.eq(left == 0),
            self.wanted.eq(self.random.ready & self.empty),
            self.random.payload.eq(self.byte),
            self.random.valid.eq(self.enable & shown & ~self.empty),
            taken.eq(self.random.valid & self.random.ready),
            self.index.eq(place + taken),
            self.clear_index.eq(place >> 2),
            self.clear.eq(taken & place[:2].all()),
        ]
        m.d.sync += [shown.eq(self.enable), place.eq(self.index)]
        with m.If(taken):
            m.d.sync += left.eq(left - 1)
        with m.If(self.fill):
            m.d.sync += [left.eq(REQUEST_BYTES), place.eq(0)]
        with m.If(self.drop):
            m.d.sync += left.eq(0)
        return m
