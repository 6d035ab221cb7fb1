"""The bridge, at its wires, in front of registers that are numbers in a dictionary."""

import random

import pytest

from coprime.bus.axi4_lite import OKAY, SLVERR
from coprime.bus.serial.bridge import SerialBridge
from coprime.bus.serial.protocol import ANSWER, ESCAPE, FLAG, INTERRUPT, SerialRequest, Status

DIVISOR = 4
SEED = 11
REFUSED = 0x010
NONCE = 0x7E7D_0031
ANSWER_CYCLES = 14 * 10 * DIVISOR


class Registers:
    """An AXI4-Lite slave; a register that counts its reads is at every address with no value."""

    def __init__(self, bridge, rng):
        self.bridge, self.rng = bridge, rng
        self.values = {}
        self.writes = []
        self.reads = 0

    async def serve(self, context):
        axi = self.bridge.axi
        while True:
            await context.posedge(axi.awvalid).posedge(axi.arvalid)
            # Waiting for edges, where nothing else happens, makes the simulation faster.
            _, _, aw, w, write_address, data, strobes, address = await context.tick().sample(
                axi.awvalid, axi.wvalid, axi.awaddr, axi.wdata, axi.wstrb, axi.araddr
            )
            if aw and w:
                await self.stall(context)
                await self.pulse(context, axi.awready, axi.wready)
                assert strobes == 0xF
                self.values[write_address] = data
                self.writes.append((write_address, data))
                context.set(axi.bresp, SLVERR if write_address == REFUSED else OKAY)
                await self.pulse(context, axi.bvalid)
            else:
                await self.stall(context)
                await self.pulse(context, axi.arready)
                self.reads += 1
                context.set(axi.rdata, self.values.get(address, self.reads))
                context.set(axi.rresp, SLVERR if address == REFUSED else OKAY)
                await self.pulse(context, axi.rvalid)

    async def stall(self, context):
        for _ in range(self.rng.randrange(4)):
            await context.tick()

    async def pulse(self, context, *signals):
        for signal in signals:
            context.set(signal, 1)
        await context.tick()
        for signal in signals:
            context.set(signal, 0)


