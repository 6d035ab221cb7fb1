"""The registers of engines of byte strings, at the register port of a mock engine's front end."""

from dataclasses import replace

import pytest
from amaranth.sim import Simulator

from coprime.bus import registers
from coprime.bus.call_front_end import CallFrontEnd
from coprime.bus.shared_registers import CALL_REGISTERS
from coprime.bus.slot_access import PATIENCE_BITS
from coprime.calls.interface import WIPE
from coprime.engine.capabilities import Error
from tests.calls.mock import (
    COPY,
    ECHO,
    HIDDEN,
    INTERFACE,
    KEY,
    SECOND,
    TEXT,
    CallBench,
    inverted,
)

LONG_KEY = bytes(range(12))


def simulate(process, *, ready=True):
    """Run a test on a new bench, after its reset."""
    bench = CallBench()

    async def run(ctx):
        if ready:
            await bench.ready(ctx)
        await process(bench, ctx)

    simulator = Simulator(bench)
    simulator.add_clock(1e-6)
    simulator.add_testbench(run)
    simulator.run()


def test_every_address():
    """Of those that are not defined, and with STATUS not to be written; at reset values."""

    async def process(bench, ctx):
        defined = {one.address: one for one in CALL_REGISTERS if one is not registers.DATA_WINDOW}
        window = range(0x200, 0x400, 4)
        for address in range(0, 0x1000, 4):
            register = defined.get(address)
            readable = address in window or (register is not None and register.readable)
            value = await bench.read(ctx, address, okay=readable)
            if register in (None, registers.STATUS) or register.fields[0].reset == 0:
                assert value == 0 or address == registers.COMPLETE.address, hex(address)
            writable = address in window or (register is not None and register.writable)
            writable &= register is not registers.STATUS
            if not writable:
                await bench.write(ctx, address, ~0 & 0xFFFFFFFF, okay=False)
        assert await bench.read(ctx, registers.COMPLETE) == 0

    simulate(process)


def test_identity():
    async def process(bench, ctx):
        CAPABILITIES = registers.CAPABILITIES
        word = await bench.read(ctx, CAPABILITIES)
        assert CAPABILITIES["SLOTS"].of(word) == CAPABILITIES["MORE_COMMANDS"].of(word) == 1
        assert CAPABILITIES["MULTIPLIERS"].of(word) == 3
        assert CAPABILITIES["COMMANDS"].of(word) == 1 << WIPE
        assert await bench.read(ctx, registers.FAMILY) == 0xABCD
        assert await bench.read(ctx, registers.COMMANDS) == 1 << 20 | 1 << WIPE
        assert await bench.read(ctx, registers.COMMANDS_HIGH) == 1 << 1 | 1 << 8 | 1 << 31

    simulate(process)


def test_the_reset_clears_the_engine_while_busy():
    async def process(bench, ctx):
        assert await bench.read(ctx, registers.STATUS) == registers.STATUS["BUSY"].mask
        ctx.set(bench.engine.hold, 1)
        for register in (registers.COMMAND, registers.PARAMETER_SET, registers.SLOT):
            await bench.write(ctx, register, WIPE if register is registers.COMMAND else 0)
            assert await bench.refusal(ctx) is Error.BUSY, register.name
        ctx.set(bench.engine.hold, 0)
        await bench.ready(ctx)
        assert not await bench.read(ctx, registers.INTERRUPT_STATUS)

    simulate(process, ready=False)


