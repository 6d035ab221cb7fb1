"""One node, and a few behind each other, packet by packet."""

import random

import pytest
from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from coprime.cluster.node import Node
from coprime.cluster.packet import REPLY_OFFSET, SETTINGS, PacketKind
from coprime.engine.contract import Capabilities, Command, EngineSignature, Error, Operand

CAPABILITIES = Capabilities(
    family="small",
    family_number=0,
    digit_width=12,
    headroom=0,
    min_length=1,
    max_length=90,
    max_prime_length=90,
    required={Command.MODMUL: frozenset({Operand.X, Operand.Y, Operand.E})},
    round_bits=12,
)
CORES = 6
NUMBER = 4


class SmallEngine(wiring.Component):
    """Works for `lengths.modulus` cycles, at least 1; its error is then `counts.exponent`.

    A digit of the result is X's without its ones. While busy, what is read of it is all ones.
    """

    def __init__(self):
        self.capabilities = CAPABILITIES
        super().__init__(EngineSignature(CAPABILITIES))
        self.memory = Memory(shape=12, depth=32 * 16, init=[])

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = self.memory
        write, read = self.memory.write_port(), self.memory.read_port()
        delayed = [self.index]
        for _ in range(2):
            delayed.append(Signal.like(self.index))
            m.d.sync += delayed[-1].eq(delayed[-2])
        m.d.comb += [
            write.addr.eq(Cat(self.index, self.operand)),
            write.data.eq(self.digit),
            write.en.eq(self.write & ~self.busy),
            read.addr.eq(Cat(delayed[-1], Const(Operand.X, 5))),
            self.result_digit.eq(Mux(self.busy, 0xFFF, ~read.data)),
        ]
        left = Signal.like(self.lengths.modulus)
        m.d.comb += self.done.eq(self.busy & (left <= 1))
        with m.If(self.busy):
            m.d.sync += left.eq(left - 1)
            with m.If(left <= 2):
                m.d.sync += self.error.eq(self.counts.exponent)
            with m.If(self.done):
                m.d.sync += self.busy.eq(0)
        with m.Elif(self.start):
            m.d.sync += [self.busy.eq(1), left.eq(self.lengths.modulus), self.error.eq(0)]
            with m.If(self.lengths.modulus <= 1):
                m.d.sync += self.error.eq(self.counts.exponent)
        return m


class Nodes(wiring.Component):
    """As many nodes as there are numbers, behind each other."""

    def __init__(self, *numbers):
        self.nodes = [Node(SmallEngine(), CORES) for _ in numbers]
        self.numbers = numbers
        layout = self.nodes[0].layout
        super().__init__(
            {
                "clk": In(1),
                "reset_in": In(1),
                "reset_out": Out(1),
                "packet_in": In(layout),
                "packet_out": Out(layout),
            }
        )

    def elaborate(self, platform):
        m = Module()
        packet, reset = self.packet_in, self.reset_in
        for place, (node, number) in enumerate(zip(self.nodes, self.numbers, strict=True)):
            m.submodules[f"node_{place}"] = node
            m.d.comb += [
                node.clk.eq(self.clk),
                node.number.eq(number),
                node.packet_in.eq(packet),
                node.reset_in.eq(reset),
            ]
            packet, reset = node.packet_out, node.reset_out
        m.d.comb += [self.packet_out.eq(packet), self.reset_out.eq(reset)]
        return m


