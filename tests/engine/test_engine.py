"""The engine without its bus: what only its own ports and its memory show."""

import pytest
from amaranth.hdl import ResetInserter, Signal
from amaranth.sim import Simulator

from coprime.engine.compact import compact
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.engine.families import INTERLEAVED_CSA, MONTGOMERY_1CSA, MONTGOMERY_2CSA, MONTGOMERY_R2
from coprime.engine.fdfm import fdfm
from coprime.engine.karatsuba import karatsuba
from coprime.operations.encodings.radix import Radix
from coprime.operations.encodings.rsa_key import private_operands
from coprime.rsa.keys import generate
from tests.engine.ports import EnginePorts

DESIGNS = {
    "fdfm": lambda: fdfm(64),
    "fdfm, 2 multipliers": lambda: fdfm(64, multipliers=2),
    "montgomery-2csa": lambda: MONTGOMERY_2CSA.design(64, word=16, multipliers=2),
    "montgomery-1csa": lambda: MONTGOMERY_1CSA.design(70, word=32, multipliers=1),
    "interleaved-csa": lambda: INTERLEAVED_CSA.design(64, word=16, multipliers=2),
    "montgomery-r2": lambda: MONTGOMERY_R2.design(64, word=16, multipliers=1),
    "compact": lambda: compact(64),
    "karatsuba, 2 multipliers": lambda: karatsuba(64, word=16, latency=1, multipliers=2),
}


# Lanes and multipliers that other designs here have, in another combination.
SLOW = (
    *("fdfm, 2 multipliers", "montgomery-2csa", "montgomery-1csa", "montgomery-r2"),
    "interleaved-csa",
    "karatsuba, 2 multipliers",  # what its multipliers hold: test_karatsuba.py
)


@pytest.fixture(
    params=[pytest.param(name, marks=[pytest.mark.matrix] * (name in SLOW)) for name in DESIGNS]
)
def bench(request):
    return Bench(DESIGNS[request.param]())


class Bench(EnginePorts):
    """An engine whose memories can be looked into."""

    def run(self, process, reset=None):
        top = self.engine if reset is None else ResetInserter(reset)(self.engine)
        simulator = Simulator(top)
        simulator.add_clock(1e-8)
        simulator.add_testbench(process, background=False)
        simulator.run()

    def words(self, context):
        return [
            context.get(memory.data[address])
            for lane in self.engine.lanes
            for memory in lane.memories
            for address in range(self.design.layout.depth)
        ]

    def private_key(self, bits=64):
        key = generate(bits, seed=1)
        capabilities = self.design.capabilities
        half = bits // 2
        operands = private_operands(
            Radix.of(capabilities), key.n, (key.p, key.q), (key.dp, key.dq), bits, (half, half)
        )
        lengths = {Length.MODULUS: bits, Length.P: half, Length.Q: half}
        lengths[Length.EXPONENT] = key.e.bit_length()
        return key, {**operands, Operand.E: key.e, Operand.X: 12345}, lengths


async def wipe(bench, context):
    await bench.start(context, Command.WIPE)
    assert await bench.finish(context) == (1 + bench.design.layout.depth, Error.NONE)
    await context.tick().repeat(3)  # the last word is on its way to the memory
    assert not any(bench.words(context))
    for lane in bench.engine.lanes:
        secrets = getattr(lane.multiplier, "secrets", [])
        assert not any(context.get(one) for one in secrets)