@pytest.mark.parametrize(("number", "key"), [(0, b"seven b"), (1, LONG_KEY)])
def test_a_call(number, key):
    async def process(bench, ctx):
        await bench.write(ctx, registers.PARAMETER_SET, number)
        assert await bench.read(ctx, registers.PARAMETER_SET) == number
        await bench.write(ctx, registers.INTERRUPT_ENABLE, 1)
        assert await bench.load(ctx, KEY, key) == 1
        assert await bench.read(ctx, registers.COMPLETE) == 1 << KEY.number
        assert not ctx.get(bench.front_end.irq)
        assert await bench.run(ctx, 20) is Error.NONE
        assert ctx.get(bench.front_end.irq)
        assert await bench.read(ctx, registers.INTERRUPT_STATUS) == 1
        await bench.write(ctx, registers.INTERRUPT_STATUS, 1)
        assert not ctx.get(bench.front_end.irq)
        assert await bench.read(ctx, registers.COMPLETE) == 1 << KEY.number | 1 << COPY.number
        assert await bench.read(ctx, registers.CYCLES) == 4 * -(-len(key) // 4)
        assert await bench.read(ctx, registers.PRODUCTS) == 0
        for _ in range(2):
            assert await bench.fetch(ctx, COPY) == (inverted(key), 1)
        await bench.read(ctx, registers.DATA_WINDOW)
        assert await bench.refusal(ctx) is Error.KEY_OVERRUN

    simulate(process)


def test_slots_that_cannot_be_read():
    """One that is never read, one that is not complete, and streams."""

    async def process(bench, ctx):
        await bench.load(ctx, KEY, b"seven b")
        await bench.load(ctx, HIDDEN, b"12345678")
        for slot in (KEY, HIDDEN, COPY, TEXT, ECHO):
            assert await bench.fetch(ctx, slot) == (b"", 0)
            assert await bench.read(ctx, registers.DATA_WINDOW) == 0
            assert await bench.refusal(ctx) is Error.KEY_OVERRUN
        await bench.load(ctx, SECOND, b"abcd")
        assert (await bench.fetch(ctx, SECOND))[0] == b"abcd"

    simulate(process)


@pytest.mark.parametrize("length", [0, 6, 8, 12, 7 | 1 << 31])
def test_a_wrong_length_is_refused(length):
    async def process(bench, ctx):
        await bench.load(ctx, KEY, b"seven b")
        await bench.load(ctx, KEY, b"1234567", length=length)
        assert await bench.refusal(ctx) is Error.SLOT_LENGTH
        assert await bench.read(ctx, registers.COMPLETE) == 1 << KEY.number
        assert await bench.run(ctx, 20) is Error.NONE
        assert (await bench.fetch(ctx, COPY))[0] == inverted(b"seven b")

    simulate(process)


def test_an_output_cannot_be_loaded():
    async def process(bench, ctx):
        await bench.load(ctx, COPY, b"1234567")
        assert await bench.refusal(ctx) is Error.SLOT_LENGTH
        assert await bench.read(ctx, registers.COMPLETE) == 0

    simulate(process)


def test_words_after_a_refused_one_are_refused():
    async def process(bench, ctx):
        await bench.load(ctx, KEY, b"seven b")
        await bench.write(ctx, registers.DATA_WINDOW, 1)
        await bench.load(ctx, SECOND, b"abcd")  # ignored, since ERROR.REFUSAL is not cleared
        assert await bench.read(ctx, registers.SLOT_LENGTH) == 0
        assert await bench.read(ctx, registers.COMPLETE) == 1 << KEY.number
        assert await bench.refusal(ctx) is Error.KEY_OVERRUN
        await bench.load(ctx, SECOND, b"abcd")
        assert await bench.read(ctx, registers.COMPLETE) == 1 << KEY.number | 1 << SECOND.number

    simulate(process)


def test_unknown_slots_sets_and_commands():
    async def process(bench, ctx):
        for number in (2, 7, 31):
            await bench.write(ctx, registers.SLOT, number)
            assert await bench.refusal(ctx) is Error.ADDRESS
            await bench.write(ctx, registers.SLOT_LENGTH, 7)
            assert await bench.refusal(ctx) is Error.NOT_READY
        for number in (2, 31):
            await bench.write(ctx, registers.PARAMETER_SET, number)
            assert await bench.refusal(ctx) is Error.ADDRESS
            assert await bench.read(ctx, registers.PARAMETER_SET) == 0
        for code in (0, 1, 4, 6, 21, 62):
            assert await bench.run(ctx, code) is Error.UNSUPPORTED
            assert await bench.read(ctx, registers.CYCLES) == 0

    simulate(process)


def test_missing_and_optional_inputs():
    async def process(bench, ctx):
        await bench.load(ctx, SECOND, b"abcd")
        assert await bench.run(ctx, 20) is Error.OPERAND_MISSING
        assert await bench.read(ctx, registers.INTERRUPT_STATUS) == 1
        await bench.load(ctx, KEY, b"seve")  # 4 of its 7 bytes
        assert await bench.refusal(ctx) is Error.SLOT_LENGTH
        await bench.load(ctx, KEY, b"seve", length=7)
        assert await bench.read(ctx, registers.SLOT_LENGTH) == 3
        assert await bench.run(ctx, 20) is Error.OPERAND_MISSING
        await bench.write(ctx, registers.DATA_WINDOW, 0)  # the start has ended the loading
        assert await bench.refusal(ctx) is Error.KEY_OVERRUN
        await bench.load(ctx, KEY, b"seven b")
        assert await bench.run(ctx, 20) is Error.NONE

    simulate(process)


def test_what_clears_marks():
    async def process(bench, ctx):
        await bench.load(ctx, KEY, b"seven b")
        await bench.load(ctx, HIDDEN, b"12345678")
        await bench.run(ctx, 20)
        assert await bench.read(ctx, registers.COMPLETE) == 0b11001
        await bench.write(ctx, registers.SLOT, HIDDEN.number)
        await bench.write(ctx, registers.SLOT_LENGTH, 8)
        assert await bench.read(ctx, registers.COMPLETE) == 0b1001
        await bench.load(ctx, HIDDEN, b"12345678")
        assert await bench.run(ctx, 63) is Error.FAULT
        assert await bench.read(ctx, registers.COMPLETE) == 0b11000
        assert await bench.run(ctx, WIPE) is Error.NONE
        assert await bench.read(ctx, registers.COMPLETE) == 0
        await bench.load(ctx, SECOND, b"abcd")
        await bench.write(ctx, registers.SLOT, SECOND.number)
        await bench.write(ctx, registers.PARAMETER_SET, 0)
        assert await bench.read(ctx, registers.COMPLETE) == 0
        assert await bench.read(ctx, registers.DATA_WINDOW) == 0
        assert await bench.refusal(ctx) is Error.KEY_OVERRUN

    simulate(process)


def test_not_while_busy():
    """A start selects no slot, and only streams can be selected until the end."""

    async def process(bench, ctx):
        await bench.load(ctx, KEY, b"seven b")
        await bench.write(ctx, registers.SLOT, KEY.number)
        await bench.write(ctx, registers.COMMAND, 33)
        await bench.write(ctx, registers.SLOT_LENGTH, 7)
        assert await bench.refusal(ctx) is Error.NOT_READY
        for register in (registers.COMMAND, registers.PARAMETER_SET, registers.SLOT):
            await bench.write(ctx, register, 1)
            assert await bench.refusal(ctx) is Error.BUSY
        assert await bench.read(ctx, registers.COMPLETE) == 1
        assert await bench.read(ctx, registers.STATUS) == registers.STATUS["BUSY"].mask

    simulate(process)


async def echo(bench, ctx, parts):
    """Send a text in parts, word by word, and read the echo in one; the bytes of the echo."""
    size = sum(map(len, parts))
    found = b""
    await bench.write(ctx, registers.COMMAND, 33)
    for number, part in enumerate(parts):
        await bench.write(ctx, registers.SLOT, TEXT.number)
        more = number < len(parts) - 1
        await bench.write(ctx, registers.SLOT_LENGTH, len(part) | more << 31)
        left = len(part)
        for place in range(0, max(1, len(part)), 4):
            word = part[place : place + 4]
            if word:
                await bench.write(ctx, registers.SLOT, TEXT.number)
                await bench.write(ctx, registers.SLOT_LENGTH, left | more << 31)
                await bench.write(ctx, registers.DATA_WINDOW, int.from_bytes(word, "little"))
                left -= len(word)
                assert await bench.read(ctx, registers.SLOT_LENGTH) == left
            elif more:
                continue
            await bench.write(ctx, registers.SLOT, ECHO.number)
            await bench.write(ctx, registers.SLOT_LENGTH, max(1, size - len(found)))
            assert await bench.read(ctx, registers.WAITING) == registers.WAITING["READER"].mask
            value = await bench.read(ctx, registers.DATA_WINDOW)
            found += value.to_bytes(4, "little")[: len(word)]
    await bench.ready(ctx)
    assert await bench.refusal(ctx) is Error.NONE
    return found


@pytest.mark.parametrize(
    "parts", [[b""], [b"a"], [b"abcd"], [b"abcd", b"efghi"], [b"abcdefgh", b""], [b"", b"xyz"]]
)
def test_streams(parts):
    text = b"".join(parts)

    async def process(bench, ctx):
        for _ in range(2):
            assert await echo(bench, ctx, parts) == inverted(text)
            words = -(-len(text) // 4) + (not parts[-1])
            assert await bench.read(ctx, registers.CYCLES) == words
            assert await bench.read(ctx, registers.PRODUCTS) == 2 * words
            assert await bench.read(ctx, registers.COMPLETE) == 0

    simulate(process)


def test_nothing_is_selected_after_a_call():
    """Not even a stream of which more was asked for than there was."""

    async def process(bench, ctx):
        await bench.write(ctx, registers.COMMAND, 33)
        await bench.load(ctx, TEXT, b"abcd")
        await bench.write(ctx, registers.SLOT, ECHO.number)
        await bench.write(ctx, registers.SLOT_LENGTH, 100)
        assert await bench.read(ctx, registers.DATA_WINDOW) == 0x9B9C9D9E
        await bench.ready(ctx)
        assert await bench.read(ctx, registers.SLOT_LENGTH) == 0
        assert await bench.read(ctx, registers.DATA_WINDOW) == 0
        assert await bench.refusal(ctx) is Error.KEY_OVERRUN
        await bench.write(ctx, registers.SLOT_LENGTH, 4)
        assert await bench.refusal(ctx) is Error.NOT_READY

    simulate(process)


def test_a_word_that_is_not_taken_is_forgotten():
    async def process(bench, ctx):
        await bench.write(ctx, registers.COMMAND, 33)
        ctx.set(bench.engine.takes, 0)
        await bench.load(ctx, TEXT, b"abcd", length=8)
        assert await bench.read(ctx, registers.WAITING) == 0
        assert await bench.run(ctx, WIPE) is Error.NONE
        await bench.load(ctx, SECOND, b"", length=4)
        assert await bench.read(ctx, registers.WAITING) == registers.WAITING["WORD"].mask

    simulate(process)


def test_parts_of_a_stream():
    async def process(bench, ctx):
        await bench.write(ctx, registers.SLOT, TEXT.number)
        await bench.write(ctx, registers.SLOT_LENGTH, 4)
        assert await bench.refusal(ctx) is Error.NOT_READY  # no command is busy
        await bench.write(ctx, registers.COMMAND, 33)
        for length in (1, 6, 7):
            await bench.write(ctx, registers.SLOT, TEXT.number)
            await bench.write(ctx, registers.SLOT_LENGTH, length | 1 << 31)
            assert await bench.refusal(ctx) is Error.SLOT_LENGTH
        await bench.write(ctx, registers.SLOT_LENGTH, 0x7FFFFFFF)
        assert await bench.read(ctx, registers.SLOT_LENGTH) == 0x7FFFFFFF
        await bench.write(ctx, registers.DATA_WINDOW, 0)
        assert await bench.read(ctx, registers.SLOT_LENGTH) == 0x7FFFFFFB

    simulate(process)


def test_an_access_waits_no_longer_than_it_may():
    """And what was moved before can be found out, so that software can go on."""
    longest = 1 << PATIENCE_BITS

    async def process(bench, ctx):
        await bench.write(ctx, registers.COMMAND, 33)
        await bench.write(ctx, registers.SLOT, TEXT.number)
        await bench.write(ctx, registers.SLOT_LENGTH, 12)
        assert await bench.read(ctx, registers.WAITING) == registers.WAITING["WORD"].mask
        assert await bench.write(ctx, registers.DATA_WINDOW, 0x64636261) == 1
        assert await bench.read(ctx, registers.WAITING) == 0
        assert await bench.write(ctx, registers.DATA_WINDOW, 0x68676665) == longest
        assert await bench.write(ctx, registers.DATA_WINDOW, 0x68676665) == 1
        assert await bench.read(ctx, registers.SLOT_LENGTH) == 8
        assert await bench.refusal(ctx) is Error.NOT_READY
        await bench.write(ctx, registers.SLOT, ECHO.number)
        await bench.write(ctx, registers.SLOT_LENGTH, 12)
        assert await bench.timed_read(ctx, registers.DATA_WINDOW) == (0x9B9C9D9E, 1)
        assert await bench.timed_read(ctx, registers.DATA_WINDOW) == (0, longest)
        assert await bench.timed_read(ctx, registers.DATA_WINDOW) == (0, 1)
        assert await bench.read(ctx, registers.SLOT_LENGTH) == 8
        assert await bench.refusal(ctx) is Error.NOT_READY
        await bench.write(ctx, registers.SLOT, TEXT.number)
        await bench.write(ctx, registers.SLOT_LENGTH, 1)
        assert await bench.write(ctx, registers.DATA_WINDOW, 0xFF) == 1
        await bench.write(ctx, registers.SLOT, ECHO.number)
        await bench.write(ctx, registers.SLOT_LENGTH, 1)
        assert await bench.read(ctx, registers.DATA_WINDOW) == 0xFFFFFF00
        await bench.ready(ctx)

    simulate(process)


def test_words_that_the_engine_takes_late():
    """A command waits for them, another slot does not begin, and no slot is read meanwhile."""

    async def process(bench, ctx):
        takes = bench.engine.takes
        ctx.set(takes, 0)
        await bench.write(ctx, registers.SLOT, SECOND.number)
        await bench.write(ctx, registers.SLOT_LENGTH, 4)
        await bench.write(ctx, registers.DATA_WINDOW, 0x64636261)
        await bench.write(ctx, registers.SLOT, KEY.number)
        await bench.write(ctx, registers.SLOT_LENGTH, 7)
        assert await bench.refusal(ctx) is Error.NOT_READY
        await bench.write(ctx, registers.SLOT, SECOND.number)
        assert await bench.read(ctx, registers.WAITING) == 0
        ctx.set(takes, 1)
        assert await bench.read(ctx, registers.DATA_WINDOW) == 0x64636261
        await bench.load(ctx, KEY, b"seven b")
        await bench.load(ctx, SECOND, b"")
        ctx.set(takes, 0)
        await bench.refusal(ctx)
        await bench.load(ctx, SECOND, b"efgh")
        await bench.write(ctx, registers.COMMAND, 20)
        for _ in range(20):
            assert await bench.read(ctx, registers.STATUS) == registers.STATUS["BUSY"].mask
        ctx.set(takes, 1)
        await bench.ready(ctx)
        assert await bench.error(ctx) is Error.NONE
        assert (await bench.fetch(ctx, SECOND))[0] == b"efgh"

    simulate(process)


@pytest.mark.parametrize("wait", [0, 1, 2, 40])
def test_wipe_gives_up_a_command(wait):
    """At once, or while it waits for a text; a word that was not taken is forgotten."""

    async def process(bench, ctx):
        await bench.load(ctx, KEY, b"seven b")
        await bench.write(ctx, registers.COMMAND, 33)
        for _ in range(wait):
            await ctx.tick()
        if wait > 30:
            await bench.write(ctx, registers.SLOT, TEXT.number)
            await bench.write(ctx, registers.SLOT_LENGTH, 12)
            await bench.write(ctx, registers.DATA_WINDOW, 1)
        assert not await bench.read(ctx, registers.INTERRUPT_STATUS)
        assert await bench.run(ctx, WIPE) is Error.NONE
        assert await bench.read(ctx, registers.INTERRUPT_STATUS) == 1
        assert await bench.read(ctx, registers.COMPLETE) == 0
        assert await echo(bench, ctx, [b"abcd"]) == inverted(b"abcd")

    simulate(process)


def test_random_bytes():
    """Taken only where the slot is not complete; the cycles in which they are missing are none."""

    async def process(bench, ctx):
        random = bench.front_end.random
        mask = registers.WAITING["RANDOM"].mask
        await bench.write(ctx, registers.COMMAND, 40)
        assert await bench.read(ctx, registers.WAITING) == 0  # the check, then the start
        for byte in b"wxyz":
            for _ in range(5):
                assert await bench.read(ctx, registers.WAITING) == mask
            ctx.set(random.payload, byte)
            ctx.set(random.valid, 1)
            assert ctx.get(random.ready)
            await ctx.tick()
            ctx.set(random.valid, 0)
        await bench.ready(ctx)
        assert await bench.read(ctx, registers.CYCLES) == 4
        assert (await bench.fetch(ctx, SECOND))[0] == b"wxyz"
        assert await bench.run(ctx, 40) is Error.NONE
        assert await bench.read(ctx, registers.CYCLES) == 4
        assert (await bench.fetch(ctx, SECOND))[0] == b"wxyz"

    simulate(process)


def test_what_is_no_interface():
    with pytest.raises(TypeError, match="interface must be an EngineInterface, not 'shake'"):
        CallFrontEnd("shake")
    with pytest.raises(ValueError, match="units must be 1 to 15, not 16"):
        CallFrontEnd(replace(INTERFACE, units=16))
