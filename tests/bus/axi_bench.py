"""What runs inside the simulation of test_axi4_lite.py: cocotbext-axi's master at the accelerator.

The engine is the mock with W = 17, which adds X and Y for MODMUL.
"""

import itertools
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import Combine, RisingEdge, with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from coprime.bus import registers
from coprime.bus.shared_registers import PLAIN_REGISTERS as REGISTERS
from coprime.bus.shared_registers import PLAIN_WINDOWS as WINDOWS
from coprime.engine.contract import Command, Error, Operand

SEED = 11
LENGTH = 1024
SIZE = LENGTH // 8


def pauses(rng, often):
    """Return an endless pattern of stalls: a share `often` of the cycles, in bursts."""
    while True:
        yield from itertools.repeat(rng.random() < often, rng.randint(1, 4))


def stall(master, often, seed):
    """All five channels of a master pause, a share `often` of the cycles."""
    if often:
        write, read = master.write_if, master.read_if
        channels = (
            *(write.aw_channel, write.w_channel, write.b_channel),
            *(read.ar_channel, read.r_channel),
        )
        for i, channel in enumerate(channels):
            channel.set_pause_generator(pauses(random.Random(seed + i), often))


class Host:
    """The master, with stalls on all five channels."""

    def __init__(self, dut, often=0.0):
        self.dut = dut
        self.master = AxiLiteMaster(
            AxiLiteBus.from_prefix(dut, "s_axi"),
            dut.s_axi_aclk,
            dut.s_axi_aresetn,
            reset_active_level=False,
        )
        stall(self.master, often, SEED)

    async def reset(self, cycles=4):
        self.dut.s_axi_aresetn.value = 0
        for _ in range(cycles):
            await RisingEdge(self.dut.s_axi_aclk)
        self.dut.s_axi_aresetn.value = 1
        await RisingEdge(self.dut.s_axi_aclk)

    async def write_at(self, address, data):
        """Write bytes; the response."""
        return (await with_timeout(self.master.write(address, data), 100, "us")).resp

    async def read_at(self, address, size=4):
        done = await with_timeout(self.master.read(address, size), 100, "us")
        return int.from_bytes(done.data, "little"), done.resp

    async def write(self, register, value):
        data = value.to_bytes(4, "little")
        assert await self.write_at(register.address, data) == AxiResp.OKAY, register.name

    async def read(self, register):
        value, response = await self.read_at(register.address)
        assert response == AxiResp.OKAY, register.name
        return value

    async def load(self, operand, value, length):
        await self.write(registers.KEY_OPERAND, operand)
        for place in range(0, length, 32):
            await self.write(registers.KEY_DATA, value >> place & 0xFFFFFFFF)

    async def prepare(self, x, y):
        await self.write(registers.MODULUS_LENGTH, LENGTH)
        await self.load(Operand.M, (1 << LENGTH) - 1, LENGTH)
        await self.load(Operand.Y, y, LENGTH)
        for word in range(SIZE // 4):
            await self.write(registers.INPUT_FIFO, x >> 32 * word & 0xFFFFFFFF)
            await self.write(registers.WRITE_ADDRESS, word)
        await self.write(registers.INPUT_LENGTH, SIZE)
        await self.write(registers.INTERRUPT_ENABLE, 1)

    async def run(self, command):
        """Run a command to its interrupt; the two error codes."""
        await self.write(registers.COMMAND, command)
        if not self.dut.irq.value:
            await with_timeout(RisingEdge(self.dut.irq), 100, "us")
        await self.write(registers.INTERRUPT_STATUS, 1)
        assert not self.dut.irq.value
        word = await self.read(registers.ERROR)
        await self.write(registers.ERROR, 0)
        return registers.ERROR["CODE"].of(word), registers.ERROR["REFUSAL"].of(word)

    async def result(self):
        value = 0
        size = await self.read(registers.OUTPUT_LENGTH)
        for word in range(size // 4):
            await self.write(registers.READ_ADDRESS, word)
            value |= await self.read(registers.OUTPUT_FIFO) << 32 * word
        return value, size

    async def result_of_window(self):
        window = registers.OUTPUT_WINDOW.address
        words = [(await self.read_at(window + place))[0] for place in range(0, SIZE, 4)]
        return sum(word << 32 * i for i, word in enumerate(words))

    async def state(self):
        return [await self.read(register) for register in REGISTERS if register.readable]


async def begin(dut, often=0.0):
    cocotb.start_soon(Clock(dut.s_axi_aclk, 10, "ns").start())
    cocotb.start_soon(watch(dut))
    host = Host(dut, often)
    await host.reset()
    return host


async def watch(dut):
    """Check the rule of the handshake in each cycle: valid and its payload stay until ready."""
    channels = {"b": ("bresp",), "r": ("rresp", "rdata")}
    before = dict.fromkeys(channels)
    while True:
        await RisingEdge(dut.s_axi_aclk)
        for channel, payload in channels.items():
            valid = dut[f"s_axi_{channel}valid"].value == 1
            ready = dut[f"s_axi_{channel}ready"].value == 1
            now = [int(dut[f"s_axi_{name}"].value) for name in payload] if valid else None
            if before[channel] is not None and dut.s_axi_aresetn.value == 1:
                assert now == before[channel], f"{channel} changed before it was taken"
            before[channel] = now if valid and not ready and dut.s_axi_aresetn.value == 1 else None


@cocotb.test()
@cocotb.parametrize(often=[0.0, 0.3, 0.7])
async def whole_command(dut, often):
    host = await begin(dut, often)
    rng = random.Random(SEED)
    x = rng.getrandbits(LENGTH)
    await host.prepare(x, 0)
    assert await host.run(Command.MODMUL) == (0, 0)
    assert await host.result() == (x, SIZE)
    assert await host.result_of_window() == x
    assert await host.read(registers.CYCLES) == 5
    assert await host.run(Command.WIPE) == (0, 0)
    assert await host.result() == (0, 0)
    assert await host.run(Command.MODMUL) == (Error.OPERAND_MISSING, 0)


@cocotb.test()
@cocotb.parametrize(often=[0.0, 0.5])
async def every_address(dut, often):
    host = await begin(dut, often)
    accesses = {register.address: register for register in REGISTERS}
    for window in WINDOWS:
        for word in (0, 1, LENGTH // 32 - 1, window.words - 1):
            accesses[window.address + 4 * word] = window
    places = sorted({*range(0, 0x104, 4), 0x3FC, *accesses})
    state = await host.state()
    for address in places:
        register = accesses.get(address)
        good = register is not None and register.readable
        value, response = await host.read_at(address)
        assert response == (AxiResp.OKAY if good else AxiResp.SLVERR), hex(address)
        assert good or value == 0
        if register is None or not register.writable:
            assert await host.write_at(address, b"\xff\xff\xff\xff") == AxiResp.SLVERR
    assert await host.state() == state
    for register in REGISTERS:
        if register.writable:
            await host.write(register, 0)


@cocotb.test()
async def partial_strobes(dut):
    host = await begin(dut, 0.3)
    for register in (registers.MODULUS_LENGTH, registers.Q_LENGTH):
        await host.write(register, 0x1234)
    await host.write(registers.INTERRUPT_ENABLE, 1)
    state = await host.state()
    for register in (*REGISTERS, *WINDOWS):
        for offset in range(4):
            for size in range(1, 5 - offset):
                if register.writable and size == 4:
                    continue
                response = await host.write_at(register.address + offset, b"\xff" * size)
                assert response == AxiResp.SLVERR, (register.name, offset, size)
    assert await host.state() == state


@cocotb.test()
async def no_strobes(dut):
    """The master never writes with all strobes 0: drive the pins."""
    host = await begin(dut)
    await host.write(registers.MODULUS_LENGTH, 77)
    await RisingEdge(dut.s_axi_aclk)
    dut.s_axi_awaddr.value = registers.MODULUS_LENGTH.address
    dut.s_axi_wdata.value = 5
    dut.s_axi_wstrb.value = 0
    dut.s_axi_awvalid.value = dut.s_axi_wvalid.value = 1
    await RisingEdge(dut.s_axi_aclk)
    dut.s_axi_awvalid.value = dut.s_axi_wvalid.value = 0
    dut.s_axi_bready.value = 1
    for _ in range(10):
        await RisingEdge(dut.s_axi_aclk)
        if dut.s_axi_bvalid.value:
            break
    assert dut.s_axi_bresp.value == AxiResp.SLVERR
    dut.s_axi_bready.value = 0
    await RisingEdge(dut.s_axi_aclk)
    assert await host.read(registers.MODULUS_LENGTH) == 77


@cocotb.test()
async def cycles_of_an_access(dut):
    """Hold all channels ready: a write every 4 cycles, a read every 5.

    Without the master, whose queues stop an answer that it did not ask for.
    """
    cocotb.start_soon(Clock(dut.s_axi_aclk, 10, "ns").start())
    dut.s_axi_aresetn.value = 0
    dut.s_axi_awaddr.value = dut.s_axi_araddr.value = registers.P_LENGTH.address
    dut.s_axi_wstrb.value = 0xF
    for name in ("awvalid", "wvalid", "bready", "arvalid", "rready"):
        dut[f"s_axi_{name}"].value = 1
    answers = {"b": [], "r": []}
    for _ in range(2):
        await RisingEdge(dut.s_axi_aclk)
    dut.s_axi_aresetn.value = 1
    while not dut.s_axi_bvalid.value:  # the buffers are being cleared
        await RisingEdge(dut.s_axi_aclk)
    for cycle in range(50):
        await RisingEdge(dut.s_axi_aclk)
        for channel, cycles in answers.items():
            if dut[f"s_axi_{channel}valid"].value:
                cycles.append(cycle)
    for channel, period in (("b", 4), ("r", 5)):
        cycles = answers[channel]
        assert len(cycles) > 8, answers
        assert {b - a for a, b in itertools.pairwise(cycles)} == {period}, answers


@cocotb.test()
@cocotb.parametrize(first=["aw", "w"])
async def address_and_data_in_either_order(dut, first):
    host = await begin(dut)
    channel = host.master.write_if.w_channel if first == "aw" else host.master.write_if.aw_channel
    for value in (5, 6):
        channel.pause = True
        task = cocotb.start_soon(host.write(registers.P_LENGTH, value))
        for _ in range(20):
            await RisingEdge(dut.s_axi_aclk)
        assert not dut.s_axi_bvalid.value
        assert not task.done()
        channel.pause = False
        await task
        assert await host.read(registers.P_LENGTH) == value


@cocotb.test()
async def answer_does_not_change_while_it_waits(dut):
    host = await begin(dut)
    await host.prepare(1, 0)
    await host.write(registers.COMMAND, Command.MODMUL)
    host.master.read_if.r_channel.pause = True
    task = cocotb.start_soon(host.read(registers.STATUS))
    await with_timeout(RisingEdge(dut.irq), 100, "us")
    for _ in range(10):
        await RisingEdge(dut.s_axi_aclk)
    assert dut.s_axi_rvalid.value
    host.master.read_if.r_channel.pause = False
    assert await task == registers.STATUS["BUSY"].mask
    assert await host.read(registers.STATUS) == 0


@cocotb.test()
async def reads_and_writes_at_a_time(dut):
    host = await begin(dut, 0.4)
    rng = random.Random(SEED)
    await host.write(registers.Q_LENGTH, 99)

    async def write():
        for _ in range(200):
            value = rng.getrandbits(16)
            await host.write(registers.P_LENGTH, value)
            assert await host.read(registers.P_LENGTH) == value

    async def read():
        for _ in range(200):
            assert await host.read(registers.Q_LENGTH) == 99
            assert (await host.read_at(0xF00))[1] == AxiResp.SLVERR

    await Combine(cocotb.start_soon(write()), cocotb.start_soon(read()))


@cocotb.test()
async def many_outstanding(dut):
    """A master that does not wait for answers: accesses take place in order, none is lost."""
    host = await begin(dut, 0.3)
    values = list(range(1, 60))
    writes = [
        host.master.init_write(registers.Q_LENGTH.address, value.to_bytes(4, "little"))
        for value in values
    ]
    for operation in writes:
        await operation.wait()
        assert operation.data.resp == AxiResp.OKAY
    assert await host.read(registers.Q_LENGTH) == values[-1]
    x = random.Random(SEED).getrandbits(LENGTH)
    await host.prepare(x, 0)
    await host.write(registers.KEY_OPERAND, Operand.Y)
    writes = [
        host.master.init_write(registers.KEY_DATA.address, (0).to_bytes(4, "little"))
        for _ in range(SIZE // 4)
    ]
    writes.append(host.master.init_write(registers.COMMAND.address, bytes([1, 0, 0, 0])))
    for operation in writes:
        await operation.wait()
        assert operation.data.resp == AxiResp.OKAY
    if not dut.irq.value:
        await with_timeout(RisingEdge(dut.irq), 100, "us")
    assert await host.read(registers.ERROR) == 0
    assert await host.result() == (x, SIZE)


@cocotb.test()
async def busy_over_the_bus(dut):
    host = await begin(dut, 0.3)
    x = random.Random(SEED).getrandbits(LENGTH)
    await host.prepare(x, 0)
    await host.write(registers.COMMAND, Command.MODMUL)
    await host.write(registers.COMMAND, Command.WIPE)
    await host.write(registers.KEY_DATA, 1)
    assert await host.read(registers.STATUS) == registers.STATUS["BUSY"].mask
    assert await host.read(registers.ERROR) == Error.BUSY << 8
    await host.write(registers.ERROR, 0)
    await with_timeout(RisingEdge(dut.irq), 100, "us")
    assert await host.read(registers.ERROR) == 0
    assert await host.result() == (x, SIZE)


@cocotb.test()
async def reset_in_the_middle(dut):
    host = await begin(dut, 0.2)
    x = random.Random(SEED).getrandbits(LENGTH)
    for cycles in (1, 50, 900, 1300):
        await host.prepare(x, 0)
        await host.write(registers.COMMAND, Command.MODMUL)
        for _ in range(cycles):
            await RisingEdge(dut.s_axi_aclk)
        await host.reset(1)
        assert await host.read(registers.STATUS) == 0
        assert await host.read(registers.OUTPUT_LENGTH) == 0
        assert await host.read(registers.MODULUS_LENGTH) == 0
    await host.prepare(x, 0)
    assert await host.run(Command.MODMUL) == (0, 0)
    assert await host.result() == (x, SIZE)
