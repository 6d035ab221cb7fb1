"""A generator that a noise source seeds."""

from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from coprime.cells.wires import same_named

from .generator import INTERVAL, Generator, SourceState
from .mechanism import COUNT_BITS
from .seeder import NoiseSeeder


class NoiseGenerator(wiring.Component):
    """Random bytes from raw samples of noise: none before the tests at start have passed, and none
    after a test has failed.

    Parameters
    ----------
    patience, interval : as of NoiseSeeder and of Generator

    Members
    -------
    valid, sample : a raw sample comes
    random, restart, state, ages, requests : as of Generator
    repeated, unequal, late : which test of the samples has failed, until `restart`
    """

    def __init__(self, *, patience: int = 1 << 16, interval: int = INTERVAL):
        self.seeder = NoiseSeeder(patience)
        self.generator = Generator(interval=interval)
        super().__init__(
            {
                **dict.fromkeys(("valid", "sample", "restart"), In(1)),
                "random": Out(stream.Signature(8)),
                "state": Out(SourceState),
                "ages": Out(1),
                "requests": Out(COUNT_BITS),
                **dict.fromkeys(("repeated", "unequal", "late"), Out(1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Connect the parts; a restart begins the tests of both again."""
        m = Module()
        generator, seeder = self.generator, self.seeder
        again = Signal()
        m.submodules.generator = generator
        m.submodules.seeder = ResetInserter(self.restart | again)(seeder)
        connect(m, flipped(self.random), generator.random)
        # The generator restarts when it is idle: until then, no sample counts.
        with m.If(self.restart):
            m.d.sync += again.eq(1)
        with m.Elif(generator.state == SourceState.TESTING):
            m.d.sync += again.eq(0)
        m.d.comb += [
            *same_named(seeder, self, "valid", "sample"),
            seeder.ready.eq(generator.ready),
            seeder.requested.eq((generator.state == SourceState.READY) & (generator.requests != 0)),
            *same_named(generator, seeder, "hold", "load", "word", "seed", "fail"),
            *same_named(generator, self, "restart"),
            *same_named(self, generator, "state", "ages", "requests"),
            *same_named(self, seeder.tests, "repeated", "unequal", "late"),
        ]
        return m
