"""A small engine of byte strings, and a host at the register port of its front end."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory

from coprime.bus import registers
from coprime.bus.axi_accelerator import with_reset
from coprime.bus.call_front_end import CallFrontEnd
from coprime.calls.family import CallFamily
from coprime.calls.interface import WIPE, Call, CallOutcome, EngineInterface, Slot
from coprime.calls.ports import CallSignature
from coprime.engine.capabilities import Error
from coprime.parameters import Parameter

KEY = Slot(0, "key", "the key", (7, 12), secret=True)
SECOND = Slot(1, "second", "a second key", (4,), readable=True)
COPY = Slot(3, "copy", "the key, inverted", (7, 12), readable=True)
HIDDEN = Slot(4, "hidden", "stays inside", (8,))
TEXT = Slot(5, "text", "a text of any length", (0,), streamed=True)
ECHO = Slot(6, "echo", "the text, inverted", (0,), streamed=True, readable=True)


def inverted(data):
    return bytes(byte ^ 0xFF for byte in data)


def draw(parameter_set, random):
    key = random.randbytes(7 if parameter_set == "short" else 12)
    return {"key": key, "second": random.randbytes(4), "hidden": bytes(8)}


CALLS = (
    Call(
        *(20, "COPY", "inverts the key", ("key", "second"), ("copy",)),
        draw=draw,
        reference=lambda parameter_set, values: {"copy": inverted(values["key"])},
        optional=frozenset({"second"}),
    ),
    Call(
        *(33, "ECHO", "inverts a text", ("text",), ("echo",)),
        draw=lambda parameter_set, random: {"text": random.randbytes(random.randrange(99))},
        reference=lambda parameter_set, values: {"echo": inverted(values["text"])},
    ),
    Call(
        *(40, "DRAW", "draws the second key", ("second",), ("second", "hidden")),
        draw=lambda parameter_set, random: {"second": random.randbytes(4)},
        reference=lambda parameter_set, values: {"second": values["second"], "hidden": bytes(8)},
        optional=frozenset({"second"}),
    ),
    Call(
        *(63, "FAIL", "fails", ("key", "hidden"), ("copy",)),
        draw=draw,
        reference=lambda parameter_set, values: {},
    ),
)
INTERFACE = EngineInterface(
    family="mock",
    family_number=0xABCD,
    slots=(KEY, SECOND, COPY, HIDDEN, TEXT, ECHO),
    calls=CALLS,
    parameter_sets=("short", "long"),
    units=3,
)
WORDS = 4  # of a slot's memory
GIVEN_BY_DRAW = 1 << SECOND.number | 1 << HIDDEN.number


class MockDesign:
    """Its cycles and outputs; `wrong` are cycles too many."""

    interface = INTERFACE

    def __init__(self, wrong=0):
        self.wrong = int(wrong)

    def hardware(self, target=None):
        return MockCalls()

    def predict(self, call, parameter_set, inputs, random=b""):
        if call.name == "FAIL":
            return CallOutcome(Error.FAULT, {}, 32)
        values = {"second": random, **inputs}
        lengths = {"COPY": 4 * -(-len(inputs.get("key", b"")) // 4), "DRAW": 4, "ECHO": 0}
        outputs = call.reference(parameter_set, values)
        return CallOutcome(Error.NONE, outputs, lengths[call.name] + self.wrong)


FAMILY = CallFamily(
    name="mock",
    paper="",
    summary="a small engine for tests",
    parameters=(Parameter("wrong", 0, 1, 0, "cycles too many in predictions"),),
    builder="tests.calls.mock:MockDesign",
)


class MockCalls(wiring.Component):
    """COPY inverts the key in 4 cycles for each word, ECHO a word of text as soon as it is given.

    `takes` and `gives` are 1 where the engine can take, and give, a word, and `hold` where WIPE
    makes no progress; a test sets them.
    """

    def __init__(self):
        self.interface = INTERFACE
        super().__init__(CallSignature(INTERFACE))
        self.takes, self.gives, self.hold = Signal(init=1), Signal(init=1), Signal()
        self.memory = Memory(shape=32, depth=8 * WORDS, init=[])

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = self.memory
        write, read = self.memory.write_port(), self.memory.read_port(domain="comb")
        source = self.memory.read_port(domain="comb")
        count = Signal(8, init=20)
        call = Signal(6, init=WIPE)
        run = Signal(init=1)
        drawn = Signal(24)
        place = Signal(range(WORDS))
        load = self.load.payload
        is_text = load.slot == TEXT.number
        echoes = run & (call == 33)
        length = Mux(self.parameter_set, 12, 7)
        m.d.comb += [
            self.busy.eq(run),
            read.addr.eq(Cat(place, self.read_slot)),
            source.addr.eq(Cat(count[2:4], Const(KEY.number, 3))),
        ]
        with m.If(~run):
            m.d.comb += [
                self.load.ready.eq(self.takes),
                write.en.eq(self.load.valid & self.load.ready),
                write.addr.eq(Cat(load.index[: len(place)], load.slot)),
                write.data.eq(load.word.data),
                self.output.valid.eq(self.gives),
                self.output.payload.data.eq(read.data),
            ]
            with m.If(self.output.valid & self.output.ready):
                m.d.sync += place.eq(place + 1)
            with m.If(self.start):
                m.d.sync += [run.eq(1), call.eq(self.call), count.eq(0)]
        with m.Elif(echoes):
            m.d.comb += [
                self.output.payload.eq(load.word),
                self.output.payload.data.eq(~load.word.data),
                self.output.valid.eq(
                    self.load.valid & is_text & self.gives & (self.read_slot == ECHO.number)
                ),
                self.load.ready.eq(self.takes & self.output.valid & self.output.ready),
                self.working.eq(self.load.ready),
                self.multiplying.eq(Mux(self.working, 2, 0)),
            ]
            with m.If(self.load.ready & load.word.last):
                m.d.comb += self.done.eq(1)
        with m.Elif(call == 40):
            held = self.complete[SECOND.number]
            m.d.comb += [
                self.random.ready.eq(~held),
                self.working.eq(held | self.random.valid),
                self.done.eq(self.working & (count == 3)),
                write.addr.eq(Cat(Const(0, 2), Const(SECOND.number, 3))),
                write.data.eq(Cat(drawn, self.random.payload)),
                write.en.eq(self.done & ~held),
            ]
            with m.If(self.working):
                m.d.sync += [count.eq(count + 1), drawn.eq(Cat(drawn, self.random.payload) >> 8)]
        with m.Else():
            m.d.comb += self.working.eq(1)
            with m.If(~self.hold):
                m.d.sync += count.eq(count + 1)
            with m.If(call == 20):
                m.d.comb += [
                    write.en.eq(count[:2] == 3),
                    write.addr.eq(Cat(count[2:4], Const(COPY.number, 3))),
                    write.data.eq(~source.data),
                    self.done.eq(count == 4 * ((length + 3) >> 2) - 1),
                ]
            with m.Else():
                m.d.comb += [self.done.eq(count == 31), write.en.eq(call == WIPE)]
                m.d.comb += write.addr.eq(count[:5])
        with m.If(self.read_restart):
            m.d.sync += place.eq(0)
        with m.If(self.done):
            m.d.sync += run.eq(0)
            gives = Mux(call == 20, 1 << COPY.number, Mux(call == 40, GIVEN_BY_DRAW, 0))
            m.d.comb += self.given.eq(self.complete | gives)
            m.d.comb += self.error.eq(Mux(call == 63, Error.FAULT, 0))
            with m.If(call == 63):
                m.d.comb += self.given.eq(self.complete & ~(1 << KEY.number))
        return m


class CallBench(wiring.Component):
    """A front end with the engine, and the host's accesses of its registers."""

    def __init__(self, engine=None):
        super().__init__({})
        self.engine = engine or MockCalls()
        self.front_end = CallFrontEnd(self.engine.interface)

    def elaborate(self, platform):
        m = Module()
        m.submodules.front_end = self.front_end
        m.submodules.engine = with_reset(self.engine, self.front_end)
        wiring.connect(m, self.engine, self.front_end.engine)
        return m

    async def write(self, ctx, register, value, *, okay=True):
        """Write; return the cycles that it took."""
        port = self.front_end.registers
        ctx.set(port.write, 1)
        ctx.set(port.write_address, getattr(register, "address", register) // 4)
        ctx.set(port.write_data, value)
        cycles = 1
        while not ctx.get(port.write_ready):
            await ctx.tick()
            cycles += 1
            assert cycles < 2000
        assert ctx.get(port.write_error) == (not okay)
        await ctx.tick()
        ctx.set(port.write, 0)
        return cycles

    async def read(self, ctx, register, *, okay=True):
        return (await self.timed_read(ctx, register, okay=okay))[0]

    async def timed_read(self, ctx, register, *, okay=True):
        """Read; return the value and the cycles that it took."""
        port = self.front_end.registers
        ctx.set(port.read, 1)
        ctx.set(port.read_address, getattr(register, "address", register) // 4)
        cycles = 1
        while not ctx.get(port.read_ready):
            await ctx.tick()
            cycles += 1
            assert cycles < 2000
        value, error = ctx.get(Cat(port.read_data)), ctx.get(port.read_error)
        assert error == (not okay)
        await ctx.tick()
        ctx.set(port.read, 0)
        return value, cycles

    async def refusal(self, ctx):
        """The refusal, and clear it."""
        word = await self.read(ctx, registers.ERROR)
        await self.write(ctx, registers.ERROR, 0)
        return Error(registers.ERROR["REFUSAL"].of(word))

    async def error(self, ctx):
        return Error(registers.ERROR["CODE"].of(await self.read(ctx, registers.ERROR)))

    async def load(self, ctx, slot, data, *, more=False, length=None):
        """Write all words of a slot; return the most cycles that one of them took."""
        if not slot.streamed or more is not None:
            await self.write(ctx, registers.SLOT, slot.number)
        length = len(data) if length is None else length
        await self.write(ctx, registers.SLOT_LENGTH, length | bool(more) << 31)
        cycles = [
            await self.write(ctx, registers.DATA_WINDOW, int.from_bytes(data[k : k + 4], "little"))
            for k in range(0, len(data), 4)
        ]
        return max(cycles, default=0)

    async def fetch(self, ctx, slot):
        """Read all words of a slot; return its bytes, and the most cycles that one of them took."""
        await self.write(ctx, registers.SLOT, slot.number)
        length = await self.read(ctx, registers.SLOT_LENGTH)
        found = [await self.timed_read(ctx, registers.DATA_WINDOW) for _ in range(-(-length // 4))]
        data = b"".join(word.to_bytes(4, "little") for word, _ in found)
        return data[:length], max((cycles for _, cycles in found), default=0)

    async def ready(self, ctx):
        """Wait for the end of a command, or of the reset."""
        for _ in range(2000):
            if not registers.STATUS["BUSY"].of(await self.read(ctx, registers.STATUS)):
                return
        raise AssertionError("the command does not end")

    async def run(self, ctx, code):
        """Run a command without streams; its error."""
        await self.write(ctx, registers.COMMAND, code)
        await self.ready(ctx)
        return await self.error(ctx)
