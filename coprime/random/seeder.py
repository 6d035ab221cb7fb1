"""What feeds a generator from a noise source: tests, then seed material of raw samples.

Source: NIST SP 800-90B (2018), sections 3.1.5.1 (Hash_df, which the generator puts the samples
through, is a vetted conditioning component) and 4.3 (tests at start and always).
"""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.model.health import WINDOW

from .health import HealthTests
from .seed_material import ENTROPY, MATERIAL_BITS, SEED_WORDS, WORD_BITS

START_SAMPLES = WINDOW + MATERIAL_BITS
"""Raw samples from a restart up to the first seed: the tests at start drop theirs."""


def first_material(samples: bytes) -> bytes:
    """The material of the first seed, from the START_SAMPLES raw samples after a restart, a byte of
    0 or 1 each; for tests. They must be 8 cycles apart or more, lest some be dropped.
    """
    bits = "".join(map(str, samples[WINDOW:START_SAMPLES]))
    return int(bits, 2).to_bytes(MATERIAL_BITS // 8)


class NoiseSeeder(wiring.Component):
    """Seed a generator with raw samples: at start, and again after its first request.

    The samples of the tests at start are dropped. A reset begins the tests again.

    Members
    -------
    valid, sample : a raw sample comes
    requested : the generator is ready, and has made a request since its last seed
    hold, load, word, seed, ready : those of Generator
    fail : a test has failed
    """

    def __init__(self, patience: int = 1 << 16):
        self.tests = HealthTests(ENTROPY, patience)
        inputs = ("valid", "sample", "requested", "ready")
        super().__init__(
            {
                **dict.fromkeys(inputs, In(1)),
                **dict.fromkeys(("hold", "load", "seed", "fail"), Out(1)),
                "word": Out(WORD_BITS),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Collect a word, load it; after the last one, seed."""
        m = Module()
        m.submodules.tests = tests = self.tests
        bits, words = Signal(range(WORD_BITS)), Signal(range(SEED_WORDS))
        last = words == SEED_WORDS - 1
        m.d.comb += [
            tests.valid.eq(self.valid),
            tests.sample.eq(self.sample),
            self.fail.eq(tests.failed),
        ]
        with m.FSM():
            with m.State("TEST"), m.If(tests.passed & ~tests.failed):
                m.next = "COLLECT"
            with m.State("COLLECT"), m.If(self.valid):
                m.d.sync += [self.word.eq((self.word << 1) | self.sample), bits.eq(bits + 1)]
                with m.If(bits == WORD_BITS - 1):
                    m.next = "LOAD"
            with m.State("LOAD"):
                m.d.comb += [self.hold.eq(1), self.load.eq(1)]
                with m.If(self.ready):
                    m.d.sync += words.eq(words + 1)
                    m.next = "COLLECT"
                    with m.If(last):
                        m.d.sync += words.eq(0)
                        m.next = "SEED"
            with m.State("SEED"):
                m.d.comb += [self.hold.eq(1), self.seed.eq(1)]
                m.d.sync += self.word.eq(0)
                with m.If(self.ready):
                    m.next = "SETTLE"
            with m.State("SETTLE"):
                m.next = "WAIT"
            with m.State("WAIT"), m.If(self.requested):
                m.next = "COLLECT"
        return m
