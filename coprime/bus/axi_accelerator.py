"""The accelerator: an engine, its registers and its bus, with the names that vendor tools know."""

from collections.abc import Callable, Collection
from typing import Any

from amaranth.hdl import ClockSignal, Elaboratable, Instance, Module, ResetInserter, ResetSignal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from coprime.bus.axi4 import AXI4, ID_BITS, AXI4Signature
from coprime.bus.axi4_lite import AXI4Lite, AXI4LiteSignature, connect_ports, flat_ports
from coprime.bus.call_front_end import CallFrontEnd
from coprime.bus.front_end import FrontEnd
from coprime.calls.ports import interface_of
from coprime.engine.contract import capabilities_of
from coprime.padding.scheme import Padding
from coprime.random.kinds import RandomSource

from .kinds import Bus
from .random_registers import NOISE_PORTS, NoiseRegisters, RandomRegisters

RANDOM = "s_axis_random_"
NOISE = "noise_"
Slave = AXI4 | AXI4Lite


def random_ports() -> dict[str, wiring.Member]:
    """The AXI4-Stream that random bytes come by."""
    return {f"{RANDOM}tdata": In(8), f"{RANDOM}tvalid": In(1), f"{RANDOM}tready": Out(1)}


def noise_ports() -> dict[str, wiring.Member]:
    """The ports that connect a noise source outside, as RingOscillators is one."""
    return {f"{NOISE}{name}": member for name, member in NOISE_PORTS.items()}


def bus_signature(bus: Bus) -> wiring.Signature:
    """The bus, seen from the slave."""
    return AXI4Signature(ID_BITS) if bus is Bus.AXI4 else AXI4LiteSignature()


def bus_slave(bus: Bus) -> Slave:
    """Make the slave that turns the bus into accesses of registers."""
    return AXI4() if bus is Bus.AXI4 else AXI4Lite()


def transfer_cycles(bus: Bus, written: int, read: int) -> int:
    """Cycles to write and to read these numbers of words, each as one block, over the bus.

    The master is always ready. Each burst has its own address and response.
    """
    if bus is Bus.AXI4_LITE:
        return 4 * written + 5 * read
    return (2 * written + 2) + (3 * read + 2)


def front_end_of(
    engine: wiring.Component,
    paddings: Collection[Padding] = (),
    source: RandomSource = RandomSource.STREAM,
    *,
    many: bool = False,
) -> FrontEnd | CallFrontEnd:
    """The registers of an engine: of numbers, with these paddings, or of byte strings.

    One of `many` has no part in the source if it draws no random bytes. Raises TypeError for what
    is neither, and ValueError for paddings with byte strings, and for a source of random bytes
    where there is nothing that draws any.
    """
    numbers = not hasattr(engine, "interface")
    if paddings and not numbers:
        raise ValueError("an engine of byte strings has no paddings of RSA")
    if numbers:
        draws = bool(paddings) or capabilities_of(engine).draws
    else:
        draws = interface_of(engine).draws
    if not draws and many:
        source = RandomSource.STREAM
    if not draws and source is not RandomSource.STREAM:
        raise ValueError("the accelerator draws no random bytes: it takes no source of any")
    if numbers:
        return FrontEnd(capabilities_of(engine), paddings, source.code, many=many)
    return CallFrontEnd(interface_of(engine), source.code, many=many)


def connect_registers(
    m: Module,
    registers: wiring.PureInterface,
    front_end: Any,
    source: RandomSource,
    noise: wiring.PureInterface | str | None = None,
    inserter: Callable[[Elaboratable], Elaboratable] = lambda component: component,
) -> None:
    """Connect a register port to a front end, past the registers of a source if there is one.

    `noise` is what gives raw samples to a TRNG: the ports of `noise_ports`, or the name of a module
    with those of RingOscillators. `inserter` wraps the source, as ResetInserter does.
    """
    if source is RandomSource.STREAM:
        connect(m, registers, front_end.registers)
        return
    own = NoiseRegisters() if source is RandomSource.TRNG else RandomRegisters()
    if isinstance(own, NoiseRegisters):
        _connect_noise(m, own.noise, noise)
    m.submodules.random = inserter(own)
    connect(m, registers, own.registers)
    connect(m, own.others, front_end.registers)
    connect(m, own.random, front_end.random)
    m.d.comb += front_end.source_failed.eq(own.failed)


