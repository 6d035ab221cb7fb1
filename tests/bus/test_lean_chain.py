"""The ends of a chain of lean nodes: what each packet becomes, and how often cores are asked."""

import random

import pytest
from amaranth.sim import Simulator

from coprime.bus.lean_chain import LeanChain
from coprime.catalog import choose
from coprime.cluster.lean_packet import Setting
from coprime.cluster.packet import SETTINGS, PacketKind
from coprime.engine.contract import Command, Error, Length, Operand

OWN = choose("cluster", {"cores": "6", "max_bits": "64", "node": "lean"}).core.design.capabilities
ADDRESSES = OWN.addresses
CONTROL = ADDRESSES.free + Setting.CONTROL
BUSY = 1 << OWN.digit_width


class Host:
    """The front end on one side; on the other a chain that returns each packet `hops` later.

    `busy` has the cores that work, `errors` how they end.
    """

    def __init__(self, ctx, chain, cores, hops):
        self.ctx, self.chain, self.cores, self.hops = ctx, chain, cores, hops
        self.busy, self.errors = set(), {}
        self.way = []
        self.questions = []  # cores that were asked, and cores for the end of a round

    async def cycle(self, kind=PacketKind.EMPTY, core=0, operand=0, index=0, data=0):
        """Send a packet; what goes to the chain, and what comes from it."""
        ctx, chain = self.ctx, self.chain
        packet = {"kind": kind, "core": core, "operand": operand, "index": index, "data": data}
        ctx.set(chain.sent, packet)
        back = self.way.pop(0) if len(self.way) > self.hops else self.nothing
        ctx.set(chain.packet_in, back)
        await ctx.tick()
        leaves = ctx.get(chain.packet_out)
        found = {name: int(leaves[name]) for name in chain.chain.members}
        self.way.append(self.answered(found))
        received = ctx.get(chain.received)
        return found, {name: int(received[name]) for name in chain.front.members}

    @property
    def nothing(self):
        return {"receive": 0, "core": self.cores, "address": CONTROL, "data": 0}

    def answered(self, packet):
        if not packet["receive"] or packet["address"] != CONTROL:
            return packet
        core = packet["core"]
        self.questions.append(core)
        state = BUSY if core in self.busy else self.errors.get(core, 0)
        return {**packet, "data": 0 if core == self.cores else state}


def run(process, cores=6, hops=9):
    chain = LeanChain(OWN, cores)
    simulator = Simulator(chain)
    simulator.add_clock(1e-6)

    async def testbench(ctx):
        ctx.set(chain.clear, 1)
        ctx.set(chain.packet_in, {"core": cores})
        for core in range(cores):
            ctx.set(chain.clear_core, core)
            await ctx.tick()
        ctx.set(chain.clear, 0)
        await process(Host(ctx, chain, cores, hops))

    simulator.add_testbench(testbench)
    simulator.run()


def test_each_packet_becomes_one():
    generator = random.Random(1)

    async def process(host):
        for operand in sorted(OWN.required[Command.RSA_PRIVATE]):
            index = 0 if operand.length is Length.DIGIT else generator.randrange(4)
            data = generator.randrange(1 << 17)
            found, _ = await host.cycle(PacketKind.SEND, 3, operand, index, data)
            address = ADDRESSES.operands[operand] + index
            assert found == {"receive": 0, "core": 3, "address": address, "data": data}
        found, _ = await host.cycle(PacketKind.SEND, 2, Operand.X, ADDRESSES.words - 1, 0)
        assert found["address"] == ADDRESSES.words - 1  # any word, to overwrite it
        found, _ = await host.cycle(PacketKind.RECEIVE, 5, 0, 3)
        assert (found["receive"], found["core"]) == (1, 5)
        assert found["address"] == ADDRESSES.result + 3
        for place, setting in enumerate(SETTINGS):
            found, _ = await host.cycle(PacketKind.SET, 1, 0, place, 4)
            known = {
                ("counts", "modulus"): Setting.MODULUS_DIGITS,
                ("counts", "p"): Setting.P_DIGITS,
                ("counts", "q"): Setting.Q_DIGITS,
            }.get(setting)
            assert (found["core"] == 1) == (known is not None)
            if known is not None:
                wanted = {"receive": 0, "address": ADDRESSES.free + known, "data": 4}
                assert wanted.items() <= found.items()
        found, _ = await host.cycle(PacketKind.CANCEL, 4)
        assert found["core"] == host.cores  # it does not work
        found, _ = await host.cycle(PacketKind.START, 4, data=Command.RSA_PRIVATE)
        assert found == {"receive": 0, "core": 4, "address": CONTROL, "data": 1}
        found, _ = await host.cycle(PacketKind.CANCEL, 4)
        assert found == {"receive": 0, "core": 4, "address": CONTROL, "data": 0}

    run(process)


def test_digits_come_back_as_they_were_asked_for():
    async def process(host):
        received = []
        for k in range(40):
            kind = PacketKind.RECEIVE if 5 <= k < 9 else PacketKind.EMPTY
            _, back = await host.cycle(kind, 2, index=k % 4)
            received.append(back["kind"])
        assert received.count(PacketKind.RECEIVE) == 4
        assert set(received) == {PacketKind.EMPTY, PacketKind.RECEIVE}

    run(process)


@pytest.mark.parametrize("hops", [7, 40])
def test_a_core_is_asked_once_a_round_while_it_works(hops):
    """A round begins when the one before has come back; idle cores are not asked."""

    async def process(host):
        for core in (1, 4):
            host.busy.add(core)
            await host.cycle(PacketKind.START, core, data=1)
        host.questions.clear()
        for _ in range(6 * (hops + host.cores)):
            _, back = await host.cycle()
            assert back["kind"] == PacketKind.EMPTY
        rounds = "".join(map(str, host.questions)).split(str(host.cores))
        assert len(rounds) >= 5
        assert all(one == "14" for one in rounds[1:-1]), rounds

    run(process, hops=hops)


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("error", [Error.NONE, Error.MODULUS_EVEN])
@pytest.mark.parametrize("cancelled", [False, True])
def test_the_end_of_a_command_is_noticed_once(error, cancelled):
    """With its error, or as cancelled; the next one is not affected by what was asked before."""

    async def process(host):
        for moment in range(30):
            host.errors[3] = error
            host.busy.add(3)
            await host.cycle(PacketKind.START, 3, data=1)
            notices = []
            for turn in range(80):
                if turn == moment:
                    host.busy.discard(3)
                    if cancelled:
                        await host.cycle(PacketKind.CANCEL, 3)
                        host.errors[3] = 0
                _, back = await host.cycle()
                if back["kind"] == PacketKind.NOTICE:
                    assert turn > moment
                    notices.append((back["core"], back["data"]))
            told = Error.CANCELLED if cancelled else error
            assert notices == [(3, told | (told == Error.NONE) << 5)]

    run(process)
