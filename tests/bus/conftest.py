"""A mock engine and a host at the register port."""

import os
import re
import shutil
import time
from importlib.metadata import version
from pathlib import Path

import pytest
from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.utils import bits_for
from cocotb_tools.runner import get_results, get_runner

from coprime.bus import registers
from coprime.bus.front_end import FrontEnd
from coprime.bus.register_classes import Register
from coprime.engine.contract import (
    Capabilities,
    Command,
    EngineSignature,
    Error,
    Length,
    Operand,
)
from coprime.flow.cache import cached
from coprime.flow.tools import find_compiler, verilator_root
from coprime.flow.verilog import to_verilog

REQUIRED = {
    Command.MODMUL: frozenset({Operand.X, Operand.Y, Operand.M}),
    Command.RSA_PUBLIC: frozenset({Operand.X, Operand.E, Operand.M}),
    Command.RSA_PRIVATE: frozenset({Operand.X, Operand.M_INVERSE, Operand.P, Operand.Q}),
}
ON_CURVES = {
    **REQUIRED,
    Command.MODMUL: REQUIRED[Command.MODMUL] | {Operand.SECRET, Operand.TABLE_2},
}
"""The same with operands whose numbers are over 15: the lower bits of SECRET and TABLE_2 are the
numbers of X and P."""


class MockEngine(wiring.Component):
    """Knows three commands. MODMUL adds X and Y digit by digit without carries, the two others copy
    X. It takes `delay` cycles, in every second of them all multipliers at work, and answers
    `answer`, which tests set in the simulator, or the error that lengths deserve."""

    def __init__(
        self,
        digit_width,
        headroom=2,
        max_length=1100,
        max_prime_length=600,
        delay=5,
        **capabilities,
    ):
        self.capabilities = Capabilities(
            family="mock",
            family_number=0xABCD,
            digit_width=digit_width,
            headroom=headroom,
            min_length=3,
            max_length=max_length,
            max_prime_length=max_prime_length,
            constant_time=True,
            **{"required": REQUIRED, "round_bits": digit_width, **capabilities},
        )
        super().__init__(EngineSignature(self.capabilities))
        self.delay = Signal(16, init=delay)
        self.answer = Signal(5)
        self.count_bits = self.capabilities.count_bits
        self.number_bits = bits_for(self.capabilities.operand_count - 1)
        places = 1 << (self.number_bits + self.count_bits)
        self.memory = Memory(shape=digit_width, depth=places, init=[])

    def stored(self, operand, index):
        """Return the word of the memory that holds a digit of an operand."""
        return self.memory.data[operand << self.count_bits | index]

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = self.memory
        port = self.memory.write_port()
        m.d.comb += [
            port.addr.eq(Cat(self.index, self.operand)),
            port.data.eq(self.digit),
            port.en.eq(self.write & ~self.busy),
        ]
        x = self.memory.read_port()
        y = self.memory.read_port()
        adds = Signal()
        found, asked = Signal.like(self.index), Signal.like(self.index)
        m.d.sync += [found.eq(self.index), asked.eq(found)]
        m.d.comb += [
            x.addr.eq(Cat(asked, Const(Operand.X, self.number_bits))),
            y.addr.eq(Cat(asked, Const(Operand.Y, self.number_bits))),
            self.result_digit.eq(x.data),
        ]
        with m.If(adds):
            m.d.comb += self.result_digit.eq(x.data + y.data)
        # The result cannot be read while busy.
        was_busy = Signal(3)
        m.d.sync += was_busy.eq(Cat(self.busy, was_busy))
        with m.If(self.busy | was_busy.any()):
            m.d.comb += self.result_digit.eq(~0)

        left = Signal(16)
        error = Signal(5)
        counts = Array(self.counts[field] for field in ("modulus", "exponent", "p", "q"))
        with m.Switch(self.command):
            for command, operands in self.capabilities.required.items():
                with m.Case(command):
                    m.d.comb += error.eq(self.answer)
                    for one in sorted({operand.length for operand in operands}):
                        if one is Length.DIGIT:
                            continue
                        with m.If(counts[one] == 0):
                            m.d.comb += error.eq(Error.LENGTH_ZERO)
                        with m.Elif(counts[one] > self.capabilities.max_digits):
                            m.d.comb += error.eq(Error.LENGTH_OVER)
            with m.Case(Command.WIPE):
                m.d.comb += error.eq(self.answer)
            with m.Default():
                m.d.comb += error.eq(Error.UNSUPPORTED)
        m.d.comb += [
            self.done.eq(self.busy & (left == 1)),
            self.multiplying.eq(Mux(self.busy & ~left[0], self.capabilities.multipliers, 0)),
        ]
        with m.If(self.busy):
            m.d.sync += left.eq(left - 1)
            with m.If(self.done):
                m.d.sync += self.busy.eq(0)
            with m.If(left == 2):
                m.d.sync += self.error.eq(error)
        with m.Elif(self.start):
            m.d.sync += [
                self.busy.eq(1),
                left.eq(self.delay),
                self.error.eq(0),
                adds.eq(self.command == Command.MODMUL),
            ]
            with m.If(self.delay == 1):
                m.d.sync += self.error.eq(error)
        return m


