"""What runs inside the simulation of test_call_accelerator.py: cocotbext-axi's master at `shake`.

Messages and outputs move in bursts of every type, with stalls on all five channels.
"""

import hashlib
import random

import cocotb
from axi4_bench import FIXED, INCR, WRAP, Host
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, with_timeout
from cocotbext.axi import AxiResp

from coprime.bus import registers
from coprime.engine.capabilities import Error
from coprime.shake.interface import INTERFACE, MESSAGE, OUTPUT, OUTPUT_BYTES

SEED = 64
WINDOW, WORDS = registers.DATA_WINDOW.address, registers.DATA_WINDOW.words


async def start(dut, often):
    cocotb.start_soon(Clock(dut.s_axi_aclk, 10, "ns").start())
    host = Host(dut, often)
    await host.reset()
    while await host.read(registers.STATUS):
        pass
    return host


def burst(rng, beats):
    """A type that has so many beats, and where in the window it may begin."""
    kinds = [INCR, *([FIXED] if beats <= 16 else []), *([WRAP] if beats in (2, 4, 8, 16) else [])]
    return rng.choice(kinds), WINDOW + 4 * rng.randrange(WORDS - beats + 1)


async def select(host, slot, length, more=False):
    await host.write(registers.SLOT, slot.number)
    await host.write(registers.SLOT_LENGTH, length | more << 31)


async def moved(host, left):
    """Bytes that have been moved since so many were left; a refusal is cleared."""
    word = await host.read(registers.ERROR)
    assert registers.ERROR["REFUSAL"].of(word) in (Error.NONE, Error.NOT_READY)
    await host.write(registers.ERROR, 0)
    return left - await host.read(registers.SLOT_LENGTH)


async def send(host, rng, data):
    """A message in bursts of random lengths."""
    place = 0
    while place < len(data):
        words = min(rng.randint(1, 64), -(-(len(data) - place) // 4))
        kind, address = burst(rng, words)
        part = data[place : place + 4 * words].ljust(4 * words, b"\xa5")
        done = await with_timeout(host.master.write(address, part, burst=kind), 1000, "us")
        assert done.resp == AxiResp.OKAY
        place += await moved(host, len(data) - place)


async def receive(host, rng, length):
    """An output, in the same way."""
    found = b""
    while len(found) < length:
        words = min(rng.randint(1, 64), -(-(length - len(found)) // 4))
        kind, address = burst(rng, words)
        done = await with_timeout(host.master.read(address, 4 * words, burst=kind), 1000, "us")
        assert done.resp == AxiResp.OKAY
        found += done.data[: await moved(host, length - len(found))]
    return found


async def hash_all(dut, often, count):
    rng = random.Random(SEED)
    host = await start(dut, often)
    for _ in range(count):
        message, length = rng.randbytes(rng.randrange(500)), rng.randrange(1, 500)
        await select(host, OUTPUT_BYTES, 4)
        await host.write(registers.DATA_WINDOW, length)
        await host.write(registers.COMMAND, INTERFACE.call["SHAKE256"].code)
        cut = 4 * rng.randrange(len(message) // 4 + 1)
        await select(host, MESSAGE, cut, more=True)
        await send(host, rng, message[:cut])
        await select(host, MESSAGE, len(message) - cut)
        await send(host, rng, message[cut:])
        await select(host, OUTPUT, length)
        found = await receive(host, rng, length)
        assert found == hashlib.shake_256(message).digest(length)
        while not await host.read(registers.INTERRUPT_STATUS):
            await RisingEdge(dut.s_axi_aclk)
        await host.write(registers.INTERRUPT_STATUS, 1)
        assert await host.read(registers.ERROR) == 0


@cocotb.test()
async def test_bursts(dut):
    await hash_all(dut, 0, 12)


@cocotb.test()
async def test_bursts_with_stalls(dut):
    await hash_all(dut, 0.5, 12)


@cocotb.test()
async def test_a_narrow_write_moves_no_word(dut):
    """It is answered with SLVERR, and the next word takes its place."""
    host = await start(dut, 0.3)
    await host.write(registers.COMMAND, INTERFACE.call["SHA3_256"].code)
    await select(host, MESSAGE, 8)
    for address, data in ((WINDOW, b"a"), (WINDOW + 1, b"bcd"), (WINDOW + 6, b"ef")):
        done = await with_timeout(host.master.write(address, data), 100, "us")
        assert done.resp == AxiResp.SLVERR
    assert await host.read(registers.SLOT_LENGTH) == 8
    rng = random.Random(SEED)
    await send(host, rng, b"abcdefgh")
    await select(host, OUTPUT, 32)
    assert await receive(host, rng, 32) == hashlib.sha3_256(b"abcdefgh").digest()


@cocotb.test()
async def test_a_reset_in_a_message(dut):
    host = await start(dut, 0.3)
    rng = random.Random(SEED)
    for words in (0, 1, 33, 34, 60):
        await host.write(registers.COMMAND, INTERFACE.call["SHA3_256"].code)
        await select(host, MESSAGE, 1000)
        for _ in range(words):
            await host.write(registers.DATA_WINDOW, rng.getrandbits(32))
        await host.reset()
        while await host.read(registers.STATUS):
            pass
        assert await host.read(registers.COMPLETE) == 0
    await host.write(registers.COMMAND, INTERFACE.call["SHA3_256"].code)
    await select(host, MESSAGE, 3)
    await send(host, rng, b"abc")
    await select(host, OUTPUT, 32)
    assert await receive(host, rng, 32) == hashlib.sha3_256(b"abc").digest()
