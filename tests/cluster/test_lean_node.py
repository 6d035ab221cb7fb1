"""A lean node, packet by packet: FDFM's section 5.3 with a host that writes and reads words."""

import random

import pytest
from amaranth.lib import wiring
from amaranth.lib.wiring import Out
from amaranth.sim import Simulator

from coprime.catalog import choose
from coprime.cluster.chain import chain_layout, chain_node
from coprime.cluster.lean_node import LeanNode
from coprime.cluster.lean_packet import LeanPacketLayout, Setting
from coprime.cluster.packet import REPLY_OFFSET
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.operations.encodings.rsa_key import key_numbers
from coprime.rsa import keys

CORES, NUMBER = 6, 4
NOBODY = CORES
DESIGN = choose("cluster", {"cores": "6", "max_bits": "64", "node": "lean"}).core.design
OWN = DESIGN.capabilities
FREE = OWN.addresses.free
BUSY = 1 << OWN.digit_width


class Host:
    """Sends packets, one a cycle, and gives what leaves the node."""

    def __init__(self, ctx, node):
        self.ctx, self.node = ctx, node

    async def cycle(self, receive=0, address=0, data=0, core=NOBODY, *, reset=0):
        ctx, node = self.ctx, self.node
        packet = {"receive": receive, "core": core, "address": address, "data": data}
        ctx.set(node.packet_in, packet)
        ctx.set(node.reset_in, reset)
        await ctx.delay(1e-7)
        ctx.set(node.clk, 1)
        await ctx.delay(1e-7)
        found = self.leaves()
        # What stands at the inputs has no way to an output but through a register.
        ctx.set(node.packet_in, node.layout.from_bits((1 << node.layout.size) - 1))
        ctx.set(node.reset_in, not reset)
        await ctx.delay(1e-7)
        assert self.leaves() == found
        ctx.set(node.clk, 0)
        await ctx.delay(1e-7)
        return found

    def leaves(self):
        packet = self.ctx.get(self.node.packet_out)
        return tuple(int(packet[name]) for name in ("receive", "core", "address", "data"))

    async def reset(self):
        await self.cycle(reset=1)
        await self.cycle()
        await self.cycle()

    async def write(self, address, data):
        assert await self.cycle(0, address, data, NUMBER) == (0, NUMBER, address, data)

    async def read(self, address):
        *same, data = await self.cycle(1, address, 0, NUMBER)
        assert same == [1, NUMBER, address]
        return data

    async def words(self, first, count):
        """So many words; each returns with the packet REPLY_OFFSET after the one that reads it."""
        found = [await self.read(first + k) for k in range(count + REPLY_OFFSET)]
        return found[REPLY_OFFSET:]

    async def state(self):
        """Whether it is busy, and its error."""
        state = await self.read(FREE + Setting.CONTROL)
        return bool(state & BUSY), Error(state & ~BUSY)

    async def load(self, operands, lengths):
        for operand, value in operands.items():
            digits = OWN.to_digits(operand, value, lengths.get(operand.length, 0))
            for index, digit in enumerate(digits):
                await self.write(OWN.addresses.operands[operand] + index, digit)
        for setting, kind in (
            (Setting.MODULUS_DIGITS, Length.MODULUS),
            (Setting.P_DIGITS, Length.P),
            (Setting.Q_DIGITS, Length.Q),
        ):
            await self.write(FREE + setting, OWN.digits(lengths[kind]))


def run(process):
    node = LeanNode(DESIGN.hardware(), CORES)
    simulator = Simulator(node)

    async def testbench(ctx):
        ctx.set(node.number, NUMBER)
        host = Host(ctx, node)
        await host.reset()
        await process(host)

    simulator.add_testbench(testbench)
    simulator.run()


def private(seed, **changed):
    key = keys.generate(64, 17, seed=seed)
    x = random.Random(seed).randrange(key.n)
    numbers = {"x": x, **key_numbers(key)}
    encoded = Command.RSA_PRIVATE.operation.encoding.encode(numbers, OWN)
    operands = encoded.among(OWN.required[Command.RSA_PRIVATE])
    others = {Operand[name]: value for name, value in changed.items()}
    return {**operands, **others}, encoded.lengths, pow(x, key.d, key.n)


