"""What runs inside the simulation of test_axi4.py: cocotbext-axi's master at the accelerator.

The engine is the mock with W = 40, which adds X and Y for MODMUL, and as many words as the data
windows. Each beat that comes back is compared with what the model of the registers says.
"""

import itertools
import logging
import random

import cocotb
from axi_bench import stall
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, gather, with_timeout
from cocotbext.axi import AxiBurstType, AxiBus, AxiMaster, AxiResp

from coprime.bus import registers
from coprime.bus.shared_registers import PLAIN_REGISTERS as REGISTERS
from coprime.engine.contract import Command, Error, Operand

SEED = 12
LENGTH = 8192
WORDS = LENGTH // 32
INPUT, OUTPUT, KEY = (
    window.address
    for window in (registers.INPUT_WINDOW, registers.OUTPUT_WINDOW, registers.KEY_WINDOW)
)
CHANNELS = {
    "b": ("bid", "bresp"),
    "r": ("rid", "rresp", "rdata", "rlast"),
}
FIXED, INCR, WRAP = AxiBurstType.FIXED, AxiBurstType.INCR, AxiBurstType.WRAP
EDGES = [*range(1, 20), 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 254, 255, 256]
"""Beats of bursts that increment: all that fit into 16, and those at powers of two."""
LENGTHS_OF = {FIXED: range(1, 17), INCR: range(1, 257), WRAP: (2, 4, 8, 16)}


def beat_addresses(start, size, burst, beats):
    """Byte address of each beat, as the AXI specification words it."""
    number = 1 << size
    aligned = start // number * number
    lower = start // (number * beats) * (number * beats)
    for n in range(beats):
        address = aligned + n * number if n and burst is not FIXED else start
        if burst is WRAP and address >= lower + number * beats:
            address -= number * beats
        yield address


