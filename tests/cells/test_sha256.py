import hashlib
import random

import pytest
from amaranth.sim import Simulator

from coprime.cells.sha256 import MessagePadding, MessageSchedule, Sha256
from coprime.model import sha256
from tests.combinational import Bench

SEED = 2


def vectors_of(message, cell, generator=None):
    """The inputs, cycle by cycle, of one message; with a generator its bytes come with gaps."""
    start, byte, valid, finish = 1, 1, 1 << 9, 1 << 10
    yield start
    yield from [0] * cell.START_CYCLES
    for place, value in enumerate(message):
        if generator:
            yield from [generator.getrandbits(8) << byte] * generator.choice((0, 0, 1, 5))
        yield value << byte | valid
        if place % 64 == 63:
            # While the cell does not take anything, nothing counts.
            yield from [generator.getrandbits(10) << byte if generator else 0] * cell.BLOCK_CYCLES
    yield finish
    blocks = (len(message) % 64 + 9 + 63) // 64
    yield from [0] * (64 * blocks - len(message) % 64 + blocks * cell.BLOCK_CYCLES)


def outputs(row):
    """Outputs of a cycle by name, in the order of the cell's members."""
    values = {}
    for name, width in (
        ("ready", 1),
        ("busy", 1),
        ("done", 1),
        ("digest_word", 32),
        ("digest_index", 3),
        ("digest_write", 1),
    ):
        values[name] = row & (1 << width) - 1
        row >>= width
    return values


@pytest.mark.parametrize("count_bits", [16, pytest.param(61, marks=pytest.mark.matrix)])
def test_digests_and_cycles_are_as_told(count_bits):
    generator = random.Random(SEED)
    cell = Sha256(count_bits)
    bench = Bench([cell], latencies=[1])  # of the clock; the outputs are those of the same cycle
    lengths = [*range(131), 183, 184, 247, 248, 1000, 4096 // 8]
    messages = [generator.randbytes(length) for length in lengths]
    stalled = [generator.randbytes(generator.randrange(200)) for _ in range(20)]
    runs = [(message, list(vectors_of(message, cell))) for message in messages]
    runs += [(message, list(vectors_of(message, cell, generator))) for message in stalled]
    (rows,) = bench.run([0, *(vector for _, vectors in runs for vector in vectors)])
    rows = iter(rows)
    for number, (message, vectors) in enumerate(runs):
        seen = [outputs(next(rows)) for _ in vectors]
        words = {row["digest_index"]: row["digest_word"] for row in seen if row["digest_write"]}
        assert sorted(words) == list(range(8))
        digest = b"".join(words[index].to_bytes(4) for index in reversed(range(8)))
        assert digest == hashlib.sha256(message).digest(), len(message)
        assert [row["busy"] for row in seen] == [0] + [1] * (len(vectors) - 1)
        assert [row["done"] for row in seen] == [0] * (len(vectors) - 1) + [1]
        if number < len(messages):
            assert sum(row["busy"] for row in seen) == cell.cycles(len(message))


@pytest.mark.parametrize("count_bits", [0, 62, None])
def test_wrong_counts_are_refused(count_bits):
    with pytest.raises((TypeError, ValueError), match="count_bits must be"):
        Sha256(count_bits)


def simulate(component, process):
    simulator = Simulator(component)
    simulator.add_clock(1e-6)
    simulator.add_testbench(process)
    simulator.run()


def test_the_schedule_has_the_words_of_the_model():
    schedule = MessageSchedule()
    block = random.Random(SEED).randbytes(64)
    expected = [int.from_bytes(block[k : k + 4]) for k in range(0, 64, 4)]
    for k in range(48):
        expected.append(sha256.next_word(expected[k : k + 16]))
    words = []

    async def process(ctx):
        async def tick():
            await ctx.tick()
            if ctx.get(schedule.entered):
                words.append(ctx.get(schedule.word))

        ctx.set(schedule.take, 1)
        for byte in block:
            ctx.set(schedule.byte, byte)
            await tick()
        ctx.set(schedule.take, 0)
        ctx.set(schedule.extend, 1)
        for _ in range(48):
            await tick()
        assert ctx.get(schedule.index) == 0

    simulate(schedule, process)
    assert words == expected


@pytest.mark.parametrize("length", [0, 1, 55, 56, 63, 64])
def test_the_padding_is_the_model_s(length):
    padding = MessagePadding(16)
    expected = sha256.padded(bytes(length))[length:]
    found = []

    async def process(ctx):
        ctx.set(padding.start, 1)
        await ctx.tick()
        ctx.set(padding.start, 0)
        ctx.set(padding.count, 1)
        for _ in range(length):
            await ctx.tick()
        ctx.set(padding.count, 0)
        position = length
        ctx.set(padding.position, position % 64)
        ctx.set(padding.finish, 1)
        await ctx.tick()
        ctx.set(padding.finish, 0)
        ended = False
        while not ended:
            ctx.set(padding.position, position % 64)
            found.append(ctx.get(padding.byte))
            ctx.set(padding.take, 1)
            position += 1
            ended = position % 64 == 0 and ctx.get(padding.last)
            await ctx.tick()
            ctx.set(padding.take, 0)
            if position % 64 == 0:
                ctx.set(padding.next_block, 1)
                await ctx.tick()
                ctx.set(padding.next_block, 0)

    simulate(padding, process)
    assert bytes(found) == expected
