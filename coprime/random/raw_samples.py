"""Raw samples of a noise source that software reads in the test mode."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

SAMPLE_WORDS = 32
WORD_BITS = 32
SAMPLES = SAMPLE_WORDS * WORD_BITS
"""Samples, one after the other: SP 800-90B, section 3.1.1, asks for sets of 1,000 or more."""


class RawSamples(wiring.Component):
    """A memory of SAMPLES samples that came one after the other.

    Members
    -------
    begin : collect the next ones
    valid, sample : a raw sample comes
    complete : all are there, since the last `begin`
    index, word : a word, of which the first sample is most significant, a cycle after its index
    """

    def __init__(self) -> None:
        # No word is read before `complete`, and none is written then.
        self.memory = Memory(shape=WORD_BITS, depth=SAMPLE_WORDS, init=[], attrs={"no_rw_check": 1})
        super().__init__(
            {
                **dict.fromkeys(("begin", "valid", "sample"), In(1)),
                "complete": Out(1),
                "index": In(range(SAMPLE_WORDS)),
                "word": Out(WORD_BITS),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Shift samples into a word, and write it."""
        m = Module()
        m.submodules.memory = self.memory
        write, read = self.memory.write_port(), self.memory.read_port()
        collects, word, count = Signal(), Signal(WORD_BITS - 1), Signal(range(SAMPLES))
        m.d.comb += [
            write.addr.eq(count >> (WORD_BITS - 1).bit_length()),
            write.data.eq((word << 1) | self.sample),
            write.en.eq(collects & self.valid & count[: (WORD_BITS - 1).bit_length()].all()),
            read.addr.eq(self.index),
            self.word.eq(read.data),
        ]
        with m.If(collects & self.valid):
            m.d.sync += [word.eq(write.data), count.eq(count + 1)]
            with m.If(count == SAMPLES - 1):
                m.d.sync += [collects.eq(0), self.complete.eq(1)]
        with m.If(self.begin):
            m.d.sync += [collects.eq(1), self.complete.eq(0), count.eq(0)]
        return m