class Host:
    """Moves packets, one a cycle. Between clock edges all inputs change."""

    def __init__(self, ctx, nodes):
        self.ctx = ctx
        self.nodes = nodes
        self.node = nodes.nodes[0]
        self.engine = self.node.engine
        self.layout = nodes.nodes[0].layout

    async def cycle(self, packet=None, *, reset=0):
        """Give a packet; what stands at the output afterwards."""
        ctx, nodes = self.ctx, self.nodes
        ctx.set(nodes.packet_in, packet or {})
        ctx.set(nodes.reset_in, reset)
        await ctx.delay(1e-7)
        ctx.set(nodes.clk, 1)
        await ctx.delay(1e-7)
        found = self.output()
        # What stands at the inputs has no way to an output but through a register.
        ctx.set(nodes.packet_in, self.layout.from_bits((1 << self.layout.size) - 1))
        ctx.set(nodes.reset_in, not reset)
        await ctx.delay(1e-7)
        assert self.output() == found
        ctx.set(nodes.clk, 0)
        await ctx.delay(1e-7)
        assert self.output() == found
        return found[0]

    def output(self):
        packet = self.ctx.get(self.nodes.packet_out)
        fields = {name: int(packet[name]) for name in self.layout.members}
        return fields, self.ctx.get(self.nodes.reset_out)

    async def reset(self):
        await self.cycle(reset=1)
        for _ in range(len(self.nodes.nodes) + 1):
            await self.cycle()

    async def send(self, kind, index=0, data=0, operand=0, core=NUMBER):
        packet = {"kind": kind, "core": core, "operand": operand, "index": index, "data": data}
        return await self.cycle(packet)

    async def set(self, name, value, core=NUMBER):
        return await self.send(
            PacketKind.SET, SETTINGS.index(tuple(name.split("."))), value, core=core
        )

    async def prepare(self, cycles, error=Error.NONE, core=NUMBER):
        """What the next command takes, and how it ends."""
        await self.set("lengths.modulus", cycles, core)
        await self.set("counts.exponent", error, core)

    async def notices(self, cycles=30):
        """The NOTICEs that come in so many cycles, and the cycles in which they come."""
        found = [await self.cycle() for _ in range(cycles)]
        assert {packet["kind"] for packet in found} <= {PacketKind.EMPTY, PacketKind.NOTICE}
        return [(k, one) for k, one in enumerate(found) if one["kind"] == PacketKind.NOTICE]


def run(process, *numbers):
    nodes = Nodes(*(numbers or (NUMBER,)))
    simulator = Simulator(nodes)

    async def testbench(ctx):
        host = Host(ctx, nodes)
        await host.reset()
        await process(host)

    simulator.add_testbench(testbench)
    simulator.run()


def foreign(generator, kinds=tuple(range(8))):
    """A packet for another core."""
    return {
        "kind": generator.choice(kinds),
        "core": generator.choice([core for core in range(CORES) if core != NUMBER]),
        "operand": generator.randrange(32),
        "index": generator.randrange(16),
        "data": generator.randrange(1 << 12),
    }


def told(notice):
    """Core, error and whether there is a result."""
    return notice["core"], notice["data"] & 31, notice["data"] >> 5


def test_packets_for_others_pass_unchanged_in_one_cycle():
    generator = random.Random(1)

    async def process(host):
        for _ in range(500):
            packet = foreign(generator)
            assert await host.cycle(packet) == packet
        assert not host.ctx.get(host.engine.busy)
        for port, field in SETTINGS:
            assert host.ctx.get(getattr(host.engine, port)[field]) == 0
        for word in range(32 * 16):
            assert host.ctx.get(host.engine.memory.data[word]) == 0

    run(process)


def test_sent_digits_are_written():
    generator = random.Random(2)
    expected = {}

    async def process(host):
        for _ in range(200):
            if generator.random() < 0.3:
                await host.cycle(foreign(generator))
                continue
            operand, index = generator.randrange(16), generator.randrange(16)
            expected[operand << 4 | index] = data = generator.randrange(1 << 12)
            assert (await host.send(PacketKind.SEND, index, data, operand))[
                "kind"
            ] == PacketKind.EMPTY
        await host.cycle()
        await host.cycle()
        for word in range(32 * 16):
            assert host.ctx.get(host.engine.memory.data[word]) == expected.get(word, 0)

    run(process)


def test_settings():
    async def process(host):
        for turn in range(2):
            for place, name in enumerate(SETTINGS):
                assert (await host.set(".".join(name), 5 * turn + place))[
                    "kind"
                ] == PacketKind.EMPTY
            await host.cycle()
            for place, (port, field) in enumerate(SETTINGS):
                assert host.ctx.get(getattr(host.engine, port)[field]) == 5 * turn + place, (
                    port,
                    field,
                )

    run(process)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_results_are_received(count):
    """The packets of a run bring the digits back REPLY_OFFSET later, all else unchanged."""
    generator = random.Random(count)
    digits = [generator.randrange(1 << 12) for _ in range(16)]

    async def process(host):
        for index, digit in enumerate(digits):
            await host.send(PacketKind.SEND, index, digit, Operand.X)
        for turn in range(3):
            for _ in range(turn):
                await host.cycle(foreign(generator))
            replies = []
            for index in range(count + REPLY_OFFSET):
                reply = await host.send(PacketKind.RECEIVE, index, 0, 3)
                assert [reply[name] for name in ("kind", "core", "operand", "index")] == [
                    *(PacketKind.RECEIVE, NUMBER, 3, index)
                ]
                replies.append(reply["data"])
            expected = [~digit & 0xFFF for digit in digits[:count]]
            assert replies[REPLY_OFFSET:] == expected

    run(process)


