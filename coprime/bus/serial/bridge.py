"""From a UART to AXI4-Lite: requests and answers in frames, whose format is in docs/serial.md."""

from fractions import Fraction

from amaranth.hdl import Cat, Const, Elaboratable, Module, Mux, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory, ReadPort
from amaranth.lib.wiring import In, Out

from coprime.bus.axi4_lite import AXI4LiteSignature
from coprime.bus.serial.answer import AnswerSender
from coprime.bus.serial.burst import Burst
from coprime.bus.serial.framing import FrameReader, FrameWriter
from coprime.bus.serial.protocol import MAX_WORDS, SerialRequest, Status
from coprime.bus.serial.request import PLACE_BITS, RequestReceiver
from coprime.bus.serial.uart import Receiver, Transmitter
from coprime.cells.wires import same_named


class SerialBridge(wiring.Component):
    """An AXI4-Lite master that a serial wire commands.

    A session begins with the request OPEN, which resets the accelerator, and ends with a reset of
    this component or a break on the wire, which resets both. In a session each request has the
    number after the last one's, modulo 256; a request with the last one's number is not executed
    again, but answered again. One request at a time: what arrives before the answer has been sent
    is lost.

    Parameters
    ----------
    divisor (int or Fraction): clock cycles of a bit on both wires: at least 4, a multiple of 1/8;
        `divisor_of` computes it

    Members
    -------
    rx (1 bit, in): the wire from the host, 1 at rest; from any clock
    tx (1 bit, out): the wire to the host, 1 at rest; from a register
    irq (1 bit, in): of the accelerator, for the host to see in every answer
    reset (1 bit, out): of the accelerator, active high for one cycle
    session (1 bit, out): a session is open
    axi : the bus

    Raises TypeError or ValueError for another divisor.
    """

    def __init__(self, divisor: int | Fraction):
        self.receiver = Receiver(divisor)
        self.transmitter = Transmitter(divisor)
        ports = {
            "rx": In(1),
            "tx": Out(1, init=1),
            "irq": In(1),
            **dict.fromkeys(("reset", "session"), Out(1)),
            "axi": In(AXI4LiteSignature()),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Reset all but the receiver at a break."""
        m = Module()
        m.submodules.receiver = receiver = self.receiver
        at_break = ResetInserter(receiver.pause)
        m.submodules.transmitter = transmitter = at_break(self.transmitter)
        m.submodules.core = core = at_break(_Core())
        m.d.comb += [
            receiver.rx.eq(self.rx),
            *same_named(core, receiver, "data", "valid", "broken"),
            transmitter.data.eq(core.send_data),
            transmitter.send.eq(core.send),
            core.busy.eq(transmitter.busy),
            self.tx.eq(transmitter.tx),
            core.irq.eq(self.irq),
            self.reset.eq(core.reset | receiver.pause),
            self.session.eq(core.session),
        ]
        wiring.connect(m, core.axi, wiring.flipped(self.axi))
        return m


class _Core(wiring.Component):
    """The bridge but for the UART: it decides what becomes of a request.

    Members
    -------
    data, valid, broken (in): from Receiver
    send_data, send, busy: to Transmitter
    irq, reset, session, axi : as SerialBridge's
    """

    def __init__(self) -> None:
        ports = {
            "data": In(8),
            **dict.fromkeys(("valid", "broken"), In(1)),
            "send_data": Out(8),
            "send": Out(1),
            **dict.fromkeys(("busy", "irq"), In(1)),
            **dict.fromkeys(("reset", "session"), Out(1)),
            "axi": In(AXI4LiteSignature()),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Take a request, execute it or not, and answer."""
        m = Module()
        m.submodules.reader = reader = FrameReader()
        m.submodules.request = request = RequestReceiver()
        m.submodules.burst = burst = Burst()
        m.submodules.sender = sender = AnswerSender()
        m.submodules.writer = writer = FrameWriter()
        header = request.header
        # The words of the last request, which leave it only for the bus or as OPEN's answer, and
        # then the words of the last answer, which stay there until another request is executed.
        # What is read of a byte in the cycle in which it is written is not used.
        m.submodules.store = store = Memory(
            shape=8, depth=2 << PLACE_BITS, init=[], attrs={"no_rw_check": 1}
        )
        read, write = store.read_port(), store.write_port()

        m.d.comb += [
            *same_named(reader, self, "data", "valid", "broken"),
            *same_named(request, reader, "byte", "taken", "flag", "spoilt"),
            burst.write.eq(header.command == SerialRequest.WRITE),
            burst.fixed.eq(header.fixed),
            burst.address.eq(Cat(header.address_low, header.address_high)),
            burst.words.eq(Mux(header.command == SerialRequest.POLL, 0, header.words)),
            burst.read_byte.eq(read.data),
            sender.number.eq(header.number),
            sender.stored.eq(read.data),
            *same_named(writer, sender, "byte", "flag", "offered"),
            sender.taken.eq(writer.taken),
            self.send_data.eq(writer.data),
            self.send.eq(writer.send),
            writer.busy.eq(self.busy),
        ]
        wiring.connect(m, burst.axi, wiring.flipped(self.axi))
        with m.If(burst.store):
            m.d.comb += [
                write.addr.eq(Cat(burst.place, Const(1, 1))),
                write.data.eq(burst.store_byte),
                write.en.eq(1),
            ]
        with m.Else():
            m.d.comb += [
                write.addr.eq(request.place),
                write.data.eq(request.byte),
                write.en.eq(request.store),
            ]

        self._execute(m, request, burst, sender, read)
        return m

    def _execute(
        self,
        m: Module,
        request: RequestReceiver,
        burst: Burst,
        sender: AnswerSender,
        read: ReadPort,
    ) -> None:
        """The state machine: what becomes of a request, and which answer it has."""
        header = request.header
        last_number = Signal(8)
        last_refused = Signal()
        last_words = Signal(range(MAX_WORDS + 1))
        opens = Signal()  # the answer is OPEN's
        with m.FSM():
            with m.State("LISTEN"):
                m.d.comb += request.listen.eq(1)
                m.d.sync += [sender.interrupt.eq(self.irq), opens.eq(0)]
                with m.If(request.accepted):
                    with m.If(header.command == SerialRequest.OPEN):
                        m.d.comb += self.reset.eq(1)
                        m.d.sync += [
                            self.session.eq(1),
                            opens.eq(1),
                            last_number.eq(header.number),
                            last_refused.eq(0),
                            last_words.eq(0),
                            sender.status.eq(Status.DONE),
                            sender.words.eq(header.words),
                        ]
                        m.next = "ANSWER"
                    with m.Elif(~self.session):
                        m.d.sync += [sender.status.eq(Status.CLOSED), sender.words.eq(0)]
                        m.next = "ANSWER"
                    with m.Elif(header.number == last_number):
                        m.next = "REPEAT"
                    with m.Elif(header.number == (last_number + 1)[:8]):
                        m.next = "BEGIN"
                    with m.Else():
                        m.d.sync += [sender.status.eq(Status.UNEXPECTED), sender.words.eq(0)]
                        m.next = "ANSWER"
            with m.State("BEGIN"):
                m.d.comb += burst.start.eq(1)
                m.d.sync += [
                    last_number.eq(header.number),
                    last_words.eq(Mux(header.command == SerialRequest.READ, header.words, 0)),
                ]
                m.next = "EXECUTE"
            with m.State("EXECUTE"):
                m.d.comb += read.addr.eq(burst.place)
                m.d.sync += [last_refused.eq(burst.refused), sender.interrupt.eq(self.irq)]
                with m.If(burst.done):
                    m.next = "REPEAT"
            with m.State("REPEAT"):
                m.d.sync += [
                    sender.status.eq(Mux(last_refused, Status.REFUSED, Status.DONE)),
                    sender.words.eq(last_words),
                ]
                m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.comb += sender.start.eq(1)
                m.next = "SENDING"
            with m.State("SENDING"):
                m.d.comb += read.addr.eq(Cat(sender.place, ~opens))
                with m.If(sender.done):
                    m.next = "LISTEN"
