"""What runs inside the simulation of test_axi4.py: cocotbext-axi's master at a cluster's front end.

The two engines are the mock with W = 40, which adds X and Y for MODMUL. A cluster has no data
windows: FIXED bursts move a number's words into KEY_DATA and out of RESULT.
"""

import random

import cocotb
from axi4_bench import FIXED, INCR, SEED, begin
from cocotb.triggers import with_timeout
from cocotbext.axi import AxiResp

from coprime.bus import cluster_registers as r
from coprime.engine.contract import Command, Error, Operand

CORES = 2
LENGTH = 1024
WIDTH = 40
FIXED_BEATS = 16


async def write_number(host, value, rng):
    """In bursts of up to 16 beats, each with an ID, which must come back."""
    data = value.to_bytes(LENGTH // 8, "little")
    while data:
        beats, name = rng.randint(1, FIXED_BEATS), rng.randrange(16)
        burst, data = data[: 4 * beats], data[4 * beats :]
        write = host.master.write(r.KEY_DATA.address, burst, awid=name, burst=FIXED, size=2)
        assert (await with_timeout(write, 100, "us")).resp == AxiResp.OKAY
        assert host.seen["b"][-1]["bid"] == name


async def read_words(host, count, rng):
    words = []
    while len(words) < count:
        beats, name = min(rng.randint(1, FIXED_BEATS), count - len(words)), rng.randrange(16)
        read = host.master.read(r.RESULT.address, 4 * beats, arid=name, burst=FIXED, size=2)
        done = await with_timeout(read, 100, "us")
        assert done.resp == AxiResp.OKAY
        assert {beat["rid"] for beat in host.seen["r"][-beats:]} == {name}
        words += [int.from_bytes(done.data[4 * k : 4 * k + 4], "little") for k in range(beats)]
    return words


async def start(host, core, x, y, rng):
    await host.write(r.CORE, core)
    await host.write(r.MODULUS_LENGTH, LENGTH)
    for operand, value in ((Operand.M, (1 << LENGTH) - 1), (Operand.X, x), (Operand.Y, y)):
        await host.write(r.KEY_OPERAND, operand)
        await write_number(host, value, rng)
    await host.write(r.COMMAND, Command.MODMUL)


def sum_of_digits(x, y):
    """What the mock computes."""
    digits = range(0, LENGTH, WIDTH)
    total = sum(((x >> k) + (y >> k)) % (1 << WIDTH) << k for k in digits)
    return total % (1 << LENGTH)


@cocotb.test()
@cocotb.parametrize(often=[0.0, 0.5])
async def commands_on_all_cores(dut, often):
    host, rng = await begin(dut, often), random.Random(SEED)
    await host.write(r.INTERRUPT_ENABLE, 1)
    work = {core: [rng.getrandbits(LENGTH) for _ in range(2)] for core in range(CORES)}
    for core, (x, y) in work.items():
        await start(host, core, x, y, rng)
    while work:
        while not (completion := await host.read(r.COMPLETION)) >> 31:
            pass
        assert dut.irq.value == 1
        core, error = completion & 0xFFFF, completion >> 16 & 0xFF
        assert error == Error.NONE
        assert await host.read(r.RESULT_LENGTH) == LENGTH // 8
        count = LENGTH // 32
        words = await read_words(host, count + 3, rng)
        assert sum(word << 32 * k for k, word in enumerate(words)) == sum_of_digits(*work.pop(core))
        await host.write(r.NEXT, 0)
    assert await host.read(r.ERROR) == 0
    assert dut.irq.value == 0


@cocotb.test()
async def bursts_over_many_registers(dut):
    """Each beat is an access; where there is no register the burst answers SLVERR."""
    host = await begin(dut)
    await host.write(r.CORE, 1)
    lengths = b"".join(n.to_bytes(4, "little") for n in (99, 88, 77, 66))
    done = await host.master.write(r.MODULUS_LENGTH.address, lengths, burst=INCR)
    assert done.resp == AxiResp.OKAY
    done = await host.master.read(r.MODULUS_LENGTH.address, 16, burst=INCR)
    assert (done.data, done.resp) == (lengths, AxiResp.OKAY)
    done = await host.master.read(r.Q_LENGTH.address, 8, burst=INCR)  # KEY_OPERAND is not readable
    assert (done.data[:4], done.resp) == (lengths[12:], AxiResp.SLVERR)
    done = await host.master.write(r.Q_LENGTH.address - 4, bytes(12), burst=INCR)
    assert done.resp == AxiResp.OKAY
    assert await host.read(r.Q_LENGTH) == 0
    done = await host.master.write(r.COMPLETION.address, bytes(4))
    assert done.resp == AxiResp.SLVERR


@cocotb.test()
async def words_after_the_last_are_refused(dut):
    host, rng = await begin(dut), random.Random(SEED)
    await host.write(r.MODULUS_LENGTH, LENGTH)
    await host.write(r.KEY_OPERAND, Operand.M)
    await write_number(host, (1 << LENGTH) - 1, rng)
    assert await host.read(r.ERROR) == 0
    done = await host.master.write(r.KEY_DATA.address, bytes(8), burst=FIXED)
    assert done.resp == AxiResp.OKAY
    assert await host.read(r.ERROR) == Error.KEY_OVERRUN << 8
