"""The registers of a random source, in front of those of an accelerator."""

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from coprime.bus import registers
from coprime.bus.port import RegisterSignature, connect_sides
from coprime.bus.read_multiplexer import ReadMultiplexer
from coprime.bus.shared_registers import RANDOM_REGISTERS, number, register_value
from coprime.bus.write_decode import WriteDecode
from coprime.random.generator import Generator, SourceState

_CONTROLS = ("SEED", "RESTART")


class RandomRegisters(wiring.Component):
    """A generator, and the part of the register port that is its own.

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
        super().__init__(
            {
                "registers": Out(RegisterSignature()),
                "others": In(RegisterSignature()),
                "random": Out(stream.Signature(8)),
                "failed": Out(1),
            }
        )
        self.generator = Generator()
        own = RANDOM_REGISTERS
        self.write = WriteDecode([one for one in own if one.writable])
        self.read = ReadMultiplexer([one for one in own if one.readable], {})

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        for name in ("generator", "write", "read"):
            m.submodules[name] = getattr(self, name)
        port, others, write, read = self.registers, self.others, self.write, self.read
        generator, strobes = self.generator, self.write.strobes
        numbers = [number(one) for one in RANDOM_REGISTERS]
        writes, reads = port.write_address.matches(*numbers), port.read_address.matches(*numbers)
        connect(m, flipped(self.random), generator.random)
        connect_sides(m, port, others)
        with m.If(writes):
            m.d.comb += others.write.eq(0)
            connect_sides(m, port, write)
        with m.If(reads):
            m.d.comb += others.read.eq(0)
            connect_sides(m, port, read)
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