class Host:
    """The master, with stalls on all five channels, and what is known of the registers."""

    def __init__(self, dut, often=0.0):
        self.dut = dut
        logging.getLogger("cocotb").setLevel(logging.WARNING)
        self.master = AxiMaster(
            AxiBus.from_prefix(dut, "s_axi"),
            dut.s_axi_aclk,
            dut.s_axi_aresetn,
            reset_active_level=False,
        )
        self.input = [0] * WORDS
        self.image = {}  # what every word can be read as, by address; others are refused
        self.seen = {"b": [], "r": []}
        stall(self.master, often, SEED)
        cocotb.start_soon(watch(dut, self.seen))

    async def reset(self, cycles=4):
        self.dut.s_axi_aresetn.value = 0
        for _ in range(cycles):
            await RisingEdge(self.dut.s_axi_aclk)
        self.dut.s_axi_aresetn.value = 1
        await RisingEdge(self.dut.s_axi_aclk)

    # Single registers

    async def write(self, register, value):
        done = await with_timeout(
            self.master.write(register.address, value.to_bytes(4, "little")), 100, "us"
        )
        assert done.resp == AxiResp.OKAY, register.name

    async def read_at(self, address):
        done = await with_timeout(self.master.read(address, 4), 100, "us")
        return int.from_bytes(done.data, "little"), done.resp

    async def read(self, register):
        value, response = await self.read_at(register.address)
        assert response == AxiResp.OKAY, register.name
        return value

    # Bursts

    async def write_burst(self, start, size, burst, beats, rng, name=None):
        """Write random bytes into the input window, and check the answer."""
        number = 1 << size
        data = rng.randbytes(number * beats - start % number)
        before = len(self.seen["b"])
        done = await with_timeout(
            self.master.write(start, data, awid=name, burst=burst, size=size), 1000, "us"
        )
        assert len(self.seen["b"]) == before + 1
        good, offset = True, 0
        for n, address in enumerate(beat_addresses(start, size, burst, beats)):
            taken = number - start % number if n == 0 else number
            if size == 2 and taken == 4 and address % 4 == 0:
                assert INPUT <= address < OUTPUT
                self.input[(address - INPUT) // 4] = int.from_bytes(
                    data[offset : offset + 4], "little"
                )
            else:
                good = False
            offset += taken
        assert done.resp == (AxiResp.OKAY if good else AxiResp.SLVERR)

    async def read_burst(self, start, size, burst, beats, name=None):
        """Read anywhere, and compare each beat with the image."""
        number = 1 << size
        before = len(self.seen["r"])
        done = await with_timeout(
            self.master.read(
                start, number * beats - start % number, arid=name, burst=burst, size=size
            ),
            1000,
            "us",
        )
        seen = self.seen["r"][before:]
        assert len(seen) == beats
        expected = [
            self.image.get(address // 4) for address in beat_addresses(start, size, burst, beats)
        ]
        assert done.resp == (AxiResp.SLVERR if None in expected else AxiResp.OKAY)
        for n, (value, beat) in enumerate(zip(expected, seen, strict=True)):
            assert beat == {
                "rid": name if name is not None else beat["rid"],
                "rresp": AxiResp.SLVERR if value is None else AxiResp.OKAY,
                "rdata": value or 0,
                "rlast": n == beats - 1,
            }, (hex(start), size, burst, beats, n)

    # Commands

    async def load(self, operand, value, length):
        """Load an operand by bursts of different lengths and addresses."""
        await self.write(registers.KEY_OPERAND, operand)
        data = value.to_bytes(-(-length // 32) * 4, "little")
        place = 0
        for beats in itertools.cycle((1, 16, 2, 100, 137)):
            if place == len(data):
                break
            part = data[place : place + 4 * beats]
            fixed = len(part) <= 64
            done = await self.master.write(
                registers.KEY_DATA.address if fixed else KEY + 1024 - len(part),
                part,
                burst=FIXED if fixed else INCR,
            )
            assert done.resp == AxiResp.OKAY
            place += len(part)
        assert await self.read(registers.ERROR) == 0

    async def prepare(self):
        """Everything for MODMUL, which copies X then, but X."""
        await self.write(registers.MODULUS_LENGTH, LENGTH)
        await self.load(Operand.M, (1 << LENGTH) - 1, LENGTH)
        await self.load(Operand.Y, 0, LENGTH)
        await self.write(registers.INPUT_LENGTH, LENGTH // 8)
        await self.write(registers.INTERRUPT_ENABLE, 1)

    async def run(self, command=Command.MODMUL):
        await self.write(registers.COMMAND, command)
        if not self.dut.irq.value:
            await with_timeout(RisingEdge(self.dut.irq), 500, "us")
        await self.write(registers.INTERRUPT_STATUS, 1)
        return await self.read(registers.ERROR)

    async def result(self):
        done = await self.master.read(OUTPUT, 4 * WORDS)
        assert done.resp == AxiResp.OKAY
        return [int.from_bytes(done.data[i : i + 4], "little") for i in range(0, 4 * WORDS, 4)]

    async def take_image(self):
        """Read every register by itself."""
        self.image = {}
        for register in REGISTERS:
            if register.readable:
                self.image[register.address // 4] = await self.read(register)
        for word, value in enumerate(await self.result()):
            self.image[OUTPUT // 4 + word] = value


async def begin(dut, often=0.0):
    cocotb.start_soon(Clock(dut.s_axi_aclk, 10, "ns").start())
    host = Host(dut, often)
    await host.reset()
    return host


async def watch(dut, seen):
    """Keep each answer, and check that an answer stays as it is until it is taken."""
    signals = {
        channel: (
            dut[f"s_axi_{channel}valid"],
            dut[f"s_axi_{channel}ready"],
            [dut[f"s_axi_{name}"] for name in payload],
        )
        for channel, payload in CHANNELS.items()
    }
    before = dict.fromkeys(CHANNELS)
    while True:
        await RisingEdge(dut.s_axi_aclk)
        for channel, (valid, ready, payload) in signals.items():
            now = [int(one.value) for one in payload] if valid.value == 1 else None
            if dut.s_axi_aresetn.value == 0:
                before[channel] = None
                continue
            if before[channel] is not None:
                assert now == before[channel], f"{channel} changed before it was taken"
            taken = now is not None and ready.value == 1
            before[channel] = None if taken else now
            if taken:
                seen[channel].append(dict(zip(CHANNELS[channel], now, strict=True)))


def random_burst(rng, low, high):
    """Start, size, type and beats of any burst of bytes in low..high-1."""
    while True:
        burst = rng.choice((FIXED, INCR, WRAP))
        size = rng.choice((0, 1, 2, 2, 2))
        beats = rng.choice(LENGTHS_OF[burst][:40])
        number = 1 << size
        start = rng.randrange(low, high)
        if burst is not INCR or rng.random() < 0.6:
            start -= start % number
        if start + number * beats <= high:
            return start, size, burst, beats


@cocotb.test()
async def short_and_long_bursts(dut):
    host = await begin(dut)
    rng = random.Random(SEED)
    await host.prepare()
    for beats in EDGES:
        start = INPUT + 4 * rng.randrange(WORDS + 1 - beats)
        await host.write_burst(start, 2, INCR, beats, rng, beats % 16)
    assert await host.run() == 0
    assert await host.result() == host.input
    await host.take_image()
    for beats in EDGES:
        start = OUTPUT + 4 * rng.randrange(WORDS + 1 - beats)
        await host.read_burst(start, 2, INCR, beats, beats % 16)


@cocotb.test()
async def every_fixed_and_wrapping_burst(dut):
    """All sizes and lengths, and for those that wrap all places where they begin."""
    host = await begin(dut)
    rng = random.Random(SEED)
    await host.prepare()
    for beats in LENGTHS_OF[FIXED]:
        await host.write_burst(INPUT + 4 * rng.randrange(200), 2, FIXED, beats, rng)
    for beats in LENGTHS_OF[WRAP]:
        for place in range(beats):
            await host.write_burst(INPUT + 4 * (3 * beats + place), 2, WRAP, beats, rng)
    assert await host.run() == 0
    assert await host.result() == host.input
    await host.take_image()
    for size in range(3):
        for beats in LENGTHS_OF[FIXED]:
            await host.read_burst(OUTPUT + rng.randrange(800), size, FIXED, beats)
        for beats in LENGTHS_OF[WRAP]:
            total = beats << size
            for place in range(0, total, 1 << size):
                await host.read_burst(OUTPUT + 5 * total + place, size, WRAP, beats)


@cocotb.test()
@cocotb.parametrize(often=[0.0, 0.3, 0.7])
async def any_bursts_at_a_time(dut, often):
    """Writes and reads of all kinds, narrow and unaligned too, none waiting for the other."""
    host = await begin(dut, often)
    rng = random.Random(SEED)
    await host.prepare()
    await host.write_burst(INPUT, 2, INCR, 256, rng)
    assert await host.run() == 0
    assert await host.result() == host.input
    await host.take_image()

    async def write():
        own = random.Random(SEED + 1)
        for _ in range(48):
            await host.write_burst(*random_burst(own, INPUT, OUTPUT), own, own.randrange(16))

    async def read():
        own = random.Random(SEED + 2)
        for _ in range(48):
            low, high = own.choice(((0, 0x120), (OUTPUT, KEY), (0, 4096)))
            await host.read_burst(*random_burst(own, low, high), own.randrange(16))

    await gather(write(), read())
    assert await host.run() == 0
    assert await host.result() == host.input


@cocotb.test()
async def a_refused_beat_does_not_stop_the_others(dut):
    host = await begin(dut, 0.3)
    lengths = (
        registers.MODULUS_LENGTH,
        registers.EXPONENT_LENGTH,
        registers.P_LENGTH,
        registers.Q_LENGTH,
    )
    data = b"".join(number.to_bytes(4, "little") for number in (100, 101, 102, 103))
    # The last of them by wrapping.
    done = await host.master.write(lengths[1].address, data[4:] + data[:4], burst=WRAP)
    assert done.resp == AxiResp.OKAY
    assert [await host.read(one) for one in lengths] == [100, 101, 102, 103]
    # From Q_LENGTH over two that exist to one that does not.
    await host.write(registers.ERROR, 0)
    done = await host.master.write(lengths[3].address, b"".join(map(bytes, [[9, 0, 0, 0]] * 4)))
    assert done.resp == AxiResp.SLVERR
    assert await host.read(registers.Q_LENGTH) == 9
    # One that cannot be written first: OUTPUT_LENGTH, and then WRITE_ADDRESS, which has an opinion.
    await host.write(registers.ERROR, 0)
    done = await host.master.write(registers.OUTPUT_LENGTH.address, bytes(4) + b"\xff" * 4)
    assert done.resp == AxiResp.SLVERR
    assert await host.read(registers.ERROR) == Error.ADDRESS << 8
    # An unaligned one: its first beat has not all bytes.
    done = await host.master.write(registers.P_LENGTH.address + 1, bytes([1, 1, 1, 5, 0, 0, 0]))
    assert done.resp == AxiResp.SLVERR
    assert await host.read(registers.P_LENGTH) == 102
    assert await host.read(registers.Q_LENGTH) == 5
    assert (await host.master.write(registers.Q_LENGTH.address, bytes(4))).resp == AxiResp.OKAY


@cocotb.test()
@cocotb.parametrize(often=[0.0, 0.5])
async def many_outstanding(dut, often):
    """A master that does not wait for answers: each has its ID, none is lost."""
    host = await begin(dut, often)
    rng = random.Random(SEED)
    await host.prepare()
    data = rng.randbytes(4 * WORDS)
    writes = [
        host.master.init_write(INPUT + place, data[place : place + 64], awid=rng.randrange(16))
        for place in range(0, len(data), 64)
    ]
    reads = [
        host.master.init_read(address, 4, arid=rng.randrange(16))
        for address in (registers.MODULUS_LENGTH.address, registers.IDENTIFICATION.address) * 8
    ]
    for operation in (*writes, *reads):
        await operation.wait()
        assert operation.data.resp == AxiResp.OKAY
    assert [int.from_bytes(one.data.data, "little") for one in reads] == [
        LENGTH,
        int.from_bytes(b"COPR"),
    ] * 8
    assert await host.run() == 0
    reads = [
        host.master.init_read(OUTPUT + place, 32, arid=rng.randrange(16))
        for place in range(0, len(data), 32)
    ]
    for operation in reads:
        await operation.wait()
    assert b"".join(one.data.data for one in reads) == data


@cocotb.test()
async def busy_and_overrun(dut):
    """What the registers refuse without SLVERR, a burst of it too."""
    host = await begin(dut, 0.3)
    rng = random.Random(SEED)
    await host.prepare()
    await host.write_burst(INPUT, 2, INCR, 256, rng)
    await host.write(registers.COMMAND, Command.MODMUL)
    for address in (INPUT, KEY):
        assert (await host.master.write(address, bytes(64))).resp == AxiResp.OKAY
        assert await host.read(registers.ERROR) == Error.BUSY << 8
        await host.write(registers.ERROR, 0)
    if not dut.irq.value:
        await with_timeout(RisingEdge(dut.irq), 500, "us")
    assert await host.result() == host.input
    await host.load(Operand.Y, 5, LENGTH)
    assert (await host.master.write(KEY, bytes(4))).resp == AxiResp.OKAY
    assert await host.read(registers.ERROR) == Error.KEY_OVERRUN << 8


@cocotb.test()
async def reset_in_the_middle_of_bursts(dut):
    host = await begin(dut, 0.2)
    rng = random.Random(SEED)
    for cycles in (1, 7, 30, 200):
        await host.prepare()
        tasks = [
            host.master.init_write(INPUT, bytes(1024)),
            host.master.init_read(OUTPUT, 1024),
        ]
        for _ in range(cycles):
            await RisingEdge(dut.s_axi_aclk)
        await host.reset(1)
        for task in tasks:
            await task.wait()
        assert await host.read(registers.STATUS) == 0
        assert await host.read(registers.MODULUS_LENGTH) == 0
    await host.prepare()
    await host.write_burst(INPUT, 2, INCR, 256, rng)
    assert await host.run() == 0
    assert await host.result() == host.input


class Pins:
    """The bus without the master, for what it never does."""

    def __init__(self, dut):
        self.dut = dut
        for name in ("awvalid", "wvalid", "bready", "arvalid", "rready"):
            self.set(name, 0)

    def set(self, name, value):
        self.dut[f"s_axi_{name}"].value = value

    def get(self, name):
        return int(self.dut[f"s_axi_{name}"].value)

    async def tick(self, cycles=1):
        for _ in range(cycles):
            await RisingEdge(self.dut.s_axi_aclk)

    async def begin(self):
        cocotb.start_soon(Clock(self.dut.s_axi_aclk, 10, "ns").start())
        self.set("aresetn", 0)
        await self.tick(2)
        self.set("aresetn", 1)

    async def offer(self, channel, **payload):
        """Hold valid until ready."""
        for name, value in payload.items():
            self.set(channel + name, value)
        self.set(f"{channel}valid", 1)
        await self.tick()
        while not self.get(f"{channel}ready"):
            await self.tick()
        self.set(f"{channel}valid", 0)

    async def write(self, address, words, *, size=2, burst=INCR, strobes=15, name=3):
        """Write a burst; the response."""
        cocotb.start_soon(
            self.offer("aw", addr=address, len=len(words) - 1, size=size, burst=burst, id=name)
        )
        for n, word in enumerate(words):
            await self.offer("w", data=word, strb=strobes, last=n == len(words) - 1)
        self.set("bready", 1)
        await self.tick()
        while not self.get("bvalid"):
            await self.tick()
        assert self.get("bid") == name
        self.set("bready", 0)
        return self.get("bresp")

    async def read(self, address, beats, *, size=2, burst=INCR, name=3):
        """Read a burst; data and response of each beat."""
        cocotb.start_soon(
            self.offer("ar", addr=address, len=beats - 1, size=size, burst=burst, id=name)
        )
        self.set("rready", 1)
        found = []
        while len(found) < beats:
            await self.tick()
            if self.get("rvalid"):
                assert self.get("rid") == name
                found.append((self.get("rdata"), self.get("rresp")))
                assert self.get("rlast") == (len(found) == beats)
        self.set("rready", 0)
        return found


@cocotb.test()
async def what_is_not_allowed(dut):
    pins = Pins(dut)
    await pins.begin()
    p_length, q_length = registers.P_LENGTH.address, registers.Q_LENGTH.address
    assert await pins.write(p_length, [70, 71]) == AxiResp.OKAY
    for size, burst in ((2, 3), (3, INCR), (7, INCR), (4, FIXED), (6, INCR), (1, INCR), (0, INCR)):
        assert await pins.write(p_length, [1, 2], size=size, burst=burst) == AxiResp.SLVERR
        if size not in (0, 1):
            answers = await pins.read(p_length, 3, size=size, burst=burst)
            assert answers == [(0, AxiResp.SLVERR)] * 3
    for strobes in range(15):
        assert await pins.write(p_length, [5, 5], strobes=strobes) == AxiResp.SLVERR
    assert await pins.read(p_length, 2) == [(70, AxiResp.OKAY), (71, AxiResp.OKAY)]
    # Over the end: from the start again.
    answers = await pins.read(4092, 3)
    assert answers == [(0, AxiResp.SLVERR), (0, AxiResp.OKAY), (0, AxiResp.SLVERR)]
    assert await pins.write(q_length, [72]) == AxiResp.OKAY
    assert await pins.read(q_length, 1) == [(72, AxiResp.OKAY)]


@cocotb.test()
@cocotb.parametrize(first=["aw", "w"])
async def address_and_data_in_either_order(dut, first):
    pins = Pins(dut)
    await pins.begin()
    for value in range(3):
        place = registers.P_LENGTH.address
        address = {"addr": place, "len": 1, "size": 2, "burst": INCR, "id": value}
        data = [{"data": value + n, "strb": 15, "last": n} for n in range(2)]
        if first == "aw":
            await pins.offer("aw", **address)
            await pins.tick(10)
            for beat in data:
                await pins.offer("w", **beat)
                await pins.tick(10)
        else:
            await pins.offer("w", **data[0])
            await pins.tick(10)
            assert not pins.get("bvalid")
            later = cocotb.start_soon(pins.offer("w", **data[1]))
            await pins.tick(10)
            assert not later.done()
            await pins.offer("aw", **address)
            await later
        await pins.tick(20)
        assert pins.get("bvalid")
        assert not pins.get("awready")  # one burst at a time
        assert (pins.get("bid"), pins.get("bresp")) == (value, AxiResp.OKAY)
        pins.set("bready", 1)
        await pins.tick(2)
        pins.set("bready", 0)
        assert not pins.get("bvalid")
        answers = await pins.read(place, 2)
        assert answers == [(value, AxiResp.OKAY), (value + 1, AxiResp.OKAY)]


@cocotb.test()
@cocotb.parametrize(beats=[1, 2, 16, 256])
async def cycles_of_a_burst(dut, beats):
    """Hold all channels ready: n beats take 2n + 2 cycles to write, 3n + 2 to read."""
    pins = Pins(dut)
    await pins.begin()
    await pins.write(registers.P_LENGTH.address, [0])  # the buffers have been cleared then
    for name, value in (("addr", OUTPUT), ("len", beats - 1), ("size", 2), ("burst", INCR)):
        pins.set(f"aw{name}", INPUT if name == "addr" else value)
        pins.set(f"ar{name}", value)
    pins.set("wlast", beats == 1)
    for name in ("awvalid", "wvalid", "bready", "arvalid", "rready"):
        pins.set(name, 1)
    cycles = {"aw": [], "b": [], "ar": [], "r": []}
    sent = 0
    for cycle in range(10 * beats + 30):
        await pins.tick()
        for name, own in cycles.items():
            last = name != "r" or pins.get("rlast")
            if pins.get(f"{name}valid") and pins.get(f"{name}ready") and last:
                own.append(cycle)
        if pins.get("wready"):
            sent += 1
            pins.set("wlast", (sent + 1) % beats == 0)
    for start, end, period in (("aw", "b", 2 * beats + 2), ("ar", "r", 3 * beats + 2)):
        passed = [after - before for before, after in zip(cycles[start], cycles[end], strict=False)]
        assert len(passed) >= 3
        assert set(passed) == {period - 1}, cycles  # the first and the last cycle count
        assert {b - a for a, b in itertools.pairwise(cycles[start])} == {period}