@pytest.mark.parametrize(
    "bench",
    [pytest.param(one, marks=[pytest.mark.matrix] * (one != "fdfm")) for one in DESIGNS],
    indirect=True,
)
def test_a_private_operation_and_wipe(bench):
    """Result and cycles are the predicted ones, and nothing of the key is left afterwards.

    `operand` is for writes only, and beyond the result's digits nothing is looked at.
    """
    key, operands, lengths = bench.private_key()
    capabilities, engine = bench.design.capabilities, bench.engine
    predicted = bench.design.predict(Command.RSA_PRIVATE, operands, lengths)
    assert predicted.result == pow(12345, key.d, key.n)

    async def process(context):
        exponents = [lane.sequencer.scanner.digit for lane in engine.lanes]
        seen = [False] * len(exponents)
        await bench.load(context, operands, lengths)
        context.set(engine.index, (1 << len(engine.index)) - 1)
        await bench.start(context, Command.RSA_PRIVATE)
        cycles = 1
        while not all(seen):
            assert context.get(engine.busy)
            seen = [before or context.get(one) for before, one in zip(seen, exponents, strict=True)]
            cycles += 1
            await context.tick()
        rest, error = await bench.finish(context)
        assert (cycles + rest - 1, error) == (predicted.cycles, Error.NONE)
        await context.tick()
        assert not any(context.get(exponent) for exponent in exponents)
        for operand in Operand:
            context.set(engine.operand, operand)
            value = await bench.result(context, capabilities.digits(64))
            if capabilities.aligned:
                value >>= capabilities.digits(64) * capabilities.digit_width - 64
            assert value == predicted.result
            for beyond in range(capabilities.digits(64), 1 << len(engine.index)):
                context.set(engine.index, beyond)
                await context.tick()
        await context.tick().repeat(10)
        assert not context.get(engine.busy)
        assert context.get(engine.error) == Error.NONE
        assert any(bench.words(context))
        await wipe(bench, context)

    bench.run(process)


def test_wipe_of_a_key_that_was_not_used(bench):
    _, operands, lengths = bench.private_key()

    async def process(context):
        await bench.load(context, operands, lengths)
        assert any(bench.words(context))
        await wipe(bench, context)

    bench.run(process)


def test_wipe_as_the_first_command_after_reset(bench):
    """Reset keeps the memory; every register is as at the start of a simulation."""

    async def process(context):
        for lane in bench.engine.lanes:
            for memory in lane.memories:
                for address in range(bench.design.layout.depth):
                    context.set(memory.data[address], 0x9ABC)
        await wipe(bench, context)

    bench.run(process)


@pytest.mark.parametrize(
    "pauses", [(300, 645), pytest.param((300, 600, 627, 645, 663), marks=pytest.mark.matrix)]
)
def test_wipe_after_a_reset_in_the_middle(bench, pauses):
    """A reset leaves much as it was; WIPE clears it, however soon it comes."""
    _, operands, lengths = bench.private_key()
    reset = Signal()

    async def process(context):
        for pause in pauses:
            await bench.load(context, operands, lengths)
            await bench.start(context, Command.RSA_PRIVATE)
            await context.tick().repeat(pause)
            context.set(reset, 1)
            await context.tick()
            context.set(reset, 0)
            await wipe(bench, context)

    bench.run(process, reset)


def test_lanes_take_the_same_writes():
    """The second lane, which has no part in MODMUL, takes no write while the first one works."""
    bench = Bench(fdfm(64, multipliers=2))
    _, operands, lengths = bench.private_key()
    operands[Operand.Y] = 5
    operands[Operand.M_POWER] = 1

    async def process(context):
        await bench.load(context, operands, lengths)
        await bench.start(context, Command.MODMUL)
        await context.tick().repeat(10)
        context.set(bench.engine.write, 1)
        context.set(bench.engine.operand, Operand.Q)
        context.set(bench.engine.index, 0)
        context.set(bench.engine.digit, 0x5555)
        await context.tick()
        context.set(bench.engine.write, 0)
        await bench.finish(context)
        await context.tick().repeat(3)
        for lane in bench.engine.lanes:
            word = lane.memories[0].data[bench.design.layout.bases[Operand.Q]]
            assert context.get(word) == operands[Operand.Q] & 0x1FFFF

    bench.run(process)


def test_unknown_commands(bench):

    async def process(context):
        for command in (0, 6, 7):
            await bench.start(context, command)
            assert await bench.finish(context) == (1, Error.UNSUPPORTED)

    bench.run(process)
