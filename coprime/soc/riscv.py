"""A RISC-V system around an accelerator: COMPRESSION's Figure 34, with another processor.

The thesis has a NEORV32, its memory and the accelerator on one AXI4-Lite bus. Here the processor is
a PicoRV32 (rv32im, in Verilog, from its Python package), whose memory answers without wait states:
only the accelerator is reached over AXI4-Lite, or over AXI4, with a copy engine that makes bursts.
The accelerator is the very module that `coprime build` writes.
"""

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.bus.axi4_lite import PREFIX
from coprime.bus.axi4_lite_master import AXI4LiteMaster
from coprime.bus.axi_accelerator import RANDOM, bus_signature
from coprime.bus.kinds import Bus
from coprime.bus.port import WINDOW_BITS
from coprime.bus.serial.uart import Transmitter
from coprime.catalog import CallChoice, Choice, SuiteChoice, takes_stream
from coprime.cells.target import Target
from coprime.flow.parts import accelerator_verilog, suite_verilog
from coprime.flow.tools import package_folder
from coprime.flow.verilog import to_verilog
from coprime.padding.scheme import Padding
from coprime.soc.burst_bridge import BurstBridge
from coprime.soc.system_memory import SystemMemory

MODULE_NAME = "coprime_riscv_system"

RAM_BYTES = 1 << 16  # size of the memory if nothing else is said; it lies at address 0
RAM_MINIMUM = 1 << 12
UART = 0x4000_0000  # a write of a byte sends it, if bit 0 of a read, busy, is 0
ACCELERATOR = 0x8000_0000  # the accelerator's register window of 4 KiB
COPY_ENGINE = ACCELERATOR + (1 << WINDOW_BITS)  # its registers, with AXI4 only
INTERRUPT = 3  # number of the accelerator's interrupt; 0 to 2 are the processor's own

_VECTOR = 0x10
_PAGE = WINDOW_BITS


class _Accesses(NamedTuple):
    """The processor's accesses to its memory, and reads that it announces a cycle earlier."""

    valid: Signal
    ready: Signal
    address: Signal
    data: Signal
    answer: Signal
    strobes: Signal
    ahead: Signal
    ahead_address: Signal


