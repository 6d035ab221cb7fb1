"""The sending end of the serial link: answers."""

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.bus.serial.checksum import Checksum
from coprime.bus.serial.protocol import ANSWER_HEADER, FCS_BYTES, MAX_WORDS, Status
from coprime.bus.serial.request import PLACE_BITS


class AnswerSender(wiring.Component):
    """Send an answer: a flag, header, words and checksum, and another flag.

    Members
    -------
    start (1 bit, in): for one cycle; the next four keep their values until `done`
    number (8 bits, in): that of the request
    interrupt (1 bit, in)
    status (Status, in)
    words (in): that follow, 0 to MAX_WORDS
    done (1 bit, out): for one cycle: the transmitter has the last flag
    place (PLACE_BITS bits, out): number of a stored byte of the words
    stored (8 bits, in): the byte at `place`, a cycle later
    byte, flag, offered, taken: to FrameWriter, which takes at most one in Checksum's CYCLES + 2
    """

    def __init__(self) -> None:
        ports = {
            "start": In(1),
            "number": In(8),
            "interrupt": In(1),
            "status": In(Status),
            "words": In(range(MAX_WORDS + 1)),
            "done": Out(1),
            "place": Out(PLACE_BITS),
            "stored": In(8),
            "byte": Out(8),
            **dict.fromkeys(("flag", "offered"), Out(1)),
            "taken": In(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Count the bytes of each part."""
        m = Module()
        m.submodules.checksum = checksum = Checksum()
        step = Signal(range(max(ANSWER_HEADER, FCS_BYTES)))
        header = Cat(
            self.number,
            self.status,
            Const(0, 6 - len(self.status)),
            self.interrupt,
            Const(1, 1),
            self.words,
        )
        last_place = Signal(PLACE_BITS + 2)
        m.d.comb += [checksum.data.eq(self.byte), last_place.eq(Cat(Const(0, 2), self.words) - 1)]
        with m.FSM():
            with m.State("REST"):
                m.d.comb += checksum.clear.eq(1)
                m.d.sync += [step.eq(0), self.place.eq(0)]
                with m.If(self.start):
                    m.next = "BEGIN"
            with m.State("BEGIN"):
                m.d.comb += [self.flag.eq(1), self.offered.eq(1)]
                with m.If(self.taken):
                    m.next = "HEADER"
            with m.State("HEADER"):
                m.d.comb += [
                    self.byte.eq(header.word_select(step, 8)),
                    self.offered.eq(1),
                    checksum.valid.eq(self.taken),
                ]
                with m.If(self.taken):
                    m.d.sync += step.eq(step + 1)
                    with m.If(step == ANSWER_HEADER - 1):
                        m.d.sync += step.eq(0)
                        with m.If(self.words == 0):
                            m.next = "CHECKSUM"
                        with m.Else():
                            m.next = "WORDS"
            with m.State("WORDS"):
                m.d.comb += [
                    self.byte.eq(self.stored),
                    self.offered.eq(1),
                    checksum.valid.eq(self.taken),
                ]
                with m.If(self.taken):
                    m.d.sync += self.place.eq(self.place + 1)
                    with m.If(self.place == last_place):
                        m.next = "CHECKSUM"
            with m.State("CHECKSUM"):
                m.d.comb += [self.byte.eq(checksum.value.word_select(step, 8)), self.offered.eq(1)]
                with m.If(self.taken):
                    m.d.sync += step.eq(step + 1)
                    with m.If(step == FCS_BYTES - 1):
                        m.next = "END"
            with m.State("END"):
                m.d.comb += [self.flag.eq(1), self.offered.eq(1)]
                with m.If(self.taken):
                    m.d.comb += self.done.eq(1)
                    m.next = "REST"
        return m
