"""Many engines of any kinds, each with its registers, and what selects one of them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Cat, ClockSignal, Elaboratable, Instance, Module, ResetSignal, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from coprime.bus import registers
from coprime.bus.axi_accelerator import OnBus, front_end_of, with_reset
from coprime.bus.kinds import Bus
from coprime.bus.port import RegisterSignature
from coprime.bus.shared_registers import CORE_REGISTERS, number
from coprime.calls.family import CORES
from coprime.cells.wires import same_named
from coprime.padding.scheme import Padding
from coprime.parameters import check_ranges
from coprime.random.kinds import RandomSource


@dataclass(frozen=True)
class CoreModule:
    """The module that a core is an instance of: its name, and which ports it has.

    Parameters
    ----------
    name : of the module, which has the ports of EngineCore
    draws : whether its engine, or its padding unit, takes random bytes
    """

    name: str
    draws: bool

    def signature(self, source: RandomSource) -> wiring.Signature:
        """Its ports, where the cores have random bytes from a source."""
        return wiring.Signature(
            {**core_ports(source, draws=self.draws), "pending": Out(1)},
        )


class EngineCore(wiring.Component):
    """An engine with its front end: a core.

    Raises as `front_end_of`, but takes any source for an engine that draws no random bytes.

    Parameters
    ----------
    engine: a component with the ports of EngineSignature and the attribute `capabilities`, or with
        those of CallSignature and the attribute `interface`
    source: where all cores have random bytes from
    paddings: of an engine of numbers, those that the hardware adds and removes

    Members
    -------
    registers, irq, pending, random, source_failed: as of FrontEnd or CallFrontEnd
    """

    def __init__(
        self,
        engine: wiring.Component,
        source: RandomSource = RandomSource.STREAM,
        paddings: Collection[Padding] = (),
    ):
        self.engine = engine
        self.front_end = front_end_of(engine, paddings, source, many=True)
        self.draws = self.front_end.draws
        super().__init__({**core_ports(source, draws=self.draws), "pending": Out(1)})

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        m.submodules.engine = with_reset(self.engine, self.front_end)
        m.submodules.front_end = front_end = self.front_end
        connect(m, front_end.engine, self.engine)
        connect(m, flipped(self.registers), front_end.registers)
        m.d.comb += same_named(self, front_end, "irq", "pending")
        if front_end.draws:
            connect(m, flipped(self.random), front_end.random)
        if front_end.sourced:
            m.d.comb += front_end.source_failed.eq(self.source_failed)
        return m


def core_ports(source: RandomSource, *, draws: bool) -> dict[str, wiring.Member]:
    """The ports of all cores together, which a core has, too."""
    sourced = draws and source is not RandomSource.STREAM
    return {
        "registers": Out(RegisterSignature()),
        "irq": Out(1),
        **({"random": In(stream.Signature(8))} if draws else {}),
        **({"source_failed": In(1)} if sourced else {}),
    }


class SharedCores(wiring.Component):
    """Cores at one register port, and the registers CORES, CORE_SELECT and PENDING, which are not
    theirs. All other registers are those of the selected core, exactly as if it were alone.

    An access belongs to the core that is selected in the cycle in which it begins; a write to
    CORE_SELECT waits until no read is under way. An access of these three takes one cycle; all
    others are as of one core, in cycles, too. So a core that lets an access wait holds up the
    accesses of all: one of byte strings for at most 2^PATIENCE_BITS - 1 cycles, one of numbers
    while it stores an operand or clears its buffers.

    A random byte goes to one core. The turn passes to the next one of those that draw bytes in each
    cycle in which its core wants no byte, or takes one.

    The cores are instances of other modules in the same Verilog text, which tools that work module
    by module process once, however many instances there are.

    Raises ValueError for fewer than 2 cores, and for more than 32.

    Parameters
    ----------
    cores: the module of each core, by its number
    source: where they have random bytes from

    Members
    -------
    registers: the register port
    irq: 1 while an interrupt of a core is pending and enabled
    random: stream of random bytes; only if a core draws some
    source_failed: no random byte will come any more; as `random`, with a source in the hardware
    """

    def __init__(self, cores: Sequence[CoreModule], source: RandomSource = RandomSource.STREAM):
        check_ranges(cores=(len(cores), range(2, CORES.maximum + 1)))
        self.cores, self.source = tuple(cores), source
        self.draws = any(core.draws for core in cores)
        super().__init__(core_ports(source, draws=self.draws))

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        every = [core.signature(self.source).create() for core in self.cores]
        for place, (core, interface) in enumerate(zip(self.cores, every, strict=True)):
            m.submodules[f"core_{place}"] = Instance(core.name, **_wires(interface))
        m.d.comb += self.irq.eq(Cat(interface.irq for interface in every).any())
        self._select(m, every)
        drawing = [
            interface for core, interface in zip(self.cores, every, strict=True) if core.draws
        ]
        if len(drawing) == 1:
            connect(m, flipped(self.random), drawing[0].random)
        elif drawing:
            _share_random(m, self.random, drawing)
        if drawing and self.source is not RandomSource.STREAM:
            m.d.comb += [interface.source_failed.eq(self.source_failed) for interface in drawing]
        return m

    def _select(self, m: Module, every: list[Any]) -> None:
        """Connect the register port to the selected core."""
        port = self.registers
        selected = Signal(range(len(self.cores)))
        own_write, own_read = Signal(), Signal()
        m.d.comb += [
            own_write.eq(port.write_address == number(registers.CORE_SELECT)),
            own_read.eq(port.read_address.matches(*map(number, CORE_REGISTERS))),
        ]
        for interface in every:
            m.d.comb += [
                interface.registers.write_address.eq(port.write_address),
                interface.registers.write_data.eq(port.write_data),
                interface.registers.read_address.eq(port.read_address),
            ]
        with m.Switch(selected):
            for place, interface in enumerate(every):
                with m.Case(place):
                    m.d.comb += [
                        interface.registers.write.eq(port.write & ~own_write),
                        interface.registers.read.eq(port.read & ~own_read),
                        port.write_ready.eq(interface.registers.write_ready),
                        port.write_error.eq(interface.registers.write_error),
                        port.read_ready.eq(interface.registers.read_ready),
                        port.read_data.eq(interface.registers.read_data),
                        port.read_error.eq(interface.registers.read_error),
                    ]
        with m.If(own_write):
            known = port.write_data < len(self.cores)
            m.d.comb += [port.write_ready.eq(~port.read), port.write_error.eq(~known)]
            with m.If(port.write & port.write_ready & known):
                m.d.sync += selected.eq(port.write_data)
        with m.If(own_read):
            m.d.comb += [port.read_ready.eq(1), port.read_error.eq(0)]
            with m.Switch(port.read_address):
                with m.Case(number(registers.CORES)):
                    m.d.comb += port.read_data.eq(len(self.cores))
                with m.Case(number(registers.CORE_SELECT)):
                    m.d.comb += port.read_data.eq(selected)
                with m.Default():
                    m.d.comb += port.read_data.eq(Cat(interface.pending for interface in every))


def _share_random(m: Module, random: Any, every: Sequence[Any]) -> None:
    """Give each random byte to one of several cores."""
    turn = Signal(range(len(every)))
    wants = Signal()  # the core whose turn it is
    for interface in every:
        m.d.comb += interface.random.payload.eq(random.payload)
    with m.Switch(turn):
        for place, interface in enumerate(every):
            with m.Case(place):
                m.d.comb += [
                    interface.random.valid.eq(random.valid),
                    wants.eq(interface.random.ready),
                ]
    m.d.comb += random.ready.eq(wants)
    with m.If(~wants | random.valid):
        m.d.sync += turn.eq(turn + 1)
        with m.If(turn == len(every) - 1):
            m.d.sync += turn.eq(0)


def _wires(core: Any) -> dict[str, Any]:
    """The connections of an instance of a core: its clock, its reset, and its ports."""
    ports = {
        f"{'i' if member.flow is In else 'o'}_{'__'.join(map(str, path))}": value
        for path, member, value in core.signature.flatten(core)
    }
    return {"i_clk": ClockSignal(), "i_rst": ResetSignal(), **ports}


class AxiCores(OnBus):
    """Cores with a slave on a bus. Raises as SharedCores, and as AxiAccelerator.

    Parameters
    ----------
    cores: as of SharedCores
    bus: the slave's
    source: where random bytes come from
    noise: as of AxiAccelerator

    Members
    -------
    s_axi_*, irq, s_axis_random_*, noise_*: as AxiAccelerator
    """

    def __init__(
        self,
        cores: Sequence[CoreModule],
        bus: Bus = Bus.AXI4_LITE,
        source: RandomSource = RandomSource.STREAM,
        noise: str | None = None,
    ):
        super().__init__(SharedCores(cores, source), bus, source, noise)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        m.submodules.cores = self.front_end
        self.connect_bus(m)
        return m