class Bench(wiring.Component):
    """A front end with a mock engine, and the host's accesses of its registers."""

    def __init__(self, engine):
        super().__init__({})
        self.engine = engine
        self.front_end = FrontEnd(engine.capabilities)
        self.reset = Signal()

    def elaborate(self, platform):
        m = Module()
        m.submodules.engine = self.engine
        m.submodules.front_end = self.front_end
        wiring.connect(m, self.engine, self.front_end.engine)
        return m

    async def write(self, ctx, register, value, *, okay=True):
        """Write; return the cycles that it waited."""
        port = self.front_end.registers
        address = register.address // 4 if isinstance(register, Register) else register
        ctx.set(port.write, 1)
        ctx.set(port.write_address, address)
        ctx.set(port.write_data, value)
        waited = 0
        while not ctx.get(port.write_ready):
            await ctx.tick()
            waited += 1
            assert waited < 10_000
        assert ctx.get(port.write_error) == (not okay)
        await ctx.tick()
        ctx.set(port.write, 0)
        return waited

    async def read(self, ctx, register, *, okay=True):
        port = self.front_end.registers
        address = register.address // 4 if isinstance(register, Register) else register
        ctx.set(port.read, 1)
        ctx.set(port.read_address, address)
        for _ in range(200):
            if ctx.get(port.read_ready):
                break
            await ctx.tick()
        else:
            raise AssertionError("no answer")
        value, error = ctx.get(Cat(port.read_data)), ctx.get(port.read_error)
        assert error == (not okay)
        await ctx.tick()
        ctx.set(port.read, 0)
        return value

    async def code(self, ctx):
        return Error(registers.ERROR["CODE"].of(await self.read(ctx, registers.ERROR)))

    async def refusal(self, ctx):
        """Return the refusal and clear it."""
        word = await self.read(ctx, registers.ERROR)
        await self.write(ctx, registers.ERROR, 0)
        return Error(registers.ERROR["REFUSAL"].of(word))

    async def load(self, ctx, operand, value, length):
        await self.write(ctx, registers.KEY_OPERAND, operand)
        for place in range(0, length, 32):
            await self.write(ctx, registers.KEY_DATA, value >> place & 0xFFFFFFFF)

    async def put_input(self, ctx, value, size):
        for place in range(0, size, 4):
            await self.write(ctx, registers.INPUT_FIFO, value >> 8 * place & 0xFFFFFFFF)
            await self.write(ctx, registers.WRITE_ADDRESS, place // 4)
        await self.write(ctx, registers.INPUT_LENGTH, size)

    async def wait(self, ctx):
        """Wait for the end of a command; its error."""
        for _ in range(20_000):
            if not registers.STATUS["BUSY"].of(await self.read(ctx, registers.STATUS)):
                return await self.code(ctx)
        raise AssertionError("the command does not end")

    async def run(self, ctx, command):
        await self.write(ctx, registers.COMMAND, command)
        return await self.wait(ctx)

    async def get_output(self, ctx):
        """Read the result: its value and its bytes."""
        size = await self.read(ctx, registers.OUTPUT_LENGTH)
        value = 0
        for word in range(-(-size // 4)):
            await self.write(ctx, registers.READ_ADDRESS, word)
            value |= await self.read(ctx, registers.OUTPUT_FIFO) << 32 * word
        return value, size


@pytest.fixture
def mock_engine():
    return MockEngine


@pytest.fixture
def bench():
    return Bench


@pytest.fixture
def rejects():
    """Return a check that a component's constructor raises an error with a message."""

    def check(make, error, message):
        with pytest.raises(error, match=message) as raised:
            make()
        assert raised.type is error

    return check


_TOP = "coprime_mock"


def _build(folder, verilog):
    """Build what cocotb simulates; its runner."""
    (folder / "mock.v").write_text(verilog)
    runner = get_runner("verilator")
    runner.build(
        sources=[folder / "mock.v"],
        hdl_toplevel=_TOP,
        build_dir=folder,
        # The simulation takes little time beside Python; compiling it with -Os takes more.
        # In one file, since Verilator's makefile does not wait for the header of several.
        build_args=["-Wno-fatal", "-Wno-lint", "-CFLAGS", "-O0", "--output-split", "0"],
        always=True,
        timescale=("1ns", "1ps"),
        log_file=folder / "build.log",
    )
    return runner


def _verilated(root):
    """A folder with Verilator's own sources, compiled as cocotb needs them: most of the work."""

    def build(folder):
        _build(folder, f"module {_TOP}(input s_axi_aclk); endmodule")
        for path in folder.iterdir():
            if not re.fullmatch(r"verilated\w*\.o", path.name):
                path.unlink() if path.is_file() else shutil.rmtree(path)

    key = (str(root), version("verilator"), version("cocotb"), find_compiler().version)
    return cached("test_cocotb", key, build)


@pytest.fixture
def simulate_bench(tmp_path, monkeypatch):
    """Return what runs the cocotb tests of a file beside this one on a component, on Verilator."""

    def run(component, module, chosen=None):
        """Give how many tests there were, and how many failed; of those that match `chosen`."""
        root = verilator_root()
        monkeypatch.setenv("VERILATOR_ROOT", str(root))
        monkeypatch.setenv("PATH", f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.syspath_prepend(Path(__file__).parent)
        later = time.time() + 3600  # newer than what Verilator is going to write: make skips it
        for path in _verilated(root).glob("*.o"):
            os.utime(shutil.copy(path, tmp_path), (later, later))
        runner = _build(tmp_path, to_verilog(component, _TOP))
        try:
            results = runner.test(
                test_module=module,
                test_filter=chosen,
                hdl_toplevel=_TOP,
                build_dir=tmp_path,
                test_dir=tmp_path,
                log_file=tmp_path / "test.log",
            )
        except SystemExit:
            pytest.fail((tmp_path / "test.log").read_text())
        return get_results(results)

    return run