def test_packets_for_others_pass_unchanged_in_one_cycle():
    generator = random.Random(1)

    async def process(host):
        for _ in range(300):
            core = generator.choice([core for core in range(CORES + 1) if core != NUMBER])
            packet = (
                *(generator.randrange(2), core),
                *(generator.randrange(1 << width) for width in (OWN.addresses.bits, 18)),
            )
            receive, core, address, data = packet
            assert await host.cycle(receive, address, data, core) == packet
        assert await host.state() == (False, Error.NONE)
        assert await host.words(0, 20) == [0] * 20

    run(process)


def test_every_word_is_written_and_read():
    generator = random.Random(2)
    words = [generator.randrange(1 << OWN.digit_width) for _ in range(OWN.addresses.words)]

    async def process(host):
        for address, word in enumerate(words):
            if address != FREE + Setting.CONTROL:
                await host.write(address, word)
        found = []
        for first, last in ((0, FREE), (FREE + 1, len(words) - REPLY_OFFSET)):
            found += await host.words(first, last - first)
        del words[FREE + Setting.CONTROL]
        assert found == words[: len(found)]

    run(process)


@pytest.mark.matrix
def test_a_decryption_of_words_alone():
    """Operands, counts, start, the end, the result; in the cycles that the design predicts."""

    async def process(host):
        for seed in (1, 2):
            operands, lengths, expected = private(seed)
            await host.load(operands, lengths)
            await host.write(FREE + Setting.CONTROL, 1)
            busy = 0
            while (await host.state())[0]:
                busy += 1
            predicted = DESIGN.predict(Command.RSA_PRIVATE, operands, lengths)
            assert busy == predicted.cycles + 1  # and the cycle of the start itself
            assert await host.state() == (False, Error.NONE)
            digits = await host.words(OWN.addresses.result, OWN.digits(64))
            assert sum(one << OWN.digit_width * k for k, one in enumerate(digits)) == expected

    run(process)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"M": 0}, Error.MODULUS_ZERO),
        ({"P": 0x8000_0002}, Error.MODULUS_EVEN),
        ({"X": (1 << 64) - 1}, Error.OPERAND_RANGE),
    ],
)
def test_errors_are_in_the_state(changed, error):
    async def process(host):
        operands, lengths, _ = private(3, **changed)
        await host.load(operands, lengths)
        await host.write(FREE + Setting.CONTROL, 1)
        while (await host.state())[0]:
            pass
        assert await host.state() == (False, error)

    run(process)


def test_a_core_is_reset_in_any_state():
    async def process(host):
        operands, lengths, _ = private(4)
        await host.load(operands, lengths)
        for moment in (0, 1, 2, 3, 50, 300):
            await host.write(FREE + Setting.CONTROL, 1)
            for _ in range(moment):
                await host.cycle()
            assert (await host.state())[0]
            await host.write(FREE + Setting.CONTROL, 0)
            await host.cycle()
            assert await host.state() == (False, Error.NONE)
        assert await host.words(0, 4) == OWN.to_digits(Operand.X, operands[Operand.X], 64)

    run(process)


def test_only_bare_engines_have_lean_nodes():
    full = choose("fdfm", {"max_bits": "64"}).design
    with pytest.raises(TypeError, match="lean nodes have bare engines, and fdfm is none"):
        LeanNode(full.hardware(), 2)
    assert not isinstance(chain_node(full.hardware(), 2), LeanNode)
    assert isinstance(chain_node(DESIGN.hardware(), 2, 1), LeanNode)
    assert isinstance(chain_layout(OWN, 2), LeanPacketLayout)
    with pytest.raises(TypeError, match=r"engine must have capabilities, and .* has not"):
        LeanNode(wiring.Component({"busy": Out(1)}), 2)


@pytest.mark.parametrize("cores", [0, 1024, -1])
def test_how_many_cores_there_may_be(cores):
    with pytest.raises(ValueError, match=rf"cores must be in 1\.\.1023, not {cores}"):
        LeanNode(DESIGN.hardware(), cores)
