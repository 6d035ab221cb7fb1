"""Bytes between flags, with escapes: HDLC-like framing (RFC 1662, section 4.2)."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.bus.serial.protocol import ESCAPE, ESCAPED, FLAG


class FrameReader(wiring.Component):
    """Find the bytes of frames in received ones. No latency.

    Members
    -------
    data (8 bits, in): a received byte, with `valid`
    valid (1 bit, in)
    broken (1 bit, in): a byte could not be received
    byte (8 bits, out): a byte of a frame, with `taken`
    taken (1 bit, out)
    flag (1 bit, out): a frame ends here, and another one begins
    spoilt (1 bit, out): the frame under way is invalid: a broken byte, or a flag after an escape
    """

    def __init__(self) -> None:
        ports = {
            "data": In(8),
            **dict.fromkeys(("valid", "broken"), In(1)),
            "byte": Out(8),
            **dict.fromkeys(("taken", "flag", "spoilt"), Out(1)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Remember whether the last byte was an escape."""
        m = Module()
        escaping = Signal()
        m.d.comb += [
            self.flag.eq(self.valid & (self.data == FLAG)),
            self.spoilt.eq(self.broken | (self.flag & escaping)),
            self.taken.eq(self.valid & (self.data != FLAG) & (self.data != ESCAPE)),
            self.byte.eq(self.data ^ Mux(escaping, ESCAPED, 0)),
        ]
        with m.If(self.valid):
            m.d.sync += escaping.eq(self.data == ESCAPE)
        with m.Elif(self.broken):
            m.d.sync += escaping.eq(0)
        return m


class FrameWriter(wiring.Component):
    """Send bytes of a frame, escaped where need be, or flags.

    Members
    -------
    byte (8 bits, in): a byte of a frame, with `offered`, until `taken`
    flag (1 bit, in): in its place: a flag
    offered (1 bit, in)
    taken (1 bit, out): for one cycle, in which the byte's last part goes to the transmitter
    data (8 bits, out): to the transmitter
    send (1 bit, out)
    busy (1 bit, in): of the transmitter
    """

    def __init__(self) -> None:
        ports = {
            "byte": In(8),
            **dict.fromkeys(("flag", "offered"), In(1)),
            "taken": Out(1),
            "data": Out(8),
            "send": Out(1),
            "busy": In(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Send an escape first, if the byte means something else otherwise."""
        m = Module()
        escaped = Signal()
        special = Signal()
        m.d.comb += [
            special.eq((self.byte == FLAG) | (self.byte == ESCAPE)),
            self.send.eq(self.offered & ~self.busy),
        ]
        with m.If(self.flag):
            m.d.comb += [self.data.eq(FLAG), self.taken.eq(self.send)]
        with m.Elif(special & ~escaped):
            m.d.comb += self.data.eq(ESCAPE)
            m.d.sync += escaped.eq(self.send)
        with m.Else():
            m.d.comb += [
                self.data.eq(self.byte ^ Mux(escaped, ESCAPED, 0)),
                self.taken.eq(self.send),
            ]
            with m.If(self.send):
                m.d.sync += escaped.eq(0)
        return m