@pytest.mark.matrix(quick=6)
@pytest.mark.parametrize("command", [*range(8)])
@pytest.mark.parametrize("error", [Error.NONE, Error.OPERAND_RANGE, Error.CANCELLED])
def test_a_command_ends_with_a_notice(command, error):
    async def process(host):
        for cycles in (1, 2, 9):
            await host.prepare(cycles, error)
            packet = await host.send(PacketKind.START, data=command)
            assert packet["kind"] == PacketKind.EMPTY
            ((when, notice),) = await host.notices()
            assert host.ctx.get(host.engine.command) == command
            result = int(error == Error.NONE and command != Command.WIPE)
            assert told(notice) == (NUMBER, error, result)
            assert when == cycles + 1
            assert not host.ctx.get(host.engine.busy)

    run(process)


def test_a_notice_waits_for_a_free_place():
    generator = random.Random(4)
    others = [kind for kind in PacketKind if kind != PacketKind.EMPTY]

    async def process(host):
        for turn in range(8):
            await host.prepare(1)
            await host.send(PacketKind.START, data=Command.MODMUL)
            for _ in range(20):
                packet = foreign(generator, others)
                assert await host.cycle(packet) == packet
            # A packet that brings a digit back is no free place, nor is another's notice.
            for _ in range(3):
                assert (await host.send(PacketKind.RECEIVE))["kind"] == PacketKind.RECEIVE
            # What was for this core is one, and so is what is for nobody.
            free = generator.choice(
                [
                    {"kind": PacketKind.EMPTY, "core": generator.randrange(CORES), "data": 0xFFF},
                    {"kind": PacketKind.SEND, "core": NUMBER, "data": 0xABC},
                    {"kind": PacketKind.SET, "core": NUMBER, "index": 2},
                    {"kind": PacketKind.CANCEL, "core": NUMBER},
                ]
            )
            notice = await host.cycle(free)
            assert notice["kind"] == PacketKind.NOTICE
            assert told(notice) == (NUMBER, Error.NONE, 1), turn
            assert not await host.notices()
        assert host.ctx.get(host.engine.memory.data[0]) in (0, 0xABC)

    run(process)


@pytest.mark.parametrize(
    "cycles", [1, 10, *(pytest.param(one, marks=pytest.mark.matrix) for one in (2, 3))]
)
def test_cancel(cycles):
    """At each moment from before the start to after the notice; the next command is not touched."""

    async def process(host):
        await host.send(PacketKind.SEND, 0, 0x123, Operand.X)
        for moment in range(-2, cycles + 8):
            await host.prepare(cycles, Error.MODULUS_EVEN)
            for turn in range(-2, 0):
                await (host.send(PacketKind.CANCEL) if turn == moment else host.cycle())
            await host.send(PacketKind.START, data=Command.MODMUL)
            notices = []
            for turn in range(cycles + 20):
                packet = await (host.send(PacketKind.CANCEL) if turn == moment else host.cycle())
                if packet["kind"] == PacketKind.NOTICE:
                    notices.append(told(packet))
            # The last busy cycle is the one in which the packet of turn `cycles` is in the node.
            # When the command ends in the same cycle in which it is cancelled, it has ended.
            cancelled = 0 <= moment < cycles
            error = Error.CANCELLED if cancelled else Error.MODULUS_EVEN
            assert notices == [(NUMBER, error, 0)], moment
            assert not host.ctx.get(host.engine.busy)
            await host.prepare(4)
            await host.send(PacketKind.START, data=Command.MODMUL)
            ((when, notice),) = await host.notices()
            assert (when, *told(notice)) == (5, NUMBER, Error.NONE, 1)
            replies = [await host.send(PacketKind.RECEIVE, k) for k in range(REPLY_OFFSET + 1)]
            assert replies[-1]["data"] == ~0x123 & 0xFFF

    run(process)


def test_cancel_twice():
    async def process(host):
        await host.prepare(90)
        await host.send(PacketKind.START, data=Command.MODMUL)
        await host.send(PacketKind.CANCEL)
        notice = await host.send(PacketKind.CANCEL)
        assert notice["kind"] == PacketKind.NOTICE
        assert told(notice) == (NUMBER, Error.CANCELLED, 0)
        await host.cycle()
        assert not host.ctx.get(host.engine.busy)  # long before its time
        assert not await host.notices()

    run(process)


