"""The registers of a random source, in front of those of an accelerator."""

from collections.abc import Sequence

from amaranth.hdl import Elaboratable, Module, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from coprime.bus import registers
from coprime.bus.port import RegisterSignature, connect_sides
from coprime.bus.read_multiplexer import ReadMultiplexer
from coprime.bus.register_classes import Register
from coprime.bus.shared_registers import (
    NOISE_REGISTERS,
    SEEDED_REGISTERS,
    number,
    register_value,
)
from coprime.bus.write_decode import WriteDecode
from coprime.cells.wires import same_named
from coprime.random.generator import Generator, SourceState
from coprime.random.noise_generator import NoiseGenerator

_CONTROLS = ("SEED", "RESTART")
_NOISE_CONTROLS = ("RESTART", "EXPOSE")
NOISE_PORTS = {"enable": Out(1), "valid": In(1), "sample": In(1)}
"""What connects a noise source, as RingOscillators: it runs; it gives a raw sample."""


def _signature() -> dict[str, wiring.Member]:
    """The ports of all sources."""
    return {
        "registers": Out(RegisterSignature()),
        "others": In(RegisterSignature()),
        "random": Out(stream.Signature(8)),
        "failed": Out(1),
    }


def _take(
    m: Module,
    source: "RandomRegisters | NoiseRegisters",
    own: Sequence[Register],
) -> Value:
    """Connect a source's own registers, and the others past them; whether a write is its own."""
    port, others = source.registers, source.others
    numbers = [number(register) for register in own]
    writes, reads = port.write_address.matches(*numbers), port.read_address.matches(*numbers)
    connect_sides(m, port, others)
    with m.If(writes):
        m.d.comb += others.write.eq(0)
        connect_sides(m, port, source.write)
    with m.If(reads):
        m.d.comb += others.read.eq(0)
        connect_sides(m, port, source.read)
    return writes


class RandomRegisters(wiring.Component):
    """A generator that software seeds, and the part of the register port that is its own.

    A write takes 2 cycles and a read 3, from when the generator is ready for a write: it is not
    while it tests itself, is seeded or makes a request.

    Members
    -------
    registers : the register port
    others : that of all other registers
    random : the stream of random bytes
    failed : no byte will come, since a test has failed
    """

    def __init__(self) -> None:
        super().__init__(_signature())
        self.generator = Generator()
        own = SEEDED_REGISTERS
        self.write = WriteDecode([register for register in own if register.writable])
        self.read = ReadMultiplexer([register for register in own if register.readable], {})

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        m.submodules.generator = self.generator
        m.submodules.write = self.write
        m.submodules.read = self.read
        port, write, read = self.registers, self.write, self.read
        generator, strobes = self.generator, self.write.strobes
        connect(m, flipped(self.random), generator.random)
        writes = _take(m, self, SEEDED_REGISTERS)
        seeds, restarts = (port.write_data[registers.RANDOM_CONTROL[n].offset] for n in _CONTROLS)
        m.d.comb += [
            self.failed.eq(generator.state == SourceState.FAILED),
            generator.hold.eq(port.write & writes),
            # After a failure words are dropped.
            write.settled.eq(generator.ready | self.failed),
            read.settled.eq(1),
            generator.load.eq(strobes.random_seed),
            generator.word.eq(port.write_data),
            generator.seed.eq(strobes.random_control & seeds),
            generator.restart.eq(strobes.random_control & restarts),
            read.values.random_status.eq(
                register_value(
                    registers.RANDOM_STATUS,
                    STATE=generator.state,
                    AGES=generator.ages,
                    WANTED=self.random.ready & ~self.random.valid,
                )
            ),
            read.values.random_requests.eq(generator.requests),
        ]
        return m


class NoiseRegisters(wiring.Component):
    """A generator that a noise source seeds, and the part of the register port that is its own.

    A write takes 2 cycles and a read 3.

    Members
    -------
    registers, others, random, failed : as of RandomRegisters
    noise : the noise source; see NOISE_PORTS
    """

    def __init__(self) -> None:
        super().__init__({**_signature(), "noise": Out(wiring.Signature(NOISE_PORTS))})
        self.generator = NoiseGenerator()
        known = [register for register in NOISE_REGISTERS if register.readable]
        self.write = WriteDecode([register for register in NOISE_REGISTERS if register.writable])
        self.read = ReadMultiplexer(known, {}, {"samples": [registers.RANDOM_SAMPLES]})

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        m.submodules.generator = self.generator
        m.submodules.write = self.write
        m.submodules.read = self.read
        port, read, source = self.registers, self.read, self.generator
        connect(m, flipped(self.random), source.random)
        _take(m, self, NOISE_REGISTERS)
        restarts, exposes = (
            port.write_data[registers.RANDOM_CONTROL[name].offset] for name in _NOISE_CONTROLS
        )
        controls = self.write.strobes.random_control
        m.d.comb += [
            self.failed.eq(source.state == SourceState.FAILED),
            self.noise.enable.eq(source.enable),
            *same_named(source, self.noise, "valid", "sample"),
            self.write.settled.eq(1),
            read.settled.eq(1),
            source.restart.eq(controls & restarts),
            source.expose.eq(controls & exposes & ~restarts),
            source.index.eq(port.read_address),
            read.late.samples.eq(source.word),
            read.late_shown.samples.eq(source.complete),
            read.values.random_status.eq(
                register_value(
                    registers.RANDOM_STATUS,
                    STATE=source.state,
                    AGES=source.ages,
                    WANTED=self.random.ready & ~self.random.valid,
                    REPEATED=source.repeated,
                    UNEQUAL=source.unequal,
                    LATE=source.late,
                    EXPOSED=source.exposed,
                    SAMPLED=source.complete,
                )
            ),
            read.values.random_requests.eq(source.requests),
        ]
        return m
