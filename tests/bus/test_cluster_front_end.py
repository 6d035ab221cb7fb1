"""The front end by itself, where a moment must be met exactly: the chain is a list of packets."""

from collections import deque
from dataclasses import replace

import pytest
from amaranth.hdl import ResetInserter, Signal
from amaranth.sim import Simulator

from coprime.bus import cluster_registers as r
from coprime.bus.cluster_front_end import ClusterFrontEnd
from coprime.catalog import choose
from coprime.cluster.packet import REPLY_OFFSET, SETTINGS, PacketKind
from coprime.engine.contract import Command, Error, Operand

CAPABILITIES = choose("cluster", {"cores": "1", "max_bits": "64"}).core.design.capabilities


class Host:
    """Accesses, and a chain that is told what comes back when.

    `sent` has what has left the front end, with the cycle; `coming` what must come back in which
    cycle. A cycle of a packet is the one in which it stands at the port.
    """

    def __init__(self, ctx, front_end, reset):
        self.ctx = ctx
        self.front_end = front_end
        self.layout = front_end.layout
        self.reset_signal = reset
        self.cycle = 0
        self.sent = []
        self.coming = {}
        self.answers = deque()
        self.hops = 0

    def answer(self, digits, hops):
        """Have the next RECEIVEs come back so much later, with these digits."""
        self.answers = deque([0x1FFFF] * REPLY_OFFSET + digits)
        self.hops = hops

    async def tick(self, cycles=1):
        for _ in range(cycles):
            packet = self.ctx.get(self.front_end.packet_out)
            if packet["kind"] != PacketKind.EMPTY:
                fields = {name: int(packet[name]) for name in self.layout.members}
                self.sent.append((self.cycle, fields))
                if fields["kind"] == PacketKind.RECEIVE:
                    data = self.answers.popleft()
                    self.coming[self.cycle + self.hops] = {**fields, "data": data}
            self.ctx.set(self.front_end.packet_in, self.coming.pop(self.cycle, {}))
            await self.ctx.tick()
            self.cycle += 1

    async def write(self, register, value=0):
        """Write; the cycle in which it takes place."""
        port = self.front_end.registers
        self.ctx.set(port.write, 1)
        self.ctx.set(port.write_address, register.address // 4)
        self.ctx.set(port.write_data, value)
        while not self.ctx.get(port.write_ready):
            await self.tick()
        assert not self.ctx.get(port.write_error)
        happened = self.cycle
        await self.tick()
        self.ctx.set(port.write, 0)
        return happened

    async def read(self, register):
        port = self.front_end.registers
        self.ctx.set(port.read, 1)
        self.ctx.set(port.read_address, register.address // 4)
        while not self.ctx.get(port.read_ready):
            await self.tick()
        value = self.ctx.get(port.read_data)
        await self.tick()
        self.ctx.set(port.read, 0)
        return value

    async def reset(self, cycles=1):
        self.ctx.set(self.reset_signal, 1)
        await self.tick(cycles)
        self.ctx.set(self.reset_signal, 0)

    async def completions(self):
        found = []
        while (value := await self.read(r.COMPLETION)) >> 31:
            found.append((value & 0xFFFF, Error(value >> 16 & 0xFF)))
            await self.write(r.NEXT)
        return found


def notice(core, error=Error.NONE, result=0):
    return {"kind": PacketKind.NOTICE, "core": core, "data": error | result << 5}


def run(process, cores=4, capabilities=CAPABILITIES):
    front_end = ClusterFrontEnd(capabilities, cores)
    reset = Signal()
    simulator = Simulator(ResetInserter(reset)(front_end))
    simulator.add_clock(1e-6)

    async def testbench(ctx):
        await process(Host(ctx, front_end, reset))

    simulator.add_testbench(testbench)
    simulator.run()


@pytest.mark.parametrize("cores", [1, 2, 5, 64])
def test_what_comes_back_after_a_reset_is_of_before(cores):
    """The reset, of one cycle, moves along with the last notices that were sent before it."""

    async def process(host):
        for turn in range(2):
            await host.reset()
            # Node k is reset k + 1 cycles after the front end; what it gives in the cycle before,
            # and node cores - 1 in its last one, is here within so many cycles.
            for cycle in range(cores + 2):
                stale = {"kind": PacketKind.RECEIVE, "data": 1} if cycle % 3 == turn else notice(0)
                host.coming[host.cycle + cycle] = stale
            assert await host.read(r.COMPLETION) == 0
            assert host.cycle > cores
            await host.tick(20)
            assert await host.read(r.COMPLETION) == 0
            assert not host.coming
            # A command's own notice is not of before.
            await host.write(r.COMMAND, Command.WIPE)
            host.coming[host.cycle + 20] = notice(0)
            await host.tick(30)
            assert await host.completions() == [(0, Error.NONE)]

    run(process, cores)


def test_settings_and_command_leave_in_one_run():
    async def process(host):
        await host.write(r.CORE, 2)
        for value, register in enumerate(
            (r.MODULUS_LENGTH, r.EXPONENT_LENGTH, r.P_LENGTH, r.Q_LENGTH)
        ):
            await host.write(register, 20 + value)
        host.sent.clear()
        begun = await host.write(r.COMMAND, Command.WIPE)
        assert await host.read(r.CORE) == 2 | 1 << 31
        await host.tick(4)
        packets = [packet for _, packet in host.sent]
        assert all(packet["core"] == 2 for packet in packets)
        kinds = [packet["kind"] for packet in packets]
        assert kinds == [PacketKind.SET] * len(SETTINGS) + [PacketKind.START]
        assert [packet["index"] for packet in packets[:-1]] == [*range(len(SETTINGS))]
        count = CAPABILITIES.digits(CAPABILITIES.min_length)  # until an operand is loaded
        assert [packet["data"] for packet in packets] == [
            *([count] * 4),
            *range(20, 24),
            Command.WIPE,
        ]
        cycles = [cycle for cycle, _ in host.sent]
        assert cycles == [*range(cycles[0], cycles[0] + len(packets))]
        assert cycles[-1] - begun == 12

    run(process)


def test_a_refused_command_and_a_notice_at_the_same_time():
    """At any distance: both give their completion, once."""

    async def process(host):
        for distance in range(-4, 14):
            await host.write(r.CORE, 1)
            await host.write(r.COMMAND, Command.WIPE)
            await host.write(r.CORE, 3)
            host.coming[host.cycle + 6 + distance] = notice(1)
            await host.tick(2)
            await host.write(r.COMMAND, Command.MODMUL)  # no length is set
            await host.tick(20)
            found = await host.completions()
            assert sorted(found) == [(1, Error.NONE), (3, Error.LENGTH_ZERO)], distance
            assert await host.read(r.CORE) == 3

    run(process)


def test_notices_one_after_the_other():
    """One from each core, in cycles behind each other: none is lost, none changes its place."""

    async def process(host):
        for turn in range(2):
            for core in range(9):
                await host.write(r.CORE, core)
                await host.write(r.COMMAND, Command.WIPE)
            order = [(5 * core + turn) % 9 for core in range(9)]
            for place, core in enumerate(order):
                host.coming[host.cycle + 1 + place] = notice(core, Error(place))
            await host.tick(40)
            found = await host.completions()
            assert found == [(core, Error(place)) for place, core in enumerate(order)]

    run(process, 9)


def test_operands_with_numbers_over_15():
    """Each has a mark of its own, and its number in its packets."""
    read = CAPABILITIES.required[Command.MODMUL] | {Operand.SECRET, Operand.TABLE_2}
    own = replace(CAPABILITIES, required={**CAPABILITIES.required, Command.MODMUL: read})
    count = own.digits(64)
    words = {Operand.Y: 2, Operand.M: 2, Operand.M_POWER: 2, Operand.M_INVERSE: 1}
    words |= {Operand.X: 2, Operand.SECRET: 1, Operand.TABLE_2: 2}
    assert words.keys() == read

    async def process(host):
        async def refusal(operand):
            await host.write(r.ERROR)
            await host.write(r.KEY_OPERAND, operand)
            return Error(r.ERROR["REFUSAL"].of(await host.read(r.ERROR)))

        async def load(operand):
            assert await refusal(operand) is Error.NONE
            for _ in range(words[operand]):
                await host.write(r.KEY_DATA, 1)

        async def start():
            """The command's error, or None if it is sent."""
            host.sent.clear()
            await host.write(r.COMMAND, Command.MODMUL)
            await host.tick(20)
            found = await host.completions()
            return found[0][1] if found else None

        await host.write(r.CORE, 1)
        await host.write(r.MODULUS_LENGTH, 64)
        for length in (r.P_LENGTH, r.Q_LENGTH):
            await host.write(length, 30)
        for operand in (Operand.POINT, Operand.TABLE_0, Operand.TABLE_7, 32, 63):
            assert await refusal(operand) is Error.ADDRESS
        for operand in words.keys() - {Operand.SECRET, Operand.TABLE_2}:
            await load(operand)
        await host.write(r.KEY_OPERAND, Operand.P)
        await host.write(r.KEY_DATA, 1)
        assert await start() is Error.OPERAND_MISSING
        for operand, digits in ((Operand.SECRET, own.digits(30)), (Operand.TABLE_2, count)):
            assert await start() is Error.OPERAND_MISSING
            host.sent.clear()
            await load(operand)
            await host.tick(20)
            sent = [(one["kind"], one["operand"], one["index"]) for _, one in host.sent]
            assert sent == [(PacketKind.SEND, operand, k) for k in range(digits)]
        assert await start() is None
        assert host.sent[-1][1]["kind"] == PacketKind.START

    run(process, capabilities=own)


@pytest.mark.parametrize(
    ("hops", "step"),
    [(40, 12), *(pytest.param(one, 4, marks=pytest.mark.matrix) for one in (1, 40))],
)
def test_a_run_of_receives_is_not_interrupted(hops, step):
    """Whatever else wants to leave, and however long the way is."""
    digits = [0x1ABCD, 0x0F0F0, 0x12345, 0x00777]
    count = CAPABILITIES.digits(64)

    async def process(host):
        await host.write(r.CORE, 1)
        await host.write(r.MODULUS_LENGTH, 64)
        await host.write(r.KEY_OPERAND, Operand.M)
        for word in (1, 2):
            await host.write(r.KEY_DATA, word)
        await host.write(r.COMMAND, Command.WIPE)
        await host.tick(20)
        for start in range(0, 80, step):
            host.sent.clear()
            # While another core is loaded and started, this one's result is asked for.
            host.coming[host.cycle + start] = notice(1, result=1)
            host.answer(digits, hops)
            await host.write(r.CORE, 0)
            await host.write(r.MODULUS_LENGTH, 64)
            for operand in (Operand.M, Operand.X):
                await host.write(r.KEY_OPERAND, operand)
                for word in (3, 4):
                    await host.write(r.KEY_DATA, word)
            await host.write(r.COMMAND, Command.WIPE)
            await host.tick(60 + hops)
            receives = [one for one in host.sent if one[1]["kind"] == PacketKind.RECEIVE]
            assert len(receives) == count + REPLY_OFFSET
            cycles = [cycle for cycle, _ in receives]
            assert cycles == [*range(cycles[0], cycles[0] + len(cycles))]
            assert all(packet["core"] == 1 for _, packet in receives)
            assert [packet["index"] for _, packet in receives[:count]] == [*range(count)]
            others = [packet["kind"] for _, packet in host.sent if packet["core"] == 0]
            assert others == [PacketKind.SEND] * 2 * count + [PacketKind.SET] * 8 + [
                PacketKind.START
            ]
            value = sum(digit << 17 * place for place, digit in enumerate(digits))
            shown = await host.read(r.COMPLETION)
            assert shown == 1 | 1 << 31
            assert await host.read(r.RESULT_LENGTH) == 8
            words = [await host.read(r.RESULT) for _ in range(3)]
            assert words == [value & 0xFFFF_FFFF, value >> 32 & 0xFFFF_FFFF, 0]
            await host.write(r.NEXT)
            host.coming[host.cycle + 1] = notice(0)
            await host.tick(20)
            assert await host.completions() == [(0, Error.NONE)]
            await host.write(r.CORE, 1)
            await host.write(r.COMMAND, Command.WIPE)
            await host.tick(20)

    run(process)