class System(wiring.Component):
    """Processor, memory, UART and accelerator, on one clock.

    The program comes in while `run` is 0, which holds the processor and the accelerator in reset.
    An access that meets nothing, or that the accelerator refuses, stops the processor for good.

    Parameters
    ----------
    accelerator (str): module of an accelerator, as `coprime build` writes it; None is none
    bus (Bus): that of the accelerator
    ram_bytes (int): bytes of memory: a power of two, 4096 to 2^28
    divisor (int): clock cycles of a bit on `tx`: at least 2
    draws (bool): the accelerator has a stream of random bytes

    Members
    -------
    run (1 bit, in)
    load (1 bit, in): write `load_data` to the memory; counts while `run` is 0
    load_address (in): number of a 32-bit word of the memory
    load_data (32 bits, in)
    random (8 bits, in): a new random byte in every cycle; without effect unless it `draws`
    tx (1 bit, out): the UART's wire, 8N1
    trap (1 bit, out): the processor has ended: on ebreak, an unknown instruction or a misaligned
        access
    fault (1 bit, out): the processor has been stopped by an access

    Raises TypeError or ValueError for parameters out of range.
    """

    def __init__(
        self,
        accelerator: str | None,
        *,
        bus: Bus = Bus.AXI4_LITE,
        ram_bytes: int = RAM_BYTES,
        divisor: int,
        draws: bool = False,
    ):
        if not isinstance(ram_bytes, int):
            raise TypeError(f"ram_bytes must be an int, not {ram_bytes!r}")
        if ram_bytes & (ram_bytes - 1) or not RAM_MINIMUM <= ram_bytes <= 1 << 28:
            raise ValueError(
                f"ram_bytes must be a power of two in {RAM_MINIMUM}..2**28, not {ram_bytes}"
            )
        self.accelerator, self.bus, self.draws = accelerator, bus, draws
        self.ram_bytes = ram_bytes
        self.transmitter = Transmitter(divisor)
        ports = {
            **dict.fromkeys(("run", "load"), In(1)),
            "load_address": In(range(ram_bytes // 4)),
            "load_data": In(32),
            "random": In(8),
            "tx": Out(1, init=1),
            **dict.fromkeys(("trap", "fault"), Out(1)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Tell the processor's accesses apart by their address."""
        m = Module()
        valid, ready = Signal(), Signal()
        address, data, answer = Signal(32), Signal(32), Signal(32)
        strobes = Signal(4)
        ahead, ahead_address = Signal(), Signal(32)
        irq, running = Signal(), Signal()
        m.d.comb += running.eq(self.run & ~ResetSignal())
        accesses = _Accesses(valid, ready, address, data, answer, strobes, ahead, ahead_address)
        m.submodules.processor = self._processor(accesses, running, irq)

        m.submodules.bridge = bridge = self._bridge()
        page = len(bridge.address)
        in_ram, in_uart, in_accelerator = Signal(), Signal(), Signal()
        m.d.comb += [
            in_ram.eq(valid & (address < self.ram_bytes)),
            in_uart.eq(valid & (address[_PAGE:] == UART >> _PAGE)),
        ]
        if self.accelerator is not None:
            m.d.comb += in_accelerator.eq(valid & (address[page:] == ACCELERATOR >> page))
            m.submodules.accelerator = self._accelerator(bridge, running, irq)

        m.submodules.memory = memory = SystemMemory(self.ram_bytes // 4)
        m.d.comb += [
            memory.read_ahead.eq(ahead),
            memory.read_address.eq(ahead_address[2:]),
            memory.strobes.eq(strobes & (in_ram & self.run).replicate(4)),
            memory.address.eq(address[2:]),
            memory.data.eq(data),
            memory.load.eq(self.load & ~self.run),
            memory.load_address.eq(self.load_address),
            memory.load_data.eq(self.load_data),
        ]
        if isinstance(bridge, BurstBridge):
            m.d.comb += [
                memory.fetch.eq(bridge.fetch),
                memory.store.eq(bridge.store),
                memory.place.eq(bridge.place),
                memory.copied.eq(bridge.answer),
                bridge.fetched.eq(memory.read_data),
            ]

        m.submodules.uart = uart = self.transmitter
        m.d.comb += [uart.data.eq(data), uart.send.eq(in_uart & strobes[0]), self.tx.eq(uart.tx)]

        m.d.comb += [
            bridge.valid.eq(in_accelerator & ~self.fault),
            bridge.address.eq(address),
            bridge.data.eq(data),
            bridge.strobes.eq(strobes),
        ]

        with m.If(in_ram):
            m.d.comb += [ready.eq(1), answer.eq(memory.read_data)]
        with m.Elif(in_uart):
            m.d.comb += [ready.eq(1), answer.eq(uart.busy)]
        with m.Elif(in_accelerator):
            m.d.comb += [ready.eq(bridge.ready & ~bridge.refused), answer.eq(bridge.answer)]
            m.d.sync += self.fault.eq(self.fault | (bridge.ready & bridge.refused))
        with m.Elif(valid):
            m.d.sync += self.fault.eq(1)
        with m.If(~self.run):
            m.d.sync += self.fault.eq(0)
        return m

    def _processor(self, accesses: _Accesses, running: Signal, irq: Signal) -> Instance:
        """A PicoRV32; `running` releases it from reset."""
        return Instance(
            "picorv32",
            p_ENABLE_COUNTERS=Const(1, 1),
            p_ENABLE_COUNTERS64=Const(1, 1),
            p_BARREL_SHIFTER=Const(1, 1),
            # The fastest multiplier that it has, so that software is compared at its best.
            p_ENABLE_FAST_MUL=Const(1, 1),
            p_ENABLE_DIV=Const(1, 1),
            p_ENABLE_IRQ=Const(1, 1),
            p_ENABLE_IRQ_TIMER=Const(0, 1),
            p_REGS_INIT_ZERO=Const(1, 1),
            p_MASKED_IRQ=Const(~(1 << INTERRUPT), 32),
            p_LATCHED_IRQ=Const(0, 32),  # the accelerator holds its request until it is cleared
            p_PROGADDR_RESET=Const(0, 32),
            p_PROGADDR_IRQ=Const(_VECTOR, 32),
            p_STACKADDR=Const(self.ram_bytes, 32),
            i_clk=ClockSignal(),
            i_resetn=running,
            o_trap=self.trap,
            o_mem_valid=accesses.valid,
            i_mem_ready=accesses.ready,
            o_mem_addr=accesses.address,
            o_mem_wdata=accesses.data,
            o_mem_wstrb=accesses.strobes,
            i_mem_rdata=accesses.answer,
            o_mem_la_read=accesses.ahead,
            o_mem_la_addr=accesses.ahead_address,
            i_irq=Cat(Const(0, INTERRUPT), irq, Const(0, 31 - INTERRUPT)),
            i_pcpi_wr=Const(0, 1),
            i_pcpi_rd=Const(0, 32),
            i_pcpi_wait=Const(0, 1),
            i_pcpi_ready=Const(0, 1),
        )

    def _bridge(self) -> AXI4LiteMaster | BurstBridge:
        if self.bus is Bus.AXI4:
            return BurstBridge(self.ram_bytes // 4)
        return AXI4LiteMaster()

    def _accelerator(
        self, bridge: AXI4LiteMaster | BurstBridge, running: Signal, irq: Signal
    ) -> Instance:
        drawn = {f"i_{RANDOM}tdata": self.random, f"i_{RANDOM}tvalid": Const(1, 1)}
        return Instance(
            self.accelerator,
            **{
                f"i_{PREFIX}aclk": ClockSignal(),
                f"i_{PREFIX}aresetn": running,
                **{
                    f"{'i' if member.flow == In else 'o'}_{PREFIX}{name}": getattr(bridge.axi, name)
                    for name, member in bus_signature(self.bus).members.items()
                },
            },
            **(drawn if self.draws else {}),
            o_irq=irq,
        )


def system_verilog(
    choice: Choice | CallChoice | SuiteChoice | None,
    target: Target = Target.GENERIC,
    *,
    bus: Bus = Bus.AXI4_LITE,
    paddings: Collection[Padding] = (),
    ram_bytes: int = RAM_BYTES,
    divisor: int,
) -> str:
    """Verilog of the system with an accelerator or a suite, or with none; the top module is
    MODULE_NAME.

    `bus` is the accelerator's, `paddings` are those that it adds and removes. Raises ToolError if
    the processor's Python package is not installed.
    """
    accelerator = "no accelerator" if choice is None else f"the accelerator {choice.module_name}"
    header = (
        f"{MODULE_NAME}: a RISC-V processor with {accelerator}\n"
        "The module picorv32 is by Claire Xenia Wolf, under the ISC licence."
    )
    system = System(
        None if choice is None else choice.module_name,
        bus=bus,
        ram_bytes=ram_bytes,
        divisor=divisor,
        draws=choice is not None and takes_stream(choice, paddings),
    )
    parts = [to_verilog(system, MODULE_NAME, header=header)]
    if isinstance(choice, SuiteChoice):
        parts.append(suite_verilog(choice, target, bus, tuple(paddings)))
    elif choice is not None:
        parts.append(accelerator_verilog(choice, target, bus, paddings))
    return "\n".join([*parts, find_processor().read_text("utf-8")])


def find_processor() -> Path:
    """Find the processor's Verilog in its package; ToolError if it is not installed."""
    return package_folder("pythondata_cpu_picorv32") / "verilog" / "picorv32.v"
