"""A generator that a noise source seeds."""

from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from coprime.cells.wires import same_named

from .generator import INTERVAL, Generator, SourceState
from .mechanism import COUNT_BITS
from .raw_samples import SAMPLE_WORDS, WORD_BITS, RawSamples
from .seeder import NoiseSeeder


class NoiseGenerator(wiring.Component):
    """Random bytes from raw samples of noise: none before the tests at start have passed, and none
    after a test has failed.

    In its test mode it gives no byte, and software reads raw samples, which never seed it. The mode
    begins and ends with a restart; the seeder is in reset in between, and the noise source stands
    still until the generator has begun its test.

    Parameters
    ----------
    patience, interval : as of NoiseSeeder and of Generator

    Members
    -------
    enable : the noise source runs
    valid, sample : a raw sample comes
    random, state, ages, requests : as of Generator
    restart : forget everything, and test again; it ends the test mode
    expose : begin the test mode; the next samples are for software
    exposed : the test mode
    complete, index, word : of RawSamples, for the test mode
    repeated, unequal, late : which test of the samples has failed, until `restart`
    """

    def __init__(self, *, patience: int = 1 << 16, interval: int = INTERVAL):
        self.seeder = NoiseSeeder(patience)
        self.generator = Generator(interval=interval)
        self.samples = RawSamples()
        super().__init__(
            {
                "enable": Out(1),
                **dict.fromkeys(("valid", "sample", "restart", "expose"), In(1)),
                "random": Out(stream.Signature(8)),
                "state": Out(SourceState),
                "ages": Out(1),
                "requests": Out(COUNT_BITS),
                **dict.fromkeys(("exposed", "complete"), Out(1)),
                "index": In(range(SAMPLE_WORDS)),
                "word": Out(WORD_BITS),
                **dict.fromkeys(("repeated", "unequal", "late"), Out(1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Connect the parts; a restart begins the tests of both again."""
        m = Module()
        generator, seeder, samples = self.generator, self.seeder, self.samples
        begins, pending = Signal(), Signal()  # a restart begins; it waits for the generator
        m.submodules.generator = generator
        m.submodules.seeder = ResetInserter(~self.enable | self.exposed)(seeder)
        m.submodules.samples = samples
        connect(m, flipped(self.random), generator.random)
        m.d.comb += [
            begins.eq(self.restart | (self.expose & ~self.exposed)),
            self.enable.eq(~(begins | pending)),
        ]
        # The generator restarts when it is idle: until then, no sample counts.
        with m.If(begins):
            m.d.sync += pending.eq(1)
        with m.Elif(generator.state == SourceState.TESTING):
            m.d.sync += pending.eq(0)
        with m.If(self.restart):
            m.d.sync += self.exposed.eq(0)
        with m.Elif(self.expose):
            m.d.sync += self.exposed.eq(1)
        m.d.comb += [
            generator.restart.eq(begins),
            samples.begin.eq(self.expose),
            samples.valid.eq(self.valid & self.enable),
            *same_named(samples, self, "sample", "index"),
            *same_named(self, samples, "word"),
            self.complete.eq(samples.complete & self.exposed),
            *same_named(seeder, self, "valid", "sample"),
            seeder.ready.eq(generator.ready),
            seeder.requested.eq((generator.state == SourceState.READY) & (generator.requests != 0)),
            *same_named(generator, seeder, "hold", "load", "word", "seed", "fail"),
            *same_named(self, generator, "state", "ages", "requests"),
            *same_named(self, seeder.tests, "repeated", "unequal", "late"),
        ]
        return m
