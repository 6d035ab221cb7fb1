"""Where outputs of a large program go: as OutputRouter, and comparisons, copies and the samples of
ML-DSA."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.keccak.sponge_padding import BUS_WORD
from coprime.cells.luts import same
from coprime.cells.target import Target
from coprime.lattice.memory.byte_memory import WORD_BITS, sponge_word
from coprime.lattice.memory.sample_buffer import PAIR

from .instructions import DRAWN_WORDS, LARGE, LARGEST_OUTPUT, Destination
from .large_sampler import LargeSampler
from .output_router import destination_layout


class LargeRouter(wiring.Component):
    """A queue of two destinations, of which the first one takes its output.

    A word for the byte memory, or of a comparison, takes two cycles, as with OutputRouter. Only one
    destination of a comparison or a copy is in the queue, and nobody else reads the byte memory
    meanwhile.

    Parameters
    ----------
    address_bits (int): of the byte memory
    resume : layout of what a program needs to go on from an instruction

    Members
    -------
    next, words, random, writes, restart, at_last, idle, waits, fails, first, wipe : of OutputRouter
    samples (out): of SampleBuffer: a number of signed 24 bits in the low bits, 0 above
    copied (in): words of a range that is copied
    start (1 bit, in): nothing is compared yet
    compares (1 bit, out): a word is compared, and `address` read; before, its message is absorbed
    address (out), word (in): of the byte memory; the word a cycle after its address
    differs, agrees (1 bit each, out): since `start`, some compared word differed; all were equal
    compared (5 bits, out): words that were compared since
    wiping (1 bit, out): a sampler's memory is cleared, as it is after a reset
    """

    def __init__(
        self, address_bits: int, resume: data.StructLayout, target: Target = Target.GENERIC
    ):
        self.target = Target(target)
        self.sampler = LargeSampler()
        layout = destination_layout(LARGE, address_bits, resume)
        bits = ("restart", "idle", "waits", "fails", "compares", "differs", "wiping")
        super().__init__(
            {
                "next": In(stream.Signature(layout)),
                **dict.fromkeys(("words", "copied"), In(stream.Signature(BUS_WORD))),
                "random": In(stream.Signature(8)),
                "writes": Out(stream.Signature(sponge_word(address_bits))),
                "samples": Out(stream.Signature(PAIR)),
                **dict.fromkeys(("at_last", "start", "wipe"), In(1)),
                **dict.fromkeys(bits, Out(1)),
                "address": Out(address_bits),
                "word": In(WORD_BITS),
                "agrees": Out(1, init=1),
                "compared": Out(range(LARGEST_OUTPUT)),
                "first": Out(layout),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The first destination, and the one after it."""
        m = Module()
        first = self.first
        second = Signal.like(self.next.payload)
        active, waiting, ends, moves = Signal(), Signal(), Signal(), Signal()
        into = {one: Signal() for one in Destination if one.value < Destination.UNIFORM.value}
        m.d.comb += [
            self.idle.eq(~active & ~waiting),
            self.next.ready.eq(~waiting),
            *(found.eq(active & (first.destination == one.value)) for one, found in into.items()),
        ]
        self._sample(m, active)
        self._move(m, into, moves)
        drawn_last = self.address[: DRAWN_WORDS.bit_length() - 1].all()
        last = Mux(into[Destination.COPIED], self.copied.payload.last, self.words.payload.last)
        m.d.comb += ends.eq(
            (active & self.sampler.ends) | (moves & Mux(into[Destination.DRAWN], drawn_last, last))
        )
        with m.If(ends):
            m.d.sync += active.eq(0)
        with m.If(moves):
            m.d.sync += self.address.eq(self.address + 1)
        with m.If(~active & waiting):
            m.d.sync += [active.eq(1), waiting.eq(0), first.eq(second)]
            m.d.sync += self.address.eq(Cat(Const(0, LARGE.group_bits), second.base))
        with m.If(self.next.valid & self.next.ready):
            m.d.sync += [waiting.eq(1), second.eq(self.next.payload)]
        with m.If(self.fails | self.wipe):
            m.d.sync += [active.eq(0), waiting.eq(0)]
        return m

    def _sample(self, m: Module, active: Value) -> None:
        """Words become polynomials. A destination is 8 more than its Sample, or one of three
        challenges: 14, 15 and 9."""
        m.submodules.sampler = sampler = self.sampler
        kind = self.first.destination
        m.d.comb += [
            sampler.enable.eq(active & kind[2:].any()),
            # Only while it is active, so that samples are 0 while the buffer is wiped.
            sampler.is_ball.eq(active & ((kind[1:] == 7) | (kind == Destination.BALL_60.value))),
            Value.cast(sampler.sample).eq(kind[:3]),
            sampler.tau.eq(Mux(kind[1], kind[0], 2)),
            sampler.words.payload.eq(self.words.payload),
            sampler.words.valid.eq(self.words.valid),
            sampler.at_last.eq(self.at_last),
            sampler.wipe.eq(self.wipe),
            sampler.samples.ready.eq(self.samples.ready),
            self.samples.valid.eq(sampler.samples.valid),
            Value.cast(self.samples.payload).eq(sampler.samples.payload.as_unsigned()),
            self.fails.eq(active & sampler.ends & ~sampler.suffices),
            self.restart.eq(self.fails | self.wipe),
            self.wiping.eq(sampler.wiping),
        ]

    def _move(self, m: Module, into: dict[Destination, Signal], moves: Signal) -> None:
        """Words for the byte memory, or compared with it, in two cycles each."""
        words, copied, writes = self.words, self.copied, self.writes
        is_drawn, is_copied = into[Destination.DRAWN], into[Destination.COPIED]
        drawn, gathered = Signal(WORD_BITS), Signal(3)  # 4: there is a word
        is_second, is_written, offers = Signal(), Signal(), Signal()
        hashed = into[Destination.BYTES] | into[Destination.COMPARED]
        m.d.comb += [
            offers.eq(
                (is_drawn & gathered[2]) | (is_copied & copied.valid) | (hashed & words.valid)
            ),
            self.compares.eq(into[Destination.COMPARED] & words.valid),
            self.random.ready.eq(is_drawn & ~gathered[2]),
            self.waits.eq(self.random.ready & ~self.random.valid),
            writes.valid.eq(offers & ~is_written & ~self.compares),
            writes.payload.address.eq(self.address),
            writes.payload.draws.eq(is_drawn),
            writes.payload.hashed.eq(Mux(is_copied, copied.payload.data, words.payload.data)),
            writes.payload.drawn.eq(drawn),
            moves.eq(offers & is_second & (is_written | writes.ready | self.compares)),
            words.ready.eq((hashed & moves) | self.sampler.words.ready),
            copied.ready.eq(is_copied & moves),
        ]
        with m.If(offers):
            m.d.sync += [is_second.eq(1), is_written.eq(is_written | writes.ready)]
        with m.If(moves):
            m.d.sync += [is_second.eq(0), is_written.eq(0)]
            with m.If(is_drawn):
                m.d.sync += gathered.eq(0)
        with m.If(self.random.ready & self.random.valid):
            m.d.sync += [
                drawn.eq(drawn >> 8 | self.random.payload << WORD_BITS - 8),
                gathered.eq(gathered + 1),
            ]
        with m.If(self.wipe):
            m.d.sync += [one.eq(0) for one in (drawn, gathered, is_second, is_written)]
        self._compare(m, self.compares & moves)

    def _compare(self, m: Module, compares: Value) -> None:
        """Two accumulators, complementary from the first comparison on."""
        equal = Signal()
        m.d.comb += equal.eq(same(m, self.words.payload.data, self.word, self.target))
        with m.If(compares):
            m.d.sync += [
                self.differs.eq(self.differs | ~equal),
                self.agrees.eq(self.agrees & equal),
                self.compared.eq(self.compared + 1),
            ]
        with m.If(self.start | self.wipe):
            m.d.sync += [self.differs.eq(0), self.agrees.eq(1), self.compared.eq(0)]
