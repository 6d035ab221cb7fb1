"""An engine of byte strings that takes and gives words later than an access waits."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory

from coprime.calls.interface import WIPE, Call, EngineInterface, Slot
from coprime.calls.ports import CallSignature

PAUSE = 1300  # cycles before each word
TEXT = Slot(2, "text", "a text of up to 64 bytes", (0,), streamed=True)
ECHO = Slot(30, "echo", "the text again", (0,), streamed=True, readable=True)
SLOW_ECHO = Call(
    *(40, "SLOW_ECHO", "gives a text again", ("text",), ("echo",)),
    draw=lambda parameter_set, random: {"text": random.randbytes(random.randrange(1, 64))},
    reference=lambda parameter_set, values: {"echo": values["text"]},
)


class SlowCalls(wiring.Component):
    """SLOW_ECHO takes all of a text, then gives all of it, with a pause before each word."""

    def __init__(self):
        self.interface = EngineInterface("slow", 0xABCE, (TEXT, ECHO), (SLOW_ECHO,))
        super().__init__(CallSignature(self.interface))

    def elaborate(self, platform):
        m = Module()
        word = self.load.payload.word
        m.submodules.memory = memory = Memory(shape=word.shape(), depth=16, init=[])
        write, read = memory.write_port(), memory.read_port(domain="comb")
        run, gives, wipes = Signal(), Signal(), Signal()
        pause, place, count = Signal(range(PAUSE + 1)), Signal(4), Signal(4)
        ready = pause == 0
        with m.If(~ready):
            m.d.sync += pause.eq(pause - 1)
        m.d.comb += [
            self.busy.eq(run),
            read.addr.eq(place),
            write.addr.eq(place),
            write.data.eq(word),
            self.output.payload.eq(read.data),
        ]
        with m.If(~run & self.start):
            m.d.sync += [run.eq(1), wipes.eq(self.call == WIPE), pause.eq(PAUSE), place.eq(0)]
        with m.Elif(run & wipes):
            m.d.comb += [self.working.eq(1), self.done.eq(ready)]
        with m.Elif(run & ~gives):
            m.d.comb += [self.load.ready.eq(ready), write.en.eq(ready & self.load.valid)]
            with m.If(write.en):
                m.d.sync += [pause.eq(PAUSE), place.eq(place + 1)]
                with m.If(word.last):
                    m.d.sync += [gives.eq(1), place.eq(0), count.eq(place - (word.bytes == 0))]
        with m.Elif(run):
            m.d.comb += self.output.valid.eq(ready & (self.read_slot == ECHO.number))
            with m.If(self.output.valid & self.output.ready):
                m.d.sync += [pause.eq(PAUSE), place.eq(place + 1)]
                m.d.comb += self.done.eq(place == count)
        with m.If(self.done):
            m.d.sync += [run.eq(0), gives.eq(0)]
        return m