def test_a_cancelled_command_waits_for_a_free_place_too():
    generator = random.Random(5)

    async def process(host):
        await host.prepare(20)
        await host.send(PacketKind.START, data=Command.MODMUL)
        await host.cycle(foreign(generator, [PacketKind.SEND]))
        # The place of the CANCEL is free before the core has anything to tell.
        assert (await host.send(PacketKind.CANCEL))["kind"] == PacketKind.EMPTY
        for _ in range(30):
            packet = foreign(generator, [PacketKind.SEND])
            assert await host.cycle(packet) == packet
        ((when, notice),) = await host.notices()
        assert (when, *told(notice)) == (0, NUMBER, Error.CANCELLED, 0)

    run(process)


def test_commands_one_after_the_other():
    """The next one may be in the packet right after the notice."""

    async def process(host):
        await host.prepare(3)
        await host.send(PacketKind.START, data=Command.MODMUL)
        for turn in range(5):
            while (await host.cycle())["kind"] != PacketKind.NOTICE:
                pass
            await host.set("counts.exponent", Error.MODULUS_ZERO if turn % 2 else 0)
            await host.send(PacketKind.START, data=Command.WIPE if turn == 2 else Command.MODMUL)
        assert len(await host.notices()) == 1

    run(process)


def test_all_nodes_of_a_chain():
    """Each takes its own packets only, and notices come back in the order of the places."""
    numbers = (0, 3, 5)

    async def process(host):
        for number in numbers:
            await host.prepare(10 - number, core=number)
        for number in numbers:
            await host.send(PacketKind.SEND, 0, 0x100 + number, Operand.X, core=number)
        for number in numbers:
            await host.send(PacketKind.START, data=Command.MODMUL, core=number)
        notices = await host.notices(40)
        assert sorted(told(notice) for _, notice in notices) == [(n, 0, 1) for n in numbers]
        for number in numbers:
            packets = [
                await host.send(PacketKind.RECEIVE, k, core=number) for k in range(REPLY_OFFSET + 1)
            ]
            packets += [await host.cycle() for _ in range(len(numbers) - 1)]
            received = [packet for packet in packets if packet["kind"] == PacketKind.RECEIVE]
            assert received[-1]["data"] == ~(0x100 + number) & 0xFFF

    run(process, *numbers)


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.matrix)])
def test_the_reset_moves_along_the_chain(step):
    """One hop a cycle; with it everything of before is gone, but for what is ahead of it."""
    numbers = (0, 1, 2, 3)

    async def process(host):
        for moment in range(1, 25, step):
            for number in numbers:
                await host.prepare(6, core=number)
            for number in numbers:
                await host.send(PacketKind.START, data=Command.MODMUL, core=number)
            for _ in range(moment):
                await host.cycle()
            arrived = []
            ahead = len(numbers) + 1
            for turn in range(30):
                packet = await host.cycle(reset=int(turn < 2))
                arrived.append((packet["kind"], host.ctx.get(host.nodes.reset_out)))
            resets = [turn for turn, (_, reset) in enumerate(arrived) if reset]
            assert resets == [len(numbers) - 1, len(numbers)]
            assert not any(kind for kind, _ in arrived[ahead:]), moment
            for node in host.nodes.nodes:
                assert not host.ctx.get(node.engine.busy)
            # All settings are gone, and a command works.
            for node in host.nodes.nodes:
                assert host.ctx.get(node.engine.lengths.modulus) == 0
            await host.prepare(4, core=2)
            await host.send(PacketKind.START, data=Command.MODMUL, core=2)
            ((_, notice),) = await host.notices()
            assert told(notice) == (2, 0, 1)

    run(process, *numbers)


def test_what_is_no_engine_is_refused():
    with pytest.raises(TypeError, match=r"engine must have capabilities, and .* has not"):
        Node(wiring.Component({"busy": Out(1)}), 2)
    engine = SmallEngine()
    engine.capabilities = Capabilities(**{**CAPABILITIES.__dict__, "digit_width": 13})
    with pytest.raises(TypeError, match=r"engine must have the ports of EngineSignature, and .*"):
        Node(engine, 2)


@pytest.mark.parametrize("cores", [0, 1024, -1])
def test_how_many_cores_there_may_be(cores):
    with pytest.raises(ValueError, match=rf"cores must be in 1\.\.1023, not {cores}"):
        Node(SmallEngine(), cores)
