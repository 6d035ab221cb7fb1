"""The receiving end of the serial link: requests that are whole."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from coprime.bus.port import ADDRESS_BITS
from coprime.bus.serial.checksum import Checksum
from coprime.bus.serial.protocol import FCS_BYTES, MAX_WORDS, REQUEST_HEADER, SerialRequest

PLACE_BITS = (4 * MAX_WORDS - 1).bit_length()
"""Width of the number of a byte among a request's or an answer's words."""


RequestHeader = data.StructLayout(
    {
        "number": 8,
        "address_high": ADDRESS_BITS - 8,
        "unused": 1,
        "fixed": 1,
        "command": 3,
        "answer": 1,
        "address_low": 8,
        "words": 8,
    }
)
"""The first bytes of a request."""


class RequestReceiver(wiring.Component):
    """Collect a request, and report it if its checksum is right and its length is what it says.

    All others are ignored without an answer: whoever waits for one repeats the request. A frame is
    ignored, too, if `listen` is 0 at any time while it arrives.

    Members
    -------
    listen (1 bit, in)
    byte, taken, flag, spoilt (in): from FrameReader
    accepted (1 bit, out): for one cycle: a request has arrived, and `header` and its stored words
        are valid until the next byte is taken while `listen` is 1
    header (RequestHeader, out)
    store (1 bit, out): `byte` is byte `place` of the words
    place (PLACE_BITS bits, out)
    """

    def __init__(self) -> None:
        ports = {
            "listen": In(1),
            "byte": In(8),
            **dict.fromkeys(("taken", "flag", "spoilt"), In(1)),
            "accepted": Out(1),
            "header": Out(RequestHeader),
            "store": Out(1),
            "place": Out(PLACE_BITS),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Count bytes: the first ones are the header, and the words follow."""
        m = Module()
        m.submodules.checksum = checksum = Checksum()
        header = self.header
        longest = REQUEST_HEADER + 4 * MAX_WORDS + FCS_BYTES
        count = Signal(range(longest + 2))
        words = Signal(range(2 * MAX_WORDS))
        valid, known, usable = Signal(), Signal(), Signal()
        takes = self.taken & self.listen
        with m.Switch(header.command):
            for command in SerialRequest:
                with m.Case(command):
                    m.d.comb += known.eq(~header.answer & (header.words <= MAX_WORDS))
        with m.If((header.command == SerialRequest.OPEN) | (header.command == SerialRequest.WRITE)):
            m.d.comb += words.eq(header.words)
        m.d.comb += [
            checksum.clear.eq(self.flag),
            checksum.data.eq(self.byte),
            checksum.valid.eq(takes),
            usable.eq(valid & ~self.spoilt & self.listen),
            self.accepted.eq(
                self.flag
                & usable
                & known
                & checksum.matches
                & (count == REQUEST_HEADER + FCS_BYTES + Cat(0, 0, words))
            ),
            self.place.eq(count - REQUEST_HEADER),
            self.store.eq(takes & (count >= REQUEST_HEADER) & (count < longest - FCS_BYTES)),
        ]
        with m.If(self.flag):
            m.d.sync += [count.eq(0), valid.eq(self.listen)]
        with m.Else():
            m.d.sync += valid.eq(usable)
            with m.If(takes):
                with m.If(count <= longest):
                    m.d.sync += count.eq(count + 1)
                for place in range(REQUEST_HEADER):
                    with m.If(count == place):
                        m.d.sync += header.as_value().word_select(place, 8).eq(self.byte)
        return m