class Wire:
    """The host's end, of which a bench is made."""

    def __init__(self, bridge, frames):
        self.bridge, self.frames = bridge, frames
        self.received = bytearray()
        self.resets = 0

    async def send(self, context, data):
        for byte in data:
            for level in (0, *(byte >> n & 1 for n in range(8)), 1):
                await self.hold(context, level, DIVISOR)

    async def hold(self, context, level, cycles):
        context.set(self.bridge.rx, level)
        await context.tick().repeat(cycles)

    async def ask(self, context, *request, **rest):
        """Send a request, and return its answers as number, status and words."""
        await self.send(context, self.frames.request(*request, **rest))
        return await self.answers(context)

    async def answers(self, context):
        """What has come since the last call, when nothing more comes."""
        while True:
            before = len(self.received)
            await context.tick().repeat(ANSWER_CYCLES)
            if len(self.received) == before:
                break
        found = self.frames.bodies(bytes(self.received))
        self.received.clear()
        for body in found:
            assert body[1] & ANSWER and len(body) == 3 + 4 * body[2]
        return [
            (
                body[0],
                body[1] & ~ANSWER,
                [int.from_bytes(body[at : at + 4], "little") for at in range(3, len(body), 4)],
            )
            for body in found
        ]

    async def open(self, context, number=0):
        answer = await self.ask(context, number, SerialRequest.OPEN, words=[NONCE])
        assert answer == [(number, Status.DONE, [NONCE])]

    async def hear(self, context):
        while True:
            await context.negedge(self.bridge.tx)
            await context.tick().repeat(DIVISOR // 2)
            bits = 0
            for bit in range(9):
                await context.tick().repeat(DIVISOR)
                bits |= context.get(self.bridge.tx) << bit
            assert bits >> 8, "no stop bit"
            self.received.append(bits & 0xFF)

    async def watch(self, context):
        while True:
            await context.posedge(self.bridge.reset)
            _, _, reset = await context.tick().sample(self.bridge.reset)
            self.resets += reset


@pytest.fixture
def link(frames, simulate):
    """Run a bench with the host's end of a bridge and its registers."""
    bridge = SerialBridge(DIVISOR)
    wire, registers = Wire(bridge, frames), Registers(bridge, random.Random(SEED))

    def run(bench):
        async def first(context):
            await wire.hold(context, 1, 20)
            await bench(context, wire, registers)

        simulate(bridge, first, registers.serve, wire.hear, wire.watch)

    return run


def test_bursts(link):
    async def bench(context, wire, registers):
        await wire.open(context, 255)
        words = [random.Random(SEED).getrandbits(32) for _ in range(12)]
        words[3:5] = [0x7E7E7E7D, 0x7D7D7E7D]
        answer = await wire.ask(context, 0, SerialRequest.WRITE, 0x800, words=words)
        assert answer == [(0, Status.DONE, [])]
        assert registers.writes == [(0x800 + 4 * k, word) for k, word in enumerate(words)]
        answer = await wire.ask(context, 1, SerialRequest.READ, 0x800, count=12)
        assert answer == [(1, Status.DONE, words)]
        registers.writes.clear()
        await wire.ask(context, 2, SerialRequest.WRITE, 0xFFC, words=[1, 2, 3], fixed=True)
        assert registers.writes == [(0xFFC, 1), (0xFFC, 2), (0xFFC, 3)]
        answer = await wire.ask(context, 3, SerialRequest.READ, 0x400, count=3, fixed=True)
        assert answer == [(3, Status.DONE, [13, 14, 15])]  # it counts its reads

    link(bench)


def test_a_repeated_request_is_not_executed_again(link):
    async def bench(context, wire, registers):
        await wire.open(context)
        first = await wire.ask(context, 1, SerialRequest.READ, 0x400, count=2)
        assert first == [(1, Status.DONE, [1, 2])]
        assert await wire.ask(context, 1, SerialRequest.READ, 0x400, count=2) == first
        # Neither a damaged request nor one with another number changes the answer.
        damaged = bytearray(wire.frames.request(2, SerialRequest.WRITE, 0x404, words=[5, 6, 7]))
        damaged[9] ^= 1
        await wire.send(context, damaged)
        assert await wire.answers(context) == []
        for number in (0, 3, 129):
            answer = await wire.ask(context, number, SerialRequest.WRITE, 0x404, words=[5, 6, 7])
            assert answer == [(number, Status.UNEXPECTED, [])]
        assert await wire.ask(context, 1, SerialRequest.READ, 0x400, count=2) == first
        assert registers.reads == 2 and not registers.writes
        for _ in range(2):
            answer = await wire.ask(context, 2, SerialRequest.WRITE, 0x404, words=[5])
            assert answer == [(2, Status.DONE, [])]
        assert registers.writes == [(0x404, 5)]

    link(bench)


def test_a_refused_word_is_reported_and_the_others_are_accessed(link):
    async def bench(context, wire, registers):
        await wire.open(context)
        words = [1, 2, 3]
        for _ in range(2):
            answer = await wire.ask(context, 1, SerialRequest.WRITE, REFUSED - 4, words=words)
            assert answer == [(1, Status.REFUSED, [])]
        assert [word for _, word in registers.writes] == words
        answer = await wire.ask(context, 2, SerialRequest.READ, REFUSED - 4, count=2)
        assert answer == [(2, Status.REFUSED, [1, 2])]
        answer = await wire.ask(context, 3, SerialRequest.READ, REFUSED - 4, count=1)
        assert answer == [(3, Status.DONE, [1])]

    link(bench)


def test_sessions(link):
    async def bench(context, wire, registers):
        for number in (0, 1):
            answer = await wire.ask(context, number, SerialRequest.READ, 0x400, count=1)
            assert answer == [(number, Status.CLOSED, [])]
        assert wire.resets == 0
        await wire.open(context)
        assert wire.resets == 1
        await wire.open(context)
        assert wire.resets == 2 and context.get(wire.bridge.session)
        # A break in the middle of a request, and then in the middle of a byte of the answer.
        request = wire.frames.request(1, SerialRequest.READ, 0x400, count=1)
        await wire.send(context, request[:-2])
        await wire.hold(context, 0, 27 * DIVISOR)
        await wire.hold(context, 1, DIVISOR)
        assert wire.resets == 3 and not context.get(wire.bridge.session)
        assert await wire.ask(context, 1, SerialRequest.POLL) == [(1, Status.CLOSED, [])]
        await wire.open(context, 1)
        assert wire.resets == 4 and registers.reads == 0

    link(bench)


def test_interrupt(link):
    async def bench(context, wire, registers):
        await wire.open(context)
        for number, irq in enumerate([0, 1, 0], 1):
            context.set(wire.bridge.irq, irq)
            answer = await wire.ask(context, number, SerialRequest.POLL)
            assert answer == [(number, Status.DONE | INTERRUPT * irq, [])]

    link(bench)


def test_what_is_no_request_has_no_answer(link):
    async def bench(context, wire, registers):
        await wire.open(context)
        frame = wire.frames.frame
        good = wire.frames.request(1, SerialRequest.WRITE, 0x400, words=[5, 6])
        for data in (
            bytes([FLAG] * 5),
            frame(b""),
            frame(bytes([1, SerialRequest.POLL << 4])),
            frame(bytes([1, ANSWER | SerialRequest.POLL << 4, 0, 0])),
            frame(bytes([1, 0, 0, 0])),
            frame(bytes([1, 7 << 4, 0, 0])),
            frame(bytes([1, SerialRequest.READ << 4, 0, 65])),
            frame(bytes([1, SerialRequest.POLL << 4, 0, 0, 9])),
            frame(bytes([1, SerialRequest.WRITE << 4, 0, 2, *range(9)])),
            frame(bytes([1, SerialRequest.WRITE << 4, 0, 64, *[0] * 257])),
            good[:-1] + bytes([ESCAPE, FLAG]),
            good[1:-6] + bytes([FLAG]),
            b"Linux version 6.1\r\nlogin: \xff\x00",
        ):
            await wire.send(context, data)
        assert await wire.answers(context) == []
        # A byte without its stop bit spoils a frame that would be right without it.
        await wire.send(context, good[:4])
        await wire.hold(context, 0, 2 * DIVISOR)
        await wire.hold(context, 1, 7 * DIVISOR)
        await wire.hold(context, 0, DIVISOR)
        await wire.hold(context, 1, DIVISOR)
        await wire.send(context, good[4:])
        assert await wire.answers(context) == []
        assert not registers.writes
        # One flag between two frames, or two.
        await wire.send(context, good[1:])
        assert await wire.answers(context) == [(1, Status.DONE, [])]
        await wire.send(context, good + good)
        # The second one comes while the first one is answered.
        assert await wire.answers(context) == [(1, Status.DONE, [])]

    link(bench)