def _connect_noise(m: Module, own: Any, noise: Any) -> None:
    """Connect the ports, or an instance of the module."""
    if isinstance(noise, str):
        m.submodules.noise = Instance(
            noise,
            i_clk=ClockSignal(),
            i_rst=ResetSignal(),
            i_enable=own.enable,
            o_valid=own.valid,
            o_sample=own.sample,
        )
        return
    m.d.comb += [
        noise.noise_enable.eq(own.enable),
        own.valid.eq(noise.noise_valid),
        own.sample.eq(noise.noise_sample),
    ]


def with_reset(engine: wiring.Component, front_end: FrontEnd | CallFrontEnd) -> Elaboratable:
    """The engine, which a front end resets if it ends its commands."""
    if isinstance(front_end, CallFrontEnd) or front_end.draws:
        return ResetInserter(front_end.reset_engine)(engine)
    return engine


class OnBus(wiring.Component):
    """Registers and their slave on the bus, with flat ports.

    Raises TypeError if `bus` is not a Bus.

    Parameters
    ----------
    front_end: has the register port `registers` and `irq`, and `random` if its attribute `draws` is
        true
    bus: the slave's
    source: where random bytes come from
    noise: as of AxiAccelerator

    Members
    -------
    s_axi_*, irq, s_axis_random_*, noise_*: as AxiAccelerator
    """

    def __init__(self, front_end: Any, bus: Bus, source: RandomSource, noise: str | None = None):
        if not isinstance(bus, Bus):
            raise TypeError(f"bus must be a Bus, not {bus!r}")
        self.front_end, self.bus, self.source = front_end, bus, source
        self.slave = bus_slave(bus)
        self.noise = noise
        self.streams = front_end.draws and source is RandomSource.STREAM
        ports = {
            **flat_ports(bus_signature(bus)),
            "irq": Out(1),
            **(random_ports() if self.streams else {}),
            **(noise_ports() if source is RandomSource.TRNG and noise is None else {}),
        }
        super().__init__(ports)

    def connect_bus(self, m: Module) -> None:
        """Add the slave, and connect it."""
        front_end = self.front_end
        m.submodules[self.bus.name.lower()] = self.slave
        connect_registers(m, self.slave.registers, front_end, self.source, self.noise or self)
        connect_ports(m, self, self.slave)
        m.d.comb += self.irq.eq(front_end.irq)
        if self.streams:
            m.d.comb += [
                front_end.random.payload.eq(self.s_axis_random_tdata),
                front_end.random.valid.eq(self.s_axis_random_tvalid),
                self.s_axis_random_tready.eq(front_end.random.ready),
            ]


class AxiAccelerator(OnBus):
    """An engine, its registers and their slave on the bus, with flat ports.

    Raises TypeError if `bus` is not a Bus, and as `front_end_of`.

    Parameters
    ----------
    engine: a component with the ports of EngineSignature and the attribute `capabilities`, or with
        those of CallSignature and the attribute `interface`
    bus: the slave's
    paddings: those that the hardware adds and removes
    source: where random bytes come from
    noise: name of a module with the ports of RingOscillators, which is in the same Verilog text,
        for a source that is a TRNG; None: the noise source is outside

    Members
    -------
    s_axi_aclk: the clock
    s_axi_aresetn: reset, active low, sampled with the clock
    s_axi_*: the channels of the bus: 12-bit addresses, 32-bit data, and 4-bit IDs if it has any
    irq: interrupt, active high, as long as it is pending and enabled
    s_axis_random_*: AXI4-Stream of random bytes, each of which is used once; only with paddings or
        with an engine that draws random numbers, and only if they come from there
    noise_enable, noise_valid, noise_sample: the noise source runs; it gives a raw sample, a bit, in
        a cycle; only if it is outside
    """

    def __init__(
        self,
        engine: wiring.Component,
        bus: Bus = Bus.AXI4_LITE,
        paddings: Collection[Padding] = (),
        source: RandomSource = RandomSource.STREAM,
        noise: str | None = None,
    ):
        super().__init__(front_end_of(engine, paddings, source), bus, source, noise)
        self.engine = engine

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        m.submodules.engine = with_reset(self.engine, self.front_end)
        m.submodules.front_end = self.front_end
        connect(m, self.front_end.engine, self.engine)
        self.connect_bus(m)
        return m
